import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import Libsql from 'libsql';
import { describe, expect, onTestFinished, test } from 'vitest';
import { findHostProcesses } from '../crash/host-processes.ts';
import { bellows, useFolder } from './cli.ts';
import { UpProcess, until, useDataDir } from './up-process.ts';

// The product as a user runs it: the built command, real processes, real sockets.

const file = useFolder();
const demandFile = () =>
  file('demand.yaml', 'demand:\n  - { id: job, count: 5, resources: { cpu: 2 } }\n');

const hostsOf = (dataDir: string) => findHostProcesses(dataDir).filter(({ isHost }) => isHost);

const readyCount = async (up: UpProcess): Promise<number> =>
  (await up.call<{ totalCount?: number }>('ListSlices', { statuses: ['ready'] })).totalCount ?? 0;

describe('bellows up', () => {
  test('without arguments: machines come, survive kill -9 of it, and go', async () => {
    const dataDir = useDataDir();
    const first = await UpProcess.start(dataDir);
    expect(first.stdout).toMatch(/^Bellows runs the fleet local\.\n {2}listens on {2}http/);
    expect(first.stdout).toContain(dataDir);
    const server = ['--server', await first.url()];
    const pushed = bellows(['demand', 'push', demandFile(), ...server]);
    expect([pushed.exit, pushed.stderr]).toEqual([0, '']);
    await until('three slices are ready', async () => (await readyCount(first)) === 3);
    const before = hostsOf(dataDir).map(({ pid }) => pid);
    expect(before).toHaveLength(3);
    const why = bellows(['why', 'job/0', ...server]);
    expect(why.exit).toBe(0);
    expect(why.stdout).toContain('job/0');
    expect(bellows(['status', ...server]).stdout).toContain('local');

    await first.kill();
    expect(hostsOf(dataDir).map(({ pid }) => pid)).toEqual(before);
    const second = await UpProcess.start(dataDir);
    const again = ['--server', await second.url()];
    await until('they are ready again', async () => (await readyCount(second)) === 3);
    expect(hostsOf(dataDir).map(({ pid }) => pid)).toEqual(before);
    expect(bellows(['demand', 'clear', ...again]).exit).toBe(0);
    const id = await until('a slice', async () => {
      const { slices = [] } = await second.call<{ slices?: { id: string }[] }>('ListSlices', {});
      return slices[0]?.id;
    });
    expect(bellows(['drain', id, '--reason', 'test', ...again]).exit).toBe(0);
    await until('its process is gone', () => hostsOf(dataDir).length === 2);
    second.signal('SIGTERM');
    expect(await second.ended()).toBe(0);
    // What runs, runs on.
    expect(hostsOf(dataDir)).toHaveLength(2);
  });

  test('with --dry-run decides and launches nothing', async () => {
    const dataDir = useDataDir();
    const up = await UpProcess.start(dataDir, '--dry-run');
    const entries = [{ id: 'a', single: { resources: { cpu: 2 } } }];
    await up.call('PushDemand', { source: 's', generation: 1, entries });
    type Status = { status: { mode: string; routing?: { launch?: { slices: number }[] } } };
    const { status } = await until('it is decided', async () => {
      const answer = await up.call<Status>('GetAutoscalerStatus', {});
      return (answer.status.routing?.launch ?? []).length > 0 ? answer : null;
    });
    expect(status).toMatchObject({ mode: 'advisory', routing: { launch: [{ slices: 1 }] } });
    expect(hostsOf(dataDir)).toEqual([]);
  });

  test('runs several fleets, each with its own database', async () => {
    const dataDir = useDataDir();
    const fleet = (name: string): string =>
      file(
        `${name}.yaml`,
        `fleet: ${name}\ngroups: [{ name: g, host: { cpu: 1 }, max: 1, pricePerHour: 0 }]\n`,
      );
    const up = await UpProcess.start(dataDir, '-c', fleet('red'), '-c', fleet('blue'));
    const { fleets } = await up.call<{ fleets: { name: string }[] }>('ListFleets', {});
    expect(fleets.map(({ name }) => name).sort()).toEqual(['blue', 'red']);
    await expect(up.call('GetAutoscalerStatus', {})).rejects.toThrow(/set fleet to one of/);
    const asked = { fleet: 'red' };
    const { status } = await up.call<{ status: object }>('GetAutoscalerStatus', asked);
    expect(status).toMatchObject(asked);
  });
});

describe('a reload', () => {
  const groups = (max: number): string =>
    `fleet: f\nloop: { evaluationInterval: 1s, reconcileInterval: 5s }\ngroups:\n  - { name: g, host: { cpu: 1 }, min: ${max}, max: ${max}, pricePerHour: 3 }\n`;

  test('says what changes, in slices and money, and does it', async () => {
    const dataDir = useDataDir();
    const config = file('reload.yaml', groups(1));
    const up = await UpProcess.start(dataDir, '-c', config);
    type Status = { status: { routing?: { launch?: object[] } } };
    await until('one host, and nothing more to do', async () => {
      const { status } = await up.call<Status>('GetAutoscalerStatus', {});
      const isDone = status.routing !== undefined && (status.routing.launch ?? []).length === 0;
      return isDone && hostsOf(dataDir).length === 1;
    });
    writeFileSync(config, groups(2));
    up.signal('SIGHUP');
    await until('another', () => hostsOf(dataDir).length === 2);
    expect(up.said('config-change').map(({ what }) => what)).toEqual([
      'group g: min: 1 -> 2',
      'group g: max: 1 -> 2',
    ]);
    expect(up.said('config-reloaded')[0]).toMatchObject({
      launches: '0 -> 1',
      perHour: '$3.00 -> $6.00',
    });
  });

  test('of a bad file, or of what only a start reads, is refused; the old one runs on', async () => {
    const dataDir = useDataDir();
    const config = file('bad.yaml', groups(1));
    const up = await UpProcess.start(dataDir, '-c', config);
    const server = ['--server', await up.url()];
    writeFileSync(config, groups(1).replace('max: 1', 'max: -4'));
    up.signal('SIGHUP');
    await until('it is refused', () => up.said('config-refused')[0]);
    expect(up.said('config-refused')[0]).toMatchObject({ path: 'groups[0].max', line: 4 });
    writeFileSync(config, `${groups(1)}server: { listen: "127.0.0.1:1" }\n`);
    const refused = bellows(['reload', ...server]);
    expect(refused.exit).not.toBe(0);
    expect(refused.stderr).toContain('server is read at the start only');
    writeFileSync(config, groups(3));
    const preview = bellows(['reload', '--dry-run', ...server]);
    expect(preview.stdout).toContain('group g: max: 1 -> 3');
    expect((await up.call<{ fleets: object[] }>('ListFleets', {})).fleets).toHaveLength(1);
  });
});

test('what it cannot go on from ends the process, so that it can be started again', async () => {
  const dataDir = useDataDir();
  const first = await UpProcess.start(dataDir);
  await until('it leads', () => first.said('leading')[0]);
  first.signal('SIGTERM');
  expect(await first.ended()).toBe(0);
  const db = new Libsql(join(dataDir, 'local.db'));
  db.exec("UPDATE document SET text = 'no JSON' WHERE id = 'marks'");
  db.close();
  const second = UpProcess.run('--data', dataDir, '--listen', '127.0.0.1:0');
  expect(await second.ended()).toBe(70);
  expect(second.stderr).toContain('it cannot go on: the fleet marks in the store is not JSON');
});

describe('what keeps it from starting', () => {
  const start = (dataDir: string, ...args: readonly string[]): UpProcess =>
    UpProcess.run('--data', dataDir, ...args);

  test('a port that is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void other.close());
    const port = await until('it listens', () => {
      const address = other.address();
      return typeof address === 'object' ? address?.port : null;
    });
    const up = start(useDataDir(), '--listen', `127.0.0.1:${port}`);
    expect(await up.ended()).toBe(1);
    expect(up.stderr).toMatch(new RegExp(`127\\.0\\.0\\.1:${port}.*in use`));
  });

  test('another one on the same data', async () => {
    const dataDir = useDataDir();
    await UpProcess.start(dataDir);
    const up = start(dataDir, '--listen', '127.0.0.1:0');
    expect(await up.ended()).toBe(1);
    expect(up.stderr).toMatch(/local\.db is in use by bellows up .* stop that one/);
  });

  // prettier-ignore: a table is read by column
  test.each([
    [
      'a data directory that cannot be',
      ['--data', '/dev/null/bellows'],
      1,
      /data directory .* cannot be written/,
    ],
    ['an address that is none', ['--listen', 'nowhere'], 1, /nowhere/],
    ['an open address without tokens', ['--listen', '0.0.0.0:0'], 1, /bellows token create/],
    ['a configuration that is not there', ['-c', '/nowhere.yaml'], 2, /\/nowhere\.yaml/],
  ] as const)('%s', async (_name, args, exit, words) => {
    const up = start(useDataDir(), ...args);
    expect(await up.ended()).toBe(exit);
    expect(up.stderr).toMatch(words);
    expect(up.stderr).not.toContain('    at ');
  });

  test('a database that is damaged', async () => {
    const dataDir = useDataDir();
    writeFileSync(join(dataDir, 'local.db'), 'no database, not at all, '.repeat(400));
    const up = start(dataDir, '--listen', '127.0.0.1:0');
    expect(await up.ended()).toBe(1);
    expect(up.stderr).toContain(join(dataDir, 'local.db'));
    expect(up.stderr).not.toContain('    at ');
  });
});
