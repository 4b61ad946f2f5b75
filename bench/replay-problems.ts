import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { z } from 'zod';
import { groupName } from '../src/model/ids.ts';
import type { CatalogueInput, HostType, WorkShape } from '../src/policy/placement/catalogue.ts';

const replaySchema = z.object({
  schema: z.literal('bellows-replay/1'),
  name: z.string(),
  demands: z.string(),
  arrivalCompression: z.number(),
  nodeTypes: z.string(),
  tickSeconds: z.number(),
  idleTimeoutSeconds: z.number(),
  window: z.tuple([z.number(), z.number()]),
  maxRuntimeSeconds: z.number(),
  useGpuSpec: z.boolean().optional(),
});

const catalogueSchema = z.object({
  schema: z.literal('bellows-catalogue/1'),
  nodeTypes: z.array(
    z.object({
      name: z.string(),
      capacity: z.object({ cpu_milli: z.number(), memory_mib: z.number(), gpu_milli: z.number() }),
      gpuModel: z.string().nullable(),
      hourlyCost: z.number(),
      bootSeconds: z.number(),
    }),
  ),
});

/** Work that arrives and leaves; how long it runs is known to the simulation, not to a policy. */
export interface Demand {
  readonly shape: number;
  readonly arrivalMs: number;
  readonly runMs: number;
}

/** A replay in the terms of the placement policies. */
export interface ReplayProblem {
  readonly name: string;
  readonly input: CatalogueInput;
  /** Per type. */
  readonly bootMs: readonly number[];
  readonly tickMs: number;
  readonly idleTimeoutMs: number;
  /** By arrival. */
  readonly demands: readonly Demand[];
}

const MICRO = 1_000_000;
const MIB = 2 ** 20;
/** CPU and memory are 0 and 1. */
const GPU = 2;

/** Reads a `bellows-replay/1` problem, its catalogue and its demands; throws if it is not one. */
export function readReplayProblem(path: string): ReplayProblem {
  const file = replaySchema.parse(JSON.parse(readFileSync(path, 'utf8')));
  const folder = dirname(path);
  const { nodeTypes } = catalogueSchema.parse(
    JSON.parse(readFileSync(join(folder, file.nodeTypes), 'utf8')),
  );
  const types = nodeTypes.map(({ name, capacity, hourlyCost }): HostType => {
    const { cpu_milli, memory_mib, gpu_milli } = capacity;
    return {
      name: groupName(name),
      capacity: Float64Array.of(cpu_milli, memory_mib * MIB, gpu_milli),
      priceMicroUsdPerHour: Math.round(hourlyCost * MICRO),
    };
  });
  const rows = readTable(join(folder, file.demands)).slice(...file.window);
  const firstS = Number(rows[0]?.['creation_time']);
  const shapes = new Map<string, { readonly index: number; readonly shape: WorkShape }>();
  const demands = rows.map((row): Demand => {
    const models = file.useGpuSpec === true ? (row['gpu_spec'] ?? '') : '';
    const need = needOf(row);
    const key = `${need.join(' ')} ${models}`;
    const known = shapes.get(key) ?? {
      index: shapes.size,
      shape: {
        need,
        mayOpen: Uint8Array.from(nodeTypes, ({ gpuModel }) => {
          return models === '' || models.split('|').includes(gpuModel ?? '') ? 1 : 0;
        }),
        mayVisit: new Uint8Array(types.length),
      },
    };
    shapes.set(key, known);
    const createdS = Number(row['creation_time']);
    const ranS = Number(row['deletion_time']) - createdS;
    return {
      shape: known.index,
      arrivalMs: ((createdS - firstS) / file.arrivalCompression) * 1_000,
      runMs: Math.min(Math.max(ranS, 1), file.maxRuntimeSeconds) * 1_000,
    };
  });
  return {
    name: file.name,
    input: { types, shapes: [...shapes.values()].map(({ shape }) => shape), deviceResource: GPU },
    bootMs: nodeTypes.map(({ bootSeconds }) => bootSeconds * 1_000),
    tickMs: file.tickSeconds * 1_000,
    idleTimeoutMs: file.idleTimeoutSeconds * 1_000,
    demands,
  };
}

/** Only pods with one GPU ask for a share of it; shares add up per host. */
function needOf(row: Readonly<Record<string, string>>): Float64Array {
  const gpus = Number(row['num_gpu']);
  const gpuMilli = gpus === 1 ? Number(row['gpu_milli']) : gpus * 1_000;
  return Float64Array.of(Number(row['cpu_milli']), Number(row['memory_mib']) * MIB, gpuMilli);
}

/** A compressed table with a header, no quotes in it. */
export function readTable(path: string): readonly Readonly<Record<string, string>>[] {
  const [header = '', ...lines] = gunzipSync(readFileSync(path))
    .toString('utf8')
    .trim()
    .split('\n');
  const names = header.split(',');
  return lines.map((line) => {
    const cells = line.split(',');
    return Object.fromEntries(names.map((name, index) => [name, cells[index] ?? '']));
  });
}
