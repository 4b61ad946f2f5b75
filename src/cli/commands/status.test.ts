import { Code, ConnectError } from '@connectrpc/connect';
import { expect, test } from 'vitest';
import { aStatus } from '../../../test/wire-messages.ts';
import {
  aPlace,
  eventually,
  openWireServer,
  type Routes,
  runAgainst,
} from '../../../test/wire-server.ts';
import { runStatus } from './status.ts';

test('the fleet that is asked for is shown', async () => {
  const asked: string[] = [];
  const routes: Routes = {
    getAutoscalerStatus: ({ fleet }) => {
      asked.push(fleet);
      return { status: aStatus() };
    },
  };
  const run = await runAgainst(routes, (options, around) =>
    runStatus({ ...options, fleet: 'research' }, around),
  );
  expect([run.exit, run.stderr, asked]).toEqual([0, '', ['research']]);
  expect(run.stdout).toMatch(/^FLEET {3}research {2}leading, active/);
  expect(run.stdout).toContain('launches for demand 9\n'); // not cut: no terminal
});

test('as JSON, zeros and empty lists are there', async () => {
  const routes: Routes = { getAutoscalerStatus: () => ({ status: aStatus() }) };
  const { stdout } = await runAgainst(routes, (options, around) =>
    runStatus({ ...options, json: true }, around),
  );
  const parsed: unknown = JSON.parse(stdout);
  expect(parsed).toMatchObject({
    status: {
      fleet: 'research',
      tick: '1284',
      decidedAt: '2026-11-15T09:14:03Z',
      floors: [],
      groups: [{ name: 'cpu-16' }, { launch: 0, assignedEntries: '0' }, {}],
    },
  });
});

test('no status yet is said, not shown', async () => {
  const run = await runAgainst({ getAutoscalerStatus: () => ({}) }, runStatus);
  expect(run).toEqual({
    exit: 1,
    stdout: '',
    stderr: 'the server has no status yet; ask again in a moment\n',
  });
});

/** Gives these updates, then says nothing more until the watcher goes. */
function watching(updates: readonly { status?: ReturnType<typeof aStatus> }[]): Routes {
  return {
    async *watchStatus(_request, { signal }) {
      yield* updates;
      if (!signal.aborted) {
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
      }
    },
  };
}

test('watched without a terminal: one line for each change, Ctrl-C ends it well', async () => {
  const later = aStatus({ tick: 1_285n });
  const changed = aStatus({ troubles: [] });
  const server = await openWireServer(
    watching([{ status: aStatus() }, { status: later }, {}, { status: changed }]),
  );
  const { around, printed, interrupt } = aPlace();
  const running = runStatus({ server: server.url, watch: true }, around);
  await eventually(() => printed.stdout.split('\n').length === 3, 'two lines');
  interrupt.abort();
  expect(await running).toBe(0);
  await server.close();
  expect(printed.stdout).toBe(
    '09:14:03  13 ready, 3 coming, 1 leaving; 421 placed, 9 wait; $108.50/h; 1 paused; 1 in trouble\n' +
      '09:14:03  13 ready, 3 coming, 1 leaving; 421 placed, 9 wait; $108.50/h; 1 paused\n',
  );
  expect(printed.stderr).toBe('');
});

test('watched as JSON: a document on each line', async () => {
  const server = await openWireServer(watching([{ status: aStatus() }, {}, { status: aStatus() }]));
  const { around, printed, interrupt } = aPlace();
  const running = runStatus({ server: server.url, watch: true, json: true }, around);
  await eventually(() => printed.stdout.split('\n').length === 3, 'two documents');
  interrupt.abort();
  expect(await running).toBe(0);
  await server.close();
  const [line = ''] = printed.stdout.split('\n');
  expect(JSON.parse(line)).toMatchObject({ status: { fleet: 'research' } });
});

test('watched on a terminal: drawn over itself, within its rows', async () => {
  const server = await openWireServer(watching([{ status: aStatus() }]));
  const { around, printed, interrupt } = aPlace({ screen: { columns: 80, rows: 10 } });
  const running = runStatus({ server: server.url, watch: true }, around);
  await eventually(() => printed.stdout.includes('FLEET'), 'a screen');
  interrupt.abort();
  expect(await running).toBe(0);
  await server.close();
  const [first = ''] = printed.stdout.split('\u001B[J');
  expect(first.startsWith('\u001B[2J\u001B[?7l\u001B[HFLEET')).toBe(true);
  expect(first.split('\n')).toHaveLength(10);
});

test('a server that goes away and comes back is waited for, with a message each', async () => {
  const first = await openWireServer(watching([{ status: aStatus() }]));
  const { around, printed, interrupt } = aPlace();
  const running = runStatus({ server: first.url, watch: true }, around);
  await eventually(() => printed.stdout !== '', 'the first line');
  await first.close();
  await eventually(() => printed.stderr.includes('is away'), 'word that it is gone');
  const second = await openWireServer(watching([{ status: aStatus({ troubles: [] }) }]), {
    port: first.port,
  });
  await eventually(() => printed.stdout.split('\n').length === 3, 'the second line');
  interrupt.abort();
  expect(await running).toBe(0);
  await second.close();
  expect(printed.stderr).toBe(
    `${first.url} is away\ntrying again every second; Ctrl-C ends it\n${first.url} answers again\n`,
  );
});

test('a watch that never begins, or is refused later, ends with the reason', async () => {
  const gone = await openWireServer({});
  await gone.close();
  const { around, printed } = aPlace();
  expect(await runStatus({ server: gone.url, watch: true }, around)).toBe(1);
  expect(printed.stderr).toMatch(/^nothing listens on/);

  let calls = 0;
  const routes: Routes = {
    async *watchStatus() {
      calls++;
      if (calls > 1) throw new ConnectError('the token has expired', Code.Unauthenticated);
      yield { status: aStatus() };
    },
  };
  const run = await runAgainst(routes, (options, place) =>
    runStatus({ ...options, watch: true }, place),
  );
  expect([run.exit, calls]).toEqual([1, 2]);
  expect(run.stderr).toContain('the token has expired');
});

test('a stream that stays silent from the start is given up', async () => {
  const run = await runAgainst(watching([]), (options, place) =>
    runStatus({ ...options, watch: true, timeout: '200ms' }, place),
  );
  expect([run.exit, run.stderr]).toEqual([
    1,
    'http://server gave no answer within 200ms; --timeout 1m waits longer\n',
  ]);
});
