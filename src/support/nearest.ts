/** Longest names compared letter by letter; beyond it a hint is not worth the time. */
const NAME_LENGTH_MAX = 100;

/** Edits (insert, delete, replace, swap of neighbours) that turn one word into the other. */
export function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let best = Math.min(
        (last[j] ?? 0) + 1,
        (row[j - 1] ?? 0) + 1,
        (last[j - 1] ?? 0) + (same ? 0 : 1),
      );
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        best = Math.min(best, (beforeLast[j - 2] ?? 0) + 1);
      }
      row.push(best);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length] ?? 0;
}

/**
 * The name somebody probably meant, or null when nothing is close. Close: at most a third of the
 * letters differ (at least one may), case ignored. Ties go to the earlier name.
 */
export function nearestName(wanted: string, names: readonly string[]): string | null {
  if (wanted.length > NAME_LENGTH_MAX) return null;
  const target = wanted.toLowerCase();
  let best: string | null = null;
  let bestDistance = Math.max(1, Math.floor(target.length / 3)) + 1;
  for (const name of names) {
    if (Math.abs(name.length - target.length) >= bestDistance) continue;
    const distance = editDistance(target, name.toLowerCase());
    if (distance < bestDistance) {
      best = name;
      bestDistance = distance;
    }
  }
  return best;
}
