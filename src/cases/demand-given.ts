import { z } from 'zod';
import { constraintOps } from '../model/constraint.ts';
import { type Ask, type Entry, type EntryForm, bundleStrategies } from '../model/demand.ts';
import { type Strategy } from '../model/fleet.ts';
import { GROUP_PRIORITY_DEFAULT, type Group } from '../model/group.ts';
import { entryId, epochMs, groupName, sliceId } from '../model/ids.ts';
import type { Resources } from '../model/resources.ts';
import { type Slice, type SliceStatus, sliceStatuses } from '../model/slice.ts';
import type { GroupCondition, Snapshot } from '../model/snapshot.ts';
import { classify } from '../policy/demand/classes.ts';
import { findInvalid } from '../policy/demand/validity.ts';

/** Quantities as numbers; `memoryBytes` and `diskBytes` say their unit in their name. */
const quantities = z.record(
  z.string(),
  z
    .number()
    .min(0)
    .max(1e12 * 1024),
);
const count = z.int().min(0).max(10_000_000);
/** Cases are small worlds; more slices or entries than this belong into a snapshot file. */
const SLICES_MAX = 100_000;
const ENTRIES_MAX = 1_000_000;

const constraint = z.strictObject({
  key: z.string().min(1),
  op: z.enum(constraintOps),
  values: z.array(z.union([z.string(), z.number(), z.boolean()])).default([]),
  soft: z.boolean().default(false),
});
const ask = {
  device: z
    .strictObject({ type: z.string(), variants: z.array(z.string()).nullable().default(null) })
    .nullable()
    .default(null),
  preemptible: z.boolean().nullable().default(null),
  constraints: z.array(constraint).default([]),
  resources: quantities.default({}),
};
const entry = z.strictObject({
  ...ask,
  id: z.string().min(1),
  tasks: count.min(1, 'an entry has at least one task').default(1),
  gang: z.boolean().default(false),
  count: count.min(1).default(1),
  bundles: z
    .strictObject({
      strategy: z.enum(bundleStrategies),
      parts: z.array(z.strictObject(ask)).min(1),
    })
    .optional(),
  priority: z.number().default(0),
  ageS: z.number().min(0).default(0),
  owner: z.string().nullable().default(null),
  invalid: z.string().optional(),
});
const group = z.strictObject({
  name: z.string().min(1),
  device: z.strictObject({ type: z.string(), variant: z.string().nullable().default(null) }),
  host: quantities,
  hostsPerSlice: count.min(1).default(1),
  min: count.default(0),
  spare: count.default(0),
  max: count,
  priority: z.number().default(GROUP_PRIORITY_DEFAULT),
  pricePerHour: z.number().min(0).max(1e9).optional(),
  preemptible: z.boolean().default(false),
  attributes: z.record(z.string(), z.string()).default({}),
  slices: z.partialRecord(z.enum(sliceStatuses), count.max(SLICES_MAX)).default({}),
  blocked: z
    .strictObject({
      kind: z.enum(['backoff', 'stockout', 'quota-exceeded', 'paused', 'draining']),
    })
    .optional(),
  quotaPool: z.string().optional(),
  free: z.array(quantities).default([]),
});

/** What a case of the policies `priority` and `cost` is given. */
const demandFields = z.strictObject({
  groups: z.array(group),
  demand: z.array(entry),
  limits: z
    .strictObject({
      maxSlices: count.optional(),
      spendPerHour: z.number().min(0).max(1e9).optional(),
    })
    .default({}),
  quotaPools: z.record(z.string(), quantities).default({}),
});
type DemandGiven = z.infer<typeof demandFields>;

/** As the fields say, and what must hold between them. */
export const demandGiven = (strategy: Strategy): z.ZodType<DemandGiven> =>
  demandFields.superRefine((given, context) => {
    const say = (path: (string | number)[], message: string): void =>
      context.addIssue({ code: 'custom', path, message });
    const names = new Set<string>();
    given.groups.forEach(({ name, quotaPool, pricePerHour }, index) => {
      if (names.has(name)) say(['groups', index, 'name'], `the name "${name}" is taken already`);
      names.add(name);
      if (quotaPool !== undefined && !Object.hasOwn(given.quotaPools, quotaPool)) {
        say(['groups', index, 'quotaPool'], `"${quotaPool}" is not among quotaPools`);
      }
      if (strategy === 'cost' && pricePerHour === undefined) {
        say(['groups', index, 'pricePerHour'], 'the cost policy needs a price (0 is one)');
      }
    });
    const ids = new Set<string>();
    given.demand.forEach(({ id, tasks, count: times, gang }, index) => {
      if (ids.has(id)) say(['demand', index, 'id'], `the id "${id}" is taken already`);
      ids.add(id);
      if (times * (gang ? 1 : tasks) > ENTRIES_MAX) {
        say(['demand', index], `more than ${ENTRIES_MAX} entries; a case has fewer`);
      }
    });
  });
type GivenGroup = DemandGiven['groups'][number];
type GivenEntry = DemandGiven['demand'][number];

const MICRO = 1_000_000;

/** A case's situation as a snapshot. Ready slices are busy, but for the hosts named in `free`. */
export function toSnapshot(given: DemandGiven, strategy: Strategy): Snapshot {
  const { limits, groups } = given;
  return {
    atMs: epochMs(0),
    fleet: {
      name: 'case',
      strategy,
      limits: {
        slicesMax: limits.maxSlices ?? null,
        spendMaxMicroUsdPerHour:
          limits.spendPerHour === undefined ? null : Math.round(limits.spendPerHour * MICRO),
        createsPerMinute: null,
        concurrentLaunches: null,
        upscalingSpeed: null,
      },
      registrationGraceMs: 0,
      groups: groups.map(toGroup),
      quotaPools: Object.entries(given.quotaPools).map(([name, units]) => {
        return { name, limits: toResources(units, Math.floor) };
      }),
    },
    slices: groups.flatMap(toSlices),
    conditions: groups.flatMap(({ name, blocked }): GroupCondition[] => {
      if (blocked === undefined) return [];
      const { kind } = blocked;
      if (kind === 'draining') return [{ kind, group: groupName(name) }];
      return [{ kind, group: groupName(name), untilMs: null }];
    }),
    demand: classify(given.demand.map(toEntry)),
    floors: [],
  };
}

function toGroup(given: GivenGroup): Group {
  const { pricePerHour, host, quotaPool } = given;
  return {
    name: groupName(given.name),
    provider: 'local',
    device: given.device,
    host: toResources(host, Math.floor),
    hostsPerSlice: given.hostsPerSlice,
    min: given.min,
    spare: given.spare,
    max: given.max,
    priority: given.priority,
    priceMicroUsdPerHour: pricePerHour === undefined ? null : Math.round(pricePerHour * MICRO),
    preemptible: given.preemptible,
    attributes: given.attributes,
    quotaPool: quotaPool ?? null,
  };
}

/** Slices by count and status; each list of `hostsPerSlice` free hosts makes one more, ready. */
function toSlices(given: GivenGroup): readonly Slice[] {
  const { name, hostsPerSlice, free } = given;
  const slice = (index: number, status: SliceStatus, hosts: Slice['hosts']): Slice => ({
    id: sliceId(`${name}-${status}-${index}`),
    group: groupName(name),
    status,
    statusSinceMs: epochMs(0),
    hosts,
    reservedFor: null,
  });
  const counted = Object.entries(given.slices).flatMap(([status, many]) =>
    // The schema admits only statuses as keys.
    Array.from({ length: many ?? 0 }, (_, index) => slice(index, status as SliceStatus, [])),
  );
  const reported: Slice[] = [];
  for (let at = 0; at < free.length; at += hostsPerSlice) {
    const hosts = free
      .slice(at, at + hostsPerSlice)
      .map((room) => ({ free: toResources(room, Math.floor) }));
    reported.push(slice(counted.length + at, 'ready', hosts));
  }
  return [...counted, ...reported];
}

function toEntry(given: GivenEntry): Entry {
  const form = toForm(given);
  const invalid = given.invalid;
  return {
    id: entryId(given.id),
    count: given.gang ? given.count : given.count * given.tasks,
    form,
    priority: given.priority,
    submittedAtMs: epochMs(-given.ageS * 1000),
    owner: given.owner,
    taskIds: [],
    invalid:
      invalid === undefined ? findInvalid(form) : ({ kind: 'declared', detail: invalid } as const),
  };
}

function toForm(given: GivenEntry): EntryForm {
  const { bundles } = given;
  if (bundles !== undefined) {
    return { kind: 'bundles', strategy: bundles.strategy, bundles: bundles.parts.map(toAsk) };
  }
  const whole = toAsk(given);
  if (!given.gang) return { kind: 'single', ask: whole };
  return { kind: 'gang', ask: whole, taskCount: given.tasks };
}

function toAsk(given: Pick<GivenEntry, keyof typeof ask>): Ask {
  return {
    device: given.device,
    preemptible: given.preemptible,
    constraints: given.constraints.map(({ key, op, values, soft }) => {
      return { key, op, values: values.map(String), soft };
    }),
    resources: toResources(given.resources, Math.ceil),
  };
}

/** Into the smallest unit: bytes as they are, all else in milli-units. */
function toResources(given: Resources, round: (value: number) => number): Resources {
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => {
      if (name === 'memoryBytes') return ['memory', round(value)];
      if (name === 'diskBytes') return ['disk', round(value)];
      return [name, round(value * 1000)];
    }),
  );
}
