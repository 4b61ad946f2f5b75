import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Secrets } from './secrets.ts';

const knowing = (...secrets: readonly string[]): Secrets => {
  const known = new Secrets();
  for (const secret of secrets) known.learn(secret);
  return known;
};

test.each([
  ['as it is', 'token-1234', 'bad token-1234 here', 'bad [secret] here'],
  ['as often as it comes', 'token-1234', 'token-1234token-1234', '[secret][secret]'],
  ['as JSON writes it', 'a"b\\c', '{"t":"a\\"b\\\\c"}', '{"t":"[secret]"}'],
  [
    'as JSON quotes JSON',
    'a"b',
    '{"t":"{\\"t\\":\\"a\\\\\\"b\\"}"}',
    '{"t":"{\\"t\\":\\"[secret]\\"}"}',
  ],
  ['without the space around it', ' token-1234\n', 'bad token-1234', 'bad [secret]'],
  ['line by line', 'first-line\nsecond-line', 'saw second-line', 'saw [secret]'],
  ['never where there is none', '', 'nothing to hide', 'nothing to hide'],
])('a secret is hidden %s', (_name, secret, text, hidden) => {
  expect(knowing(secret).hide(text)).toBe(hidden);
});

test('a secret that holds another one is hidden whole', () => {
  expect(knowing('token', 'token-1234').hide('bad token-1234')).toBe('bad [secret]');
});

test('no text lets a secret through', () => {
  // Of letters that the mark in its place does not have.
  const secret = fc.string({ unit: fc.constantFrom('x', 'y', '"', '\\', '\n', ' '), minLength: 1 });
  fc.assert(
    fc.property(secret, fc.array(fc.string()), (value, around) => {
      expect(knowing(value).hide(around.join(value))).not.toContain(value);
      expect(knowing(value).hide(JSON.stringify({ value }))).not.toContain(
        JSON.stringify(value).slice(1, -1),
      );
    }),
  );
});

test('the oldest are forgotten first', () => {
  const secrets = Array.from({ length: 2_000 }, (_, index) => `secret-number-${index}.`);
  const known = knowing(...secrets);
  expect(known.hide('secret-number-1999.')).toBe('[secret]');
  expect(known.hide('secret-number-0.')).toBe('secret-number-0.');
});
