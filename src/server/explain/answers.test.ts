import fc from 'fast-check';
import { expect, test } from 'vitest';
import { arbitraryTick, toRecord } from '../../../test/arbitrary-tick.ts';
import { decideTick } from '../../controller/decide-tick.ts';
import type { Entry } from '../../model/demand.ts';
import { epochMs } from '../../model/ids.ts';
import type { TickInput } from '../../model/tick.ts';
import { runThrough } from '../../support/turns.ts';
import { explain } from './explain.ts';
import type { FleetView } from './fleet-view.ts';
import { findSubjects, subjectText } from './subject.ts';

/** What a controller would show of itself a second after a tick that it has not carried out yet. */
function afterTick(input: TickInput, entries: readonly Entry[]): FleetView {
  const expiresAtMs = epochMs(input.atMs + 60_000);
  return {
    nowMs: epochMs(input.atMs + 1_000),
    last: { input, output: decideTick(input) },
    held: {
      sources: [{ source: 'some', generation: 1, entries, expiresAtMs }],
      floors: input.floors.map((floor) => ({ ...floor, owner: 'ann', expiresAtMs })),
      pauses: input.pauses,
    },
    records: input.slices.map(toRecord),
    standing: { kind: 'leading' },
    nextDecisionMs: epochMs(input.atMs + 10_000),
    recentEvents: [],
  };
}

test('whatever a tick knows of can be asked about, and the answer has words on one line each', () => {
  fc.assert(
    fc.property(arbitraryTick, ({ input, entries }) => {
      const view = afterTick(input, entries);
      const names = [
        ...entries.map(({ id }) => id),
        ...input.slices.map(({ id }) => id),
        ...input.control.fleet.groups.map(({ name }) => name),
        ...input.floors.map(({ id }) => id),
      ];
      for (const name of names) {
        for (const subject of runThrough(findSubjects(view, name))) {
          const { summary, chain, options, remedy, nextLook } = explain(view, subject);
          const texts = [
            summary,
            nextLook.text,
            subjectText(subject),
            ...[...chain, ...options].flatMap(({ kind, text }) => [kind, text]),
          ];
          expect(texts.filter((text) => !isLine(text))).toEqual([]);
          expect(remedy === '' || isLine(remedy)).toBe(true);
          expect(nextLook.atMs).toBeGreaterThanOrEqual(view.nowMs);
          const times = chain.map(({ atMs }) => atMs ?? Infinity);
          expect(times).toEqual(times.toSorted((a, b) => (a === b ? 0 : a - b)));
          expect([0, input.control.fleet.groups.length]).toContain(options.length);
        }
      }
    }),
    { numRuns: 150 },
  );
});

const isLine = (text: string): boolean =>
  text.trim() !== '' && !/\n|undefined|NaN|Infinity|\[object/.test(text);
