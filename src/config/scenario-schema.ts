import { z } from 'zod';
import { count, duration, durationOr, instant, name, ratio, text, word } from './fields.ts';
import { packMessage } from './issues.ts';
import { describeValue } from './problem.ts';
import { rowSchemas, TASKS_MAX } from './snapshot-schema.ts';
import { settingsSchema } from './schema.ts';

const HOURS_MAX = 8_760;
const ROWS_MAX = 10_000;
const SEED_MAX = 2 ** 31 - 1;
const PER_HOUR_MAX = 1_000_000;
export const HOURS_PER_DAY = 24;

const columnName = text(253);

/** A path, or the content itself. */
const config = z.union([text(4_096), z.record(z.string(), z.unknown())], {
  error: ({ input }) =>
    packMessage(
      input === undefined ? 'is missing' : `${describeValue(input)} is not a configuration`,
      'give the path of bellows.yaml or its content',
    ),
});

/** A duration, or two between which it lies: most are near the lower, the median at a quarter. */
const spread = z.union([
  z.strictObject({ from: duration, to: duration }),
  duration.transform((ms) => ({ from: ms, to: ms })),
]);

/** A duration, or how durations are spread; which of the words go together is checked later. */
const runTime = z
  .union([
    z.strictObject({
      from: duration.optional(),
      to: duration.optional(),
      mean: duration.optional(),
      median: duration.optional(),
      p95: duration.optional(),
    }),
    duration,
  ])
  .describe(
    '20m; { from, to }: evenly between; { mean }: exponential; { median, p95 }: log-normal.',
  );

const daily = z
  .union(
    [
      z.array(ratio(0, 1_000)).length(HOURS_PER_DAY, {
        error: ({ input }) =>
          packMessage(
            `has ${Array.isArray(input) ? input.length : 0} factors`,
            'give 24, one per hour of the day (UTC)',
          ),
      }),
      word(['flat', 'office', 'night']),
    ],
    {
      error: ({ input }) =>
        packMessage(
          `${describeValue(input)} is not a daily curve`,
          'write flat, office, night or a list of 24 factors',
        ),
    },
  )
  .describe('Factors by hour of the day (UTC), or flat, office, night (flat).');

const rate = ratio(0, PER_HOUR_MAX);
const arrivals = z
  .union([
    z.strictObject({ perHour: rate, daily: daily.default('flat') }),
    rate.transform((perHour) => ({ perHour, daily: 'flat' as const })),
  ])
  .describe('Arrivals per hour on average, by chance; or { perHour, daily }.');

const burst = z.strictObject({
  at: durationOr('0s').describe('After the start (0s).'),
  count: count(1, TASKS_MAX).describe('Arrivals.'),
  over: durationOr('0s').describe('Spread evenly over this time (0s: all at once).'),
  every: duration.optional().describe('Again and again after this time.'),
});

const { gang, device, preemptible, constraints, resources, priority, owner } =
  rowSchemas.demand.shape;
/** What a piece of work asks for, as in the demand of a snapshot. */
const shape = { gang, device, preemptible, constraints, resources };
const standing = {
  priority,
  owner,
  from: durationOr('0s').describe('Begins so long after the start (0s).'),
};

export const syntheticSchema = z.strictObject({
  id: name.describe('Names its entries: id-1, id-2, ...'),
  arrivals: arrivals.optional(),
  bursts: z.array(burst).max(ROWS_MAX).optional(),
  count: count(1, TASKS_MAX).default(1).describe('Entries of each arrival (1).'),
  runTime: runTime.optional(),
  ...shape,
  shapes: z
    .array(
      z.strictObject({
        weight: ratio(0, 1_000_000).default(1).describe('How often, beside the others (1).'),
        runTime: runTime.optional(),
        ...shape,
      }),
    )
    .min(1)
    .max(ROWS_MAX)
    .optional()
    .describe('Several shapes, drawn by weight.'),
  ...standing,
  to: duration.optional().describe('Ends so long after the start.'),
});

export const traceSchema = z.strictObject({
  id: name.describe('Names its entries: id-1, id-2, ...'),
  trace: text(4_096).describe('A CSV file with a head line, relative to this file; .gz too.'),
  columns: z
    .strictObject({
      arrival: columnName.default('arrival'),
      runTime: columnName.default('runTime'),
      gang: columnName.optional(),
      priority: columnName.optional(),
      owner: columnName.optional(),
      device: columnName.optional(),
      variant: columnName.optional(),
      resources: z
        .record(z.string(), columnName)
        .optional()
        .describe('Column by resource: gpu: num_gpus. Left out: cpu, memory, disk, gpu, tpu.'),
    })
    .prefault({})
    .describe('Which column says what.'),
  units: z
    .record(z.string(), text(8))
    .default({})
    .describe('Unit of bare numbers: arrival: ms, runTime: m, memory: GiB (s, s, bytes).'),
  resources: resources.describe('What every row asks for where its columns say nothing.'),
  gang,
  device,
  preemptible,
  constraints,
  ...standing,
  skip: durationOr('0s').describe('Leaves out the first part of the trace (0s).'),
  speed: ratio(0.001, 1_000).default(1).describe('Arrivals so many times closer together (1).'),
  rows: count(1, TASKS_MAX).optional().describe('Reads at most so many rows.'),
  badRows: word(['refuse', 'skip']).default('refuse').describe('refuse or skip (refuse).'),
});

const machines = z.strictObject({
  queue: spread.optional().describe('From an accepted launch to machines (0s).'),
  start: spread.optional().describe('From machines to hosts up (10s to 60s).'),
  bootstrap: spread.optional().describe('From up to ready (20s to 2m).'),
  stop: spread.optional().describe('From a termination to gone (5s to 60s).'),
  notice: duration.optional().describe('How long before a preemption it is announced (2m).'),
  preemptionsPerHour: ratio(0, 1_000).optional().describe('Per slice (0).'),
  stockoutRatio: ratio(0, 1).optional().describe('Share of launches refused as out of stock (0).'),
  stockouts: z
    .array(z.strictObject({ from: duration, to: duration }))
    .max(ROWS_MAX)
    .optional()
    .describe('When nothing is to be had, after the start.'),
});

/** The simulated cloud's own names; a test holds both lists equal. */
export const faultNames = [
  'lostRequestRatio',
  'lostReplyRatio',
  'lateReplyRatio',
  'garbledReplyRatio',
  'duplicateRequestRatio',
  'hangRatio',
  'throttledRatio',
  'lateCreateRatio',
  'createAfterTerminateRatio',
  'nonIdempotentRatio',
  'stockoutRatio',
  'refusedUnknownRatio',
  'partialSliceRatio',
  'bootFailedRatio',
  'failuresPerHour',
  'preemptionsPerHour',
  'preemptedWithoutNoticeRatio',
  'listStaleRatio',
  'listMissingRatio',
  'garbageRowRatio',
  'terminateLostRatio',
  'terminateSlowRatio',
] as const;
export type FaultName = (typeof faultNames)[number];

const faultRatio = (fault: FaultName) => ratio(0, fault.endsWith('PerHour') ? 1_000 : 1).optional();
// One optional number per name: the keys are the list's, which `fromEntries` cannot tell.
const faultFields = Object.fromEntries(
  faultNames.map((fault) => [fault, faultRatio(fault)]),
) as Record<FaultName, ReturnType<typeof faultRatio>>;

const preset = word(['none', 'hostile']);
const faultTable = z.strictObject({ preset: preset.default('none'), ...faultFields });
const faults = z
  .union([faultTable, preset.transform((only): z.output<typeof faultTable> => ({ preset: only }))])
  .prefault('none');

const at = duration.describe('After the start.');
const lasting = duration.describe('How long it lasts.');
const groupRef = text(63);
const event = z.discriminatedUnion('kind', [
  z.strictObject({ at, kind: z.literal('stockout'), group: groupRef, for: lasting }),
  z.strictObject({ at, kind: z.literal('fail-boots'), group: groupRef, for: lasting }),
  z.strictObject({
    at,
    kind: z.literal('preempt'),
    group: groupRef,
    count: count(1, TASKS_MAX).optional().describe('Slices; all of them when left out.'),
    notice: durationOr('0s').describe('Announced so long before (0s: at once).'),
  }),
  z.strictObject({
    at,
    kind: z.literal('lose-hosts'),
    group: groupRef,
    count: count(1, TASKS_MAX).default(1),
  }),
  z.strictObject({ at, kind: z.literal('hang'), provider: text(63).optional(), for: lasting }),
  z.strictObject({ at, kind: z.literal('throttle'), provider: text(63).optional(), for: lasting }),
  z.strictObject({
    at,
    kind: z.literal('pause'),
    what: word(['launches', 'terminations', 'both']).default('both'),
    group: groupRef.optional(),
    for: lasting.optional(),
  }),
  z.strictObject({ at, kind: z.literal('config'), config }),
  z.strictObject({ at, kind: z.literal('kill-controller') }),
]);

const top = {
  format: word(['bellows-scenario/1']).optional(),
  config: config.describe('The path of bellows.yaml, relative to this file, or its content.'),
  seed: count(0, SEED_MAX).default(1).describe('All chance comes from it (1).'),
  hours: ratio(0.01, HOURS_MAX).default(24).describe('How long to run, simulated (24).'),
  start: instant.optional().describe('What the clock says at the start (2026-01-01T00:00:00Z).'),
  machines: z
    .record(name, machines)
    .default({})
    .describe('What the machines of a group are like, by group.'),
  faults: faults.describe("The simulated clouds' faults by name; or none, hostile."),
};

const rowList = z.array(z.unknown()).max(ROWS_MAX).default([]);
/** The top of a scenario; workload and events are checked row by row, so that one hides no other. */
export const scenarioTopSchema = z.strictObject({ ...top, workload: rowList, events: rowList });
export const eventSchema = event;

const wholeSchema = z.strictObject({
  ...top,
  config: z.union([z.string(), settingsSchema]).describe(top.config.description ?? ''),
  workload: z.array(z.union([syntheticSchema, traceSchema])).default([]),
  events: z.array(event).default([]),
});

/** JSON Schema (draft 2020-12) of a scenario file, for editors. */
export function scenarioJsonSchema(): Readonly<Record<string, unknown>> {
  const { $schema, ...rest } = z.toJSONSchema(wholeSchema, { io: 'input' });
  return { $schema, $id: 'urn:bellows-scenario:1', title: 'Bellows scenario', ...rest };
}

export type SyntheticRow = z.output<typeof syntheticSchema>;
export type TraceRow = z.output<typeof traceSchema>;
export type RunTimeRow = z.output<typeof runTime>;
export type MachinesRow = z.output<typeof machines>;
export type FaultsRow = z.output<typeof faults>;
export type EventRow = z.output<typeof event>;
