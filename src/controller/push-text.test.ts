import fc from 'fast-check';
import { expect, test } from 'vitest';
import { arbitraryEntries } from '../../test/arbitraries.ts';
import { anEntry } from '../../test/builders.ts';
import { epochMs } from '../model/ids.ts';
import type { DemandPush } from '../model/push.ts';
import { runThrough } from '../support/turns.ts';
import { readPush, writePush } from './push-text.ts';

const aPush = (entries: DemandPush['entries']): DemandPush => {
  return { source: 's', generation: 3, entries, expiresAtMs: epochMs(9), digest: 'x' };
};

test('what is written is read as the same', () => {
  fc.assert(
    fc.property(arbitraryEntries, (entries) => {
      const push = aPush(entries);
      // As JSON has it: a zero without a sign.
      const plain: unknown = JSON.parse(JSON.stringify(push));
      expect(readPush(runThrough(writePush(push)))).toEqual(plain);
    }),
  );
});

test('a form that many entries share is written once, and shared again', () => {
  const { form } = anEntry();
  const push = aPush(Array.from({ length: 100 }, (_, n) => anEntry({ id: `e${n}`, form })));
  const text = runThrough(writePush(push));
  expect(text.split('"kind":"single"')).toHaveLength(2);
  expect(new Set(readPush(text).entries.map((entry) => entry.form)).size).toBe(1);
});
