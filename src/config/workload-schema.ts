import { z } from 'zod';
import { count, durationOr, name, ratio, text, word } from './fields.ts';
import { PRIORITY_MAX, SLICES_MAX } from './group-schema.ts';
import { packMessage } from './issues.ts';
import { describeValue } from './problem.ts';

// Pools, services and calendars: what asks a group for slices besides pending work.

const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;

/** An elastic set of workers, sized by pressure. */
export const pool = z.strictObject({
  name,
  group: text(63).describe('The group whose slices it uses.'),
  min: count(0, SLICES_MAX).default(0).describe('Slices it starts with and keeps (0).'),
  max: count(1, SLICES_MAX),
  slotsPerNode: count(1, 10_000).default(1).describe('Tasks one slice runs at a time (1).'),
  policy: word(['pressure']).default('pressure'),
  priority: count(-PRIORITY_MAX, PRIORITY_MAX).default(0).describe('Higher is served first (0).'),
  idleTimeout: durationOr('60s').describe('Idle for longer, it goes to min (60s).'),
  cooldown: durationOr('30s').describe('After a change, shrinking waits so long (30s).'),
  lowRatio: ratio(0, 1).default(0.3).describe('Use below this counts as low (0.3).'),
  lowSpareNodes: count(0, 1_000).default(1).describe('Slices kept beyond need when low (1).'),
});

const pace = {
  replicas: count(0, SLICES_MAX).describe('Most replicas changed per period.'),
  percent: count(0, 10_000).describe('Most change per period, of the present count.'),
  period: durationOr('60s'),
  select: word(['either', 'both']).default('either').describe('Which of the two limits binds.'),
};

const metric = z.strictObject({
  name,
  target: ratio(0, 1e12).describe('Value per replica to hold.'),
  query: text(10_000).optional().describe('A Prometheus query; otherwise read from the replicas.'),
});

const target = z.strictObject({
  name,
  group: text(63).optional().describe('Slices of this group are the replicas.'),
  deployment: text(253).optional().describe('Or a Kubernetes workload, kind/name.'),
  min: count(0, SLICES_MAX).default(0),
  max: count(1, SLICES_MAX),
  cost: ratio(0, 1e9).default(1).describe('Of one replica, relative to the other targets (1).'),
  weight: ratio(0.001, 1_000).default(1).describe('Work one replica does, relative (1).'),
});

/** Inference replicas, sized by metrics and split over targets by cost. */
export const service = z.strictObject({
  name,
  priority: count(-PRIORITY_MAX, PRIORITY_MAX).default(0),
  targets: z.array(target).min(1).max(100),
  metrics: z.array(metric).min(1).max(100),
  tolerance: ratio(0, 1).default(0.1).describe('Deviation from target that is ignored (0.1).'),
  costExpansionPercent: count(100, 10_000).default(200),
  stable: z
    .strictObject({
      up: z
        .strictObject({ ...pace, window: durationOr('0s') })
        .prefault({ replicas: 4, percent: 100 }),
      down: z
        .strictObject({ ...pace, window: durationOr('5m') })
        .prefault({ replicas: 0, percent: 100 }),
    })
    .prefault({})
    .describe('How fast it follows its metrics in quiet times.'),
  panic: z
    .strictObject({
      thresholdPercent: count(100, 10_000)
        .default(200)
        .describe('Need over size that panics (200).'),
      percent: count(0, 10_000).default(1_000),
      period: durationOr('60s'),
      hold: durationOr('60s').describe('Panic lasts at least so long (60s).'),
    })
    .prefault({}),
});

const clockTime = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$|^24:00$/, {
  error: (issue) =>
    packMessage(`${describeValue(issue.input)} is not a time of day`, 'write HH:MM, 09:30'),
});

const timeZone = z.string().refine(isTimeZone, {
  error: (issue) =>
    packMessage(
      `${describeValue(issue.input)} is not a time zone`,
      'write for example Europe/Paris',
    ),
});

function isTimeZone(zone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone !== '';
  } catch {
    return false; // this is how Intl says no
  }
}

/** Hours at which a group keeps more than its own min or spare. */
export const calendar = z.strictObject({
  name,
  timeZone: timeZone.default('UTC'),
  entries: z
    .array(
      z.strictObject({
        group: text(63),
        days: z
          .array(word(days))
          .min(1)
          .max(7)
          .default([...days]),
        from: clockTime.default('00:00'),
        to: clockTime.default('24:00').describe('Not after `from` means the next day.'),
        min: count(0, SLICES_MAX).optional(),
        spare: count(0, SLICES_MAX).optional(),
      }),
    )
    .min(1)
    .max(1_000),
});
