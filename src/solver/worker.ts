import { parentPort } from 'node:worker_threads';
import type { LinearProgram } from '../model/linear-program.ts';
import { must } from '../support/assert.ts';
import { createHighsSolver } from './highs.ts';

// The thread's side: a program comes, its outcome goes back.

const port = must(parentPort, 'this file is run as a thread');
const solver = createHighsSolver();
port.on('message', (program: LinearProgram) => {
  void solver.minimize(program).then((outcome) => port.postMessage(outcome));
});
