import { z } from 'zod';
import { bytesOr, count, durationOr, ratio, text } from './fields.ts';

// Providers, store and server: what stands behind and in front of the controller.

const calls = {
  callTimeout: durationOr('60s').describe('Deadline of one call to the provider (60s).'),
  concurrentCalls: count(1, 1_000).default(8).describe('Calls in flight at a time (8).'),
};

/** How a provider is called that has no section of its own. */
export const callDefaults = z.strictObject(calls).parse({});

const local = z.strictObject({
  type: z.literal('local'),
  dataDir: text(4_096).optional().describe('Where hosts keep their directories.'),
  hostsMax: count(1, 10_000).default(64).describe('Most processes at a time (64).'),
  ...calls,
});
const kubernetes = z.strictObject({
  type: z.literal('kubernetes'),
  kubeconfig: text(4_096).optional(),
  context: text(253).optional(),
  namespace: text(63).default('default'),
  ...calls,
});
const aws = z.strictObject({
  type: z.literal('aws'),
  region: text(63),
  profile: text(200).optional(),
  subnets: z.array(text(200)).max(100).default([]),
  securityGroups: z.array(text(200)).max(100).default([]),
  ...calls,
});
const gcp = z.strictObject({
  type: z.literal('gcp'),
  project: text(63),
  zone: text(63).optional(),
  network: text(200).optional(),
  ...calls,
});
const external = z.strictObject({
  type: z.literal('external'),
  command: z.array(text(4_096)).min(1).max(100).describe('Program and arguments; JSON in and out.'),
  outputMax: bytesOr('16MiB').describe('Longest answer it may print (16MiB).'),
  listLag: durationOr('10s').describe('How far its list may lag behind the truth (10s).'),
  ...calls,
});
const simulated = z.strictObject({
  type: z.literal('simulated'),
  seed: count(0, 2 ** 31).default(1),
  bootTime: durationOr('60s'),
  stockoutRatio: ratio(0, 1)
    .default(0)
    .describe('Share of launches refused for want of stock (0).'),
  preemptionsPerHour: ratio(0, 1_000).default(0).describe('Per preemptible slice (0).'),
  ...calls,
});

/** Where machines come from, by type. */
export const provider = z.discriminatedUnion('type', [
  local,
  kubernetes,
  aws,
  gcp,
  external,
  simulated,
]);

/** Types that a group may name without a section of its own; external needs its command. */
export const builtInProviders = ['local', 'kubernetes', 'aws', 'gcp', 'simulated'] as const;

const journal = {
  journalSizeMax: bytesOr('1GiB').describe('Recorded ticks kept, by size (1GiB).'),
  journalAgeMax: durationOr('7d').describe('Recorded ticks kept, by age (7d).'),
};

/** What the controller remembers, and where. */
export const store = z
  .discriminatedUnion('type', [
    z.strictObject({ type: z.literal('memory'), ...journal }),
    z.strictObject({
      type: z.literal('sqlite'),
      path: text(4_096).optional().describe('The database file (FLEET.db in the data directory).'),
      ...journal,
    }),
    z.strictObject({
      type: z.literal('postgres'),
      url: text(4_096).describe(
        'postgres://user@host/database; the password comes from PGPASSWORD.',
      ),
      ...journal,
    }),
  ])
  .prefault({ type: 'sqlite' });

/** What the controller listens on. */
export const server = z
  .strictObject({
    listen: text(300)
      .default('127.0.0.1:7070')
      .describe('Address and port; any but loopback requires tokens (127.0.0.1:7070).'),
    tls: z
      .strictObject({ certFile: text(4_096), keyFile: text(4_096) })
      .optional()
      .describe('Files of the certificate and its key.'),
    allowedHosts: z
      .array(text(253))
      .max(100)
      .default([])
      .describe(
        'Host names accepted besides the address itself; https://name for a proxy that ends TLS.',
      ),
    requireTokens: z
      .boolean()
      .default(false)
      .describe('Ask for a token on loopback too, for machines that several people use (false).'),
    bodyMax: bytesOr('16MiB').describe('Largest request (16MiB).'),
    requestsPerSecond: count(1, 1_000_000).default(200).describe('Per client (200).'),
    streamsMax: count(1, 100_000).default(200).describe('Watchers at a time (200).'),
  })
  .prefault({});
