import { expect, test } from 'vitest';
import type { ListSlicesRequest } from '../../api/gen/bellows/v1/autoscaler_pb.ts';
import { aSlice, inSeconds } from '../../../test/wire-messages.ts';
import { type Routes, runAgainst } from '../../../test/wire-server.ts';
import { sliceStatuses } from '../../model/slice.ts';
import { runSlices } from './slices.ts';

/** So many slices in pages as asked for; keeps what was asked. */
function serving(count: number): { readonly routes: Routes; readonly asked: ListSlicesRequest[] } {
  const asked: ListSlicesRequest[] = [];
  const routes: Routes = {
    listSlices: (request) => {
      asked.push(request);
      const { pageToken, pageSize, sliceIds } = request;
      if (sliceIds.length > 0) {
        const history = [{ at: inSeconds(-60), event: 'planned', status: 'queued' }];
        const found = sliceIds.filter((id) => id === 's-1').map((id) => aSlice({ id, history }));
        return { slices: found, totalCount: found.length };
      }
      const first = Number(pageToken);
      const end = Math.min(count, first + pageSize);
      const slices = Array.from({ length: end - first }, (_, n) =>
        aSlice({ id: `s-${first + n}` }),
      );
      return { slices, nextPageToken: end < count ? String(end) : '', totalCount: count };
    },
  };
  return { routes, asked };
}

test('all pages make one table', async () => {
  const { routes, asked } = serving(2_500);
  const run = await runAgainst(routes, (options, around) => runSlices(undefined, options, around));
  expect([run.exit, run.stderr, asked.length]).toEqual([0, '', 3]);
  expect(run.stdout.split('\n')).toHaveLength(2_502);
});

test('beyond 10,000 rows it stops and says so', async () => {
  const { routes, asked } = serving(12_345);
  const run = await runAgainst(routes, (options, around) =>
    runSlices(undefined, { ...options, json: true }, around),
  );
  expect(asked).toHaveLength(10);
  expect(JSON.parse(run.stdout)).toMatchObject({ totalCount: 12_345, nextPageToken: '10000' });
  expect(run.stderr).toBe('10,000 slices of 12345 shown; --group and --status narrow it down\n');
});

test('filters go along', async () => {
  const { routes, asked } = serving(0);
  const filters = { group: 'h100', status: ['booting', 'ready,draining'], history: true };
  const run = await runAgainst(routes, (options, around) =>
    runSlices(undefined, { ...options, ...filters }, around),
  );
  expect(run.stdout).toBe('no such slices\n');
  expect(asked[0]).toMatchObject({
    group: 'h100',
    statuses: ['booting', 'ready', 'draining'],
    withHistory: true,
  });
});

test('--all asks for those that ended, too', async () => {
  const { routes, asked } = serving(0);
  const run = await runAgainst(routes, (options, around) =>
    runSlices(undefined, { ...options, all: true }, around),
  );
  expect([run.stdout, asked[0]?.statuses]).toEqual(['no slices\n', [...sliceStatuses]]);
});

test('one slice is shown with its history', async () => {
  const { routes, asked } = serving(0);
  const run = await runAgainst(routes, (options, around) => runSlices('s-1', options, around));
  expect(run.stdout).toMatch(/^SLICE {2}s-1\n/);
  expect(run.stdout).toContain('HISTORY  1 step\n');
  expect(asked[0]).toMatchObject({ sliceIds: ['s-1'], withHistory: true });
});

test.each([
  [
    'a slice nobody knows',
    's-9',
    {},
    1,
    'no slice "s-9"; `bellows slices --all` lists those there and those that ended lately\n',
  ],
  [
    'a status that is none',
    undefined,
    { status: ['redy'] },
    2,
    '--status: "redy" is not known; did you mean ready?\n',
  ],
])('%s', async (_name, id, over, exit, stderr) => {
  const { routes } = serving(0);
  const run = await runAgainst(routes, (options, around) =>
    runSlices(id, { ...options, ...over }, around),
  );
  expect(run).toEqual({ exit, stdout: '', stderr });
});
