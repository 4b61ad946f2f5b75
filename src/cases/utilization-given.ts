import { z } from 'zod';
import { bundleStrategies } from '../model/demand.ts';
import type { UtilizationProblem } from '../policy/demand/utilization/problem.ts';

const quantities = z.record(z.string(), z.number().min(0).max(1e300));
const count = z.int().min(0).max(10_000_000);
const selectors = z
  .array(
    z.array(
      z.strictObject({
        key: z.string(),
        op: z.enum(['in', 'notIn']),
        values: z.array(z.string()),
      }),
    ),
  )
  .default([]);
const labels = z.record(z.string(), z.string()).default({});
const demand = z.strictObject({ resources: quantities, count, selectors });
const ratios = z.record(z.string(), z.number().min(0).max(1)).default({});

const nodeType = z.strictObject({
  name: z.string().min(1),
  resources: quantities,
  min: count.default(0),
  max: count,
  labels,
  priority: z.number().default(0),
  idleTimeoutS: z.number().min(0).nullable().default(null),
  configHash: z.string().default(''),
  price: z.number().optional(),
});
const node = z.strictObject({
  id: z.string().min(1),
  type: z.string().min(1),
  kind: z.enum(['worker', 'head']).default('worker'),
  state: z.enum([
    'queued',
    'requested',
    'allocated',
    'installing',
    'running',
    'stopRequested',
    'stopping',
    'stopped',
    'terminating',
    'terminated',
    'allocationFailed',
  ]),
  total: quantities.default({}),
  available: quantities.default({}),
  labels,
  idleMs: z.number().min(0).default(0),
  configHash: z.string().default(''),
});

/** What a case of the policy `utilization` is given. */
export const utilizationGiven = z.object({
  nodeTypes: z.array(nodeType),
  nodes: z.array(node).default([]),
  demands: z.array(demand).default([]),
  gangs: z
    .array(
      z.strictObject({
        id: z.string(),
        strategy: z.enum(bundleStrategies),
        bundles: z.array(z.strictObject({ resources: quantities, selectors })).min(1),
      }),
    )
    .default([]),
  constraints: z.array(demand).default([]),
  limits: z
    .strictObject({
      maxNodes: count.nullable().default(null),
      idleTimeoutS: z.number().min(0).nullable().default(null),
      checkConfig: z.boolean().default(false),
    })
    .default({ maxNodes: null, idleTimeoutS: null, checkConfig: false }),
  availability: ratios,
  recovery: ratios,
}) satisfies z.ZodType<UtilizationProblem>;
