import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { arbitrarySnapshot } from '../../../test/arbitraries.ts';
import { aSlice } from '../../../test/builders.ts';
import type { DemandDecision, Spot } from '../../model/decision.ts';
import { type EntryForm, entryIdAt } from '../../model/demand.ts';
import type { EntryId } from '../../model/ids.ts';
import { strategies } from '../../model/fleet.ts';
import type { Group } from '../../model/group.ts';
import type { RoomKind } from '../../model/reason.ts';
import type { Snapshot } from '../../model/snapshot.ts';
import { must } from '../../support/assert.ts';
import { decideDemand } from './decide.ts';
import { partsOf } from './eligibility.ts';
import { createProblem, openLedger } from './problem.ts';
import { listRoster } from './roster.ts';

/** Runs per strategy; about ten thousand in all. */
const RUNS = Number(process.env['BELLOWS_FUZZ_RUNS'] ?? 3_400);

/**
 * Work moves to slices on their way that it likes better than its first place, which leaves room
 * for work that waited. Each such move is progress, so there are few of them.
 */
const TICKS_TO_QUIET = 12;

describe.each(strategies)('a decision of %s', (strategy) => {
  const holds = (check: (snapshot: Snapshot, decision: DemandDecision) => void): void =>
    fc.assert(
      fc.property(arbitrarySnapshot(strategy), (snapshot) => {
        check(snapshot, decideDemand(snapshot));
      }),
      { numRuns: Math.ceil(RUNS / 4) },
    );

  test('leaves no entry, no group and no floor without a reason', () => {
    holds((snapshot, decision) => {
      expect(decision.groups.map(({ group }) => group)).toEqual(
        snapshot.fleet.groups.map(({ name }) => name),
      );
      expect(decision.classes).toHaveLength(snapshot.demand.length);
      decision.classes.forEach((verdict, index) => {
        const placed = verdict.placed.reduce((sum, { count }) => sum + count, 0);
        expect(placed + verdict.unmetCount).toBe(snapshot.demand[index]?.count);
        expect(verdict.unmet === null).toBe(verdict.unmetCount === 0);
        const isExplained =
          verdict.unmet === null ||
          verdict.unmet.invalid !== null ||
          verdict.unmet.groups.length === snapshot.fleet.groups.length;
        expect(isExplained).toBe(true);
        for (const { spots } of verdict.placed) expect(spots.length).toBeGreaterThan(0);
      });
      decision.floors.forEach(({ heldCount, unmet }, index) => {
        expect(unmet === null).toBe(heldCount === snapshot.floors[index]?.count);
      });
    });
  });

  test('keeps every bound', () => {
    holds((snapshot, decision) => {
      const { groups, limits, quotaPools } = snapshot.fleet;
      const after = decision.groups.map(({ total, launch }) => total + launch);
      const launchedAny = decision.groups.some(({ launch }) => launch > 0);
      const sum = (of: (group: Group) => number): number =>
        groups.reduce((all, group, index) => all + of(group) * (after[index] ?? 0), 0);
      decision.groups.forEach(({ launch, total }, index) => {
        if (launch > 0) expect(total + launch).toBeLessThanOrEqual(groups[index]?.max ?? 0);
      });
      if (launchedAny && limits.slicesMax !== null) {
        expect(sum(() => 1)).toBeLessThanOrEqual(limits.slicesMax);
      }
      const { spendMaxMicroUsdPerHour: spendMax } = limits;
      if (decision.costMicroUsdPerHour > 0 && spendMax !== null) {
        expect(sum((group) => group.priceMicroUsdPerHour ?? 0)).toBeLessThanOrEqual(spendMax);
      }
      for (const pool of quotaPools) {
        const isMember = (group: Group): boolean => group.quotaPool === pool.name;
        const grew = decision.groups.some(
          ({ launch }, index) => launch > 0 && isMember(must(groups[index], 'a group')),
        );
        const used = sum((group) =>
          isMember(group) ? group.hostsPerSlice * (group.host['cpu'] ?? 0) : 0,
        );
        if (grew) expect(used).toBeLessThanOrEqual(pool.limits['cpu'] ?? 0);
      }
    });
  });

  test('puts no more on a kind of room than it holds', () => {
    holds((snapshot, decision) => {
      const problem = createProblem(snapshot);
      const { rooms } = openLedger(problem);
      snapshot.fleet.groups.forEach((group, index) => {
        const launch = decision.groups[index]?.launch ?? 0;
        for (const kind of ['free-room', 'on-its-way', 'new'] as const) {
          problem.resources.forEach((resource, k) => {
            const have =
              kind === 'new'
                ? launch * group.hostsPerSlice * (group.host[resource] ?? 0)
                : rooms
                    .view(index)
                    .filter((room) => room.kind === kind)
                    .reduce((sum, room) => sum + (room.free[k] ?? 0) * room.count, 0);
            const need = needOn(snapshot, decision, { group, kind, resource });
            expect(need).toBeLessThanOrEqual(have);
          });
        }
      });
    });
  });

  test('is the same for the same snapshot, to the byte', () => {
    holds((snapshot, decision) => {
      expect(JSON.stringify(decideDemand(structuredClone(snapshot)))).toBe(
        JSON.stringify(decision),
      );
    });
  });
});

interface Place {
  readonly group: Group;
  readonly kind: RoomKind;
  readonly resource: string;
}

/** What all work placed on a kind of room asks of a resource; bundles by their lightest parts. */
function needOn(snapshot: Snapshot, decision: DemandDecision, place: Place): number {
  let need = 0;
  decision.classes.forEach(({ placed }, index) => {
    const { form } = must(snapshot.demand[index], 'one verdict per class');
    for (const { count, spots } of placed) {
      for (const spot of spots) {
        if (spot.group !== place.group.name || spot.room !== place.kind) continue;
        need += count * leastNeed(form, spot, place.resource);
      }
    }
  });
  return need;
}

function leastNeed(form: EntryForm, spot: Spot, resource: string): number {
  const needs = partsOf(form)
    .map((part) => part.need[resource] ?? 0)
    .sort((a, b) => a - b);
  if (form.kind !== 'bundles') return spot.tasks * (needs[0] ?? 0);
  return needs.slice(0, spot.tasks).reduce((sum, need) => sum + need, 0);
}

/** Launched slices as the next tick sees them: on their way, those of gangs reserved. */
function afterLaunch(snapshot: Snapshot, decision: DemandDecision): Snapshot {
  const reserved = new Set<EntryId>();
  const gangSlices = new Map<string, EntryId[]>();
  for (const { batch, outcome, demand, from, to } of listRoster(snapshot, decision)) {
    if (outcome.kind !== 'placed' || demand.form.kind !== 'gang') continue;
    for (const { group, room, tasks } of outcome.placement.spots) {
      const { hostsPerSlice } = must(
        snapshot.fleet.groups.find(({ name }) => name === group),
        'a group of the fleet',
      );
      if (hostsPerSlice === 1 || room !== 'new') continue;
      for (let n = from; n < to; n++) {
        const id = entryIdAt(batch, n);
        reserved.add(id);
        const owners = Array.from({ length: tasks / hostsPerSlice }, () => id);
        gangSlices.set(group, [...(gangSlices.get(group) ?? []), ...owners]);
      }
    }
  }
  const coming = decision.groups.flatMap(({ group, launch }) =>
    Array.from({ length: launch }, (_, n) => ({
      ...aSlice({ id: `new-${group}-${snapshot.slices.length + n}`, group, status: 'requesting' }),
      reservedFor: gangSlices.get(group)?.[n] ?? null,
    })),
  );
  const demand = snapshot.demand.map((one) => ({
    ...one,
    isReserved: one.form.kind === 'gang' && one.batches.some(({ id }) => reserved.has(id)),
  }));
  return { ...snapshot, demand, slices: [...snapshot.slices, ...coming] };
}

test('cost launches nothing twice while slices are on their way', () => {
  const singlesOnly = arbitrarySnapshot('cost').map((snapshot) => {
    const groups = snapshot.fleet.groups.map((group) => ({ ...group, spare: 0 }));
    const demand = snapshot.demand.filter(({ form }) => form.kind === 'single');
    return { ...snapshot, demand, floors: [], fleet: { ...snapshot.fleet, groups } };
  });
  fc.assert(
    fc.property(singlesOnly, (snapshot) => {
      const first = decideDemand(snapshot);
      // Where work waits, room that comes may be put to better use and let more of it in.
      fc.pre(first.classes.every(({ unmet }) => unmet === null || unmet.code !== 'no-capacity'));
      const next = decideDemand(afterLaunch(snapshot, first));
      expect(next.groups.filter(({ launch }) => launch > 0)).toEqual([]);
    }),
    { numRuns: Math.ceil(RUNS / 5) },
  );
});

test.each(strategies)('%s becomes quiet after a few ticks on the same input', (strategy) => {
  fc.assert(
    fc.property(arbitrarySnapshot(strategy), (snapshot) => {
      let now = snapshot;
      for (let tick = 0; tick < TICKS_TO_QUIET; tick++) now = afterLaunch(now, decideDemand(now));
      expect(decideDemand(now).groups.filter(({ launch }) => launch > 0)).toEqual([]);
    }),
    { numRuns: Math.ceil(RUNS / 20) },
  );
});
