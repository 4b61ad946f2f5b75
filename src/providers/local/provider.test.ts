import { spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { never } from '../../../test/contract/provider-driver.ts';
import {
  aBootstrap,
  aRequest,
  type LocalBench,
  poll,
  useLocalBench,
} from '../../../test/local-bench.ts';
import { groupName, sliceId } from '../../model/ids.ts';
import type { Machine } from '../../model/machine.ts';
import { layoutOf } from './layout.ts';
import { readBootId, readStat } from './processes.ts';
import { openLocalProvider } from './provider.ts';
import { hostToken, toText } from './records.ts';

const isAllReady = (machines: readonly Machine[]): boolean =>
  machines.length > 0 && machines.every(({ state }) => state === 'ready');
const foldersOf = ({ dataDir }: LocalBench) => layoutOf(dataDir, 'test');

describe('launch', () => {
  test('answers with the ids that lists then show, one for each host', async () => {
    const bench = useLocalBench();
    const outcome = await bench.launch(bench.request({ hostCount: 3 }));
    const machines = await bench.until(isAllReady);
    expect(outcome).toMatchObject({ machineIds: machines.map(({ machineId }) => machineId) });
    expect(machines.map(({ hostIndex }) => hostIndex)).toEqual([0, 1, 2]);
    expect(await bench.processes()).toHaveLength(3);
  });

  test('keeps everything from other users', async () => {
    const bench = useLocalBench();
    await bench.launch(bench.request({ bootstrap: aBootstrap('true') }));
    await bench.until(isAllReady);
    const { slices } = foldersOf(bench);
    const modes = readdirSync(slices, { recursive: true }).map(
      (name) => statSync(join(slices, String(name))).mode & 0o077,
    );
    expect(modes.length).toBeGreaterThan(5);
    expect(new Set(modes)).toEqual(new Set([0]));
  });

  test('beyond hostsMax is refused with the numbers, and served when there is room', async () => {
    const bench = useLocalBench({ hostsMax: 2 });
    const [first, second, third] = [
      bench.request(),
      bench.request({ hostCount: 2 }),
      bench.request(),
    ];
    const outcomes = await bench.provider.launch([first, second, third], never());
    expect(outcomes.map(({ kind }) => kind)).toEqual(['accepted', 'refused', 'accepted']);
    expect(outcomes[1]).toMatchObject({
      refusal: {
        kind: 'quota-exceeded',
        quotaName: 'hostsMax',
        detail:
          '2 more besides 1 hosts would be more than hostsMax 2; ' +
          'raise hostsMax of the local provider, or lower max of its groups',
      },
    });
    expect(await bench.launch(first)).toMatchObject({ kind: 'accepted' });
    await bench.end(first.sliceId, third.sliceId);
    // Their hosts still end, and are waited for.
    expect(await bench.launch(bench.request({ hostCount: 2 }))).toMatchObject({ kind: 'accepted' });
    expect((await bench.processes()).length).toBeLessThanOrEqual(2);
  });

  test('in parallel calls does not pass hostsMax either', async () => {
    const bench = useLocalBench({ hostsMax: 3 });
    const outcomes = await Promise.all(
      Array.from({ length: 6 }, () => bench.launch(bench.request())),
    );
    expect(outcomes.filter(({ kind }) => kind === 'accepted')).toHaveLength(3);
    expect(await bench.processes()).toHaveLength(3);
  });

  test.each([
    [
      'an id that would leave its folder',
      { sliceId: sliceId('../x') },
      'slice id "../x" cannot name a folder',
    ],
    ['no hosts', { hostCount: 0 }, 'hostCount 0 is not a whole number from 1 on'],
    [
      'a secret that nobody has set',
      { bootstrap: aBootstrap('true', { joinToken: 'NOT_SET' }) },
      'set the environment variable NOT_SET',
    ],
  ])('with %s is refused for good, with a remedy', async (_name, over, detail) => {
    const bench = useLocalBench();
    const outcome = await bench.launch(bench.request(over));
    expect(outcome).toMatchObject({ kind: 'refused', refusal: { kind: 'permanent' } });
    expect(outcome).toMatchObject({ refusal: { detail: expect.stringContaining(detail) } });
    expect(readdirSync(foldersOf(bench).slices)).toEqual([]);
  });

  test.each([
    [
      'an environment that is too large',
      { LARGE: 'x'.repeat(3_000_000) },
      'permanent',
      'shorten it (E2BIG)',
    ],
    [
      'a host that ends at once',
      { NODE_OPTIONS: '--no-such-flag' },
      'unknown',
      'it ended at once (exit code 9)',
    ],
  ])('with %s is refused, and leaves nothing', async (_name, env, kind, detail) => {
    const bench = useLocalBench({ env });
    const outcome = await bench.launch(bench.request({ hostCount: 2 }));
    expect(outcome).toMatchObject({ kind: 'refused', refusal: { kind } });
    expect(outcome).toMatchObject({ refusal: { detail: expect.stringContaining(detail) } });
    expect(readdirSync(foldersOf(bench).slices)).toEqual([]);
    expect(await bench.processes()).toEqual([]);
  });

  test('ends the hosts that did start when one cannot', async () => {
    const bench = useLocalBench();
    const request = bench.request({ hostCount: 2 });
    const folder = join(foldersOf(bench).slices, request.sliceId);
    mkdirSync(join(folder, '0'), { recursive: true });
    const intent = { token: 'half', group: groupName('cpu'), hostCount: 2, bootstrap: null };
    writeFileSync(join(folder, 'intent.json'), toText(intent));
    expect(await bench.launch(request)).toMatchObject({
      kind: 'refused',
      refusal: { detail: expect.stringContaining('cannot start host 1') },
    });
    expect(await bench.processes()).toEqual([]);
    expect(await bench.list()).toEqual([]);
  });

  test('of a released slice is refused', async () => {
    const bench = useLocalBench();
    const request = bench.request();
    await bench.end(request.sliceId);
    expect(await bench.launch(request)).toMatchObject({
      kind: 'refused',
      refusal: { detail: `slice ${request.sliceId} was released` },
    });
    expect(await bench.processes()).toEqual([]);
  });

  test('of a slice that is just ending is refused when it has ended', async () => {
    const bench = useLocalBench();
    const bootstrap = aBootstrap("(trap 'sleep 0.5; exit' TERM; while :; do sleep 0.1; done) &");
    const request = bench.request({ bootstrap });
    await bench.launch(request);
    await bench.until(isAllReady);
    await bench.end(request.sliceId);
    expect(await bench.launch(request)).toMatchObject({ kind: 'refused' });
    expect(await bench.processes()).toEqual([]);
    expect(await bench.list()).toEqual([]);
  });
});

describe('identity', () => {
  /** A process of somebody else's. */
  function aStranger(env: Record<string, string> = {}): number {
    const child = spawn('sleep', ['1010'], { env: { PATH: process.env['PATH'] ?? '', ...env } });
    onTestFinished(() => void child.kill('SIGKILL'));
    return child.pid ?? 0;
  }
  const token = 'forged-token';
  const forge = (bench: LocalBench, host: { pid: number; startTicks: string; bootId: string }) => {
    const { sliceId: id } = bench.request();
    const folder = join(foldersOf(bench).slices, id);
    mkdirSync(join(folder, '0'), { recursive: true });
    const intent = { token, group: groupName('cpu'), hostCount: 1, bootstrap: null };
    writeFileSync(join(folder, 'intent.json'), toText(intent));
    const record = { token: hostToken(intent, 0), group: groupName('cpu'), ...host };
    writeFileSync(join(folder, '0', 'host.json'), toText(record));
    return id;
  };

  test.each([
    ['the same pid and start, but not our token', {}, {}],
    ['another token and another start', { BELLOWS_HOST_TOKEN: 'other' }, { startTicks: '1' }],
    ['another start of the machine', {}, { bootId: 'earlier' }],
  ])('a process with %s is not the host, and is not ended', async (_name, env, over) => {
    const bench = useLocalBench();
    const pid = aStranger(env);
    await poll(() => readStat(pid) !== null);
    const startTicks = readStat(pid)?.startTicks ?? '';
    const id = forge(bench, { pid, startTicks, bootId: readBootId() ?? '', ...over });
    expect(await bench.list()).toMatchObject([{ state: 'gone', sliceId: id }]);
    await bench.end(id);
    await bench.until(({ length }) => length === 0);
    expect(readStat(pid)).toMatchObject({ isAlive: true });
  });

  test('a slice made anew after its id was forgotten has other machine ids', async () => {
    const bench = useLocalBench();
    const request = bench.request();
    const first = await bench.launch(request);
    await bench.end(request.sliceId);
    await bench.until(({ length }) => length === 0);
    rmSync(join(foldersOf(bench).ended, request.sliceId));
    const second = await bench.launch(request);
    expect(second).toMatchObject({ kind: 'accepted' });
    expect(second).not.toEqual(first);
  });
});

describe('bad days', () => {
  test('damaged and foreign files stop no list, and are told once', async () => {
    const bench = useLocalBench();
    const damaged = bench.request();
    await bench.provider.launch([damaged, bench.request()], never());
    await bench.until(isAllReady);
    const { slices } = foldersOf(bench);
    writeFileSync(join(slices, damaged.sliceId, '0', 'state.json'), '{"kind":');
    writeFileSync(join(slices, damaged.sliceId, 'intent.json'), '');
    mkdirSync(join(slices, 'somebody-elses'));
    writeFileSync(join(slices, 'notes.txt'), 'hello');
    for (let count = 0; count < 3; count++) expect(await bench.list()).toHaveLength(2);
    expect(bench.warnings.map(([event, { path }]) => `${event} ${String(path)}`).sort()).toEqual([
      `local-file-unreadable slices/${damaged.sliceId}/0/state.json`,
      `local-file-unreadable slices/${damaged.sliceId}/intent.json`,
      'local-file-unreadable slices/somebody-elses',
    ]);
    await bench.end(damaged.sliceId);
    await bench.until(({ length }) => length === 1);
    expect(await bench.processes()).toHaveLength(1);
    expect(existsSync(join(slices, 'somebody-elses'))).toBe(true);
  });

  test('a host whose folder is removed ends by itself', async () => {
    const bench = useLocalBench();
    await bench.launch(bench.request({ bootstrap: aBootstrap('sleep 1011 &') }));
    await bench.until(isAllReady);
    rmSync(foldersOf(bench).slices, { recursive: true });
    await poll(async () => (await bench.processes()).length === 0);
  });

  test('a host that is told to end while no controller lives ends by itself', async () => {
    const bench = useLocalBench();
    const request = bench.request({ bootstrap: aBootstrap('sleep 1012 &') });
    await bench.launch(request);
    await bench.until(isAllReady);
    await bench.provider.close();
    writeFileSync(join(foldersOf(bench).ended, request.sliceId), '');
    await poll(async () => (await bench.processes()).length === 0);
    // The next life clears its folder away.
    bench.open();
    await poll(() => readdirSync(foldersOf(bench).slices).length === 0);
  });

  test('what a life was told to end and did not, the next one ends', async () => {
    const bench = useLocalBench();
    // Deaf to being asked: only a kill after the grace helps, and by then the first has closed.
    const script = "(trap '' TERM; while :; do sleep 1; done) & true";
    const request = bench.request({ bootstrap: aBootstrap(script) });
    await bench.launch(request);
    await bench.until(isAllReady);
    await bench.end(request.sliceId);
    await bench.provider.close();
    const next = bench.open();
    await poll(async () => (await next.list(never())).length === 0);
    expect(await bench.processes()).toEqual([]);
  });

  test('hosts live on when the provider closes', async () => {
    const bench = useLocalBench();
    await bench.launch(bench.request());
    const before = await bench.until(isAllReady);
    await bench.provider.close();
    expect(await bench.open().list(never())).toEqual(before);
  });

  test('a data folder that cannot be made is said at once', () => {
    const bench = useLocalBench();
    const file = join(bench.dataDir, 'file');
    writeFileSync(file, '');
    const open = () =>
      openLocalProvider({
        fleet: 'test',
        dataDir: file,
        hostsMax: 1,
        env: {},
        secretOf: () => undefined,
        log: { write: () => undefined },
      });
    expect(open).toThrow(/cannot keep hosts in .*file.*choose another dataDir/);
  });

  test('fleets in one folder do not see each other', async () => {
    const bench = useLocalBench();
    const other = bench.open({ fleet: 'other' });
    await other.launch([aRequest('theirs')], never());
    expect(await bench.list()).toEqual([]);
    await bench.end(sliceId('theirs'));
    expect(await other.list(never())).toHaveLength(1);
    expect(readFileSync(join(bench.dataDir, 'other/slices/theirs/intent.json'), 'utf8')).toContain(
      'cpu',
    );
  });
});
