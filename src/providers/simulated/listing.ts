import { type EpochMs, groupName, machineId, sliceId } from '../../model/ids.ts';
import type { Machine } from '../../model/machine.ts';
import type { World } from './hosts.ts';
import type { SimulatedMachine } from './inventory.ts';

export interface Listing {
  readonly rows: readonly Machine[];
  /** To be called when the list has reached its reader: only then has it shown anything. */
  readonly markShown: () => void;
}

/** What a list says. It may be behind the truth, yet never by more than the lag it promises. */
export function takeList(
  world: World,
  ask: { readonly fleet: string; readonly listLagMs: number; readonly sentAtMs: EpochMs },
): Listing {
  const { fleet, listLagMs } = ask;
  const { agenda, weather, inventory } = world;
  const nowMs = agenda.nowMs();
  if (isHonest(world))
    return { rows: inventory.rows(fleet, nowMs, listLagMs), markShown: () => {} };
  const isStale = weather.isHit('list-stale', weather.faults.listStaleRatio, 'list');
  const rows: Machine[] = [];
  const shown: SimulatedMachine[] = [];
  for (const machine of inventory.listable(fleet, nowMs, listLagMs)) {
    // Each row comes from a replica of its own: a later one may be older than one shown before.
    const seenAtMs = isStale ? nowMs - listLagMs * weather.next('list-lag') : nowMs;
    const row = inventory.rowAt(machine, seenAtMs);
    if (isStale) countLag(world, inventory.rowAt(machine, nowMs), row);
    if (row === null || isHidden(world, machine, listLagMs)) continue;
    shown.push(machine);
    rows.push(row);
  }
  if (weather.isHit('garbage-row', weather.faults.garbageRowRatio, 'list')) addGarbage(world, rows);
  // By the time it was sent: readers reckon with when their list began.
  const markShown = (): void => {
    for (const machine of shown) {
      machine.shownAtMs = Math.max(machine.shownAtMs ?? 0, ask.sentAtMs);
    }
  };
  return { rows, markShown };
}

/** Nothing can be wrong with a list, now or later: then it does not matter what lists have shown. */
function isHonest({ weather }: World): boolean {
  const { listStaleRatio, listMissingRatio, garbageRowRatio } = weather.faults;
  return (
    weather.isQuiet || (listStaleRatio === 0 && listMissingRatio === 0 && garbageRowRatio === 0)
  );
}

function countLag({ weather }: World, truth: Machine | null, row: Machine | null): void {
  if (row === null) {
    if (truth !== null) weather.count('list-missing');
    return;
  }
  if (truth === null || (truth.state === 'gone' && row.state !== 'gone')) {
    weather.count('list-resurrected');
  } else if (truth.state !== row.state || truth.interruptionAtMs !== row.interruptionAtMs) {
    weather.count('list-stale');
  }
}

/**
 * A machine drops out of lists for a while, at most until `listLagMs` after one last showed it: a
 * reader that waits out the lag before it believes a loss is never wrong.
 */
function isHidden(
  { agenda, weather }: World,
  machine: SimulatedMachine,
  listLagMs: number,
): boolean {
  const nowMs = agenda.nowMs();
  if (weather.isQuiet || machine.shownAtMs === null) return false;
  if (nowMs < machine.hiddenUntilMs) return true;
  const latestMs = machine.shownAtMs + listLagMs;
  if (nowMs >= latestMs) return false;
  if (!weather.isHit('list-missing', weather.faults.listMissingRatio, 'list')) return false;
  weather.count('list-missing');
  machine.hiddenUntilMs = nowMs + (latestMs - nowMs) * weather.next('list-missing-for');
  return true;
}

/** Rows no list may have. A reader must drop them, keep the others, and not fall over. */
const garbageRows: readonly ((sane: Machine) => unknown)[] = [
  () => null,
  () => 'Internal Server Error',
  () => ({}),
  (sane) => ({ ...sane, machineId: 42 }),
  (sane) => ({ ...sane, machineId: machineId('sim-bad-state'), state: 'exploded' }),
  (sane) => ({ ...sane, machineId: machineId('sim-bad-index'), hostIndex: -1 }),
  (sane) => ({ ...sane, machineId: machineId('sim-far-index'), hostIndex: 1e9 }),
  (sane) => ({ ...sane, machineId: machineId('sim-nan'), hostIndex: Number.NaN }),
  (sane) => ({ ...sane, machineId: machineId('sim-bad-time'), interruptionAtMs: 'soon' }),
  (sane) => ({ ...sane, machineId: machineId('sim-untagged'), sliceId: undefined }),
  // Well-formed, and about nothing that exists.
  (sane) => ({ ...sane, machineId: machineId('sim-ghost'), sliceId: sliceId('ghost') }),
  // The same machine twice.
  (sane) => sane,
];

const someRow: Machine = {
  machineId: machineId('sim-nobody'),
  sliceId: sliceId('nobody'),
  group: groupName('nowhere'),
  hostIndex: 0,
  state: 'ready',
  interruptionAtMs: null,
};

function addGarbage({ weather }: World, rows: Machine[]): void {
  const pick = <T>(items: readonly T[], stream: string): T | undefined =>
    items[Math.floor(weather.next(stream) * items.length)];
  const count = 1 + Math.floor(weather.next('garbage-count') * 3);
  for (let added = 0; added < count; added++) {
    const sane = pick(rows.filter(Boolean), 'garbage-of') ?? someRow;
    const garbage = pick(garbageRows, 'garbage-kind')?.(sane);
    // The lie of this fault: the type promises a machine.
    const row = garbage as Machine;
    rows.splice(Math.floor(weather.next('garbage-at') * (rows.length + 1)), 0, row);
    weather.count('garbage-row');
  }
}
