import { describe, expect, test } from 'vitest';
import { aGroup, anAsk, anEntry } from '../../test/builders.ts';
import { controlOf, dayConfig } from '../../test/e2e/replay-day.ts';
import type { Entry, EntryForm } from '../model/demand.ts';
import type { Group } from '../model/group.ts';
import { epochMs, sliceId } from '../model/ids.ts';
import type { Resources } from '../model/resources.ts';
import type { TrackedSlice } from '../model/slice-record.ts';
import type { TickInput } from '../model/tick.ts';
import { classify } from '../policy/demand/classes.ts';
import { WorkReader } from './work.ts';

const control = controlOf(dayConfig());
const node = aGroup({ name: 'node', host: { cpu: 8_000 } });
const pod = aGroup({ name: 'pod', host: { cpu: 8_000 }, hostsPerSlice: 2 });

function aSlice(id: string, group: Group, used: readonly (number | null)[]): TrackedSlice {
  return {
    id: sliceId(id),
    group: group.name,
    provider: 'simulated',
    hostCount: used.length,
    status: 'ready',
    statusSinceMs: epochMs(0),
    reservedFor: null,
    reservedSinceMs: null,
    priceMicroUsdPerHour: 1_000_000,
    shape: '',
    fallbackFor: [],
    machines: [],
    requestedAtMs: epochMs(0),
    readyAtMs: epochMs(0),
    idleSinceMs: null,
    isReported: true,
    isProtected: false,
    drain: null,
    hosts: used.map((cpu) =>
      cpu === null
        ? { free: null, isBusy: null }
        : { free: { cpu: (8 - cpu) * 1_000 }, isBusy: cpu > 0 },
    ),
  };
}

const cpus = (cpu: number): EntryForm => {
  return { kind: 'single', ask: anAsk({ resources: { cpu: cpu * 1_000 } }) };
};
const waiting = (id: string, cpu: number, count = 1): Entry =>
  anEntry({ id, form: cpus(cpu), count });

/** Ticks of 10 s: the waiting work, and the CPUs in use by host of each slice. */
function read(
  ...ticks: readonly (readonly [
    readonly Entry[],
    Readonly<Record<string, readonly (number | null)[]>>,
  ])[]
) {
  const reader = new WorkReader();
  ticks.forEach(([entries, slices], index) => {
    const input: TickInput = {
      atMs: epochMs(index * 10_000),
      epoch: 1,
      seq: index + 1,
      control: { ...control, fleet: { ...control.fleet, groups: [node, pod] } },
      slices: Object.entries(slices).map(([id, used]) =>
        aSlice(id, id.startsWith('pod') ? pod : node, used),
      ),
      demand: classify(entries),
      floors: [],
      pauses: [],
      troubles: [],
      health: [],
      learned: [],
      unlisted: [],
      launchedAtMs: [],
      releasedAtMs: [],
    };
    reader.feed(input);
  });
  return reader.finish().map(({ id, origin, form, leftMs, endedMs, isWithdrawn }) => {
    const need: Resources = form.kind === 'bundles' ? {} : form.ask.resources;
    const [from, to] = [leftMs, endedMs].map((ms) => (ms === null ? null : ms / 1_000));
    const name = origin === 'queue' ? id : origin;
    return [name, (need['cpu'] ?? 0) / 1_000, from, isWithdrawn ? 'withdrawn' : to];
  });
}

describe('a piece of work', () => {
  test('runs from when it stopped waiting until its room is free', () => {
    expect(
      read(
        [[waiting('a', 2)], { n1: [0] }],
        [[], { n1: [2] }],
        [[], { n1: [2] }],
        [[], { n1: [0] }],
      ),
    ).toEqual([['a', 2, 10, 30]]);
  });

  test('still waits, or still runs, at the end', () => {
    expect(
      read([[waiting('a', 2), waiting('b', 8)], { n1: [0] }], [[waiting('b', 8)], { n1: [2] }]),
    ).toEqual([
      ['a', 2, 10, null],
      ['b', 8, null, null],
    ]);
  });

  test('of a batch leaves one by one', () => {
    expect(
      read(
        [[waiting('a', 2, 3)], { n1: [0] }],
        [[waiting('a', 2, 1)], { n1: [4] }],
        [[], { n1: [4] }],
        [[], { n1: [2] }],
        [[], { n1: [0] }],
      ),
    ).toEqual([
      ['a', 2, 10, 20],
      ['a', 2, 10, 30],
      ['a', 2, 20, 40],
    ]);
  });

  test('may take the place of one that ended since the last tick', () => {
    expect(
      read(
        [[waiting('a', 4), waiting('b', 6)], { n1: [0] }],
        [[waiting('b', 6)], { n1: [4] }],
        [[], { n1: [6] }],
        [[], { n1: [0] }],
      ),
    ).toEqual([
      ['a', 4, 10, 20],
      ['b', 6, 20, 30],
    ]);
  });

  test('that no tick saw wait is known by its room', () => {
    expect(
      read([[], { n1: [0] }], [[], { n1: [3] }], [[], { n1: [1] }], [[], { n1: [0] }]),
    ).toEqual([
      ['unseen', 1, 10, 30],
      ['unseen', 2, 10, 20],
    ]);
  });

  test('that ran before the first tick is there from the start', () => {
    expect(read([[], { n1: [5] }], [[], { n1: [5] }], [[], { n1: [0] }])).toEqual([
      ['there', 5, 0, 20],
    ]);
  });

  test('is there also when its host is first reported on a little later', () => {
    expect(read([[], { n1: [null] }], [[], { n1: [5] }], [[], { n1: [0] }])).toEqual([
      ['there', 5, 0, 20],
    ]);
  });

  test('ends with its slice, and counts anew when it waits again', () => {
    expect(
      read(
        [[waiting('a', 2)], { n1: [0] }],
        [[], { n1: [2] }],
        [[waiting('a', 2)], {}],
        [[], { n2: [2] }],
        [[], { n2: [0] }],
      ),
    ).toEqual([
      ['a', 2, 10, 20],
      ['a', 2, 30, 40],
    ]);
  });

  test('keeps its room while nobody reports', () => {
    expect(
      read(
        [[waiting('a', 2)], { n1: [0] }],
        [[], { n1: [2] }],
        [[], { n1: [null] }],
        [[], { n1: [2] }],
        [[], { n1: [0] }],
      ),
    ).toEqual([['a', 2, 10, 40]]);
  });

  test('finds its room when the report comes after the queue', () => {
    expect(
      read(
        [[waiting('a', 2)], { n1: [0] }],
        [[], { n1: [0] }],
        [[], { n1: [2] }],
        [[], { n1: [0] }],
      ),
    ).toEqual([['a', 2, 10, 30]]);
  });

  test('that leaves and takes no room was withdrawn', () => {
    const idle: [Entry[], Record<string, number[]>] = [[], { n1: [0] }];
    expect(
      read([[waiting('a', 2)], { n1: [0] }], ...Array.from({ length: 8 }, () => idle)),
    ).toEqual([['a', 2, 10, 'withdrawn']]);
  });
});

test('room that shrinks or grows by less than a piece is one that ended and another that began', () => {
  expect(
    read([[waiting('a', 4)], { n1: [0] }], [[], { n1: [4] }], [[], { n1: [3] }], [[], { n1: [0] }]),
  ).toEqual([
    ['a', 4, 10, 20],
    ['unseen', 3, 20, 30],
  ]);
});

describe('a gang', () => {
  const gang: EntryForm = { kind: 'gang', ask: anAsk({ resources: { cpu: 6_000 } }), taskCount: 2 };
  const a = anEntry({ id: 'a', form: gang });

  test('has its hosts to itself, until all are free', () => {
    expect(
      read(
        [[a], { pod: [0, 0] }],
        [[], { pod: [8, 8] }],
        [[], { pod: [0, 8] }],
        [[], { pod: [0, 0] }],
      ),
    ).toEqual([['a', 6, 10, 30]]);
  });

  test('that follows another on the same hosts ends it', () => {
    const b = anEntry({ id: 'b', form: gang });
    expect(
      read(
        [[a, b], { pod: [0, 0] }],
        [[b], { pod: [8, 8] }],
        [[], { pod: [8, 8] }],
        [[], { pod: [0, 0] }],
      ),
    ).toEqual([
      ['a', 6, 10, 20],
      ['b', 6, 20, 30],
    ]);
  });

  test('that nobody saw wait is one piece', () => {
    expect(read([[], { pod: [0, 0] }], [[], { pod: [8, 8] }], [[], { pod: [0, 0] }])).toEqual([
      ['unseen', 8, 10, 20],
    ]);
  });
});
