import { Worker } from 'node:worker_threads';
import type { LinearProgram } from '../model/linear-program.ts';
import type { Solver, SolverOutcome } from '../ports/solver.ts';
import { findProgramFile } from '../programs/program-file.ts';

/** A thread without work is ended after this: it holds some 60 MB. */
const IDLE_MS = 60_000;

/**
 * HiGHS in a thread of its own, so that nobody waits for it. The thread starts with the first program
 * and ends when none has come for a minute. One program at a time; others wait for their turn.
 */
export function createThreadedSolver(): Solver & { close(): Promise<void> } {
  let thread: Worker | null = null;
  let last: Promise<unknown> = Promise.resolve();
  let idle: NodeJS.Timeout | null = null;
  const end = async (): Promise<void> => {
    const ending = thread;
    thread = null;
    await ending?.terminate();
  };
  const run = async (program: LinearProgram): Promise<SolverOutcome> => {
    if (idle !== null) clearTimeout(idle);
    try {
      thread ??= new Worker(await findProgramFile('solver/worker.ts'));
      return await ask(thread, program);
    } catch (error) {
      await end();
      return { kind: 'failed', detail: error instanceof Error ? error.message : String(error) };
    } finally {
      idle = setTimeout(() => void end(), IDLE_MS).unref();
    }
  };
  return {
    minimize(program) {
      const outcome = last.then(() => run(program));
      last = outcome;
      return outcome;
    },
    async close() {
      if (idle !== null) clearTimeout(idle);
      await end();
    },
  };
}

function ask(thread: Worker, program: LinearProgram): Promise<SolverOutcome> {
  return new Promise((resolve, reject) => {
    const onMessage = (outcome: SolverOutcome): void => {
      leave();
      resolve(outcome);
    };
    const onEnd = (why: Error | number): void => {
      leave();
      reject(why instanceof Error ? why : new Error(`the solver's thread ended with ${why}`));
    };
    const leave = (): void => {
      thread.off('message', onMessage);
      thread.off('error', onEnd);
      thread.off('exit', onEnd);
      // It alone does not keep the process alive.
      thread.unref();
    };
    thread.ref();
    thread.on('message', onMessage);
    thread.on('error', onEnd);
    thread.on('exit', onEnd);
    thread.postMessage(program, []);
  });
}
