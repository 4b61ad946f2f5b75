import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { aBootstrap, type LocalBench, poll, useLocalBench } from '../../../test/local-bench.ts';
import type { Machine } from '../../model/machine.ts';
import type { LaunchRequest } from '../../ports/provider.ts';
import { must } from '../../support/assert.ts';
import { parseHost } from './records.ts';

const isReady = ([machine]: readonly Machine[]): boolean => machine?.state === 'ready';
const isGone = ([machine]: readonly Machine[]): boolean => machine?.state === 'gone';

const hostDir = ({ dataDir }: LocalBench, { sliceId }: LaunchRequest, index = 0): string =>
  join(dataDir, 'test', 'slices', sliceId, String(index));
const readIn = (folder: string, name: string): string => readFileSync(join(folder, name), 'utf8');

test('a host is running while its script runs, and ready when it ends with 0', async () => {
  const bench = useLocalBench();
  const script = 'until [ -e go ]; do sleep 0.05; done';
  const request = bench.request({ bootstrap: aBootstrap(script) });
  await bench.launch(request);
  await bench.until(([machine]) => machine?.state === 'running');
  await bench.launch(
    bench.request({ bootstrap: aBootstrap(`touch ${hostDir(bench, request)}/go`) }),
  );
  await bench.until((machines) => machines.every(({ state }) => state === 'ready'));
});

test('the script gets its place, its attempt and its secret, and no secret of others', async () => {
  process.env['LOCAL_TEST_OTHER_SECRET'] = 'not-for-hosts';
  const bench = useLocalBench({
    env: { BELLOWS_SERVER: 'http://127.0.0.1:7070' },
    secretOf: (name) => (name === 'JOIN' ? 'join-secret' : undefined),
  });
  const bootstrap = aBootstrap('env > seen; echo "joining with $BELLOWS_JOIN_TOKEN"', {
    joinToken: 'JOIN',
  });
  const request = bench.request({ hostCount: 2, bootstrap });
  await bench.launch(request);
  await bench.until((machines) => machines.every(({ state }) => state === 'ready'));
  const folder = hostDir(bench, request, 1);
  const seen = new Set(readIn(folder, 'seen').split('\n'));
  expect([...seen]).toEqual(
    expect.arrayContaining([
      'BELLOWS_SERVER=http://127.0.0.1:7070',
      'BELLOWS_FLEET=test',
      `BELLOWS_SLICE=${request.sliceId}`,
      'BELLOWS_GROUP=cpu',
      'BELLOWS_HOST_INDEX=1',
      'BELLOWS_HOST_COUNT=2',
      `BELLOWS_HOST_DIR=${folder}`,
      'BELLOWS_ATTEMPT=1',
      'BELLOWS_JOIN_TOKEN=join-secret',
      `PATH=${process.env['PATH']}`,
    ]),
  );
  expect(readIn(folder, 'seen')).not.toContain('not-for-hosts');
  expect(readIn(folder, 'host.log')).toContain('joining with ***\n');
  // Only what the script itself has written holds it.
  const files = readdirSync(folder).filter((name) => name !== 'seen');
  for (const name of files) expect(readIn(folder, name)).not.toContain('join-secret');
  expect(readIn(join(folder, '..'), 'intent.json')).not.toContain('join-secret');
});

test('a script that fails at first is run again, without what its first run left', async () => {
  const bench = useLocalBench();
  const script = `
    if [ $BELLOWS_ATTEMPT = 1 ]; then setsid sleep 1001 & echo $! > left; exit 3; fi
    # One that has ended has no arguments, also where nobody has noticed yet.
    [ -z "$(tr -d '\\0' < /proc/$(cat left)/cmdline)" ]`;
  const request = bench.request({ bootstrap: aBootstrap(script, { attemptsMax: 2 }) });
  await bench.launch(request);
  await bench.until(isReady);
  expect(readIn(hostDir(bench, request), 'host.log')).toContain('bootstrap failed: exit code 3');
});

test.each([
  [
    'says how it ended and its last line',
    'echo no route to head >&2; exit 7',
    {},
    'after 1 attempt: exit code 7: no route to head',
  ],
  [
    'counts its attempts',
    'exit 1',
    { attemptsMax: 2 },
    'after 2 attempts: exit code 1, without a word',
  ],
  ['names the signal', 'kill -9 $$', {}, 'after 1 attempt: killed by SIGKILL, without a word'],
  [
    'is out of time',
    'echo waiting; sleep 1002',
    { timeoutMs: 300 },
    'after 1 attempt: not done within 300 ms: waiting',
  ],
  [
    'does not wait for what holds its output',
    'sleep 1003 & echo left one; exit 2',
    {},
    'after 1 attempt: exit code 2: left one',
  ],
])('a host that is given up %s', async (_name, script, over, failure) => {
  const bench = useLocalBench();
  await bench.launch(bench.request({ bootstrap: aBootstrap(script, over) }));
  expect(await bench.until(isGone)).toMatchObject([{ state: 'gone', failure }]);
  await poll(async () => (await bench.processes()).length === 0);
});

test('what a failure says is cut to a line of 300 characters, without the secret', async () => {
  const bench = useLocalBench({ secretOf: () => 'join-secret' });
  const script = `echo "$BELLOWS_JOIN_TOKEN ${'x'.repeat(500)}"; exit 1`;
  await bench.launch(bench.request({ bootstrap: aBootstrap(script, { joinToken: 'JOIN' }) }));
  const [machine] = await bench.until(isGone);
  expect(machine?.failure).toHaveLength(300);
  expect(machine?.failure).toContain('exit code 1: *** xxx');
});

test('what a good run leaves belongs to the host, and ends with it', async () => {
  const bench = useLocalBench();
  // One in the background, one in a session of its own, one that has lost its environment, and one
  // that does not listen.
  const script = `
    sleep 1004 &
    setsid sleep 1005 &
    env -i sleep 1006 &
    (trap '' TERM; while :; do sleep 1; done) &
    echo started`;
  const request = bench.request({ bootstrap: aBootstrap(script) });
  await bench.launch(request);
  await bench.until(isReady);
  await poll(async () => (await bench.processes()).length >= 5);
  await bench.end(request.sliceId);
  expect(await bench.list()).toMatchObject([{ state: 'stopping' }]);
  await bench.until(({ length }) => length === 0);
  expect(await bench.processes()).toEqual([]);
  expect(existsSync(hostDir(bench, request))).toBe(false);
});

test('what a killed host leaves is ended with its slice', async () => {
  const bench = useLocalBench();
  const request = bench.request({ bootstrap: aBootstrap('setsid sleep 1007 &') });
  await bench.launch(request);
  await bench.until(isReady);
  const host = parseHost(readIn(hostDir(bench, request), 'host.json'));
  process.kill(must(host, 'the record').pid, 'SIGKILL');
  const [machine] = await bench.until(isGone);
  expect(machine).not.toHaveProperty('failure');
  expect(await bench.processes()).toHaveLength(1);
  await bench.end(request.sliceId);
  await bench.until(({ length }) => length === 0);
  expect(await bench.processes()).toEqual([]);
});

test('a host told to end while its script runs ends, and runs it no more', async () => {
  const bench = useLocalBench();
  const bootstrap = aBootstrap('echo run >> ../../../runs; sleep 1008', { attemptsMax: 5 });
  const request = bench.request({ bootstrap });
  await bench.launch(request);
  const runs = join(bench.dataDir, 'test', 'runs');
  await poll(() => existsSync(runs));
  await bench.end(request.sliceId);
  await bench.until(({ length }) => length === 0);
  await poll(async () => (await bench.processes()).length === 0);
  expect(readFileSync(runs, 'utf8')).toBe('run\n');
});

test('a failed host leaves its log, the last twenty of them', async () => {
  const bench = useLocalBench();
  const failing = bench.request({ bootstrap: aBootstrap('echo boom; exit 1') });
  const orderly = bench.request({ bootstrap: aBootstrap('echo fine') });
  await bench.provider.launch([failing, orderly], new AbortController().signal);
  await bench.until((machines) => machines.map(({ state }) => state).join() === 'gone,ready');
  await bench.end(failing.sliceId, orderly.sliceId);
  await bench.until(({ length }) => length === 0);
  const failed = join(bench.dataDir, 'test', 'failed');
  expect(readdirSync(failed)).toEqual([`${failing.sliceId}.0.log`]);
  expect(readIn(failed, `${failing.sliceId}.0.log`)).toContain('boom\n');
});
