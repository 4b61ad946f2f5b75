import fc from 'fast-check';
import { expect, test } from 'vitest';
import { arbitrarySnapshot } from '../../../test/arbitraries.ts';
import { aGroup, aSnapshot, anAsk, anEntry } from '../../../test/builders.ts';
import type { EntryForm } from '../../model/demand.ts';
import { decideDemand } from './decide.ts';
import { idsOf, listRoster } from './roster.ts';

const RUNS = Number(process.env['BELLOWS_FUZZ_RUNS'] ?? 150);

test('a class is told entry by entry, oldest served first, in the order given', () => {
  const form: EntryForm = { kind: 'single', ask: anAsk({ resources: { cpu: 8_000 } }) };
  const snapshot = aSnapshot({
    fleet: { groups: [aGroup({ max: 1 })] },
    entries: [
      anEntry({ id: 'young', form, count: 2 }),
      anEntry({ id: 'old', form, ageMs: 5 }),
      anEntry({ id: 'wrong', form: { kind: 'gang', ask: anAsk(), taskCount: 0 } }),
    ],
  });
  const rows = listRoster(snapshot, decideDemand(snapshot));
  expect(rows.map((row) => [...idsOf(row), row.outcome.kind])).toEqual([
    ['young/0', 'placed'],
    ['young/1', 'unmet'],
    ['old', 'placed'],
    ['wrong', 'unmet'],
  ]);
});

test('names are given up to a limit', () => {
  const snapshot = aSnapshot({ entries: [anEntry({ id: 'many', count: 1_000 })] });
  const [row] = listRoster(snapshot, decideDemand(snapshot));
  expect(idsOf(row!, 3)).toEqual(['many/0', 'many/1', 'many/2']);
  expect(idsOf(row!, 0)).toEqual([]);
});

test('every entry is told once, and as many are placed as the decision says', () => {
  fc.assert(
    fc.property(arbitrarySnapshot(), (snapshot) => {
      const decision = decideDemand(snapshot);
      const rows = listRoster(snapshot, decision);
      const ids = rows.flatMap((row) => idsOf(row));
      expect(new Set(ids).size).toBe(ids.length);
      expect(ids).toHaveLength(snapshot.demand.reduce((sum, { count }) => sum + count, 0));
      const waiting = rows.filter(({ outcome }) => outcome.kind === 'unmet');
      expect(waiting.reduce((sum, { from, to }) => sum + to - from, 0)).toBe(
        decision.classes.reduce((sum, { unmetCount }) => sum + unmetCount, 0),
      );
      const orders = rows.map(({ batch }) => batch.order);
      expect(orders).toEqual([...orders].sort((a, b) => a - b));
    }),
    { numRuns: RUNS },
  );
});
