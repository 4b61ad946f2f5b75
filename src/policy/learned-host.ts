import type { Control } from '../model/control.ts';
import type { Group } from '../model/group.ts';
import type { LearnedHost } from '../model/learned-host.ts';
import type { Resources } from '../model/resources.ts';

/** A host without work that offers less than this of what was promised is not empty, or not well. */
const CREDIBLE_RATIO = 0.5;

/**
 * What is known of a group's hosts after one more report of an empty one; null while they are as
 * promised. It only shrinks: a bigger one among them does not make the others fit.
 */
export function learnHost(
  before: LearnedHost | undefined,
  { group, shape }: { readonly group: Group; readonly shape: string },
  free: Resources,
): LearnedHost | null {
  const known = before?.shape === shape ? before : null;
  const names = Object.keys(group.host);
  const promised = (name: string): number => group.host[name] ?? 0;
  const isCredible = names.every((name) => (free[name] ?? 0) >= promised(name) * CREDIBLE_RATIO);
  if (!isCredible) return known;
  const least = (name: string): number =>
    Math.min(promised(name), known?.host[name] ?? Infinity, free[name] ?? 0);
  const isSame = names.every((name) => least(name) === (known?.host[name] ?? promised(name)));
  if (isSame) return known;
  return { group: group.name, shape, host: Object.fromEntries(names.map((n) => [n, least(n)])) };
}

/** The configuration with hosts as they turned out; the same object when all are as promised. */
export function withLearnedHosts(control: Control, learned: readonly LearnedHost[]): Control {
  if (learned.length === 0) return control;
  const byGroup = new Map(learned.map((one) => [one.group, one]));
  const groups = control.fleet.groups.map((group, index) => {
    const one = byGroup.get(group.name);
    return one === undefined || one.shape !== control.groups[index]?.shape
      ? group
      : { ...group, host: one.host };
  });
  return { ...control, fleet: { ...control.fleet, groups } };
}
