import { expect, test } from 'vitest';
import { aRecord, anEntry } from '../../test/builders.ts';
import type { Entry } from '../model/demand.ts';
import { entryId, epochMs } from '../model/ids.ts';
import { runThrough } from '../support/turns.ts';
import type { Command } from './commands.ts';
import { type ArrivingPush, takePush } from './demand-push.ts';
import { Memory } from './memory.ts';
import { PushAhead } from './push-ahead.ts';
import { TickInputs } from './tick-input.ts';

type Push = Extract<Command, { kind: 'push-demand' }>;

const aPush = (
  generation: number,
  entries: readonly Entry[],
  over: Omit<ArrivingPush, 'push'> = {},
): Push => {
  const push = {
    source: 's',
    generation,
    entries,
    expiresAtMs: epochMs(9),
    digest: `${generation}`,
  };
  return { kind: 'push-demand', push, ...over };
};

const entries = (count: number, prefix: string): readonly Entry[] =>
  Array.from({ length: count }, (_, n) => anEntry({ id: `${prefix}${n}` }));

function aFleet() {
  const memory = new Memory();
  memory.slices.put('slice', aRecord({ reservedFor: entryId('a0') }));
  memory.keep();
  const inputs = new TickInputs();
  return { memory, ahead: new PushAhead(inputs) };
}

test('pushes of one source that wait together are made one upon the other', () => {
  const { memory, ahead } = aFleet();
  const first = aPush(1, entries(3, 'a'));
  const delta = { baseGeneration: 1, removedIds: [entryId('a1')] };
  const second = aPush(2, entries(1, 'b'), { delta });
  const stale = aPush(1, entries(9, 'c'));
  runThrough(ahead.prepare([first, second, stale], memory));
  let held = memory.demand.get('s');
  const ids = [first, second, stale].map((push) => {
    const outcome = ahead.take(held, push);
    expect(outcome).toEqual(takePush(held, push));
    if (outcome.kind !== 'taken') return outcome.kind;
    held = outcome.push;
    return held.entries.map(({ id }) => id).join(' ');
  });
  expect(ids).toEqual(['a0 a1 a2', 'a0 a2 b0', 'stale-generation']);
});

test('what was made upon something else than what is there is made anew', () => {
  const { memory, ahead } = aFleet();
  const push = aPush(2, entries(1, 'b'), { delta: { baseGeneration: 1, removedIds: [] } });
  runThrough(ahead.prepare([push], memory));
  const held = { ...aPush(1, entries(2, 'a')).push };
  expect(ahead.take(held, push)).toMatchObject({ kind: 'taken', push: { generation: 2 } });
});

test('many entries are made in many turns', () => {
  const { memory, ahead } = aFleet();
  memory.demand.put('s', aPush(1, entries(20_000, 'a')).push);
  const many = entries(20_000, 'a');
  const push = aPush(2, many, { undated: new Set(many.map(({ id }) => id)) });
  const turns = [...ahead.prepare([push], memory)];
  // The times of what is known, the times kept, and classes: three looks at four times 5,000 each.
  expect(turns.length).toBeGreaterThanOrEqual(9);
  expect(ahead.take(memory.demand.get('s'), push)).toMatchObject({ kind: 'taken' });
});
