import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { describe, expect, test } from 'vitest';
import { ask, askHttp2, type Bench, eventually, openBench } from '../../test/shell-bench.ts';
import { AutoscalerService } from '../api/gen/bellows/v1/autoscaler_pb.ts';
import { type EpochMs, epochMs } from '../model/ids.ts';
import type { Role } from './caller.ts';

const bearer = (secret: string): Record<string, string> => ({ authorization: `Bearer ${secret}` });

async function createToken(
  bench: Bench,
  name: string,
  role: Role,
  expiresAtMs: EpochMs | null = null,
) {
  const outcome = await bench.tokens.create({ name, role, expiresAtMs }, epochMs(Date.now()));
  if (outcome.kind !== 'created') throw new Error(outcome.message);
  return outcome.secret;
}

describe('who calls', () => {
  test('on loopback nobody needs a token, but one that is sent is checked', async () => {
    const bench = await openBench();
    const secret = await createToken(bench, 'ci', 'viewer');
    expect((await ask(bench.server, 'ListFleets')).body).toContain('"version":"local"');
    const named = await ask(bench.server, 'ListFleets', { headers: bearer(secret) });
    expect(named.body).toContain('"version":"ci"');
    const wrong = await ask(bench.server, 'ListFleets', { headers: bearer(`${secret}x`) });
    expect(wrong).toMatchObject({ status: 401, code: 'unauthenticated' });
    expect(wrong.headers).toHaveProperty('www-authenticate');
  });

  test('missing, wrong, malformed and revoked tokens get the same words', async () => {
    const bench = await openBench({ requireTokens: true });
    const secret = await createToken(bench, 'ci', 'admin');
    const revoked = await createToken(bench, 'old', 'admin');
    await bench.tokens.revoke('old');
    const answers = await Promise.all(
      [
        {},
        bearer(`blw_${'a'.repeat(43)}`),
        bearer(revoked),
        { authorization: `Basic ${secret}` },
        { authorization: secret },
      ].map((headers) => ask(bench.server, 'PushDemand', { headers })),
    );
    expect(new Set(answers.map((answer) => answer.message)).size).toBe(1);
    expect(answers.map((answer) => answer.status)).toEqual([401, 401, 401, 401, 401]);
    expect(answers[0]?.message).toContain('Authorization: Bearer blw_...');
    expect((await ask(bench.server, 'PushDemand', { headers: bearer(secret) })).status).toBe(200);
    expect(JSON.stringify([bench.audit, bench.log])).not.toContain(secret);
  });

  test('an expired one is told so', async () => {
    const bench = await openBench({ requireTokens: true });
    const secret = await createToken(bench, 'old', 'admin', epochMs(1_000));
    const answer = await ask(bench.server, 'ListFleets', { headers: bearer(secret) });
    expect(answer.message).toBe('the token expired at 1970-01-01T00:00:01.000Z; create another');
  });

  test('refusals come in the words of gRPC too', async () => {
    const bench = await openBench({ requireTokens: true });
    const answer = await askHttp2(bench.server, 'PushDemand');
    expect(answer).toMatchObject({ ':status': 200, 'grpc-status': String(Code.Unauthenticated) });
    const stream = await askHttp2(bench.server, 'StreamDemand');
    expect(stream).toMatchObject({ 'grpc-status': String(Code.Unauthenticated) });
  });

  test('failures are limited per address, and noted in bounds; a valid token still gets in', async () => {
    const bench = await openBench({ requireTokens: true, limits: { failuresPerMinute: 3 } });
    const secret = await createToken(bench, 'ci', 'admin');
    const codes: string[] = [];
    for (let n = 0; n < 100; n++) codes.push((await ask(bench.server, 'Pause')).code);
    expect(codes.slice(0, 5)).toEqual([
      'unauthenticated',
      'unauthenticated',
      'unauthenticated',
      'resource_exhausted',
      'resource_exhausted',
    ]);
    expect(bench.audit.length).toBeLessThanOrEqual(70);
    expect((await ask(bench.server, 'Pause', { headers: bearer(secret) })).status).toBe(200);
    expect(bench.audit.at(-1)).toMatchObject({ who: 'ci', outcome: 'ok' });
  });

  test('a stream ends when its token is revoked', async () => {
    const bench = await openBench({ requireTokens: true });
    const secret = await createToken(bench, 'wall', 'viewer');
    const client = createClient(
      AutoscalerService,
      createGrpcTransport({ baseUrl: bench.server.url }),
    );
    let updates = 0;
    const watched = (async () => {
      for await (const _update of client.watchStatus({}, { headers: bearer(secret) })) updates++;
    })().catch((error: unknown) => ConnectError.from(error).code);
    await eventually(() => expect(updates).toBeGreaterThan(1));
    await bench.tokens.revoke('wall');
    expect(await watched).toBe(Code.Unauthenticated);
  });
});

describe('what they may', () => {
  // prettier-ignore: a table is read by column
  test.each([
    ['viewer', 'ListFleets', null],
    ['viewer', 'PushDemand', 'PushDemand needs the role scheduler; t has the role viewer'],
    ['viewer', 'Pause', 'Pause needs the role operator; t has the role viewer'],
    ['worker', 'ReportHosts', null],
    ['worker', 'ListFleets', 'ListFleets needs the role viewer; t has the role worker'],
    ['scheduler', 'PushDemand', null],
    ['scheduler', 'ListFleets', null],
    ['scheduler', 'Pause', 'Pause needs the role operator; t has the role scheduler'],
    ['operator', 'Pause', null],
    ['operator', 'ReloadConfig', 'ReloadConfig needs the role admin; t has the role operator'],
    ['admin', 'ReloadConfig', null],
  ] as const)('%s: %s', async (role, rpc, message) => {
    const bench = await openBench();
    const secret = await createToken(bench, 't', role);
    const answer = await ask(bench.server, rpc, { headers: bearer(secret) });
    expect(answer.status).toBe(message === null ? 200 : 403);
    expect(answer.message).toBe(message ?? '');
  });

  test('a refused call reaches no route, also on a stream', async () => {
    const seen: string[] = [];
    const bench = await openBench({
      routes: (router) =>
        router.service(AutoscalerService, {
          pushDemand: () => void seen.push('push') as never,
          async streamDemand() {
            seen.push('stream');
            return {};
          },
          async *watchStatus() {
            seen.push('watch');
            yield {};
          },
        }),
    });
    const headers = bearer(await createToken(bench, 'w', 'worker'));
    for (const rpc of ['PushDemand', 'StreamDemand', 'WatchStatus']) {
      const answer = await askHttp2(bench.server, rpc, { headers });
      expect(answer['grpc-status']).toBe(String(Code.PermissionDenied));
    }
    expect(seen).toEqual([]);
  });
});

test('every call that changes something is written down, with who and what', async () => {
  const bench = await openBench();
  const ci = bearer(await createToken(bench, 'ci', 'scheduler'));
  await ask(bench.server, 'PushDemand', {
    body: '{"source":"s","generation":"9","entries":[{"id":"a"}]}',
    headers: ci,
  });
  await ask(bench.server, 'Pause', { body: '{"what":"both","fleet":"f"}' });
  await ask(bench.server, 'Pause', { headers: ci });
  await ask(bench.server, 'DrainSlice', { body: '{"sliceId":"x"}' });
  await ask(bench.server, 'PushDemand', { body: '{"oops":1}' });
  await ask(bench.server, 'ListFleets');
  const client = createClient(
    AutoscalerService,
    createGrpcTransport({ baseUrl: bench.server.url }),
  );
  async function* pages() {
    for (const id of ['a', 'b']) yield { push: { source: 'p', generation: 1n, entries: [{ id }] } };
  }
  await client.streamDemand(pages());
  await eventually(() => expect(bench.audit.length).toBe(6));
  expect(
    bench.audit.map(({ who, role, rpc, fleet, subject, outcome }) => [
      who,
      role,
      rpc,
      fleet,
      subject,
      outcome,
    ]),
  ).toEqual([
    [
      'ci',
      'scheduler',
      'PushDemand',
      '',
      { source: 's', generation: '9', entries: 1, removed: 0, page: 0, more: false },
      'ok',
    ],
    ['local', 'admin', 'Pause', 'f', { what: 'both' }, 'ok'],
    ['ci', 'scheduler', 'Pause', '', {}, 'permission_denied'],
    ['local', 'admin', 'DrainSlice', '', { sliceId: 'x' }, 'not_found'],
    ['local', 'admin', 'PushDemand', '', {}, 'invalid_argument'],
    [
      'local',
      'admin',
      'StreamDemand',
      '',
      { source: 'p', generation: '1', entries: 2, removed: 0, page: 0, more: false, pages: 2 },
      'ok',
    ],
  ]);
  expect(bench.audit[0]?.from).toMatch(/^127\.0\.0\.1:\d+$/);
  expect(bench.audit[0]?.at).toMatch(/^\d{4}-.*Z$/);
});
