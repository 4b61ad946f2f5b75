import { expect, test } from 'vitest';
import type { FleetEvent } from '../model/event.ts';
import { entryId, epochMs, groupName, sliceId } from '../model/ids.ts';
import type { Pause } from '../model/pause.ts';
import type { Trouble } from '../model/trouble.ts';
import { eventKinds, eventText } from './event-text.ts';

const now = epochMs(1_000_000);
const group = groupName('h100');
const slice = sliceId('s-12');
const trouble: Trouble = {
  scope: { kind: 'quota-pool', name: 'tpu-eu' },
  kind: 'quota-exceeded',
  attempts: 3,
  sinceMs: epochMs(0),
  untilMs: epochMs(1_240_000),
  detail: '128 of 128',
};
const pause: Pause = {
  id: 'p-1',
  what: 'both',
  group: null,
  author: 'ann',
  reason: 'the network is being mended',
  sinceMs: now,
  untilMs: null,
};

const rows: readonly (readonly [FleetEvent, string])[] = [
  [
    {
      kind: 'slice-moved',
      sliceId: slice,
      group,
      event: 'hosts-up',
      from: 'booting',
      to: 'initializing',
      cause: null,
    },
    'slice s-12 of h100: booting -> initializing (hosts up)',
  ],
  [
    {
      kind: 'slice-moved',
      sliceId: slice,
      group,
      event: 'planned',
      from: null,
      to: 'queued',
      cause: { kind: 'launched-for', why: 'demand' },
    },
    'slice s-12 of h100: queued (planned: for pending work)',
  ],
  [
    {
      kind: 'launch-refused',
      sliceId: slice,
      group,
      refusal: { kind: 'stockout', detail: 'none left' },
    },
    'launch of slice s-12 of h100 refused: the provider is out of stock: none left',
  ],
  [
    { kind: 'backoff-started', trouble },
    'nothing is launched in quota pool tpu-eu for 4m (quota-exceeded, 3 times in a row): 128 of 128',
  ],
  [
    {
      kind: 'backoff-started',
      trouble: { ...trouble, scope: { kind: 'group', name: 'h100' }, attempts: 1, detail: '' },
    },
    'nothing is launched in group h100 for 4m (quota-exceeded)',
  ],
  [
    { kind: 'backoff-ended', trouble, why: 'success' },
    'quota pool tpu-eu is out of quota-exceeded: machines came',
  ],
  [
    { kind: 'backoff-ended', trouble, why: 'time' },
    'quota pool tpu-eu is out of quota-exceeded: nothing was refused for long enough',
  ],
  [
    { kind: 'gang-rolled-back', gang: entryId('train-7'), sliceIds: [slice] },
    'gang train-7 did not come together in time; 1 slice let go',
  ],
  [
    { kind: 'paused', pause },
    'ann paused launches and terminations of the fleet (p-1): the network is being mended',
  ],
  [
    {
      kind: 'paused',
      pause: { ...pause, what: 'launches', group, untilMs: epochMs(4_600_000), reason: '' },
    },
    'ann paused launches of group h100 for 1h (p-1)',
  ],
  [{ kind: 'resumed', pauseId: 'p-1', by: 'expiry' }, 'pause p-1 ended by itself'],
  [{ kind: 'resumed', pauseId: 'p-1', by: 'operator' }, 'pause p-1 ended by an operator'],
  [
    { kind: 'provider-silent', provider: 'aws', detail: 'timed out' },
    'provider aws gives no lists to rely on: timed out',
  ],
  [{ kind: 'provider-back', provider: 'aws' }, 'provider aws gives lists again'],
  [
    { kind: 'stray-machine', sliceId: slice, group, action: 'adopted' },
    'machines of slice s-12 of h100, which nobody remembers, were adopted',
  ],
  [
    { kind: 'garbage-dropped', provider: 'aws', count: 2 },
    'provider aws listed 2 rows that cannot be; left out',
  ],
  [
    { kind: 'group-removed', group, slices: 3 },
    'group h100 is no longer in the configuration; 3 slices of it to drain',
  ],
  [{ kind: 'config-changed', groups: 1 }, 'another configuration is in force, with 1 group'],
  [
    { kind: 'clock-jumped', byMs: -90_000 },
    'the wall clock was put back by 1m30s; waits go on as if it had not been',
  ],
  [
    { kind: 'clock-jumped', byMs: 1_000 },
    'the wall clock was put forward by 1s; waits go on as if it had not been',
  ],
  [{ kind: 'controller-started', epoch: 3, holder: 'node-1' }, 'node-1 took the lead (epoch 3)'],
];

test.each(rows)('%j', (event, text) => {
  expect(eventText({ atMs: now, event })).toBe(text);
});

test('the table above has every kind', () => {
  const told = new Set<string>(rows.map(([{ kind }]) => kind));
  expect(eventKinds.filter((kind) => !told.has(kind))).toEqual([]);
});
