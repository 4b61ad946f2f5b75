import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Complaints } from './complaints.ts';
import { readAmounts } from './amounts.ts';

function read(name: string, amount: number, rounding: 'up' | 'down'): number | undefined {
  const complaints = new Complaints();
  const place = { path: [], field: 'free', rounding, complaints } as const;
  const amounts = readAmounts({ [name]: amount }, place);
  complaints.settle();
  return amounts[name];
}

// prettier-ignore: a table is read by column
test.each([
  ['a tenth', 'cpu', 0.1, 100, 100],
  ['three tenths added up', 'cpu', 0.1 + 0.2, 300, 300],
  ['nine tenths in threes', 'cpu', 0.3 * 3, 900, 900],
  ['less than a thousandth', 'cpu', 0.0001, 1, 0],
  ['between two thousandths', 'cpu', 0.0015, 2, 1],
  ['whole devices', 'gpu', 8, 8_000, 8_000],
  ['bytes', 'memory', 2 ** 36, 2 ** 36, 2 ** 36],
  ['half a byte', 'memory', 1.5, 2, 1],
  ['a disk', 'disk', 1e12, 1e12, 1e12],
  ['nothing', 'cpu', 0, 0, 0],
  ['nothing, with a sign', 'cpu', -0, 0, 0],
] as const)('%s', (_name, resource, amount, up, down) => {
  expect([read(resource, amount, 'up'), read(resource, amount, 'down')]).toEqual([up, down]);
});

test('what is asked for is never less, and what is free never more, than was said', () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1e6, noNaN: true }), (amount) => {
      const [up, down] = [read('cpu', amount, 'up') ?? -1, read('cpu', amount, 'down') ?? -1];
      expect(up - amount * 1_000).toBeGreaterThan(-0.000_002);
      expect(amount * 1_000 - down).toBeGreaterThan(-0.000_002);
      expect(up - down).toBeLessThanOrEqual(1);
      expect(Number.isInteger(up) && Number.isInteger(down)).toBe(true);
    }),
  );
});
