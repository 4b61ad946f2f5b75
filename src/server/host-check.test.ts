import type { IncomingHttpHeaders } from 'node:http';
import { describe, expect, test } from 'vitest';
import { ask, openBench } from '../../test/shell-bench.ts';
import { HostCheck } from './host-check.ts';

const check = new HostCheck({
  scheme: 'http',
  port: () => 7070,
  listenHost: '127.0.0.1',
  allowedHosts: ['Bellows.example', 'proxy.example:8443', 'https://front.example'],
});
const judge = (headers: IncomingHttpHeaders, isRead = false): string =>
  check.judge(headers, { localAddress: '10.0.0.5', isRead }).kind;

// prettier-ignore: a table is read by column
test.each([
  ['localhost:7070', 'admitted'],
  ['LOCALHOST:7070', 'admitted'],
  ['localhost', 'admitted'],
  ['localhost:80', 'admitted'],
  ['127.0.0.1:7070', 'admitted'],
  ['[::1]:7070', 'admitted'],
  ['[0:0:0:0:0:0:0:1]:7070', 'admitted'],
  ['10.0.0.5:7070', 'admitted'],
  ['bellows.example', 'admitted'],
  ['bellows.example:7070', 'admitted'],
  ['proxy.example:8443', 'admitted'],
  ['front.example', 'admitted'],
  ['proxy.example', 'refused'],
  ['localhost:9000', 'refused'],
  ['localhost:443', 'refused'],
  ['10.0.0.6:7070', 'refused'],
  ['evil.example:7070', 'refused'],
  ['localhost.evil.example', 'refused'],
  ['localhost.', 'refused'],
  ['user@localhost:7070', 'refused'],
  ['localhost:7070, evil', 'refused'],
  ['localhost:70700000', 'refused'],
  ['', 'refused'],
  [undefined, 'refused'],
])('Host %s is %s', (host, kind) => {
  expect(judge(host === undefined ? {} : { host })).toBe(kind);
});

test(':authority counts before Host', () => {
  expect(judge({ ':authority': 'evil.example', host: 'localhost' })).toBe('refused');
});

const host = 'localhost:7070';
// prettier-ignore: a table is read by column
test.each([
  [
    'its own page',
    { origin: 'http://localhost:7070', 'sec-fetch-site': 'same-origin' },
    'admitted',
  ],
  ['another scheme', { origin: 'https://localhost:7070' }, 'refused'],
  ['another port', { origin: 'http://localhost:3000', 'sec-fetch-site': 'same-site' }, 'refused'],
  ['the usual port', { origin: 'http://localhost' }, 'refused'],
  ['another name of ours', { origin: 'http://127.0.0.1:7070' }, 'refused'],
  ['a listed origin', { origin: 'https://front.example' }, 'admitted'],
  ['a listed name, no scheme', { origin: 'https://bellows.example' }, 'refused'],
  ['a listed origin in clear', { origin: 'http://front.example' }, 'refused'],
  ['a foreign page', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }, 'refused'],
  ['a page without origin', { origin: 'null' }, 'refused'],
  ['nonsense', { origin: 'localhost:7070' }, 'refused'],
  ['an empty origin', { origin: '' }, 'refused'],
  ['a foreign site, hidden', { 'sec-fetch-site': 'cross-site' }, 'refused'],
  ['no page at all', {}, 'admitted'],
  ['somebody typed it', { 'sec-fetch-site': 'none' }, 'admitted'],
])('a request of %s is %s', (_name, headers, kind) => {
  expect(judge({ host, ...headers })).toBe(kind);
});

test('a link from elsewhere may be followed, not posted', () => {
  const headers = { host, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' };
  expect([judge(headers, true), judge(headers, false)]).toEqual(['admitted', 'refused']);
});

describe('on the wire', () => {
  // prettier-ignore: a table is read by column
  test.each([
    ['a name that resolves here', { host: 'evil.example' }, 'add it to server.allowedHosts'],
    ['a foreign page', { origin: 'http://evil.example' }, 'may not call this server'],
  ])('%s gets 403 and no answer to share', async (_name, headers, message) => {
    const { server, audit } = await openBench();
    const answer = await ask(server, 'PushDemand', { headers });
    expect(answer).toMatchObject({ status: 403, code: 'permission_denied' });
    expect(answer.message).toContain(message);
    expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual(
      [],
    );
    expect(audit).toMatchObject([{ rpc: 'PushDemand', outcome: 'permission_denied', who: '' }]);
  });

  test('a preflight is not granted', async () => {
    const { server } = await openBench();
    const headers = { origin: `http://localhost:${server.port}`, host: `localhost:${server.port}` };
    const answer = await ask(server, 'PushDemand', { method: 'OPTIONS', headers });
    expect(answer.status).toBe(405);
    expect(answer.headers).not.toHaveProperty('access-control-allow-origin');
  });
});
