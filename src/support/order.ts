export type Compare<T> = (a: T, b: T) => number;

/** Ascending by code unit: the same on every machine, whatever its locale. */
export const byText: Compare<string> = (a, b) => (a < b ? -1 : a > b ? 1 : 0);

/** The first comparison that tells the two apart decides. */
export function byFirst<T>(...comparisons: readonly Compare<T>[]): Compare<T> {
  return (a, b) => {
    for (const compare of comparisons) {
      const order = compare(a, b);
      if (order !== 0) return order;
    }
    return 0;
  };
}

/** Ascending by a number read from each item. */
export const byNumber =
  <T>(read: (item: T) => number): Compare<T> =>
  (a, b) =>
    read(a) - read(b);
