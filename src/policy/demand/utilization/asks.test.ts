import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Asks, firstFitting, makeAsks, take } from './asks.ts';
import type { Line } from './requests.ts';

const WIDTH = 2;

function aLine(needs: readonly number[], count: number): Line {
  const columns = [...needs.keys()].filter((column) => needs[column] !== 0);
  const nothingElse = { isGpuNamed: false, alternatives: null, source: 0 };
  return { needs: Float64Array.from(needs), columns, count, ...nothingElse };
}

/** The same answer by looking at every line. */
function firstFittingByWalk({ lines, left }: Asks, free: Float64Array, from: number): number {
  return lines.findIndex(
    ({ needs }, i) =>
      i >= from && (left[i] ?? 0) > 0 && needs.every((need, column) => need <= (free[column] ?? 0)),
  );
}

test('the tree finds what a walk over all lines finds, whatever was taken before', () => {
  const amount = fc.integer({ min: 0, max: 6 });
  const vector = fc.array(amount, { minLength: WIDTH, maxLength: WIDTH });
  const line = fc.record({ needs: vector, count: fc.integer({ min: 0, max: 2 }) });
  const picks = fc.array(fc.nat(40));
  fc.assert(
    fc.property(fc.array(line, { maxLength: 40 }), vector, picks, (drawn, available, taken) => {
      const asks = makeAsks(
        drawn.map(({ needs, count }) => aLine(needs, count)),
        WIDTH,
        null,
      );
      const free = Float64Array.from(available);
      for (const at of taken) {
        if ((asks.left[at] ?? 0) > 0) take(asks, at, 1);
      }
      for (let from = 0; from <= drawn.length; from++) {
        expect(firstFitting(asks, free, from)).toBe(firstFittingByWalk(asks, free, from));
      }
      expect(asks.leftCount).toBe(asks.left.reduce((sum, count) => sum + count, 0));
    }),
  );
});

test('requests that need nothing are found one after the other', () => {
  const asks = makeAsks([aLine([], 1), aLine([], 0), aLine([], 2)], 0, null);
  const nothing = new Float64Array(0);
  expect([0, 1, 2, 3].map((from) => firstFitting(asks, nothing, from))).toEqual([0, 2, 2, -1]);
});
