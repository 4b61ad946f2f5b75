import fc from 'fast-check';
import { type Constraint, constraintOps } from '../src/model/constraint.ts';
import { type Ask, type Entry, type EntryForm, bundleStrategies } from '../src/model/demand.ts';
import { type Strategy, strategies } from '../src/model/fleet.ts';
import type { Group } from '../src/model/group.ts';
import { entryId, epochMs, groupName } from '../src/model/ids.ts';
import { type Slice, sliceStatuses } from '../src/model/slice.ts';
import type { GroupCondition, Snapshot } from '../src/model/snapshot.ts';
import { aGroup, aSlice, aSnapshot, anEntry, noLimits } from './builders.ts';

// Small worlds in which everything can happen: few names, so that they collide; small numbers, so
// that bounds bind.

const zones = ['us-a', 'us-b', 'eu-a'];
const devices = [
  { type: 'cpu', variant: null },
  { type: 'gpu', variant: 'H100' },
  { type: 'gpu', variant: 'L4' },
  { type: 'tpu', variant: 'v5p-8' },
];

const aCount = (max: number): fc.Arbitrary<number> => fc.integer({ min: 0, max });

const arbitraryGroup: fc.Arbitrary<Group> = fc
  .record({
    device: fc.constantFrom(...devices),
    cpu: fc.constantFrom(4, 16, 64),
    memory: fc.constantFrom(16, 64, 512),
    accelerators: fc.constantFrom(1, 4, 8),
    hostsPerSlice: fc.constantFrom(1, 1, 2, 4),
    min: fc.constantFrom(0, 0, 0, 1, 2),
    spare: fc.constantFrom(0, 0, 0, 1),
    extra: aCount(6),
    priority: fc.constantFrom(0, 10, 100),
    price: fc.constantFrom(0, 500_000, 1_000_000, 7_300_000),
    preemptible: fc.boolean(),
    zone: fc.constantFrom(...zones),
    quotaPool: fc.constantFrom(null, null, 'pool'),
  })
  .map(({ device, cpu, memory, accelerators, extra, price, zone, ...rest }) =>
    aGroup({
      ...rest,
      device,
      max: rest.min + extra,
      priceMicroUsdPerHour: price,
      attributes: { zone, region: zone.slice(0, 2) },
      host: {
        cpu: cpu * 1_000,
        memory: memory * 2 ** 30,
        ...(device.type === 'cpu' ? {} : { [device.type]: accelerators * 1_000 }),
      },
    }),
  );

const arbitraryConstraint: fc.Arbitrary<Constraint> = fc
  .record({
    key: fc.constantFrom('zone', 'region', 'rack'),
    op: fc.constantFrom(...constraintOps),
    value: fc.constantFrom(...zones, 'us', 'eu', 'us-c', '3'),
    soft: fc.boolean(),
  })
  .map(({ key, op, value, soft }) => {
    const values = op === 'exists' || op === 'not-exists' ? [] : [value];
    return { key, op, values, soft };
  });

const arbitraryAsk: fc.Arbitrary<Ask> = fc
  .record({
    device: fc.constantFrom(
      null,
      null,
      { type: 'gpu', variants: null },
      { type: 'gpu', variants: ['h100'] },
      { type: 'tpu', variants: null },
      { type: 'tpu', variants: ['v9'] },
    ),
    preemptible: fc.constantFrom(null, null, null, true, false),
    constraints: fc.array(arbitraryConstraint, { maxLength: 2 }),
    cpu: fc.constantFrom(0, 250, 1_000, 4_000, 15_000, 100_000),
    memory: fc.constantFrom(0, 1, 8, 40),
    accelerators: fc.constantFrom(500, 1_000, 4_000),
  })
  .map(({ device, preemptible, constraints, cpu, memory, accelerators }) => ({
    device,
    preemptible,
    constraints,
    resources: {
      cpu,
      memory: memory * 2 ** 30,
      ...(device === null ? {} : { [device.type]: accelerators }),
    },
  }));

const arbitraryForm: fc.Arbitrary<EntryForm> = fc.oneof(
  { weight: 4, arbitrary: arbitraryAsk.map((ask) => ({ kind: 'single', ask }) as const) },
  {
    weight: 2,
    arbitrary: fc
      .record({ ask: arbitraryAsk, taskCount: fc.integer({ min: 1, max: 8 }) })
      .map(({ ask, taskCount }) => ({ kind: 'gang', ask, taskCount }) as const),
  },
  {
    weight: 1,
    arbitrary: fc
      .record({
        strategy: fc.constantFrom(...bundleStrategies),
        bundles: fc.array(arbitraryAsk, { minLength: 1, maxLength: 3 }),
      })
      .map((bundles) => ({ kind: 'bundles', ...bundles }) as const),
  },
);

const arbitraryEntry: fc.Arbitrary<Entry> = fc
  .record({
    form: arbitraryForm,
    count: fc.constantFrom(1, 1, 2, 5, 30),
    priority: fc.constantFrom(0, 0, 0, 5),
    ageMs: aCount(3),
  })
  .map((over) => anEntry(over));

/** A few entries; ids are given by position. */
export const arbitraryEntries: fc.Arbitrary<readonly Entry[]> = fc
  .array(arbitraryEntry, { maxLength: 7 })
  .map((entries) => entries.map((entry, index) => ({ ...entry, id: entryId(`e${index}`) })));

interface SliceSeed {
  readonly group: number;
  readonly status: (typeof sliceStatuses)[number];
  readonly isReported: boolean;
  readonly freeShare: number;
}

const arbitrarySlice: fc.Arbitrary<SliceSeed> = fc.record({
  group: aCount(5),
  status: fc.constantFrom('ready' as const, 'ready' as const, ...sliceStatuses),
  isReported: fc.boolean(),
  freeShare: fc.constantFrom(0, 0.25, 0.5, 1),
});

function toSlices(seeds: readonly SliceSeed[], groups: readonly Group[]): readonly Slice[] {
  return seeds.flatMap(({ group: index, status, isReported, freeShare }, n) => {
    const group = groups[index % groups.length];
    if (group === undefined) return [];
    const free = Object.fromEntries(
      Object.entries(group.host).map(([name, value]) => [name, Math.floor(value * freeShare)]),
    );
    const hosts = isReported ? Array.from({ length: group.hostsPerSlice }, () => ({ free })) : [];
    return [aSlice({ id: `s${n}`, group: group.name, status, hosts })];
  });
}

/** A whole situation; ids are given by position. */
export const arbitrarySnapshot = (only?: Strategy): fc.Arbitrary<Snapshot> =>
  fc
    .record({
      strategy: only === undefined ? fc.constantFrom(...strategies) : fc.constant(only),
      groups: fc.array(arbitraryGroup, { minLength: 1, maxLength: 5 }),
      slices: fc.array(arbitrarySlice, { maxLength: 8 }),
      entries: fc.array(arbitraryEntry, { maxLength: 7 }),
      floors: fc.array(fc.record({ ask: arbitraryAsk, count: aCount(4) }), { maxLength: 2 }),
      blocked: fc.array(
        fc.record({
          group: aCount(4),
          kind: fc.constantFrom('backoff', 'stockout', 'quota-exceeded', 'paused', 'draining'),
        }),
        { maxLength: 2 },
      ),
      slicesMax: fc.constantFrom(null, null, 0, 4, 12),
      spend: fc.constantFrom(null, null, 0, 3_000_000, 20_000_000),
      quota: fc.constantFrom(0, 16_000, 100_000),
    })
    .map(({ strategy, entries, blocked, slicesMax, spend, quota, ...seed }) => {
      const groups = seed.groups.map((group, index) => ({
        ...group,
        name: groupName(`g${index}`),
      }));
      const named = (index: number) => groupName(`g${index % groups.length}`);
      return aSnapshot({
        fleet: {
          strategy,
          groups,
          limits: { ...noLimits, slicesMax, spendMaxMicroUsdPerHour: spend },
          quotaPools: [{ name: 'pool', limits: { cpu: quota } }],
        },
        slices: toSlices(seed.slices, groups),
        conditions: blocked.map(({ group, kind }): GroupCondition => {
          return kind === 'draining'
            ? { kind, group: named(group) }
            : { kind, group: named(group), untilMs: epochMs(60_000) };
        }),
        entries: entries.map((entry, index) => ({ ...entry, id: `e${index}` as typeof entry.id })),
        floors: seed.floors.map(({ ask, count }, index) => {
          return { ask: { ...ask, constraints: [] }, count, id: `f${index}` as Entry['id'] };
        }),
      });
    });
