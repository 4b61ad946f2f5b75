import fc from 'fast-check';
import { expect, test } from 'vitest';
import { forkRandom, seededRandom } from './random.ts';

const take = (seed: number, count: number): readonly number[] => {
  const random = seededRandom(seed);
  return Array.from({ length: count }, () => random());
};

test('the same seed gives the same numbers, another seed others', () => {
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      expect(take(seed, 20)).toEqual(take(seed, 20));
      expect(take(seed, 20)).not.toEqual(take(seed + 1, 20));
    }),
  );
});

test('numbers are the same on every machine', () => {
  expect(take(1, 3)).toEqual([0.6270739405881613, 0.002735721180215478, 0.5274470399599522]);
});

test('numbers lie in [0, 1) and spread evenly', () => {
  const numbers = take(7, 10_000);
  expect(numbers.filter((number) => number < 0 || number >= 1)).toEqual([]);
  const tenths = Array.from({ length: 10 }, () => 0);
  for (const number of numbers) tenths[Math.floor(number * 10)]!++;
  for (const count of tenths) expect(Math.abs(count - 1_000)).toBeLessThan(150);
});

test('a fork depends on its seed and its name alone', () => {
  const first = (seed: number, name: string): number => forkRandom(seed, name)();
  expect(first(1, 'boot/a')).toBe(first(1, 'boot/a'));
  const firsts = [0, 1, 2].flatMap((seed) =>
    ['', 'a', 'b', 'a/0', 'a/1', 'a/10'].map((name) => first(seed, name)),
  );
  expect(new Set(firsts).size).toBe(firsts.length);
});

test('the first numbers of many forks spread evenly', () => {
  const tenths = Array.from({ length: 10 }, () => 0);
  for (let at = 0; at < 10_000; at++) tenths[Math.floor(forkRandom(7, `host/${at}`)() * 10)]!++;
  for (const count of tenths) expect(Math.abs(count - 1_000)).toBeLessThan(150);
});
