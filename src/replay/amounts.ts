import type { Resources } from '../model/resources.ts';

// Sums over resources for replay, where room is taken and given back in parts.

/** By how much `a` exceeds `b`, where it does. */
export function above(a: Resources, b: Resources): Record<string, number> {
  const more: Record<string, number> = {};
  for (const name in a) {
    const difference = (a[name] ?? 0) - (b[name] ?? 0);
    if (difference > 0) more[name] = difference;
  }
  return more;
}

export function common(a: Resources, b: Resources): Resources {
  const both: Record<string, number> = {};
  for (const name in a) {
    const least = Math.min(a[name] ?? 0, b[name] ?? 0);
    if (least > 0) both[name] = least;
  }
  return both;
}

export const positive = (a: Resources): Resources => above(a, {});
export const isSome = (a: Resources): boolean => Object.values(a).some((value) => value > 0);
export const covers = (a: Resources, b: Resources): boolean =>
  Object.entries(b).every(([name, value]) => value <= (a[name] ?? 0));

export function subtract(from: Record<string, number>, less: Resources): void {
  for (const name in less) from[name] = (from[name] ?? 0) - (less[name] ?? 0);
}
