import { expect, onTestFinished, test } from 'vitest';
import { aBootstrap, aRequest } from '../../../test/local-bench.ts';
import { toProviderError, toRefusal } from './errors.ts';
import { findMissingSecret, findMistake } from './request.ts';

test('off Linux a launch is refused for good, and says what to do', () => {
  const real = process.platform;
  onTestFinished(() => void Object.defineProperty(process, 'platform', { value: real }));
  Object.defineProperty(process, 'platform', { value: 'darwin' });
  expect(findMistake(aRequest('s-0'))).toEqual({
    kind: 'permanent',
    detail:
      'local hosts need Linux with /proc mounted, and this is darwin; ' +
      'run Bellows on Linux, or give the group another provider',
  });
});

test.each([
  ['set', 'join-secret', null],
  ['not set', undefined, 'permanent'],
  ['empty', '', 'permanent'],
  ['not fit for an environment', 'join-secret\0', 'permanent'],
])('a secret that is %s', (_name, secret, kind) => {
  const bootstrap = aBootstrap('true', { joinToken: 'JOIN' });
  const refusal = findMissingSecret(bootstrap, () => secret);
  expect(refusal?.kind ?? null).toBe(kind);
  expect(JSON.stringify(refusal)).not.toContain('join-secret');
});

const failing = (code: string): Error => Object.assign(new Error('quotes a secret'), { code });

test.each([
  ['EAGAIN', 'unknown', 'unreachable', 'ulimit -u'],
  ['ENOSPC', 'unknown', 'unreachable', 'make room in dataDir'],
  ['EACCES', 'permanent', 'denied', 'make dataDir writable'],
  ['EROFS', 'permanent', 'denied', 'choose another dataDir'],
  ['E2BIG', 'permanent', 'denied', 'shorten it'],
  ['ESTRANGE', 'unknown', 'unreachable', 'ESTRANGE'],
])('%s is %s to a launch and %s to a call', (code, kind, errorKind, words) => {
  const refusal = toRefusal(failing(code), 'cannot start host 0');
  expect(refusal).toMatchObject({ kind, detail: expect.stringContaining(words) });
  expect(refusal.detail).not.toContain('secret');
  const error = toProviderError(failing(code), 'list of local hosts');
  expect(error).toMatchObject({ kind: errorKind, message: expect.stringContaining(words) });
  expect(error.message).not.toContain('secret');
});
