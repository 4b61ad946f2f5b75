import { fromJsonString, toJson } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { PushDemandRequestSchema } from '../api/gen/bellows/v1/demand_pb.ts';
import { runThrough } from '../support/turns.ts';
import { readPageJson } from './page-json.ts';

const strictly = { ignoreUnknownFields: false };
const atOnce = (text: string) => fromJsonString(PushDemandRequestSchema, text, strictly);
const inTurns = (text: string) => runThrough(readPageJson(text));

/** What it comes to: a message, or the words against it. */
function outcomeOf(read: () => unknown): unknown {
  try {
    return read();
  } catch {
    return 'refused';
  }
}

const word = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 8 }),
  fc.constantFrom('entries', '"', '\\', '\\"', '[', ']}', '{', ',', ':', '"entries":['),
);
const entry = fc.record(
  {
    id: word,
    count: fc.integer({ min: 0, max: 9 }),
    priority: fc.integer({ min: -9, max: 9 }),
    single: fc.record({
      resources: fc.dictionary(word, fc.integer({ min: 0, max: 9 }), { maxKeys: 3 }),
      constraints: fc.array(
        fc.record({ key: word, op: word, values: fc.array(word, { maxLength: 2 }) }),
        { maxLength: 2 },
      ),
    }),
  },
  { requiredKeys: ['id'] },
);
const page = fc
  .record({
    before: fc.record({ source: word, removedIds: fc.array(word, { maxLength: 3 }) }),
    entries: fc.array(entry, { minLength: 1, maxLength: 5 }),
    after: fc.record({ generation: fc.nat(9).map(String), more: fc.boolean() }),
    indent: fc.constantFrom(0, 1, 3),
  })
  .map(({ before, entries, after, indent }) =>
    JSON.stringify({ ...before, entries, ...after }, null, indent),
  );

describe('a page in JSON', () => {
  test('is read in turns as it is read at once', () => {
    fc.assert(
      fc.property(page, (text) => {
        const read = inTurns(text);
        expect(read).not.toBeNull();
        expect(toJson(PushDemandRequestSchema, read!)).toEqual(
          toJson(PushDemandRequestSchema, atOnce(text)),
        );
      }),
    );
  });

  test('is refused in turns where it is refused at once, whatever was done to it', () => {
    const bit = fc.constantFrom('"', '\\', '[', ']', '{', '}', ',', ':', ' ', '"entries":[{}],');
    const change = fc.record({ at: fc.nat(400), cut: fc.nat(2), put: fc.option(bit) });
    fc.assert(
      fc.property(page, fc.array(change, { minLength: 1, maxLength: 3 }), (text, changes) => {
        const changed = changes.reduce(
          (now, { at, cut, put }) => now.slice(0, at) + (put ?? '') + now.slice(at + cut),
          text,
        );
        const read = outcomeOf(() => inTurns(changed));
        if (read !== null) expect(read).toEqual(outcomeOf(() => atOnce(changed)));
      }),
      { numRuns: 1_000 },
    );
  });

  test.each([
    ['{"source":"s"}', 'no list'],
    ['{"source":"s","entries":[]}', 'an empty one'],
    ['{"entries":[{}],"source":"s","entries":[{}]}', 'two of them'],
    ['{"entries":[{"id":"a"', 'no end'],
    ['["entries",[{}]]', 'no object'],
    ['', 'nothing'],
  ])('%s is left to others: %s', (text) => expect(inTurns(text)).toBeNull());

  test('what is wrong with an entry is said with its place', () => {
    const text = '{"source":"s","entries":[{"id":"a"},{"id":"b","prio":1}]}';
    expect(() => inTurns(text)).toThrow('entries[1]: cannot decode message bellows.v1.Entry');
    expect(() => inTurns(text)).toThrow('"prio" is unknown');
  });

  test('others have their turn while a long one is read', () => {
    const entries = Array.from({ length: 2_000 }, (_, n) => ({ id: `entry-${n}` }));
    const turns = readPageJson(JSON.stringify({ source: 's', entries }));
    let stops = 0;
    for (let next = turns.next(); next.done !== true; next = turns.next()) stops++;
    expect(stops).toBeGreaterThan(6);
  });
});
