import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { aGroup, aSlice, aSnapshot, anAsk, anEntry } from '../../../test/builders.ts';
import type { EntryForm } from '../../model/demand.ts';
import { strategies } from '../../model/fleet.ts';
import { entryId } from '../../model/ids.ts';
import type { SliceStatus } from '../../model/slice.ts';
import type { Snapshot } from '../../model/snapshot.ts';
import { classify } from './classes.ts';
import { decideDemand } from './decide.ts';

const gang: EntryForm = { kind: 'gang', ask: anAsk(), taskCount: 4 };
const mine = entryId('mine');

/** Slices of two hosts, reserved for `mine`. */
const reserved = (...statuses: readonly SliceStatus[]) =>
  statuses.map((status, index) =>
    aSlice({ id: `s${index}`, group: 'group', status, reservedFor: mine }),
  );

describe.each(strategies)('slices reserved for a gang under %s', (strategy) => {
  const decide = (slices: Snapshot['slices'], ids: readonly string[], max = 10) =>
    decideDemand(
      aSnapshot({
        fleet: { strategy, groups: [aGroup({ hostsPerSlice: 2, max })] },
        slices,
        demand: classify(
          ids.map((id) => anEntry({ id, form: gang })),
          new Set([mine]),
        ),
      }),
    );

  test('are its own, ready or coming', () => {
    const { groups, classes } = decide(reserved('ready', 'booting'), ['mine']);
    expect(groups[0]?.launch).toBe(0);
    expect(classes[0]?.placed[0]?.spots).toEqual([
      { group: 'group', room: 'free-room', tasks: 2 },
      { group: 'group', room: 'on-its-way', tasks: 2 },
    ]);
  });

  test('are made up for where one is lost', () => {
    const { groups, classes } = decide(reserved('ready', 'failed'), ['mine']);
    expect([groups[0]?.launch, classes[0]?.unmetCount]).toEqual([1, 0]);
  });

  test('serve nobody else', () => {
    const { groups, classes } = decide(reserved('ready', 'booting'), ['other', 'mine'], 2);
    expect(groups[0]?.launch).toBe(0);
    expect(classes.map(({ unmetCount }) => unmetCount)).toEqual([1, 0]);
  });

  test('are room like any other once the gang is gone', () => {
    const { groups, classes } = decide(reserved('booting', 'booting'), ['other']);
    expect([groups[0]?.launch, classes[0]?.unmetCount]).toEqual([0, 0]);
  });

  test('a gang that keeps all its slices launches nothing', () => {
    const waiting = fc.constantFrom<SliceStatus>('requesting', 'booting', 'initializing', 'ready');
    fc.assert(
      fc.property(waiting, waiting, fc.nat(3), (first, second, others) => {
        const ids = ['mine', ...Array.from({ length: others }, (_, n) => `other-${n}`)];
        const { groups } = decide(reserved(first, second), ids);
        expect(groups[0]?.launch).toBe(2 * others);
      }),
      { numRuns: 50 },
    );
  });
});
