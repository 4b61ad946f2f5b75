import { expect, test } from 'vitest';
import { aSlice, inSeconds } from '../../../test/wire-messages.ts';
import { NOW_MS } from '../../../test/wire-server.ts';
import { createMoments } from './moment.ts';
import { renderSlice, renderSlices, roomText } from './slices.ts';
import { createStyle } from './style.ts';

const view = { style: createStyle(false), moments: createMoments(NOW_MS, 'UTC'), columns: 100 };
const host = (use: string, index = 0) => ({ index, machineId: `m-${index}`, use });

test('a table of slices', () => {
  const slices = [
    aSlice(),
    aSlice({
      id: 'tpu-b',
      group: 'tpu-v5e-16',
      hosts: [host('busy', 0), host('idle', 1), host('unreported', 2)],
      verdict: { kind: 'reserved', text: 'held for gang pretrain' },
      reservedFor: 'pretrain',
      priceUsdPerHour: undefined,
    }),
    aSlice({
      id: 'cpu-c',
      status: 'booting',
      statusSince: inSeconds(-40),
      hosts: [],
      verdict: { kind: 'waiting', text: 'booting; when that takes more than 10m: it is released' },
      protected: true,
    }),
    aSlice({
      id: 'cpu-d',
      hosts: [host('idle')],
      idleSince: inSeconds(-252),
      verdict: { kind: 'spare', text: 'kept for spare 1' },
    }),
  ];
  expect(`\n${renderSlices(slices, view)}`).toMatchInlineSnapshot(`
    "
      slice  group       status   for  hosts  use           $/h  why
      cpu-a  cpu-16      ready     3h      1  busy         0.68  work runs on it
      tpu-b  tpu-v5e-16  ready     3h      3  2 of 3 busy     -  held for gang pretrain
      cpu-c  cpu-16      booting  40s      0  -            0.68  booting; when that takes more than 10m…
      cpu-d  cpu-16      ready     3h      1  idle 4m12s   0.68  kept for spare 1
    "
  `);
});

test('one slice with hosts and history', () => {
  const slice = aSlice({
    status: 'draining',
    statusSince: inSeconds(-30),
    verdict: { kind: 'draining', text: 'draining: ana asked for it: bad disk' },
    drainDeadline: inSeconds(570),
    protected: true,
    history: [
      { at: inSeconds(-10_900), event: 'planned', status: 'queued', cause: 'for pending work' },
      { at: inSeconds(-10_800), event: 'hosts-ready', status: 'ready' },
      {
        at: inSeconds(-30),
        event: 'drain-started',
        status: 'draining',
        cause: 'ana asked for it: bad disk',
      },
    ],
  });
  expect(`\n${renderSlice(slice, view)}`).toMatchInlineSnapshot(`
    "
    SLICE  cpu-a
      group      cpu-16, provider aws
      status     draining since 09:13:37 (30s ago)
      why        draining: ana asked for it: bad disk
      price      $0.68/h
      ready      first at 06:14:07 (3h ago)
      deadline   work may run until 09:23:37 (in 9m30s)
      protected  yes: no scale-down touches it

    HOSTS  1
      host  machine  use   free
         0  i-0a1    busy  cpu 6, memory 16GiB

    HISTORY  3 steps
      at                   event          status    why
      06:12:27 (3h1m ago)  planned        queued    for pending work
      06:14:07 (3h ago)    hosts-ready    ready
      09:13:37 (30s ago)   drain-started  draining  ana asked for it: bad disk
    "
  `);
});

test('amounts in the units that people write', () => {
  expect(roomText({ cpu: 0.5, memory: 3 * 2 ** 30, gpu: 8 })).toBe('cpu 0.5, memory 3GiB, gpu 8');
});
