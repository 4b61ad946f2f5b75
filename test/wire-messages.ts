import { create, type DescMessage, type MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import {
  type AutoscalerStatus,
  AutoscalerStatusSchema,
  type DemandClassSchema,
  type Event,
  EventSchema,
  type GroupStatusSchema,
  type Slice,
  SliceSchema,
} from '../src/api/gen/bellows/v1/status_pb.ts';
import { NOW_MS } from './wire-server.ts';

// Messages as a server sends them, for tests of what is made of them.

/** The fields of a message, not the message itself. */
type Init<Desc extends DescMessage> = Exclude<
  MessageInitShape<Desc>,
  { readonly $typeName: string }
>;

/** So many seconds from now; negative: ago. */
export const inSeconds = (seconds: number) => timestampFromMs(NOW_MS + seconds * 1_000);

export function anEvent(over: Init<typeof EventSchema> = {}): Event {
  return create(EventSchema, {
    seq: 7n,
    at: inSeconds(-116),
    kind: 'launch-refused',
    text: 'launch of slice s-9 of l4-spot refused: the provider is out of stock',
    fields: { sliceId: 's-9', group: 'l4-spot' },
    ...over,
  });
}

export function aSlice(over: Init<typeof SliceSchema> = {}): Slice {
  return create(SliceSchema, {
    id: 'cpu-a',
    group: 'cpu-16',
    provider: 'aws',
    status: 'ready',
    statusSince: inSeconds(-3 * 3_600),
    verdict: { kind: 'busy', text: 'work runs on it' },
    hosts: [{ index: 0, machineId: 'i-0a1', use: 'busy', free: { cpu: 6, memory: 2 ** 34 } }],
    readyAt: inSeconds(-3 * 3_600),
    priceUsdPerHour: 0.68,
    ...over,
  });
}

const someGroups: Init<typeof GroupStatusSchema>[] = [
  {
    name: 'cpu-16',
    provider: 'aws',
    device: 'cpu',
    hostsPerSlice: 1,
    min: 1,
    spare: 1,
    max: 60,
    priceUsdPerHour: 0.68,
    slices: { ready: 12, booting: 2, initializing: 1, draining: 1 },
    idle: 1,
    availability: 'requesting',
    verdict: { kind: 'selected', text: 'launches for demand 9' },
    launch: 9,
    assignedEntries: 420n,
    health: 1,
  },
  {
    name: 'l4-spot',
    provider: 'gcp',
    device: 'gpu l4',
    hostsPerSlice: 1,
    max: 30,
    priceUsdPerHour: 0.28,
    slices: {},
    availability: 'stockout',
    availabilityUntil: inSeconds(353),
    verdict: { kind: 'blocked', text: 'provider is out of stock for 5m53s more' },
    health: 0.49,
  },
  {
    name: 'h100',
    provider: 'aws',
    device: 'gpu h100',
    hostsPerSlice: 1,
    max: 6,
    priceUsdPerHour: 98.32,
    slices: { ready: 1 },
    availability: 'available',
    verdict: { kind: 'idle', text: 'nothing asks for more' },
    assignedEntries: 1n,
    health: 1,
  },
];

const someClasses: Init<typeof DemandClassSchema>[] = [
  {
    id: 'c1',
    text: 'cpu 2, memory 6GiB, disk 4GiB',
    count: 420n,
    entryIds: ['tokenize/0', 'tokenize/1'],
    placed: [
      { count: 300n, spots: [{ group: 'cpu-16', room: 'new', tasks: 1 }] },
      { count: 120n, spots: [{ group: 'cpu-16', room: 'on-its-way', tasks: 1 }] },
    ],
  },
  {
    id: 'c2',
    text: 'on gpu L4, cpu 4, memory 16GiB, gpu 1, zone = us-east1b',
    count: 8n,
    entryIds: ['embeddings/0'],
    unmetCount: 8n,
    unmet: {
      reason: { kind: 'no-matching-group', text: 'no group matches what it asks for' },
      remedy: 'ask for zone us-east1-b instead of us-east1b (l4-spot)',
      remedyAdmits: 8n,
      canEverRun: false,
    },
  },
  {
    id: 'c3',
    text: 'gang of 16: on gpu H100, cpu 20, memory 200GiB, gpu 1',
    count: 2n,
    priority: 10,
    entryIds: ['finetune', 'finetune-2'],
    placed: [{ count: 1n, spots: [{ group: 'h100', room: 'free-room', tasks: 16 }] }],
    unmetCount: 1n,
    unmet: {
      reason: { kind: 'no-capacity', text: 'at max: needs 2 slices, 1 left of 6' },
      remedy: 'raise max of h100 from 6 to 8',
      remedyAdmits: 1n,
      canEverRun: true,
    },
  },
];

/** A Monday morning: one kind is out of stock, some work waits. */
export function aStatus(over: Init<typeof AutoscalerStatusSchema> = {}): AutoscalerStatus {
  return create(AutoscalerStatusSchema, {
    fleet: 'research',
    decidedAt: inSeconds(-4),
    nextDecisionBy: inSeconds(11),
    tick: 1_284n,
    mode: 'active',
    standing: 'leading',
    routing: { strategy: 'cost', unmetCount: 9n, launchUsdPerHour: 6.12 },
    groups: someGroups,
    classes: someClasses,
    sources: [{ source: 'slurm', generation: 41n, entryCount: 430n, expiresAt: inSeconds(252) }],
    spend: {
      usdPerHour: 108.5,
      plannedUsdPerHour: 114.62,
      capUsdPerHour: 500,
      boundUsdPerHour: 5.98,
      boundRatio: 1.0234,
      boundAt: inSeconds(-12),
    },
    pauses: [
      {
        id: 'pause-1',
        what: 'terminations',
        author: 'bob',
        reason: 'network maintenance',
        since: inSeconds(-600),
        until: inSeconds(6_600),
      },
    ],
    troubles: [
      {
        scope: 'group',
        name: 'l4-spot',
        kind: 'stockout',
        attempts: 3,
        since: inSeconds(-900),
        until: inSeconds(353),
        detail: 'ZONE_RESOURCE_POOL_EXHAUSTED',
      },
    ],
    recentEvents: [
      anEvent(),
      anEvent({
        at: inSeconds(-400),
        kind: 'slice-moved',
        text: 'slice s-8 of cpu-16: ready -> terminating (host lost: machine i-7 was lost)',
        fields: { event: 'host-lost' },
      }),
      anEvent({ kind: 'slice-moved', text: 'fine', fields: { event: 'hosts-ready' } }),
    ],
    ...over,
  });
}
