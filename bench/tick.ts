import type { Entry, EntryForm } from '../src/model/demand.ts';
import { entryId, epochMs, groupName, sliceId } from '../src/model/ids.ts';
import type { Group } from '../src/model/group.ts';
import { strategies, type Strategy } from '../src/model/fleet.ts';
import type { Slice } from '../src/model/slice.ts';
import type { Snapshot } from '../src/model/snapshot.ts';
import { classify } from '../src/policy/demand/classes.ts';
import { decideDemand } from '../src/policy/demand/decide.ts';
import { must } from '../src/support/assert.ts';
import { type Random, seededRandom } from '../src/support/random.ts';
import { round, rssMiB, timeCpu } from './measure.ts';

// npm run bench -- tick [--strategy NAME] [--json]: one decision over a large synthetic fleet.

const GROUPS = 200;
const SLICES = 10_000;
const TASKS = 100_000;
const SHAPES = 500;
const GIB = 2 ** 30;

export async function benchTick(args: readonly string[]): Promise<void> {
  const at = args.indexOf('--strategy');
  const chosen = strategies.filter((name) => at < 0 || name === args[at + 1]);
  for (const strategy of chosen) {
    const { fleet, entries } = createScene(strategy);
    const grouping = timeCpu(() => classify(entries), { warmUp: 3 });
    const snapshot = { ...fleet, demand: classify(entries) };
    const { medianMs, minMs, maxMs, wallMedianMs } = timeCpu(() => decideDemand(snapshot), {
      warmUp: 30,
      runs: 11,
    });
    const decision = decideDemand(snapshot);
    const row = {
      strategy,
      slices: snapshot.slices.length,
      groups: GROUPS,
      tasks: TASKS,
      classes: snapshot.demand.length,
      launches: decision.groups.reduce((sum, { launch }) => sum + launch, 0),
      unmet: decision.classes.reduce((sum, { unmetCount }) => sum + unmetCount, 0),
      unmetClasses: decision.classes.filter(({ unmet }) => unmet !== null).length,
      classifyMs: round(grouping.medianMs, 1),
      decideMs: round(wallMedianMs, 1),
      cpuMs: round(medianMs, 1),
      cpuMinMs: round(minMs, 1),
      cpuMaxMs: round(maxMs, 1),
      rssMiB: rssMiB(),
    };
    console.log(args.includes('--json') ? JSON.stringify(row) : describe(row));
  }
}

/** Fleet and pending work, not grouped into classes yet. */
export function createScene(strategy: Strategy): {
  readonly fleet: Omit<Snapshot, 'demand'>;
  readonly entries: readonly Entry[];
} {
  const random = seededRandom(7);
  return { fleet: createFleet(random, strategy), entries: createEntries(random) };
}

/** The scene as one snapshot. */
export function createTick(strategy: Strategy): Snapshot {
  const { fleet, entries } = createScene(strategy);
  return { ...fleet, demand: classify(entries) };
}

const describe = (row: Readonly<Record<string, unknown>>): string =>
  Object.entries(row)
    .map(([key, value]) => `${key} ${String(value)}`)
    .join(', ');

const pick = <T>(random: Random, items: readonly T[]): T =>
  must(items[Math.floor(random() * items.length)], 'a non-empty list');

const machines = [
  { device: 'cpu', variant: null, cpu: 16, memory: 64, count: 0, price: 0.68 },
  { device: 'cpu', variant: null, cpu: 64, memory: 256, count: 0, price: 2.5 },
  { device: 'cpu', variant: null, cpu: 96, memory: 768, count: 0, price: 5.9 },
  { device: 'gpu', variant: 'T4', cpu: 16, memory: 64, count: 1, price: 0.95 },
  { device: 'gpu', variant: 'L4', cpu: 48, memory: 192, count: 4, price: 3.9 },
  { device: 'gpu', variant: 'A10', cpu: 96, memory: 384, count: 4, price: 6.3 },
  { device: 'gpu', variant: 'A100', cpu: 96, memory: 1_360, count: 8, price: 29.4 },
  { device: 'gpu', variant: 'H100', cpu: 208, memory: 1_872, count: 8, price: 88.3 },
  { device: 'tpu', variant: 'v5litepod-8', cpu: 112, memory: 192, count: 4, price: 9.6 },
  { device: 'tpu', variant: 'v6e-16', cpu: 180, memory: 720, count: 4, price: 43.2 },
] as const;
const zones = Array.from({ length: 20 }, (_, n) => `zone-${n}`);

function createFleet(random: Random, strategy: Strategy): Omit<Snapshot, 'demand'> {
  const groups = Array.from({ length: GROUPS }, (_, n): Group => {
    const machine = must(machines[n % machines.length], 'a machine');
    const zone = must(zones[Math.floor(n / machines.length)], 'a zone');
    return {
      name: groupName(`${machine.variant ?? `cpu${machine.cpu}`}-${zone}`),
      provider: 'simulated',
      device: { type: machine.device, variant: machine.variant },
      host: {
        cpu: machine.cpu * 1_000,
        memory: machine.memory * GIB,
        ...(machine.count > 0 ? { [machine.device]: machine.count * 1_000 } : {}),
      },
      hostsPerSlice: machine.device === 'tpu' ? 2 : 1,
      min: 0,
      spare: 0,
      max: machine.device === 'cpu' ? 600 : 250,
      priority: 100,
      // Places differ a little in price, as they do.
      priceMicroUsdPerHour: Math.round(machine.price * (1 + (n % 7) / 100) * 1_000_000),
      preemptible: n % 3 === 0,
      attributes: { zone, region: zone.slice(0, 6) },
      quotaPool: machine.device === 'tpu' ? 'tpu' : null,
    };
  });
  const slices = Array.from({ length: SLICES }, (_, n): Slice => {
    const group = must(groups[n % groups.length], 'a group');
    const isReady = random() < 0.95;
    const share = (): number => (random() < 0.6 ? 0 : Math.floor(random() * 100) / 100);
    const host = () => {
      const left = share();
      const free = Object.fromEntries(
        Object.entries(group.host).map(([name, value]) => [name, Math.floor(value * left)]),
      );
      return { free };
    };
    return {
      id: sliceId(`slice-${n}`),
      group: group.name,
      status: isReady ? 'ready' : 'booting',
      statusSinceMs: epochMs(0),
      hosts: isReady ? Array.from({ length: group.hostsPerSlice }, host) : [],
      reservedFor: null,
    };
  });
  return {
    atMs: epochMs(3_600_000),
    fleet: {
      name: 'tick',
      strategy,
      limits: {
        slicesMax: 60_000,
        spendMaxMicroUsdPerHour: 400_000_000_000,
        createsPerMinute: null,
        concurrentLaunches: null,
        upscalingSpeed: null,
      },
      registrationGraceMs: 60_000,
      groups,
      quotaPools: [{ name: 'tpu', limits: { tpu: 12_000_000 } }],
    },
    slices,
    conditions: groups.flatMap(({ name }, n) =>
      n % 40 === 7 ? [{ kind: 'stockout' as const, group: name, untilMs: epochMs(3_700_000) }] : [],
    ),
    floors: [],
  };
}

function createEntries(random: Random): readonly Entry[] {
  const forms = Array.from({ length: SHAPES }, (_, n): EntryForm => {
    const kind = n % 50 === 0 ? 'impossible' : pick(random, ['cpu', 'cpu', 'gpu', 'gpu', 'tpu']);
    const cpu = pick(random, [500, 1_000, 2_000, 4_000, 6_000, 8_000, 12_000]);
    // A little different each, so that no two shapes are one class.
    const memory = pick(random, [1, 2, 4, 8, 16, 24, 32]) * GIB + n * 2 ** 20;
    const zone = {
      key: 'zone',
      op: 'eq',
      values: [pick(random, zones)],
      soft: random() < 0.5,
    } as const;
    const ask = {
      device:
        kind === 'gpu'
          ? {
              type: 'gpu',
              variants: random() < 0.4 ? [pick(random, ['T4', 'L4', 'A100', 'H100'])] : null,
            }
          : kind === 'tpu'
            ? { type: 'tpu', variants: null }
            : kind === 'impossible'
              ? { type: 'gpu', variants: ['B300'] }
              : null,
      preemptible: random() < 0.1 ? false : null,
      constraints: random() < 0.2 ? [zone] : [],
      resources: {
        cpu,
        memory,
        ...(kind === 'gpu' ? { gpu: pick(random, [250, 500, 1_000, 2_000]) } : {}),
        ...(kind === 'tpu' ? { tpu: pick(random, [1_000, 2_000, 4_000]) } : {}),
      },
    };
    const isGang = n % 25 === 3;
    return isGang
      ? { kind: 'gang', ask, taskCount: pick(random, [2, 4, 8]) }
      : { kind: 'single', ask };
  });
  return Array.from({ length: TASKS }, (_, n): Entry => {
    // Few shapes are common and many are rare, as in the traces.
    const shape = n < SHAPES ? n : Math.floor(random() * random() * SHAPES);
    return {
      id: entryId(`task-${n}`),
      count: 1,
      form: must(forms[shape], 'a shape'),
      priority: 0,
      submittedAtMs: epochMs(n),
      owner: null,
      taskIds: [],
      invalid: null,
    };
  });
}
