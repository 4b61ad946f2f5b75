import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { PackPlan, PackProblem } from '../src/policy/demand/cost/pack-problem.ts';

const fileSchema = z.object({
  schema: z.literal('bellows-pack/1'),
  name: z.string(),
  resources: z.array(z.string()),
  nodeTypes: z.array(
    z.object({
      name: z.string(),
      capacity: z.record(z.string(), z.number()),
      gpuModel: z.string().nullable(),
      hourlyCost: z.number(),
      maxCount: z.number().nullable(),
    }),
  ),
  shapes: z.array(z.looseObject({ gpuModels: z.array(z.string()).nullable(), count: z.number() })),
  order: z.array(z.number()),
  repeatOrder: z.number(),
});

/** A static packing problem as published, in the `bellows-pack/1` format. */
export type PackFile = z.infer<typeof fileSchema>;

/** Reads a problem; throws if the file is not in the `bellows-pack/1` format. */
export function readPackFile(path: string): PackFile {
  return fileSchema.parse(JSON.parse(readFileSync(path, 'utf8')));
}

/** The problem in numbers; prices become micro-dollars, node limits become budgets of one type. */
export function toPackProblem(file: PackFile): PackProblem {
  const { resources, nodeTypes, shapes } = file;
  const need = shapes.flatMap((shape) => resources.map((name) => Number(shape[name])));
  const capacity = nodeTypes.flatMap((type) => resources.map((name) => type.capacity[name] ?? 0));
  const allowedInRoom = shapes.flatMap(({ gpuModels }) =>
    nodeTypes.map(({ gpuModel }) =>
      gpuModels === null || (gpuModel !== null && gpuModels.includes(gpuModel)) ? 1 : 0,
    ),
  );
  const fits = (shape: number, type: number): boolean =>
    resources.every(
      (_, index) =>
        (need[shape * resources.length + index] ?? 0) <=
        (capacity[type * resources.length + index] ?? 0),
    );
  const allowed = allowedInRoom.map((may, pair) => {
    const shape = Math.floor(pair / nodeTypes.length);
    return may === 1 && fits(shape, pair % nodeTypes.length) ? 1 : 0;
  });
  return {
    resourceCount: resources.length,
    shapeCount: shapes.length,
    typeCount: nodeTypes.length,
    need: Float64Array.from(need),
    count: Int32Array.from(shapes, (shape) => shape.count),
    capacity: Float64Array.from(capacity),
    hostsPerUnit: new Int32Array(nodeTypes.length).fill(1),
    unitPrice: Float64Array.from(nodeTypes, (type) => Math.round(type.hourlyCost * 1e6)),
    allowed: Uint8Array.from(allowed),
    allowedInRoom: Uint8Array.from(allowedInRoom),
    budgets: nodeTypes.flatMap(({ maxCount }, index) => {
      if (maxCount === null) return [];
      const use = new Float64Array(nodeTypes.length);
      use[index] = 1;
      return [{ left: maxCount, use }];
    }),
    rooms: [],
  };
}

/** A plan in the `bellows-plan/1` format, which `check_plan.py` verifies. */
export interface PlanFile {
  readonly schema: 'bellows-plan/1';
  readonly problem: string;
  readonly nodes: readonly {
    readonly type: string;
    readonly count: number;
    readonly fill: Readonly<Record<string, number>>;
  }[];
  readonly unplaced: Readonly<Record<string, number>>;
}

export function toPlanFile(file: PackFile, plan: PackPlan): PlanFile {
  const nodes = plan.opened.map((hosts) => ({
    type: file.nodeTypes[hosts.type]?.name ?? '',
    count: hosts.count,
    fill: Object.fromEntries(
      hosts.shapes.map((shape, index) => [String(shape), hosts.copies[index] ?? 0]),
    ),
  }));
  const unplaced = [...plan.unplaced.entries()].filter(([, count]) => count > 0);
  return {
    schema: 'bellows-plan/1',
    problem: file.name,
    nodes,
    unplaced: Object.fromEntries(unplaced.map(([shape, count]) => [String(shape), count])),
  };
}
