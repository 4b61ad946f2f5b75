import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { epochMs } from '../model/ids.ts';
import type { Document } from '../ports/store.ts';
import { aControl, anEntry, aRecord } from '../../test/builders.ts';
import { Memory, Table } from './memory.ts';

describe('a table', () => {
  const kept = (): Table<number> => {
    const table = new Table<number>();
    table.put('a', 1);
    table.put('b', 2);
    table.keep();
    return table;
  };

  test('shows changes before they are kept', () => {
    const table = kept();
    table.put('a', 9);
    table.put('c', 3);
    table.remove('b');
    expect([...table.entries()]).toEqual([
      ['a', 9],
      ['c', 3],
    ]);
    expect([table.get('a'), table.get('b'), table.get('c')]).toEqual([9, undefined, 3]);
  });

  test('is as it was when changes are dropped', () => {
    const table = kept();
    table.put('a', 9);
    table.remove('b');
    table.drop();
    expect([...table.values()]).toEqual([1, 2]);
    expect(table.changes.size).toBe(0);
  });

  test('removes by a null, and what was never kept without a trace', () => {
    const table = kept();
    table.remove('a');
    table.put('c', 3);
    table.remove('c');
    expect([...table.changes]).toEqual([['a', null]]);
  });

  test('takes back what was removed', () => {
    const table = kept();
    table.remove('a');
    table.put('a', 7);
    expect(table.get('a')).toBe(7);
  });

  test('is what a plain map would be, whatever is done to it', () => {
    const anId = fc.constantFrom('a', 'b', 'c');
    const anAction = fc.oneof(
      fc.record({ kind: fc.constant('put' as const), id: anId, value: fc.nat(9) }),
      fc.record({ kind: fc.constant('remove' as const), id: anId }),
      fc.record({ kind: fc.constantFrom('keep' as const, 'drop' as const) }),
    );
    fc.assert(
      fc.property(fc.array(anAction), (actions) => {
        const table = new Table<number>();
        let truth = new Map<string, number>();
        let now = new Map<string, number>();
        for (const action of actions) {
          if (action.kind === 'put') {
            table.put(action.id, action.value);
            now.set(action.id, action.value);
          } else if (action.kind === 'remove') {
            table.remove(action.id);
            now.delete(action.id);
          } else if (action.kind === 'keep') {
            table.keep();
            truth = new Map(now);
          } else {
            table.drop();
            now = new Map(truth);
          }
          expect(new Map(table.entries())).toEqual(now);
        }
      }),
    );
  });
});

describe('memory', () => {
  const filled = (): Memory => {
    const memory = new Memory();
    memory.slices.put('slice', aRecord());
    memory.health.put('g', { group: aRecord().group, score: 0.5, asOfMs: epochMs(1) });
    memory.marks = { seq: 7, events: 8, atMs: epochMs(9) };
    memory.control = aControl();
    return memory;
  };

  test('comes back from its documents as it was', () => {
    const documents = filled().documents();
    const again = Memory.from(documents);
    expect(again.slices.get('slice')).toEqual(aRecord());
    expect(again.marks).toEqual({ seq: 7, events: 8, atMs: 9 });
    expect(again.control).toEqual(aControl());
    expect(again.isChanged).toBe(false);
    expect(documents.map(({ kind }) => kind).sort()).toEqual(['fleet', 'fleet', 'health', 'slice']);
  });

  test('has only changes to write', () => {
    const memory = filled();
    memory.keep();
    expect(memory.documents()).toEqual([]);
    memory.slices.remove('slice');
    expect(memory.documents()).toEqual([{ kind: 'slice', id: 'slice', text: null }]);
    memory.drop();
    expect(memory.isChanged).toBe(false);
  });

  test('writes a push of many entries some at a time, and all of them', () => {
    const entries = Array.from({ length: 12_001 }, (_, n) => anEntry({ id: `e${n}` }));
    for (const count of [0, 1, 5_000, 5_001, 12_001]) {
      const push = {
        source: 'many',
        generation: 3,
        entries: entries.slice(0, count),
        expiresAtMs: epochMs(9),
      };
      const memory = new Memory();
      memory.demand.put('many', push);
      const turns = memory.documentsInTurns();
      let stops = 0;
      let next = turns.next();
      for (; next.done !== true; next = turns.next()) stops++;
      const read = Memory.from(next.value).demand.get('many');
      expect(read).toEqual(JSON.parse(JSON.stringify(push)));
      expect(stops).toBeGreaterThanOrEqual(Math.ceil(count / 5_000) - 1);
      expect(memory.documents()).toEqual(next.value);
    }
  });

  test('begins at nothing', () => {
    const memory = Memory.from([]);
    expect([memory.marks, memory.control]).toEqual([{ seq: 0, events: 0, atMs: 0 }, null]);
  });

  test('does not guess at a document that cannot be read', () => {
    const broken: Document = { kind: 'slice', id: 's', text: '{"id":' };
    expect(() => Memory.from([broken])).toThrow('the slice s in the store is not JSON');
  });
});
