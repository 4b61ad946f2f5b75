/**
 * Quantities by resource name, integers in the smallest unit: bytes for `memory` and `disk`,
 * milli-units for everything else (250 is a quarter of a CPU). A name that is absent means 0.
 */
export type Resources = Readonly<Record<string, number>>;

export type ResourceUnit = 'bytes' | 'milli';

/** Largest quantity of one resource: above it sums would no longer be exact integers. */
export const QUANTITY_MAX = Number.MAX_SAFE_INTEGER;

/** What one unit of the resource's stored integer stands for. */
export function resourceUnit(name: string): ResourceUnit {
  return name === 'memory' || name === 'disk' ? 'bytes' : 'milli';
}

/** The first resource, by name, of which `need` asks more than `have` offers; null when it fits. */
export function firstShortage(need: Resources, have: Resources): string | null {
  let first: string | null = null;
  for (const name in need) {
    const isShort = (need[name] ?? 0) > (have[name] ?? 0);
    if (isShort && (first === null || name < first)) first = name;
  }
  return first;
}

/** Both quantities together, resource by resource. */
export function addResources(a: Resources, b: Resources): Resources {
  const sum: Record<string, number> = { ...a };
  for (const name in b) sum[name] = (sum[name] ?? 0) + (b[name] ?? 0);
  return sum;
}
