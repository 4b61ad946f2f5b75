import type { Ask, DemandClass } from '../src/model/demand.ts';
import type { Strategy } from '../src/model/fleet.ts';
import type { Group } from '../src/model/group.ts';
import { entryId, epochMs, groupName } from '../src/model/ids.ts';
import type { Snapshot } from '../src/model/snapshot.ts';
import { createAllocation } from '../src/policy/demand/allocation.ts';
import type { PackPlan } from '../src/policy/demand/cost/pack-problem.ts';
import { listWaiting, planSingles } from '../src/policy/demand/cost/singles.ts';
import { createProblem, openLedger } from '../src/policy/demand/problem.ts';
import type { PackFile } from './pack-problems.ts';

const MIB = 2 ** 20;
/** A type without a limit may grow to what a config may say at most. */
const MAX_DEFAULT = 1_000_000;

/** A static problem as a fleet without slices; class n is shape n, `times` as many tasks of each. */
export function toSnapshot(file: PackFile, strategy: Strategy, times = 1): Snapshot {
  return {
    atMs: epochMs(0),
    fleet: {
      name: file.name,
      strategy,
      limits: {
        slicesMax: null,
        spendMaxMicroUsdPerHour: null,
        createsPerMinute: null,
        concurrentLaunches: null,
        upscalingSpeed: null,
      },
      registrationGraceMs: 0,
      groups: file.nodeTypes.map(toGroup),
      quotaPools: [],
    },
    slices: [],
    conditions: [],
    floors: [],
    demand: file.shapes.map((shape, index) => toClass(shape, index, times)),
  };
}

function toGroup({
  name,
  capacity,
  gpuModel,
  hourlyCost,
  maxCount,
}: PackFile['nodeTypes'][number]): Group {
  return {
    name: groupName(name),
    provider: 'simulated',
    device: { type: gpuModel === null ? 'cpu' : 'gpu', variant: gpuModel },
    host: toResources(capacity),
    hostsPerSlice: 1,
    min: 0,
    spare: 0,
    max: maxCount ?? MAX_DEFAULT,
    priority: 100,
    priceMicroUsdPerHour: Math.round(hourlyCost * 1_000_000),
    preemptible: false,
    attributes: {},
    quotaPool: null,
  };
}

function toClass(shape: PackFile['shapes'][number], index: number, times: number): DemandClass {
  const { gpuModels } = shape;
  const ask: Ask = {
    device: gpuModels === null ? null : { type: 'gpu', variants: gpuModels },
    preemptible: null,
    constraints: [],
    resources: toResources(shape),
  };
  const count = shape.count * times;
  const id = entryId(`shape-${index}`);
  const batch = { id, count, submittedAtMs: epochMs(0), order: index, owner: null, taskIds: [] };
  const form = { kind: 'single', ask } as const;
  return { form, priority: 0, invalid: null, isReserved: false, batches: [batch], count };
}

function toResources(given: Readonly<Record<string, unknown>>): Readonly<Record<string, number>> {
  return {
    cpu: Number(given['cpu_milli']),
    memory: Number(given['memory_mib']) * MIB,
    gpu: Number(given['gpu_milli']),
  };
}

/** What the cost strategy does with such a problem, host by host; shapes are class numbers. */
export function planOf(snapshot: Snapshot): PackPlan {
  const problem = createProblem(snapshot);
  const allocation = createAllocation(problem, openLedger(problem));
  const waiting = listWaiting(allocation, problem.wants);
  const { plan } = planSingles(problem, allocation, waiting);
  const toClassIndex = (shape: number): number => waiting[shape]?.want.index ?? -1;
  const unplaced = Int32Array.from(snapshot.demand, ({ count }) => count);
  for (const { want } of waiting) unplaced[want.index] = 0;
  plan.unplaced.forEach((count, shape) => {
    unplaced[toClassIndex(shape)] = count;
  });
  const opened = plan.opened.map((hosts) => ({ ...hosts, shapes: hosts.shapes.map(toClassIndex) }));
  return { ...plan, opened, unplaced };
}
