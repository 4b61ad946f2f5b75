import { Worker } from 'node:worker_threads';
import { describe, expect, test } from 'vitest';
import { aCommit } from '../../../test/contract/store-subject.ts';
import { type WorkerClient, openClient } from './worker-client.ts';

/** A thread that opens, and then does as it is told here. */
const aClient = (onMessage: string): Promise<WorkerClient> => {
  const code = `
    const { parentPort } = require('node:worker_threads');
    parentPort.on('message', ({ id, kind }) => { ${onMessage} });
    parentPort.postMessage({ id: 0, kind: 'done', answer: null });`;
  return openClient(new Worker(code, { eval: true, stderr: true }), '/data/b.db');
};

describe('a thread that dies', () => {
  test('leaves open what came of writes, and fails all calls from then on', async () => {
    const client = await aClient(`if (kind === 'load') throw new Error('out of luck')`);
    const commit = client.call('commit', aCommit(1));
    const load = client.call('load', null);
    const message =
      'the thread that serves /data/b.db has failed (out of luck); start Bellows again';
    await expect(commit).rejects.toMatchObject({ kind: 'unknown-outcome', message });
    await expect(load).rejects.toMatchObject({ kind: 'unavailable', message });
    await expect(client.call('load', null)).rejects.toMatchObject({ message });
    await expect(client.close()).rejects.toMatchObject({ message });
  });

  test('while it opens', async () => {
    const opening = openClient(new Worker('process.exit(3)', { eval: true }), '/data/b.db');
    await expect(opening).rejects.toMatchObject({
      kind: 'unavailable',
      message: expect.stringContaining('/data/b.db has failed (the thread has ended)'),
    });
  });
});

test('more calls than a disk can be behind are refused', async () => {
  const client = await aClient(`if (kind === 'close') parentPort.close()`);
  const waiting = Array.from({ length: 10_000 }, () => client.call('load', null));
  await expect(client.call('load', null)).rejects.toMatchObject({
    kind: 'unavailable',
    message: expect.stringContaining('10000 calls wait for /data/b.db'),
  });
  const outcomes = Promise.allSettled(waiting);
  await expect(client.close()).rejects.toMatchObject({ kind: 'unavailable' });
  void outcomes;
});
