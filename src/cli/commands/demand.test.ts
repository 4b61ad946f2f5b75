import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Code, ConnectError } from '@connectrpc/connect';
import { afterAll, expect, test } from 'vitest';
import type {
  PushDemandRequest,
  RequestResourcesRequest,
} from '../../api/gen/bellows/v1/demand_pb.ts';
import { aStatus, inSeconds } from '../../../test/wire-messages.ts';
import { NOW_MS, type Routes, runAgainst } from '../../../test/wire-server.ts';
import { runDemandClear, runDemandList, runDemandPush } from './demand.ts';

const folder = mkdtempSync(join(tmpdir(), 'bellows-demand-'));
afterAll(() => rmSync(folder, { recursive: true }));

function write(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

function serving() {
  const pushes: PushDemandRequest[] = [];
  const floors: RequestResourcesRequest[] = [];
  const routes: Routes = {
    pushDemand: (request) => {
      pushes.push(request);
      const entryCount = pushes.reduce((sum, { entries }) => sum + BigInt(entries.length), 0n);
      const { generation, more } = request;
      return { durable: !more, generation, entryCount, expiresAt: inSeconds(3_600) };
    },
    requestResources: (request) => {
      floors.push(request);
      return request.count === 0 ? {} : { expiresAt: inSeconds(3_600) };
    },
  };
  return { routes, pushes, floors };
}

const small = write(
  'small.yaml',
  `demand:
  - { id: tokenize, count: 3, resources: { cpu: 0.5, memory: 2GiB }, age: 10s, owner: data }
  - { id: train, gang: 2, device: { type: gpu, variant: H100 }, resources: { gpu: 8 }, priority: 10 }
floors:
  - { id: notebooks, count: 4, resources: { cpu: 16 } }
`,
);

test('entries and floors are pushed, and what to ask next is said', async () => {
  const { routes, pushes, floors } = serving();
  const run = await runAgainst(routes, (options, around) => runDemandPush(small, options, around));
  expect(run).toEqual({
    exit: 0,
    stdout:
      `acknowledged: 2 entries are pending from source cli (generation ${NOW_MS})\n` +
      'forgotten at 10:14:07 (in 1h) unless pushed again; --for sets how long\n' +
      'floor notebooks: 4 copies held until 10:14:07 (in 1h)\n' +
      'next: bellows status, or bellows why tokenize/0\n',
    stderr: '',
  });
  expect(pushes).toMatchObject([
    {
      source: 'cli',
      generation: BigInt(NOW_MS),
      page: 0,
      more: false,
      ttl: { seconds: 3_600n },
      entries: [
        {
          id: 'tokenize',
          count: 3,
          owner: 'data',
          submittedAt: inSeconds(-10),
          form: { case: 'single', value: { resources: { cpu: 0.5, memory: 2 ** 31 } } },
        },
        {
          id: 'train',
          priority: 10,
          form: { case: 'gang', value: { taskCount: 2, ask: { device: { variants: ['H100'] } } } },
        },
      ],
    },
  ]);
  // Without an age the server keeps the time of the first push.
  expect(pushes[0]?.entries[1]?.submittedAt).toBeUndefined();
  expect(floors).toMatchObject([{ id: 'notebooks', count: 4, ask: { resources: { cpu: 16 } } }]);
});

test('5,000 entries go in three pages of one generation', async () => {
  const rows = Array.from({ length: 5_000 }, (_, n) => ({ id: `t-${n}`, resources: { cpu: 1 } }));
  const path = write('large.json', JSON.stringify(rows));
  const { routes, pushes } = serving();
  const over = { source: 'slurm', generation: '42', for: '5m', json: true };
  const run = await runAgainst(routes, (options, around) =>
    runDemandPush(path, { ...options, ...over }, around),
  );
  expect(JSON.parse(run.stdout)).toMatchObject({
    push: { durable: true, generation: '42', entryCount: '5000' },
    floors: [],
  });
  expect(pushes.map(({ page, more, entries }) => [page, more, entries.length])).toEqual([
    [0, true, 2_000],
    [1, true, 2_000],
    [2, false, 1_000],
  ]);
  expect(pushes[2]).toMatchObject({ source: 'slurm', generation: 42n, ttl: { seconds: 300n } });
});

test('a file of floors alone leaves the work as it is', async () => {
  const path = write('floors.yaml', 'floors: [{ id: f, resources: { cpu: 1 } }]');
  const { routes, pushes, floors } = serving();
  const run = await runAgainst(routes, (options, around) => runDemandPush(path, options, around));
  expect([pushes.length, floors.length]).toEqual([0, 1]);
  expect(run.stdout).toBe('floor f: 1 copy held until 10:14:07 (in 1h)\nnext: bellows status\n');
});

test.each([
  [
    'a mistake in the file',
    'demand: [{ id: a, resources: { cpu: x } }]',
    {},
    'bad.yaml:1:37 demand[0].resources.cpu: "x" is not a quantity of cpu; write a number such as 4, 0.5 or 500m\n',
  ],
  [
    'a generation that is none',
    '[]',
    { generation: 'soon' },
    '--generation: "soon" is none; write a whole number from 0 to 9007199254740991, above the last one\n',
  ],
  [
    'a time that is too long',
    '[]',
    { for: '8d' },
    '--for: 8d is outside 10s to 7d; write one within\n',
  ],
])('%s is refused before anything is sent', async (_name, text, over, stderr) => {
  const path = write('bad.yaml', text);
  const { routes, pushes } = serving();
  const run = await runAgainst(routes, (options, around) =>
    runDemandPush(path, { ...options, ...over }, around),
  );
  expect([run.exit, run.stderr.replaceAll(`${folder}/`, ''), pushes]).toEqual([2, stderr, []]);
});

test('a file that is not there', async () => {
  const run = await runAgainst({}, (options, around) =>
    runDemandPush(join(folder, 'none.yaml'), options, around),
  );
  expect([run.exit, run.stderr]).toEqual([
    2,
    `${folder}/none.yaml: there is no such file; check the path\n`,
  ]);
});

test("the server's word on a generation is passed on", async () => {
  const routes: Routes = {
    pushDemand: () => {
      throw new ConnectError(
        'generation 41 is current; push a higher one',
        Code.FailedPrecondition,
      );
    },
  };
  const run = await runAgainst(routes, (options, around) =>
    runDemandPush(small, { ...options, generation: '3' }, around),
  );
  expect(run).toEqual({
    exit: 1,
    stdout: '',
    stderr: 'generation 41 is current; push a higher one\n',
  });
});

test('clearing pushes nothing, or drops a floor', async () => {
  const { routes, pushes, floors } = serving();
  const cleared = await runAgainst(routes, (options, around) => runDemandClear(options, around));
  expect(cleared.stdout).toMatch(/^nothing of source cli is pending any more;/);
  expect(pushes).toMatchObject([{ source: 'cli', entries: [], more: false }]);
  const dropped = await runAgainst(routes, (options, around) =>
    runDemandClear({ ...options, floor: 'notebooks' }, around),
  );
  expect(dropped.stdout).toBe('floor notebooks is dropped\n');
  expect([floors[0]?.id, floors[0]?.count, pushes.length]).toEqual(['notebooks', 0, 1]);
});

test('who has told of what', async () => {
  const floors = [{ id: 'notebooks', text: 'cpu 16', count: 4n, held: 3n, until: inSeconds(60) }];
  const routes: Routes = { getAutoscalerStatus: () => ({ status: aStatus({ floors }) }) };
  const list = (over: object) =>
    runAgainst(routes, (options, around) => runDemandList({ ...options, ...over }, around));
  expect((await list({})).stdout).toBe(
    '  source  entries  generation  forgotten unless refreshed\n' +
      '  slurm       430          41  09:18:19 (in 4m12s)\n' +
      '\nFLOORS\n  notebooks  3 of 4 held  cpu 16  until 09:15:07 (in 1m)\n',
  );
  expect((await list({ source: 'ray' })).stdout).toBe(
    'no demand of source ray; bellows demand push FILE tells of some\n',
  );
  expect(JSON.parse((await list({ json: true })).stdout)).toMatchObject({
    sources: [{ source: 'slurm', generation: '41', entryCount: '430' }],
    floors: [{ id: 'notebooks', held: '3' }],
  });
});
