import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { hostname } from 'node:os';
import { createInterface } from 'node:readline';
import { afterEach, expect, test } from 'vitest';
import { useStoreFolder } from '../../../test/contract/store-folder.ts';
import { useProgram } from '../../../test/contract/store-process.ts';
import { everything } from '../../../test/contract/store-subject.ts';

// Real processes, killed for real. Their program is bundled as the benchmarks are, and so this also
// shows that a bundle finds the thread's code.

const folder = useStoreFolder();

const program = useProgram(`
import { openSqliteStore } from './src/store/sqlite/store.ts';
const [path, isBrief] = process.argv.slice(2);
const holder = 'the first';
const caps = { journalSizeMax: 1e9, journalAgeMaxMs: 1e9 };
const store = await openSqliteStore({ path, holder, fleet: 'research', ...caps });
const ask = { holder, nowMs: 0, ttlMs: 1e12, epoch: null };
const { epoch } = await store.acquireLease(ask);
for (let seq = 0; isBrief === undefined || seq < 3; seq++) {
  const events = [{ seq, atMs: seq, text: 'x'.repeat(seq % 5000) }];
  await store.commit({ epoch, documents: [], tick: null, events });
  console.log(seq);
}
await store.close();
console.log('closed');
`);

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

/** A controller in a process of its own, and the lines it prints. */
function run(...args: readonly string[]): { child: ChildProcess; lines: string[] } {
  const child = spawn(process.execPath, [program, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  return { child, lines };
}

async function linesOf(
  child: ChildProcess,
  lines: readonly string[],
  count: number,
): Promise<void> {
  while (lines.length < count) {
    if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}`);
    await new Promise((resolve) => child.stdout?.once('data', resolve));
  }
}

test('a second controller is told at once who holds the file; kill -9 frees it', async () => {
  const path = folder.fresh();
  const { child, lines } = run(path);
  await linesOf(child, lines, 20);

  const startedMs = performance.now();
  await expect(folder.open(path)).rejects.toMatchObject({
    name: 'StoreError',
    kind: 'locked',
    message: expect.stringMatching(
      new RegExp(
        `^${path} is in use by the first \\(host ${hostname()}, process ${child.pid}, ` +
          'since \\d{4}-\\d\\d-\\d\\dT[^)]+Z\\); stop that one, or change store.path$',
      ),
    ),
  });
  expect(performance.now() - startedMs).toBeLessThan(5_000);
  // Being refused has taken nothing from the holder.
  await linesOf(child, lines, lines.length + 20);
  await expect(folder.open(path)).rejects.toMatchObject({ kind: 'locked' });

  child.kill('SIGKILL');
  await once(child, 'close');
  const acknowledged = lines.map(Number);
  const store = await folder.open(path);
  const events = await store.readEvents(everything);
  // All that was acknowledged is there; the one under way may be.
  expect(events.length - acknowledged.length).toBeOneOf([0, 1]);
  expect(events.map(({ seq }) => seq).slice(0, acknowledged.length)).toEqual(acknowledged);
  for (const { seq, text } of events) expect(text.length).toBe(seq % 5_000);
  const ask = { holder: 'the next', nowMs: events[0]!.atMs, ttlMs: 1_000, epoch: null };
  expect(await store.acquireLease(ask)).toEqual({ kind: 'granted', epoch: 2 });
});

test('a process that closes its store ends by itself and leaves the file to the next', async () => {
  const path = folder.fresh();
  const { child, lines } = run(path, 'brief');
  const [exitCode] = await once(child, 'close');
  expect([exitCode, lines]).toEqual([0, ['0', '1', '2', 'closed']]);
  await folder.open(path);
});

test('of two that start together one wins, whichever it is', async () => {
  for (let n = 0; n < 2; n++) {
    const path = folder.fresh();
    const outcomes = await Promise.allSettled([folder.open(path), folder.open(path)]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  }
});

test('the same process cannot open it twice either', async () => {
  const path = folder.fresh();
  const store = await folder.open(path);
  await expect(folder.open(path)).rejects.toThrow(
    `in use by a test (host ${hostname()}, process ${process.pid}, since `,
  );
  await store.close();
  await folder.open(path);
});
