import { z } from 'zod';
import { constraintOps } from '../model/constraint.ts';
import { bundleStrategies } from '../model/demand.ts';
import { sliceStatuses } from '../model/slice.ts';
import { count, duration, durationOr, instant, resources, text, word } from './fields.ts';
import { HOSTS_PER_SLICE_MAX, PRIORITY_MAX, SLICES_MAX } from './group-schema.ts';
import { packMessage } from './issues.ts';
import { describeValue } from './problem.ts';

/** Tasks of one snapshot, all counts multiplied out. */
export const TASKS_MAX = 10_000_000;
const ROWS_MAX = 1_000_000;
const CONSTRAINTS_MAX = 100;
const VALUES_MAX = 1_000;
export const BUNDLES_MAX = 10_000;

const id = text(253);
const scalar = z.union([z.string(), z.number(), z.boolean()]);

const constraint = z.strictObject({
  key: text(253).describe('An attribute of groups: zone, region, ...'),
  op: word(constraintOps),
  value: scalar.optional(),
  values: z.array(scalar).max(VALUES_MAX).optional(),
  soft: z.boolean().default(false).describe('Ranks, never excludes (false).'),
});

const deviceAsk = z.union(
  [
    text(63),
    z.strictObject({
      type: text(63),
      variant: text(63).optional(),
      variants: z
        .array(text(63))
        .min(1)
        .max(VALUES_MAX)
        .optional()
        .describe('Any of these will do.'),
    }),
  ],
  {
    error: (issue) =>
      packMessage(
        `${describeValue(issue.input)} is not a device`,
        'write gpu, or { type: gpu, variants: [h100, a100] }',
      ),
  },
);

/** What every request for room may say. */
const ask = {
  device: deviceAsk
    .optional()
    .describe('Accelerator type and variants; none needed when left out.'),
  preemptible: z.boolean().optional().describe('Either kind of capacity when left out.'),
  constraints: z.array(constraint).max(CONSTRAINTS_MAX).optional(),
};

const standing = {
  priority: count(-PRIORITY_MAX, PRIORITY_MAX).default(0).describe('Higher is served first (0).'),
  age: durationOr('0s').describe('How long it has waited (0s).'),
  owner: text(253).optional(),
};

const sliceRow = z.strictObject({
  id,
  group: text(63),
  status: word(sliceStatuses),
  count: count(1, SLICES_MAX).default(1).describe('So many alike: id/0, id/1, ... (1)'),
  for: durationOr('0s').describe('Time in this status (0s).'),
  hosts: z
    .array(
      z.strictObject({
        free: resources('down').optional().describe('Room last reported; none reported is busy.'),
        count: count(1, HOSTS_PER_SLICE_MAX).default(1),
      }),
    )
    .max(HOSTS_PER_SLICE_MAX)
    .optional(),
  reservedFor: id.optional().describe('The gang that alone may use it.'),
});

const conditionRow = z.strictObject({
  group: text(63),
  kind: word(['backoff', 'stockout', 'quota-exceeded', 'paused', 'draining']),
  until: instant.optional(),
  for: duration.optional().describe('Ends so long after `at`.'),
});

const taskRow = z.strictObject({
  id,
  gang: id.optional().describe('Tasks that name the same gang run together or not at all.'),
  ...ask,
  resources: resources('up'),
  ...standing,
});

const entryRow = z.strictObject({
  id,
  count: count(1, TASKS_MAX).default(1).describe('So many equal entries: id/0, id/1, ... (1)'),
  gang: count(1, TASKS_MAX).optional().describe('So many equal tasks, all or nothing.'),
  bundles: z
    .strictObject({
      strategy: word(bundleStrategies),
      parts: z
        .array(
          z.strictObject({
            ...ask,
            resources: resources('up'),
            count: count(1, BUNDLES_MAX).default(1),
          }),
        )
        .min(1)
        .max(BUNDLES_MAX),
    })
    .optional()
    .describe('Unlike parts that belong together.'),
  ...ask,
  resources: resources('up').optional(),
  ...standing,
});

const floorRow = z.strictObject({
  id,
  count: count(1, TASKS_MAX).default(1),
  ...ask,
  resources: resources('up'),
});

/** The lists of a snapshot file, each with the schema of its rows. */
export const rowSchemas = {
  slices: sliceRow,
  conditions: conditionRow,
  tasks: taskRow,
  demand: entryRow,
  floors: floorRow,
} as const;

const top = {
  format: word(['bellows-snapshot/1']).optional(),
  at: instant.optional().describe('When it was taken; ages and end times count from here.'),
  config: z
    .union([text(4_096), z.record(z.string(), z.unknown())], {
      error: ({ input }) =>
        packMessage(
          input === undefined ? 'is missing' : `${describeValue(input)} is not a configuration`,
          'give the path of bellows.yaml or its content',
        ),
    })
    .describe('The path of bellows.yaml, relative to this file, or its content.'),
};

const rowList = z.array(z.unknown()).max(ROWS_MAX).default([]);

/** The top of a snapshot file; its rows are checked one by one, so that one cannot hide others. */
export const snapshotTopSchema = z.strictObject({
  ...top,
  slices: rowList,
  conditions: rowList,
  tasks: rowList,
  demand: rowList,
  floors: rowList,
});

/** A whole snapshot file, for editors. */
export const snapshotSchema = z.strictObject({
  ...top,
  slices: z.array(sliceRow).default([]).describe('Slices there and on their way.'),
  conditions: z.array(conditionRow).default([]).describe('Why groups cannot launch now.'),
  tasks: z.array(taskRow).default([]).describe('Pending work, task by task.'),
  demand: z.array(entryRow).default([]).describe('Pending work, entry by entry.'),
  floors: z.array(floorRow).default([]).describe('Capacity to hold whether used or not.'),
});

export type SliceRow = z.output<typeof sliceRow>;
export type ConditionRow = z.output<typeof conditionRow>;
export type TaskRow = z.output<typeof taskRow>;
export type EntryRow = z.output<typeof entryRow>;
export type FloorRow = z.output<typeof floorRow>;
/** What rows that ask for room have in common. */
export type AskRow = Pick<EntryRow, 'device' | 'preemptible' | 'constraints'>;
