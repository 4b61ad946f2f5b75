import fc from 'fast-check';
import { expect, test } from 'vitest';
import { epochMs, groupName } from '../../model/ids.ts';
import { createCatalogue, fits, type HostType } from './catalogue.ts';
import { createOutlook } from './extension.ts';
import { decidePlacement, placementDefaults, type PlacementHost } from './placement.ts';
import { learnSurvival, type RunTime } from './survival.ts';

const now = epochMs(1_000_000_000);
const HOUR_MS = 3_600_000;
const SHORT = 0;
const LONG = 1;
const GUEST = 2;

const aType = (name: string, capacity: readonly number[], usd: number): HostType => {
  const priceMicroUsdPerHour = usd * 1_000_000;
  return { name: groupName(name), capacity: Float64Array.from(capacity), priceMicroUsdPerHour };
};
const types = [aType('plain', [16, 4], 4), aType('dear', [16, 4], 8), aType('single', [4, 1], 2)];
const shapes = [
  { need: [4, 1], mayOpen: [1, 1, 0], mayVisit: [0, 0, 0] },
  { need: [4, 1], mayOpen: [1, 1, 0], mayVisit: [0, 0, 0] },
  { need: [4, 1], mayOpen: [0, 0, 1], mayVisit: [1, 0, 0] },
].map(({ need, mayOpen, mayVisit }) => ({
  need: Float64Array.from(need),
  mayOpen: Uint8Array.from(mayOpen),
  mayVisit: Uint8Array.from(mayVisit),
}));
const catalogue = createCatalogue({ types, shapes, deviceResource: 1 });

const many = (shape: number, ranMs: number): RunTime[] =>
  Array.from({ length: 400 }, () => ({ shape, ranMs }));
const finished = [...many(SHORT, 600_000), ...many(LONG, 10 * HOUR_MS), ...many(GUEST, HOUR_MS)];
const outlook = createOutlook(learnSurvival({ finished, running: [] }, 3), now);
const view = { catalogue, outlook, config: placementDefaults };

/** A host with work that began so long ago; room is what it leaves. */
function aHost(id: string, type: number, work: readonly (readonly [number, number])[] = []) {
  const free = types[type]!.capacity.slice();
  for (const [shape] of work) for (const k of [0, 1]) free[k]! -= shapes[shape]!.need[k]!;
  const running = work.map(([shape, ranMs]) => ({ shape, startedAtMs: epochMs(now - ranMs) }));
  return { id, type, state: 'ready', free, work: running } satisfies PlacementHost;
}

const empty = aHost('empty', 0);
const emptyToo = aHost('empty-too', 0);
const lasting = aHost('lasting', 0, [[LONG, HOUR_MS]]);
const ending = aHost('ending', 0, [[SHORT, 500_000]]);
const lastingDear = aHost('dear', 1, [[LONG, HOUR_MS]]);
const fuller = aHost('fuller', 0, [
  [LONG, HOUR_MS],
  [LONG, HOUR_MS],
  [SHORT, 500_000],
]);
const full = aHost('full', 0, [
  [LONG, 0],
  [LONG, 0],
  [LONG, 0],
  [LONG, 0],
]);

// prettier-ignore: a table is read by column
test.each([
  ['takes the only room', SHORT, [full, ending], 'ending', 'only-room'],
  [
    'goes where long work stays anyway',
    SHORT,
    [empty, ending, lasting],
    'lasting',
    'least-extension',
  ],
  ['leaves an empty host to the last', LONG, [empty, ending], 'ending', 'least-extension'],
  ['takes the cheaper of two alike', SHORT, [lastingDear, lasting], 'lasting', 'least-extension'],
  ['fills up the fuller of near-equals', SHORT, [lasting, fuller], 'fuller', 'least-extension'],
  ['breaks ties by id', SHORT, [emptyToo, empty], 'empty', 'fuller'],
] as const)('%s', (_name, shape, hosts, hostId, why) => {
  const decision = decidePlacement(view, shape, hosts);
  expect(decision).toMatchObject({ kind: 'placed', hostId, why: { kind: why } });
  expect(decidePlacement(view, shape, hosts.toReversed())).toMatchObject({ hostId });
});

test('waits where nothing has room', () => {
  expect(decidePlacement(view, SHORT, [full])).toEqual({
    kind: 'waits',
    why: { kind: 'no-room', hostCount: 1 },
  });
});

test('a guest takes a hole in a host that stays anyway, and no other', () => {
  const taken = decidePlacement(view, GUEST, [lasting]);
  expect(taken).toMatchObject({ kind: 'placed', hostId: 'lasting' });
  const refused = decidePlacement(view, GUEST, [ending]);
  expect(refused).toMatchObject({ kind: 'waits', why: { kind: 'holes-too-dear' } });
  expect(decidePlacement(view, GUEST, [empty])).toMatchObject({ kind: 'waits' });
  const booting = { ...lasting, state: 'booting' } as const;
  expect(decidePlacement(view, GUEST, [booting])).toMatchObject({ why: { kind: 'no-room' } });
});

const work = fc.array(fc.tuple(fc.nat(1), fc.nat(20 * HOUR_MS)), { maxLength: 4 });
const someHosts = fc
  .array(fc.tuple(fc.nat(1), work), { maxLength: 8 })
  .map((list) => list.map(([type, held], index) => aHost(`host-${index}`, type, held)));

test('never more than fits, whatever the order of hosts', () => {
  fc.assert(
    fc.property(fc.nat(2), someHosts, (shape, hosts) => {
      const decision = decidePlacement(view, shape, hosts);
      const roomy = hosts.filter(({ free }) => fits(shapes[shape]!.need, free));
      expect(decidePlacement(view, shape, hosts.toReversed())).toEqual(decision);
      if (decision.kind === 'placed') {
        expect(roomy.map(({ id }) => id)).toContain(decision.hostId);
        expect(decision.extensionCostMicroUsd).toBeGreaterThanOrEqual(0);
      } else if (shape !== GUEST) expect(roomy).toEqual([]);
    }),
  );
});

test('an extension costs the more the dearer the host', () => {
  fc.assert(
    fc.property(
      work,
      fc.integer({ min: 1, max: 100 }),
      fc.integer({ min: 1, max: 9 }),
      (held, usd, times) => {
        const costAt = (price: number): number => {
          const dear = createCatalogue({
            types: [aType('one', [16, 4], price)],
            shapes,
            deviceResource: 1,
          });
          const free = Float64Array.of(16, 4);
          const decision = decidePlacement({ ...view, catalogue: dear }, SHORT, [
            { ...aHost('one', 0, held), free },
          ]);
          return decision.kind === 'placed' ? decision.extensionCostMicroUsd : NaN;
        };
        expect(costAt(usd * times)).toBeGreaterThanOrEqual(costAt(usd));
      },
    ),
  );
});
