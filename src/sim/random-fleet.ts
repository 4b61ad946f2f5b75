import { checkConfig } from '../config/config-file.ts';
import type { Control } from '../model/control.ts';
import type { Ask, EntryForm } from '../model/demand.ts';
import type { Group } from '../model/group.ts';
import { entryId, epochMs } from '../model/ids.ts';
import { must } from '../support/assert.ts';
import { forkRandom, type Random } from '../support/random.ts';
import type { Work } from './scheduler.ts';

/** Draws from a stream. */
export interface Dice {
  /** A whole number, both ends included. */
  between(from: number, to: number): number;
  isTrue(ratio: number): boolean;
  pick<T>(items: readonly T[]): T;
}

export function createDice(random: Random): Dice {
  const between = (from: number, to: number): number =>
    from + Math.floor(random() * (to - from + 1));
  return {
    between,
    isTrue: (ratio) => random() < ratio,
    pick: (items) => must(items[between(0, items.length - 1)], 'something to pick from'),
  };
}

const devices = [
  { device: 'cpu', host: { cpu: 16, memory: '64GiB' }, price: 0.8 },
  { device: 'cpu', host: { cpu: 64, memory: '256GiB' }, price: 3 },
  {
    device: { type: 'gpu', variant: 'a100' },
    host: { cpu: 32, memory: '256GiB', gpu: 4 },
    price: 9,
  },
  {
    device: { type: 'gpu', variant: 'h100' },
    host: { cpu: 64, memory: '512GiB', gpu: 8 },
    price: 30,
  },
  {
    device: { type: 'tpu', variant: 'v5e' },
    host: { cpu: 112, memory: '192GiB', tpu: 4 },
    price: 5,
  },
] as const;

/** A fleet of a few groups at one to three providers, with bounds and rates of all kinds. */
export function drawControl(seed: number): Control {
  const dice = createDice(forkRandom(seed, 'fleet'));
  const providers = ['one', 'two', 'three'].slice(0, dice.between(1, 3));
  const groups = Array.from({ length: dice.between(2, 5) }, (_, index) => {
    const { device, host, price } = dice.pick(devices);
    const isTpu = typeof device === 'object' && device.type === 'tpu';
    const isSpot = dice.isTrue(0.4);
    const max = dice.between(2, 8);
    return {
      name: `g${index}`,
      provider: dice.pick(providers),
      device,
      host,
      hostsPerSlice: isTpu ? dice.pick([2, 4]) : 1,
      max,
      min: dice.isTrue(0.25) ? dice.between(1, 2) : 0,
      spare: dice.isTrue(0.15) ? 1 : 0,
      pricePerHour: isSpot ? price / 3 : price,
      preemptible: isSpot,
      priority: dice.between(1, 20),
      idleTimeout: `${dice.between(1, 8)}m`,
      attributes: { zone: dice.pick(['a', 'b']) },
      onChange: dice.pick(['keep', 'replace-idle', 'roll']),
      ...(dice.isTrue(0.3) && 'gpu' in host ? { quotaPool: 'gpus' } : {}),
    };
  });
  const { config, findings } = checkConfig(
    {
      fleet: 'dst',
      strategy: dice.pick(['cost', 'cost', 'cost', 'priority', 'utilization']),
      limits: {
        ...(dice.isTrue(0.3) ? { maxSlices: dice.between(8, 20) } : {}),
        ...(dice.isTrue(0.3) ? { spendPerHour: dice.between(60, 200) } : {}),
        createsPerMinute: dice.pick([5, 20, 'none']),
        concurrentLaunches: dice.pick([2, 10, 'none']),
        upscalingSpeed: dice.pick([1, 3, 'none']),
        terminationsPerMinute: dice.pick([3, 60]),
      },
      timeouts: { booting: '5m', initializing: '5m', draining: '10m', gangAssembly: '12m' },
      quotaPools: { gpus: { gpu: dice.between(24, 64) } },
      providers: Object.fromEntries(
        providers.map((name) => [name, { type: 'simulated', callTimeout: '20s' }]),
      ),
      groups,
    },
    [],
  );
  return must(config, `a valid config: ${JSON.stringify(findings)}`).control;
}

/** Work that the fleet, empty and untroubled, could run: one task or a gang. */
export function drawWork(control: Control, dice: Dice, name: string): Work {
  const group = dice.pick(control.fleet.groups.filter(({ max }) => max > 0));
  return {
    entry: {
      id: entryId(name),
      count: 1,
      form: drawForm(group, dice),
      priority: dice.isTrue(0.2) ? dice.between(1, 3) : 0,
      submittedAtMs: epochMs(0),
      owner: null,
      taskIds: [],
      invalid: null,
    },
    runMs: dice.between(1, 25) * 60_000,
  };
}

function drawForm(group: Group, dice: Dice): EntryForm {
  const { type, variant } = group.device;
  const share = dice.pick([1, 0.5, 0.25]);
  const isAccelerated = type !== 'cpu';
  const resources = Object.fromEntries(
    Object.entries(group.host).map(([name, all]) => [name, Math.floor(all * share)]),
  );
  const ask: Ask = {
    device: isAccelerated
      ? { type, variants: dice.isTrue(0.5) && variant !== null ? [variant] : null }
      : null,
    preemptible: dice.isTrue(0.2) ? group.preemptible : null,
    constraints: dice.isTrue(0.15)
      ? [{ key: 'zone', op: 'eq', values: [group.attributes['zone'] ?? 'a'], soft: false }]
      : [],
    resources,
  };
  if (group.hostsPerSlice > 1) {
    const slices = dice.between(1, Math.min(2, group.max));
    return { kind: 'gang', ask, taskCount: slices * group.hostsPerSlice };
  }
  if (dice.isTrue(0.2)) {
    return { kind: 'gang', ask, taskCount: dice.between(2, Math.max(2, Math.min(4, group.max))) };
  }
  return { kind: 'single', ask };
}
