import { Code, ConnectError } from '@connectrpc/connect';
import { expect, test } from 'vitest';
import { type Routes, runAgainst } from '../../../test/wire-server.ts';
import { runWhy } from './why.ts';

const routes: Routes = {
  explain: ({ subject }) => {
    if (subject !== 'h100') throw new ConnectError(`nothing is called ${subject}`, Code.NotFound);
    return { kind: 'group', subject, summary: 'h100 launches nothing: it is at max.' };
  },
};

test('the reason is shown', async () => {
  const run = await runAgainst(routes, (options, around) => runWhy('h100', options, around));
  expect(run).toEqual({
    exit: 0,
    stdout: 'GROUP  h100\n  h100 launches nothing: it is at max.\n',
    stderr: '',
  });
});

test('as JSON it is the whole answer', async () => {
  const { stdout } = await runAgainst(routes, (options, around) =>
    runWhy('h100', { ...options, json: true }, around),
  );
  expect(JSON.parse(stdout)).toMatchObject({ kind: 'group', chain: [], remedy: '' });
});

test('a name that nothing has', async () => {
  const run = await runAgainst(routes, (options, around) => runWhy('h200', options, around));
  expect(run).toEqual({ exit: 1, stdout: '', stderr: 'nothing is called h200\n' });
});
