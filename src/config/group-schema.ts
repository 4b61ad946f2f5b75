import { z } from 'zod';
import { GROUP_PRIORITY_DEFAULT } from '../model/group.ts';
import { packMessage } from './issues.ts';
import { describeValue } from './problem.ts';
import {
  attributes,
  count,
  duration,
  durationOr,
  name,
  resources,
  text,
  usd,
  word,
} from './fields.ts';

/** Slices of one group, or of the fleet. */
export const SLICES_MAX = 1_000_000;
export const HOSTS_PER_SLICE_MAX = 10_000;
export const PRIORITY_MAX = 1_000_000;

/** `gpu`, or its type with a variant. */
export const device = z
  .union([text(63), z.strictObject({ type: text(63), variant: text(63).optional() })], {
    error: (issue) =>
      packMessage(
        `${describeValue(issue.input)} is not a device`,
        'write gpu, or { type: gpu, variant: h100 }',
      ),
  })
  .transform((raw) => {
    const { type, variant } = typeof raw === 'string' ? { type: raw } : raw;
    return { type, variant: variant ?? null };
  });

/** How long a slice may wait in each status; in milliseconds. */
export const timeouts = z
  .strictObject({
    requesting: durationOr('120s').describe('A launch the provider has not answered (120s).'),
    booting: durationOr('10m').describe('Machines that are there but not all up (10m).'),
    initializing: durationOr('10m').describe('Hosts up, software not all ready (10m).'),
    draining: durationOr('30m').describe('Work that may finish before release (30m).'),
    gangAssembly: durationOr('15m').describe('Slices held for a gang still incomplete (15m).'),
    registrationGrace: durationOr('60s').describe(
      'A newly ready slice counts as empty until somebody reports on it, for so long (60s).',
    ),
  })
  .prefault({});

const timeoutOverrides = z
  .strictObject({
    requesting: duration.optional(),
    booting: duration.optional(),
    initializing: duration.optional(),
    draining: duration.optional(),
    gangAssembly: duration.optional(),
    registrationGrace: duration.optional(),
  })
  .prefault({});

const bootstrapScript = z.strictObject({
  script: text(65_536).describe('What runs on each host to bring the software up.'),
  joinToken: name
    .optional()
    .describe('Environment variable of Bellows whose value the script gets as BELLOWS_JOIN_TOKEN.'),
  attempts: count(1, 100).default(3).describe('Runs of the script before the slice fails (3).'),
  timeout: durationOr('10m').describe('For one run of the script (10m).'),
});

const bootstrap = z
  .union([z.literal('none'), bootstrapScript], {
    error: (issue) =>
      packMessage(
        `${describeValue(issue.input)} is not a bootstrap`,
        'write none, or a mapping with a script',
      ),
  })
  .default('none');

/** One machine shape in one place at one provider, scaled in slices. */
export const group = z.strictObject({
  name: name.describe('Unique in the file: letters, digits, "-", "_", ".", at most 63.'),
  provider: text(63).default('local').describe('A name under providers, or a built-in (local).'),
  device: device.prefault('cpu').describe('Accelerator type and variant; cpu means none (cpu).'),
  host: resources('down').describe('What one host offers: cpu: 112, memory: 192GiB, tpu: 4.'),
  hostsPerSlice: count(1, HOSTS_PER_SLICE_MAX).default(1).describe('Hosts of one slice (1).'),
  min: count(0, SLICES_MAX).default(0).describe('Slices kept at all times (0).'),
  spare: count(0, SLICES_MAX)
    .default(0)
    .describe('Ready idle slices kept free beyond demand, as far as max allows (0).'),
  max: count(0, SLICES_MAX).describe('Most slices at a time.'),
  priority: count(-PRIORITY_MAX, PRIORITY_MAX)
    .default(GROUP_PRIORITY_DEFAULT)
    .describe('Lower is tried first; under the cost strategy it only breaks ties (100).'),
  pricePerHour: usd('up').optional().describe('US dollars per slice; 0 for what is paid anyway.'),
  preemptible: z.boolean().default(false).describe('May be taken away at short notice (false).'),
  attributes: attributes.prefault({}).describe('What constraints match: zone, region, ...'),
  idleTimeout: durationOr('10m').describe('A slice without work drains after this (10m).'),
  quotaPool: text(63).optional().describe('A name under quotaPools whose budget it draws on.'),
  timeouts: timeoutOverrides.describe("Overrides of the fleet's timeouts."),
  bootstrap: bootstrap.describe('How software gets onto a host; none: an outside scheduler does.'),
  onChange: word(['keep', 'replace-idle', 'roll'])
    .default('keep')
    .describe('What happens to slices whose shape or bootstrap is outdated (keep).'),
  unreported: word(['busy', 'idle'])
    .default('busy')
    .describe('What a host counts as that nobody reports on; idle if all work is pushed (busy).'),
  concurrentLaunches: count(1, SLICES_MAX).optional().describe('Launches of it at a time.'),
  launch: attributes
    .prefault({})
    .describe("The provider's own words for a machine: instanceType, image, ..."),
});
