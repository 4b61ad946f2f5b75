import { z } from 'zod';
import { strategies } from '../model/fleet.ts';
import { provider, server, store } from './backend-schema.ts';
import { count, durationOr, name, ratio, resources, usd, word } from './fields.ts';
import { group, SLICES_MAX, timeouts } from './group-schema.ts';
import { packMessage } from './issues.ts';
import { describeValue } from './problem.ts';
import { calendar, pool, service } from './workload-schema.ts';

const GROUPS_MAX = 10_000;

/** A rate that may be lifted: `none` is no limit. */
const orNone = <T extends z.ZodType<number>>(rate: T) =>
  z.union([rate, z.literal('none').transform(() => null)], {
    error: ({ input }) => {
      // A number out of range has its own words, so a finite one that comes here is not whole.
      const what = Number.isFinite(input) ? 'not a whole number' : 'neither a number nor none';
      return packMessage(
        `${describeValue(input)} is ${what}`,
        'write a number, or none for no limit',
      );
    },
  });

const limits = z
  .strictObject({
    maxSlices: count(0, SLICES_MAX).optional().describe('Slices of all groups together.'),
    spendPerHour: usd('down').optional().describe('US dollars for all slices together.'),
    createsPerMinute: orNone(count(1, SLICES_MAX))
      .prefault(60)
      .describe('Launches per minute, or none (60).'),
    concurrentLaunches: orNone(count(1, SLICES_MAX))
      .prefault(10)
      .describe('Launches on their way at a time, or none (10).'),
    upscalingSpeed: orNone(ratio(0, 1_000))
      .prefault(1)
      .describe('Per group, launches at a time over slices running, or none (1).'),
    terminationsPerMinute: orNone(count(1, SLICES_MAX))
      .prefault(60)
      .describe('Slices that scale-down may begin to give back per minute, or none (60).'),
    drainingPercent: orNone(count(1, 100))
      .prefault(50)
      .describe('Share of ready slices that may drain at a time, one always may; or none (50).'),
  })
  .prefault({});

const loop = z
  .strictObject({
    evaluationInterval: durationOr('10s').describe('Decides at most this often (10s).'),
    reconcileInterval: durationOr('15s').describe('Decides at least this often (15s).'),
  })
  .prefault({});

/**
 * bellows.yaml. In what comes out, durations are in milliseconds, sizes in each resource's smallest
 * unit and money in micro-dollars.
 */
export const settingsSchema = z.strictObject({
  fleet: name.default('default').describe('Name of the fleet this file describes (default).'),
  strategy: word(strategies)
    .default('cost')
    .describe('How a group is picked for an entry: priority, utilization or cost (cost).'),
  limits: limits.describe('Bounds and rates of the whole fleet.'),
  loop: loop.describe('How often the controller decides.'),
  timeouts: timeouts.describe('How long a slice may wait in each status.'),
  groups: z.array(group).min(1).max(GROUPS_MAX).describe('What can be launched.'),
  quotaPools: z
    .record(name, resources('down'))
    .default({})
    .describe('Budgets that several groups draw on, by name: tpu-eu: { tpu: 64 }.'),
  providers: z.record(name, provider).default({}).describe('Where machines come from, by name.'),
  store: store.describe('Where the controller remembers.'),
  server: server.describe('What the controller listens on.'),
  pools: z.array(pool).max(GROUPS_MAX).default([]).describe('Elastic sets of workers.'),
  services: z.array(service).max(GROUPS_MAX).default([]).describe('Inference replicas.'),
  calendars: z.array(calendar).max(1_000).default([]).describe('Hours with a higher min or spare.'),
});

type Immutable<T> = T extends (...args: never) => unknown
  ? T
  : T extends object
    ? { readonly [Key in keyof T]: Immutable<T[Key]> }
    : T;

/** All that bellows.yaml says, defaults filled in. */
export type Settings = Immutable<z.output<typeof settingsSchema>>;
export type GroupSettings = Settings['groups'][number];
