import { formatDuration, formatUsd, plural } from '../api/format.ts';
import { decideTick } from '../controller/decide-tick.ts';
import { withRetired } from '../controller/retire.ts';
import type { Control, GroupControl } from '../model/control.ts';
import type { Group } from '../model/group.ts';
import { isLive, type SliceRecord } from '../model/slice-record.ts';
import type { TickInput, TickOutput } from '../model/tick.ts';
import type { BeforeAfter, ConfigChange } from '../server/served-fleet.ts';

/** What is known of a fleet when its configuration is about to change. */
export interface Standpoint {
  readonly control: Control;
  readonly last: { readonly input: TickInput; readonly output: TickOutput } | null;
  readonly records: readonly SliceRecord[];
}

/**
 * What another configuration means: what differs, and what the next decision would do with each of
 * the two, on what was last seen. Pure; nothing is changed.
 */
export function findConfigChange(was: Standpoint, next: Control): ConfigChange {
  const { control, last, records } = was;
  const lines = [
    ...findTopChanges(control, next),
    ...next.fleet.groups.flatMap((group) => findGroupChange(group, control, next, records)),
    ...control.fleet.groups.flatMap((group) => findRemoval(group, control, next, records)),
  ];
  const before = last === null ? nothing : weigh(last.input, last.output);
  const input = last && { ...last.input, control: withRetired(next, control, records) };
  const after = input === null ? nothing : weigh(input, decideTick(input));
  return {
    lines,
    launches: pair(before, after, 'launches'),
    releases: pair(before, after, 'releases'),
    microUsdPerHour: pair(before, after, 'microUsdPerHour'),
  };
}

interface Weight {
  readonly launches: number;
  readonly releases: number;
  readonly microUsdPerHour: number;
}

const nothing: Weight = { launches: 0, releases: 0, microUsdPerHour: 0 };

const pair = (before: Weight, after: Weight, key: keyof Weight): BeforeAfter => {
  return { before: before[key], after: after[key] };
};

/** A decision as slices and money, once it is carried out; rates only spread it over time. */
function weigh({ slices, control }: TickInput, { decision, steps }: TickOutput): Weight {
  const leaving = new Set<string>();
  for (const step of steps) {
    if (step.kind === 'drain' || step.kind === 'cancel') leaving.add(step.sliceId);
  }
  const staying = slices.filter(
    ({ id, status }) => !leaving.has(id) && status !== 'draining' && status !== 'terminating',
  );
  const prices = new Map(
    control.fleet.groups.map(({ name, priceMicroUsdPerHour }) => [name, priceMicroUsdPerHour ?? 0]),
  );
  return {
    launches: decision.groups.reduce((sum, { launch }) => sum + launch, 0),
    releases: leaving.size,
    microUsdPerHour:
      decision.costMicroUsdPerHour +
      staying.reduce((sum, { group }) => sum + (prices.get(group) ?? 0), 0),
  };
}

function findTopChanges(was: Control, next: Control): readonly string[] {
  const limits = (control: Control): Readonly<Record<string, string>> => {
    const { slicesMax, spendMaxMicroUsdPerHour: spend, ...rates } = control.fleet.limits;
    return {
      'limits.maxSlices': orNone(slicesMax),
      'limits.spendPerHour': spend === null ? 'none' : formatUsd(spend),
      'limits.createsPerMinute': orNone(rates.createsPerMinute),
      'limits.concurrentLaunches': orNone(rates.concurrentLaunches),
      'limits.upscalingSpeed': orNone(rates.upscalingSpeed),
      'limits.terminationsPerMinute': orNone(control.blastRadius.terminationsPerMinute),
      'limits.drainingPercent': orNone(percent(control.blastRadius.drainingRatio)),
      'loop.evaluationInterval': formatDuration(control.evaluationIntervalMs),
      'loop.reconcileInterval': formatDuration(control.reconcileIntervalMs),
      strategy: control.fleet.strategy,
      mode: control.mode,
      quotaPools: JSON.stringify(control.fleet.quotaPools),
      calendars: JSON.stringify(control.calendars),
    };
  };
  return findDifferences(limits(was), limits(next), ['quotaPools', 'calendars']);
}

const orNone = (value: number | null): string => (value === null ? 'none' : String(value));
const percent = (ratio: number | null): number | null =>
  ratio === null ? null : Math.round(ratio * 100);

/** `max: 4 -> 8`; long values are only said to differ. */
function findDifferences(
  was: Readonly<Record<string, string>>,
  next: Readonly<Record<string, string>>,
  long: readonly string[] = [],
): readonly string[] {
  return Object.entries(next).flatMap(([key, value]) => {
    if (was[key] === value) return [];
    return [long.includes(key) ? `${key}: changed` : `${key}: ${was[key]} -> ${value}`];
  });
}

function findGroupChange(
  group: Group,
  was: Control,
  next: Control,
  records: readonly SliceRecord[],
): readonly string[] {
  const known = placeOf(was, group.name);
  const own = placeOf(next, group.name);
  if (own === null) return [];
  if (known === null || was.retired.includes(group.name)) {
    return [`group ${group.name}: added (${describe(group)})`];
  }
  const differences = findDifferences(wordsOf(known), wordsOf(own));
  const outdated = records.filter(
    (record) => record.group === group.name && record.shape !== own.own.shape && isStaying(record),
  );
  const isReshaped = known.own.shape !== own.own.shape;
  const shape = isReshaped
    ? [
        `new shape or bootstrap, ${plural(outdated.length, 'slice')} outdated (onChange: ${own.own.onChange})`,
      ]
    : [];
  return [...differences, ...shape].map((words) => `group ${group.name}: ${words}`);
}

/** Neither ended nor ending already. */
const isStaying = (record: SliceRecord): boolean =>
  isLive(record) && record.status !== 'terminating';

const describe = ({ min, max, priceMicroUsdPerHour }: Group): string =>
  `min ${min}, max ${max}, ${formatUsd(priceMicroUsdPerHour ?? 0)}/h`;

interface Placed {
  readonly group: Group;
  readonly own: GroupControl;
}

function placeOf({ fleet, groups }: Control, name: string): Placed | null {
  const index = fleet.groups.findIndex((each) => each.name === name);
  const [group, own] = [fleet.groups[index], groups[index]];
  return group === undefined || own === undefined ? null : { group, own };
}

/** What may change under a running slice. */
function wordsOf({ group, own }: Placed): Readonly<Record<string, string>> {
  return {
    min: String(group.min),
    spare: String(group.spare),
    max: String(group.max),
    priority: String(group.priority),
    pricePerHour: formatUsd(group.priceMicroUsdPerHour ?? 0),
    quotaPool: group.quotaPool ?? 'none',
    idleTimeout: formatDuration(own.idleTimeoutMs),
    onChange: own.onChange,
    unreported: own.unreported,
    concurrentLaunches: orNone(own.concurrentLaunchesMax),
    timeouts: Object.entries(own.timeouts)
      .map(([name, ms]) => `${name.replace(/Ms$/, '')} ${formatDuration(ms)}`)
      .join(', '),
  };
}

function findRemoval(
  { name }: Group,
  was: Control,
  next: Control,
  records: readonly SliceRecord[],
): readonly string[] {
  if (was.retired.includes(name) || placeOf(next, name) !== null) return [];
  const live = records.filter((record) => record.group === name && isStaying(record));
  const drain = live.length === 1 ? 'its slice drains' : `its ${live.length} slices drain`;
  const fate = live.length === 0 ? 'it has no slices' : drain;
  return [`group ${name}: removed; ${fate}`];
}
