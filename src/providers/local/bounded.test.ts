import { expect, test } from 'vitest';
import { mapBounded } from './bounded.ts';

test('results come in the order of the items, and no more run at a time than allowed', async () => {
  let [runningCount, mostCount] = [0, 0];
  const results = await mapBounded([5, 1, 4, 2, 3], 2, async (item, index) => {
    mostCount = Math.max(mostCount, ++runningCount);
    for (let turn = 0; turn < item; turn++) await Promise.resolve();
    runningCount--;
    return `${index}:${item}`;
  });
  expect(results).toEqual(['0:5', '1:1', '2:4', '3:2', '4:3']);
  expect(mostCount).toBe(2);
});

test('one that fails fails the whole; of nothing comes nothing', async () => {
  const failing = mapBounded([1, 2], 1, () => Promise.reject(new Error('no')));
  await expect(failing).rejects.toThrow('no');
  expect(await mapBounded([], 4, () => Promise.resolve(1))).toEqual([]);
});
