import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { never } from '../../../test/contract/provider-driver.ts';
import { useProgram } from '../../../test/contract/store-process.ts';
import { aRequest, type LocalBench, poll, useLocalBench } from '../../../test/local-bench.ts';
import { groupName, sliceId } from '../../model/ids.ts';
import { forkRandom } from '../../support/random.ts';
import { findHostFile } from './host-file.ts';
import { layoutOf } from './layout.ts';
import { hostToken, parseHost, toText } from './records.ts';

const intent = { token: 'race', group: groupName('cpu'), hostCount: 1, bootstrap: null };

/** A folder as a controller leaves it that died between intent and start. */
function anIntent({ dataDir }: LocalBench, slice: string): string {
  const { slices } = layoutOf(dataDir, 'test');
  const hostDir = join(slices, slice, '0');
  mkdirSync(hostDir, { recursive: true });
  writeFileSync(join(slices, slice, 'intent.json'), toText(intent));
  return hostDir;
}

/** Starts the program of a host as a launch does; resolves with its exit code if it ends. */
async function startHost(hostDir: string): Promise<{ readonly exit: Promise<number | null> }> {
  const env = { BELLOWS_HOST_DIR: hostDir, BELLOWS_HOST_TOKEN: hostToken(intent, 0) };
  const child = spawn(process.execPath, [await findHostFile()], {
    cwd: '/',
    env,
    detached: true,
    stdio: 'ignore',
  });
  return { exit: new Promise((resolve) => child.once('exit', resolve)) };
}

describe('one folder', () => {
  test('is claimed by one of many', async () => {
    const bench = useLocalBench();
    const hostDir = anIntent(bench, 's-0');
    let endedCount = 0;
    for (let count = 0; count < 6; count++) {
      const { exit } = await startHost(hostDir);
      void exit.then(() => endedCount++);
    }
    await poll(() => endedCount === 5);
    expect(await bench.until(([machine]) => machine?.state === 'ready')).toHaveLength(1);
    const [survivor, ...others] = await bench.processes();
    expect(others).toEqual([]);
    expect(parseHost(readFileSync(join(hostDir, 'host.json'), 'utf8'))?.pid).toBe(survivor?.pid);
  });

  test('of a released slice is kept by nobody, however late', async () => {
    const bench = useLocalBench();
    // Nobody else is there to end it.
    await bench.provider.close();
    const { slices, ended } = layoutOf(bench.dataDir, 'test');
    const hostDir = anIntent(bench, 's-0');
    writeFileSync(join(ended, 's-0'), '');
    expect(await (await startHost(hostDir)).exit).toBe(0);
    bench.open();
    await poll(() => readdirSync(slices).length === 0);
    // Gone with its folder: one that comes even later finds nothing to claim.
    expect(await (await startHost(hostDir)).exit).toBe(0);
  });

  test('is not claimed by a host of an earlier life of the slice', async () => {
    const bench = useLocalBench();
    const hostDir = anIntent(bench, 's-0');
    writeFileSync(join(hostDir, '../intent.json'), toText({ ...intent, token: 'newer' }));
    expect(await (await startHost(hostDir)).exit).toBe(0);
    expect(await bench.list()).toEqual([]);
  });

  test('is served by two controllers at once with one host', async () => {
    const bench = useLocalBench();
    const request = bench.request({ hostCount: 2 });
    const asked = [bench.provider, bench.open(), bench.open()].map((one) =>
      one.launch([request], never()),
    );
    const answers = await Promise.all(asked);
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    await poll(async () => (await bench.processes()).length === 2);
  });
});

// Launches and releases without end, in a process that is killed at any moment.
const program = useProgram(`
import { openLocalProvider } from './src/providers/local/provider.ts';
const aRequest = ${JSON.stringify(aRequest(''))};
const [dataDir, life] = process.argv.slice(2);
const log = { write: () => undefined };
const secretOf = () => undefined;
const provider = openLocalProvider({ fleet: 'test', dataDir, hostsMax: 200, env: {}, secretOf, log });
const signal = new AbortController().signal;
process.stdout.write('begun');
for (let count = 0; ; count++) {
  const batch = [0, 1].map((n) => ({ ...aRequest, sliceId: 's-' + life + '-' + count + '-' + n, hostCount: 1 + n }));
  const launched = provider.launch(batch, signal);
  if (count % 3 !== 0) await launched;
  if (count % 2 === 1) await provider.terminate([batch[0].sliceId], signal);
}
`);

test('a controller killed at any moment doubles nothing and leaks nothing', async () => {
  const bench = useLocalBench({ hostsMax: 200 });
  const random = forkRandom(1, 'kills');
  for (let life = 0; life < 5; life++) {
    const child = spawn(process.execPath, [program, bench.dataDir, String(life)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await new Promise((resolve) => child.stdout.once('data', resolve));
    await sleep(random() * 1_200);
    child.kill('SIGKILL');
    await new Promise((resolve) => child.once('exit', resolve));
  }
  const { slices, ended } = layoutOf(bench.dataDir, 'test');
  const released = new Set(readdirSync(ended));
  const staying = readdirSync(slices).filter((id) => !released.has(id));
  expect(staying.length).toBeGreaterThan(0);
  const before = new Set((await bench.list()).map(({ machineId }) => machineId));
  // Asked again, as the next life does for what it has on record: the same machines, not others.
  for (const id of staying) {
    const outcome = await bench.launch({ ...aRequest(id), hostCount: id.endsWith('-1') ? 2 : 1 });
    expect(outcome).toMatchObject({ kind: 'accepted' });
    if (outcome.kind === 'accepted') for (const one of outcome.machineIds) before.delete(one);
  }
  await bench.until((seen) => seen.every(({ state }) => state === 'ready'));
  const after = (await bench.list()).map(({ machineId }) => machineId);
  expect(after.filter((id) => before.has(id))).toEqual([]);
  await poll(async () => (await bench.processes()).length === after.length);
  const tokens = (await bench.processes()).map(({ token }) => token);
  expect(new Set(tokens).size).toBe(tokens.length);
  await bench.end(...staying.map(sliceId));
  await bench.until(({ length }) => length === 0);
  expect(await bench.processes()).toEqual([]);
});
