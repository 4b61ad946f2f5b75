import type { z } from 'zod';
import { type Settings, settingsSchema } from './schema.ts';
import type { Path } from './problem.ts';

/** Sections that are lists; a faulty item of theirs is left out whole. */
const listSections = ['groups', 'pools', 'services', 'calendars'] as const;
type ListSection = (typeof listSections)[number];

/** An item of a list section and where it stood in the file. */
export interface Placed<T> {
  readonly path: Path;
  readonly item: T;
}

/** What the rules over several fields look at, also when some of the fields are faulty. */
export interface RuleInput {
  readonly settings: Settings;
  readonly groups: readonly Placed<Settings['groups'][number]>[];
  readonly pools: readonly Placed<Settings['pools'][number]>[];
  readonly services: readonly Placed<Settings['services'][number]>[];
  readonly calendars: readonly Placed<Settings['calendars'][number]>[];
  /** Every name the file gives, also of what was left out: no rule may call these unknown. */
  readonly names: Readonly<Record<'groups' | 'quotaPools' | 'providers', readonly string[]>>;
  /** True when the value at this path, or one above or below it, was faulty and left out. */
  readonly isFaulty: (path: Path) => boolean;
  /** False when groups were left out: then nobody can say what no group has. */
  readonly hasAllGroups: boolean;
}

/** What the rules need of settings that are whole. */
export function wholeInput(data: unknown, settings: Settings): RuleInput {
  return toInput(data, settings, [], new Map());
}

/**
 * The settings with every faulty part left out, so that the rules over several fields can be
 * checked at the same time as the fields. Null where too little is left.
 */
export function salvage(data: unknown, issues: readonly z.core.$ZodIssue[]): RuleInput | null {
  const draft: unknown = structuredClone(data);
  if (!isMapping(draft)) return null;
  const dropped = new Map<ListSection, Set<number>>(listSections.map((name) => [name, new Set()]));
  for (const issue of issues) {
    if (issue.code === 'unrecognized_keys') removeKeys(draft, issue.path, issue.keys);
    else if (!removeValue(draft, issue.path)) drop(draft, issue.path, dropped);
  }
  // What is faulty still lacks a field that must be there.
  const second = settingsSchema.safeParse(compact(draft, dropped));
  if (second.success) return toInput(data, second.data, issues, dropped);
  const paths = second.error.issues.map(({ path }) => originalPath(path, dropped));
  for (const path of paths) drop(draft, path, dropped);
  const third = settingsSchema.safeParse(compact(draft, dropped));
  return third.success ? toInput(data, third.data, issues, dropped) : null;
}

const isMapping = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function valueAt(data: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((value, part) => {
    if (Array.isArray(value)) return value[Number(part)];
    return isMapping(value) ? value[String(part)] : undefined;
  }, data);
}

function removeKeys(draft: unknown, path: readonly PropertyKey[], keys: readonly string[]): void {
  const parent = valueAt(draft, path);
  if (isMapping(parent)) for (const key of keys) delete parent[key];
}

/** False when the value is an item of a list, which cannot go without moving the others. */
function removeValue(draft: unknown, path: readonly PropertyKey[]): boolean {
  const parent = valueAt(draft, path.slice(0, -1));
  const key = path.at(-1);
  if (key === undefined || !isMapping(parent)) return false;
  delete parent[String(key)];
  return true;
}

/** Leaves out the item of a list section, or else the whole section, that holds the path. */
function drop(
  draft: Record<string, unknown>,
  path: readonly PropertyKey[],
  dropped: ReadonlyMap<ListSection, Set<number>>,
): void {
  const [section, index] = path;
  const indexes = listSections.find((name) => name === section);
  if (indexes !== undefined && typeof index === 'number') dropped.get(indexes)?.add(index);
  else if (section !== undefined) delete draft[String(section)];
}

function compact(
  draft: Readonly<Record<string, unknown>>,
  dropped: ReadonlyMap<ListSection, ReadonlySet<number>>,
): unknown {
  const kept = { ...draft };
  for (const [section, indexes] of dropped) {
    const items = kept[section];
    if (Array.isArray(items)) kept[section] = items.filter((_, index) => !indexes.has(index));
  }
  return kept;
}

/** Where the n-th item that was kept stood before. */
function originalIndexes(countKept: number, dropped: ReadonlySet<number> | undefined): number[] {
  const indexes: number[] = [];
  for (let index = 0; indexes.length < countKept; index++) {
    if (dropped?.has(index) !== true) indexes.push(index);
  }
  return indexes;
}

function originalPath(
  path: readonly PropertyKey[],
  dropped: ReadonlyMap<ListSection, ReadonlySet<number>>,
): readonly PropertyKey[] {
  const [section, index, ...rest] = path;
  const list = listSections.find((name) => name === section);
  if (list === undefined || typeof index !== 'number') return path;
  return [list, originalIndexes(index + 1, dropped.get(list)).at(-1) ?? index, ...rest];
}

function toInput(
  data: unknown,
  settings: Settings,
  issues: readonly z.core.$ZodIssue[],
  dropped: ReadonlyMap<ListSection, ReadonlySet<number>>,
): RuleInput {
  const place = <T>(section: ListSection, items: readonly T[]): readonly Placed<T>[] => {
    const indexes = originalIndexes(items.length, dropped.get(section));
    return items.map((item, index) => ({ path: [section, indexes[index] ?? index], item }));
  };
  const faulty = new Set(issues.map(({ path }) => path.map(String).join('\n')));
  const rawGroups = valueAt(data, ['groups']);
  return {
    settings,
    groups: place('groups', settings.groups),
    pools: place('pools', settings.pools),
    services: place('services', settings.services),
    calendars: place('calendars', settings.calendars),
    names: {
      groups: [
        ...new Set(
          (Array.isArray(rawGroups) ? rawGroups : [])
            .map((item: unknown) => valueAt(item, ['name']))
            .filter((name) => typeof name === 'string'),
        ),
      ],
      quotaPools: Object.keys(valueAt(data, ['quotaPools']) ?? {}),
      providers: Object.keys(valueAt(data, ['providers']) ?? {}),
    },
    isFaulty: (path) => {
      const isAbove = path.some((_, depth) => faulty.has(path.slice(0, depth + 1).join('\n')));
      return isAbove || [...faulty].some((other) => other.startsWith(`${path.join('\n')}\n`));
    },
    hasAllGroups: (dropped.get('groups')?.size ?? 0) === 0,
  };
}
