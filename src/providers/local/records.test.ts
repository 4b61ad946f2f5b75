import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { groupName } from '../../model/ids.ts';
import { isSafeName, parseIndex } from './layout.ts';
import { parseHost, parseIntent, parseState, toText } from './records.ts';

const text = fc.string({ minLength: 1 });
const positive = fc.integer({ min: 1, max: 10_000 });
const group = text.map(groupName);
const bootstrap = fc.record({
  script: fc.string(),
  joinToken: fc.option(text),
  attemptsMax: positive,
  timeoutMs: positive,
});

test('what is written is read back', () => {
  const intent = fc.record({
    token: text,
    group,
    hostCount: positive,
    bootstrap: fc.option(bootstrap),
  });
  const host = fc.record({ token: text, group, pid: positive, startTicks: text, bootId: text });
  const state = fc.oneof(
    fc.constantFrom({ kind: 'running' }, { kind: 'ready' }, { kind: 'ended' } as const),
    fc.record({
      kind: fc.constant('failed' as const),
      failure: fc.string({ minLength: 1, maxLength: 300 }),
    }),
  );
  fc.assert(
    fc.property(intent, host, (one, other) => {
      expect(parseIntent(toText(one))).toEqual(one);
      expect(parseHost(toText(other))).toEqual(other);
    }),
  );
  fc.assert(
    fc.property(state, (one) => {
      expect(parseState(`${JSON.stringify(one)}\n`)).toEqual(one);
    }),
  );
});

test('whatever else a file holds is no record, and no crash', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), (junk) => {
      expect([parseIntent(junk), parseHost(junk), parseState(junk)]).toEqual([null, null, null]);
    }),
  );
});

describe('a record that lacks or bends a field is none', () => {
  const host = { token: 't', group: 'g', pid: 7, startTicks: '1', bootId: 'b' };
  test.each([
    ['pid 0, which would signal everybody around', { ...host, pid: 0 }],
    ['a negative pid, which would signal a group', { ...host, pid: -7 }],
    ['a pid that is text', { ...host, pid: '7' }],
    ['no token', { ...host, token: '' }],
    ['no start', { ...host, startTicks: undefined }],
  ])('%s', (_name, raw) => {
    expect(parseHost(JSON.stringify(raw))).toBeNull();
  });

  const intent = { token: 't', group: 'g', hostCount: 1, bootstrap: null };
  test.each([
    ['more hosts than any slice has', { ...intent, hostCount: 10_001 }],
    ['no hosts', { ...intent, hostCount: 0 }],
    ['half a bootstrap', { ...intent, bootstrap: { script: 'true' } }],
    ['a bootstrap left out', { token: 't', group: 'g', hostCount: 1 }],
  ])('%s', (_name, raw) => {
    expect(parseIntent(JSON.stringify(raw))).toBeNull();
  });
});

test.each([
  ['research', true],
  ['h100-1-2f-0', true],
  ['a.b_c', true],
  ['', false],
  ['.', false],
  ['..', false],
  ['.hidden', false],
  ['a/b', false],
  ['a\0b', false],
  ['a b', false],
  ['x'.repeat(151), false],
])('%j as the name of a folder: %s', (name, isSafe) => {
  expect(isSafeName(name)).toBe(isSafe);
});

test.each([
  ['0', 0],
  ['12', 12],
  ['012', null],
  ['-1', null],
  ['1e3', null],
  ['intent.json', null],
])('%j as the folder of host %j', (name, index) => {
  expect(parseIndex(name)).toBe(index);
});
