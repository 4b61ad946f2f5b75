import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Entry } from '../model/demand.ts';
import { epochMs } from '../model/ids.ts';
import { isLive, type SliceRecord, type TrackedSlice } from '../model/slice-record.ts';
import type { TickInput, TickOutput } from '../model/tick.ts';
import { classify } from '../policy/demand/classes.ts';
import { arbitraryTick, toRecord } from '../../test/arbitrary-tick.ts';
import { carryOut } from './carry-out.ts';
import { decideTick } from './decide-tick.ts';
import { Memory } from './memory.ts';
import { indexGroups } from './observe.ts';

function remember(slices: readonly TrackedSlice[]): Memory {
  const memory = new Memory();
  for (const slice of slices) memory.slices.put(slice.id, toRecord(slice));
  memory.keep();
  return memory;
}

function apply(input: TickInput, output: TickOutput): Memory {
  const memory = remember(input.slices);
  const groups = indexGroups(input.control);
  carryOut(output.steps, { memory, groups, nowMs: input.atMs, tell: () => {} });
  return memory;
}

const liveOf = (memory: Memory): readonly SliceRecord[] =>
  [...memory.slices.values()].filter(isLive);

describe('whatever the situation', () => {
  const runs = { numRuns: 100 };

  test('a tick run again from its record gives the same bytes', () => {
    fc.assert(
      fc.property(arbitraryTick, ({ input }) => {
        const again: TickInput = JSON.parse(JSON.stringify(input));
        expect(JSON.stringify(decideTick(again))).toBe(JSON.stringify(decideTick(input)));
      }),
      runs,
    );
  });

  test('no plan that launches leads beyond a bound', () => {
    fc.assert(
      fc.property(arbitraryTick, ({ input }) => {
        const output = decideTick(input);
        const live = liveOf(apply(input, output));
        const { fleet } = input.control;
        const launched = new Set(
          output.steps.flatMap((s) => (s.kind === 'launch' ? [s.group] : [])),
        );
        for (const group of fleet.groups) {
          const count = live.filter((record) => record.group === group.name).length;
          if (launched.has(group.name)) expect(count).toBeLessThanOrEqual(group.max);
        }
        if (launched.size === 0) return;
        const sum = (of: (group: (typeof fleet.groups)[number]) => number): number =>
          live.reduce((total, record) => {
            const group = fleet.groups.find(({ name }) => name === record.group);
            return total + (group === undefined ? 0 : of(group));
          }, 0);
        const { slicesMax, spendMaxMicroUsdPerHour: spendMax } = fleet.limits;
        const prices = sum((group) => group.priceMicroUsdPerHour ?? 0);
        const launchesCost = fleet.groups.some(
          (group) => launched.has(group.name) && (group.priceMicroUsdPerHour ?? 0) > 0,
        );
        if (slicesMax !== null) expect(live.length).toBeLessThanOrEqual(slicesMax);
        if (spendMax !== null && launchesCost) expect(prices).toBeLessThanOrEqual(spendMax);
        for (const pool of fleet.quotaPools) {
          const draws = (group: (typeof fleet.groups)[number], name: string): number =>
            group.quotaPool === pool.name ? group.hostsPerSlice * (group.host[name] ?? 0) : 0;
          for (const [name, limit] of Object.entries(pool.limits)) {
            const isDrawn = fleet.groups.some((g) => launched.has(g.name) && draws(g, name) > 0);
            if (isDrawn) expect(sum((group) => draws(group, name))).toBeLessThanOrEqual(limit);
          }
        }
      }),
      runs,
    );
  });

  test('every step is one in the life of a slice that lives, and can be carried out', () => {
    fc.assert(
      fc.property(arbitraryTick, ({ input }) => {
        const output = decideTick(input);
        const known = new Set(input.slices.map(({ id }) => id));
        for (const step of output.steps) {
          if (step.kind === 'launch') {
            expect(known.has(step.sliceId)).toBe(false);
            known.add(step.sliceId);
          } else expect(known.has(step.sliceId)).toBe(true);
        }
        apply(input, output); // asserts that the table knows each of them
      }),
      runs,
    );
  });

  test('every live slice has one word, and work is never told to go for lack of work', () => {
    fc.assert(
      fc.property(arbitraryTick, ({ input }) => {
        const { verdicts, steps } = decideTick(input);
        const told = verdicts.flatMap(({ sliceIds }) => sliceIds);
        expect(told.toSorted()).toEqual(input.slices.map(({ id }) => id).toSorted());
        for (const step of steps) {
          if (step.kind !== 'drain') continue;
          const slice = input.slices.find(({ id }) => id === step.sliceId);
          expect(slice?.isProtected).toBe(false);
          if (step.why.kind === 'idle' || step.why.kind === 'above-max') {
            expect(slice?.hosts.every(({ isBusy }) => isBusy === false)).toBe(true);
          }
        }
      }),
      runs,
    );
  });

  test('no group falls below its min by what a tick lets go for lack of work', () => {
    fc.assert(
      fc.property(arbitraryTick, ({ input }) => {
        const output = decideTick(input);
        const live = liveOf(apply(input, output));
        const retired = new Set(input.control.retired);
        for (const { name, min } of input.control.fleet.groups) {
          const isLetGo = output.steps.some(
            (step) =>
              step.kind === 'drain' && step.why.kind === 'idle' && isOf(input, step.sliceId, name),
          );
          if (!isLetGo || retired.has(name)) continue;
          const staying = live.filter(
            ({ group, status }) =>
              group === name && status !== 'draining' && status !== 'terminating',
          );
          expect(staying.length).toBeGreaterThanOrEqual(min);
        }
      }),
      runs,
    );
  });
});

const isOf = ({ slices }: TickInput, id: string, group: string): boolean =>
  slices.some((slice) => slice.id === id && slice.group === group);

describe('constant work', () => {
  const STEP_MS = 30_000;
  const TICKS_MAX = 120;

  test('becomes quiet once machines come and go as they are told', () => {
    fc.assert(
      fc.property(arbitraryTick, ({ input, entries }) => {
        let now = input;
        let quiet = 0;
        for (let n = 0; n < TICKS_MAX && quiet < 4; n++) {
          const output = decideTick(now);
          quiet = output.steps.length === 0 ? quiet + 1 : 0;
          now = nextTick(now, apply(now, output), entries);
        }
        expect(quiet).toBe(4);
      }),
      { numRuns: 40 },
    );
  });

  /** Half a minute later: what was asked for is there and idle, what was let go is gone. */
  function nextTick(before: TickInput, memory: Memory, entries: readonly Entry[]): TickInput {
    const atMs = epochMs(before.atMs + STEP_MS);
    const launched = [...memory.slices.values()].flatMap(({ requestedAtMs }) =>
      requestedAtMs !== null && requestedAtMs > atMs - 60_000 ? [requestedAtMs] : [],
    );
    const slices = liveOf(memory).flatMap((record) => evolve(record, before, atMs));
    const reserved = new Set(slices.flatMap(({ reservedFor }) => reservedFor ?? []));
    const launchedAtMs = launched.sort((a, b) => a - b);
    const demand = classify(entries, reserved);
    return { ...before, atMs, seq: before.seq + 1, slices, demand, launchedAtMs };
  }

  function evolve(record: SliceRecord, before: TickInput, atMs: TickInput['atMs']): TrackedSlice[] {
    const { history: _, ...rest } = record;
    const known = before.slices.find(({ id }) => id === record.id);
    const hosts = known?.hosts ?? [];
    switch (record.status) {
      case 'requesting':
      case 'booting':
      case 'initializing': {
        const free = before.control.fleet.groups.find(({ name }) => name === record.group)?.host;
        const idle = { free: free ?? {}, isBusy: false };
        const there = Array.from({ length: record.hostCount }, () => idle);
        const times = { statusSinceMs: atMs, readyAtMs: atMs, idleSinceMs: atMs };
        return [{ ...rest, ...times, status: 'ready', hosts: there }];
      }
      case 'draining':
      case 'terminating':
        return [];
      default:
        // A slice that came back from a drain has its time without work before it.
        return [{ ...rest, hosts, idleSinceMs: rest.idleSinceMs ?? atMs }];
    }
  }
});
