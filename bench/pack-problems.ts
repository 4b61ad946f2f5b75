import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { PackPlan } from '../src/policy/demand/cost/pack-problem.ts';

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
