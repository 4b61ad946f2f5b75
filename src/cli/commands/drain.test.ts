import { Code, ConnectError } from '@connectrpc/connect';
import { expect, test } from 'vitest';
import type { DrainSliceRequest } from '../../api/gen/bellows/v1/autoscaler_pb.ts';
import { aSlice, inSeconds } from '../../../test/wire-messages.ts';
import {
  aPlace,
  eventually,
  openWireServer,
  type Routes,
  runAgainst,
} from '../../../test/wire-server.ts';
import { runDrain } from './drain.ts';

/** A slice that is one step further each time somebody looks; the last step stays. */
function serving(steps: readonly (Parameters<typeof aSlice>[0] | null)[]) {
  const asked: DrainSliceRequest[] = [];
  let looks = 0;
  const routes: Routes = {
    drainSlice: (request) => {
      asked.push(request);
      return { status: 'draining' };
    },
    listSlices: () => {
      const step = steps[Math.min(looks++, steps.length - 1)];
      return { slices: step === null ? [] : [aSlice({ id: 's-1', ...step })] };
    },
  };
  return { routes, asked };
}

const draining = {
  status: 'draining',
  statusSince: inSeconds(0),
  drainDeadline: inSeconds(600),
  verdict: { kind: 'draining', text: 'draining: ana asked for it: bad disk' },
};
const ended = { status: 'terminated', statusSince: inSeconds(5), verdict: undefined };

test('who asks, why and until when go along', async () => {
  const { routes, asked } = serving([]);
  const run = await runAgainst(routes, (options, around) =>
    runDrain('s-1', { ...options, reason: ' bad disk ', deadline: '90500ms' }, around),
  );
  expect(run).toEqual({
    exit: 0,
    stdout: 'slice s-1 is draining\nsee how it goes: bellows why s-1, or drain it with --wait\n',
    stderr: '',
  });
  expect(asked).toMatchObject([
    {
      sliceId: 's-1',
      reason: 'bad disk',
      author: 'ana',
      deadline: { seconds: 90n, nanos: 500_000_000 },
    },
  ]);
});

test('--wait follows it to its end, each step once', async () => {
  const { routes } = serving([draining, draining, { ...draining, hosts: [] }, ended]);
  const run = await runAgainst(routes, (options, around) =>
    runDrain('s-1', { ...options, reason: 'bad disk', wait: true }, around),
  );
  expect([run.exit, run.stdout]).toEqual([
    0,
    'slice s-1 is draining\n' +
      '09:14:07  draining  draining: ana asked for it: bad disk; 1 of 1 hosts busy; work may run until 09:24:07\n' +
      '09:14:07  draining  draining: ana asked for it: bad disk; 0 of 0 hosts busy; work may run until 09:24:07\n' +
      '09:14:12  terminated\n',
  ]);
});

test('--wait with --json prints how it ended, also of a slice that is forgotten by then', async () => {
  const { routes } = serving([draining, null]);
  const run = await runAgainst(routes, (options, around) =>
    runDrain('s-1', { ...options, reason: 'bad disk', wait: true, json: true }, around),
  );
  expect(JSON.parse(run.stdout)).toEqual({ status: 'terminated' });
});

test('a slice that stays after all fails the wait', async () => {
  const stays = { status: 'ready', verdict: { kind: 'busy', text: 'work runs on it' } };
  const run = await runAgainst(serving([stays]).routes, (options, around) =>
    runDrain('s-1', { ...options, reason: 'bad disk', wait: true }, around),
  );
  expect([run.exit, run.stderr]).toEqual([1, 'slice s-1 stays: work runs on it\n']);
});

test('Ctrl-C ends the wait, not the drain', async () => {
  const server = await openWireServer(serving([draining]).routes);
  const { around, printed, interrupt } = aPlace();
  const options = { server: server.url, reason: 'bad disk', wait: true };
  const running = runDrain('s-1', options, around);
  await eventually(() => printed.stdout.includes('work may run'), 'a step');
  interrupt.abort();
  expect(await running).toBe(130);
  await server.close();
  expect(printed.stderr).toBe('the drain goes on without you\n');
});

test.each([
  ['no reason', {}, 2, '--reason is missing; say why, for those who ask later\n'],
  [
    'a deadline without unit',
    { reason: 'x', deadline: '10' },
    2,
    '--deadline: "10" has no unit; write 10s for seconds or 10ms for milliseconds\n',
  ],
  ['an unknown slice', { reason: 'x' }, 1, 'no slice s-1; did you mean s-2?\n'],
])('%s', async (_name, over, exit, stderr) => {
  const routes: Routes = {
    drainSlice: () => {
      throw new ConnectError('no slice s-1; did you mean s-2?', Code.NotFound);
    },
  };
  const run = await runAgainst(routes, (options, around) =>
    runDrain('s-1', { ...options, ...over }, around),
  );
  expect(run).toEqual({ exit, stdout: '', stderr });
});
