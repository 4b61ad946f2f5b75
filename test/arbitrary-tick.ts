import fc from 'fast-check';
import type { Control } from '../src/model/control.ts';
import type { Entry } from '../src/model/demand.ts';
import { epochMs, groupName } from '../src/model/ids.ts';
import type { SliceRecord, TrackedHost, TrackedSlice } from '../src/model/slice-record.ts';
import type { SliceStatus } from '../src/model/slice.ts';
import type { TickInput } from '../src/model/tick.ts';
import type { Trouble } from '../src/model/trouble.ts';
import { arbitraryEntries, arbitrarySnapshot } from './arbitraries.ts';
import { aControl, aRecord, aTickInput, aTimeouts } from './builders.ts';

// Whole situations as the controller meets them, from the same small worlds as `arbitraries.ts`.

const statuses = [
  'queued',
  'requesting',
  'booting',
  'initializing',
  'ready',
  'ready',
  'ready',
  'draining',
  'terminating',
] as const satisfies readonly SliceStatus[];

interface SliceSeed {
  readonly group: number;
  readonly status: SliceStatus;
  readonly work: 'idle' | 'busy' | 'silent' | 'part';
  readonly idleForMs: number;
  readonly isProtected: boolean;
  readonly isOutdated: boolean;
  readonly isFallback: boolean;
}

const anInstantAgo = fc.constantFrom(0, 5_000, 30_000, 60_000, 600_000);

const arbitrarySeed: fc.Arbitrary<SliceSeed> = fc.record({
  group: fc.nat(5),
  status: fc.constantFrom(...statuses),
  work: fc.constantFrom('idle', 'idle', 'busy', 'silent', 'part'),
  idleForMs: anInstantAgo,
  isProtected: fc.constantFrom(false, false, false, true),
  isOutdated: fc.constantFrom(false, false, true),
  isFallback: fc.constantFrom(false, false, true),
});

const maybe = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(value, { freq: 2 });

const arbitraryLimits = fc.record({
  createsPerMinute: maybe(fc.constantFrom(1, 3)),
  concurrentLaunches: maybe(fc.constantFrom(1, 2)),
  upscalingSpeed: maybe(fc.constantFrom(0, 0.5, 1)),
});

const arbitraryBlastRadius = fc.record({
  terminationsPerMinute: maybe(fc.constantFrom(1, 4)),
  drainingRatio: maybe(fc.constantFrom(0.1, 0.5)),
});

/** What nobody reports on has no free room known; on its way there is none yet. */
function toHost({ status, work }: SliceSeed, host: Readonly<Record<string, number>>): TrackedHost {
  const isThere = status === 'ready' || status === 'draining';
  if (!isThere || work === 'silent') return { free: null, isBusy: null };
  const share = { idle: 1, busy: 0, part: 0.5 }[work];
  const free = Object.fromEntries(
    Object.entries(host).map(([name, value]) => [name, Math.floor(value * share)]),
  );
  return { free, isBusy: work === 'busy' };
}

function toTracked(seed: SliceSeed, n: number, { fleet }: Control): TrackedSlice {
  const group = fleet.groups[seed.group % fleet.groups.length]!;
  const hosts = Array.from({ length: group.hostsPerSlice }, () => toHost(seed, group.host));
  const drain = { why: { kind: 'idle', idleForMs: 1 }, deadlineMs: epochMs(1_800_000) } as const;
  const { history: _, ...record } = aRecord({
    id: `s${n}`,
    group: group.name,
    provider: group.provider,
    hostCount: group.hostsPerSlice,
    status: seed.status,
    statusSinceMs: epochMs(-seed.idleForMs),
    readyAtMs: epochMs(-3_600_000),
    idleSinceMs: seed.work === 'busy' ? null : epochMs(-seed.idleForMs),
    isReported: seed.work !== 'silent',
    isProtected: seed.isProtected,
    shape: seed.isOutdated ? 'old' : 'shape',
    fallbackFor: seed.isFallback ? [groupName('g0')] : [],
    drain: seed.status === 'draining' ? drain : null,
  });
  return { ...record, hosts };
}

/** A tick at time 0 with the entries that its demand was made from. */
export const arbitraryTick: fc.Arbitrary<{
  readonly input: TickInput;
  readonly entries: readonly Entry[];
}> = fc
  .record({
    snapshot: arbitrarySnapshot(),
    entries: arbitraryEntries,
    seeds: fc.array(arbitrarySeed, { maxLength: 10 }),
    limits: arbitraryLimits,
    blastRadius: arbitraryBlastRadius,
    onChange: fc.constantFrom('keep', 'replace-idle', 'roll'),
    isRetired: fc.constantFrom(false, false, false, true),
    isTroubled: fc.boolean(),
  })
  .map(({ snapshot, entries, seeds, limits, blastRadius, onChange, isRetired, isTroubled }) => {
    const { fleet } = snapshot;
    const last = fleet.groups.at(-1)!;
    const control = {
      fleet: { ...fleet, limits: { ...fleet.limits, ...limits } },
      blastRadius,
      own: { onChange, timeouts: { ...aTimeouts, gangAssemblyMs: 1e9 }, idleTimeoutMs: 20_000 },
      retired: isRetired ? [last.name] : [],
    };
    const trouble: Trouble = {
      scope: { kind: 'group', name: 'g0' },
      kind: 'stockout',
      attempts: 1,
      sinceMs: epochMs(-1),
      untilMs: epochMs(90_000),
      detail: '',
    };
    const slices = seeds.map((seed, n) => toTracked(seed, n, aControl(control)));
    const troubles = isTroubled ? [trouble] : [];
    const { floors } = snapshot;
    return { entries, input: aTickInput({ control, slices, troubles, floors, entries }) };
  });

/** A record as the store would have it. */
export function toRecord(slice: TrackedSlice): SliceRecord {
  const { hosts: _, ...rest } = slice;
  return { ...rest, history: [] };
}
