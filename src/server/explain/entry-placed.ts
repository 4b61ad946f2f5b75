import { plural } from '../../api/format.ts';
import { placedText } from '../../api/reason-text.ts';
import type { Placement, Spot } from '../../model/decision.ts';
import { type EntryId, epochMs } from '../../model/ids.ts';
import type { RoomKind } from '../../model/reason.ts';
import { isLive, type SliceRecord } from '../../model/slice-record.ts';
import { holds, type Link } from './answer.ts';
import {
  comingSlices,
  type Deferred,
  deferralsOf,
  sliceLinks,
  slicesHeldFor,
  timeoutOn,
} from './coming.ts';
import { type FleetView, groupOf } from './fleet-view.ts';
import type { Awaited } from './next-look.ts';
import { andList } from './phrases.ts';

export interface PlacedAnswer {
  readonly summary: string;
  readonly chain: readonly Link[];
  readonly awaited: readonly Awaited[];
  readonly hope: string;
  readonly remedy: string;
}

const roomWords: Readonly<Record<RoomKind, string>> = {
  'free-room': 'free room',
  'on-its-way': 'capacity on its way',
  new: 'new slices',
};

/** Where an entry goes, why there, and how far what it waits for has come. */
export function answerPlaced(view: FleetView, id: EntryId, placement: Placement): PlacedAnswer {
  const { spots, why, runnerUp } = placement;
  const spotLinks = spots.map(({ room, tasks, group }) =>
    holds(room, `${plural(tasks, 'task')} on ${roomWords[room]} of ${group}`),
  );
  const placed = holds(why.kind, placedText(why, runnerUp));
  const rooms = new Set(spots.map(({ room }) => room));
  const where = andList([
    ...new Set(spots.map(({ room, group }) => `${roomWords[room]} of ${group}`)),
  ]);
  const held = slicesHeldFor(view, id);
  if (rooms.size === 1 && rooms.has('free-room') && held.length === 0) {
    return {
      summary: `${id} has a place: ${where}`,
      chain: [...spotLinks, placed],
      awaited: [],
      hope: 'its scheduler to start it there and to report the host busy',
      remedy: '',
    };
  }
  const slices = held.length > 0 ? held : spots.flatMap((spot) => slicesOf(view, spot));
  const deferrals = deferralsIn(view, spots);
  const isAdvisory = view.last?.input.control.mode === 'advisory';
  const advisory = isAdvisory
    ? [holds('advisory', 'the fleet is in advisory mode: decided and recorded, never launched')]
    : [];
  const { ready, text } = countReady(slices);
  return {
    summary: `${id} has a place on ${where}${text}`,
    chain: [
      ...sliceLinks(slices),
      ...spotLinks,
      placed,
      ...deferrals.map(({ link }) => link),
      ...advisory,
    ],
    awaited: [
      ...deferrals.map(({ end }) => end),
      ...slices.flatMap((slice) => timeoutOn(view, slice) ?? []).slice(0, 1),
      ...assemblyEnd(view, held),
    ],
    hope:
      slices.length > 0 && ready === slices.length
        ? 'its scheduler to start it there'
        : 'the slices to become ready',
    remedy: isAdvisory ? 'start the controller without --dry-run' : (deferrals[0]?.remedy ?? ''),
  };
}

/** The slices that a place may mean: which of them it will be, its scheduler decides. */
function slicesOf(view: FleetView, { group, room }: Spot): readonly SliceRecord[] {
  if (room === 'free-room') return [];
  if (room === 'on-its-way') return comingSlices(view, group);
  const launched = new Set(
    (view.last?.output.steps ?? []).flatMap((step) =>
      step.kind === 'launch' && step.group === group && step.reservedFor === null
        ? [step.sliceId]
        : [],
    ),
  );
  return view.records.filter((record) => launched.has(record.id) && isLive(record));
}

function countReady(slices: readonly SliceRecord[]): {
  readonly ready: number;
  readonly text: string;
} {
  if (slices.length === 0) return { ready: 0, text: '' };
  const counts = new Map<string, number>();
  for (const { status } of slices) counts.set(status, (counts.get(status) ?? 0) + 1);
  const words = [...counts].map(([status, count]) => `${count} ${status}`);
  return { ready: counts.get('ready') ?? 0, text: `: ${words.join(', ')}` };
}

const deferralsIn = (view: FleetView, spots: readonly Spot[]): readonly Deferred[] =>
  [...new Set(spots.flatMap(({ room, group }) => (room === 'free-room' ? [] : [group])))].flatMap(
    (group) => deferralsOf(view, group),
  );

/** A gang's slices are not held for ever. */
function assemblyEnd(view: FleetView, held: readonly SliceRecord[]): readonly Awaited[] {
  const ends = held.flatMap(({ group, reservedSinceMs }) => {
    const limitMs = groupOf(view, group)?.own.timeouts.gangAssemblyMs;
    return limitMs === undefined || reservedSinceMs === null ? [] : [reservedSinceMs + limitMs];
  });
  if (ends.length === 0) return [];
  const text =
    'if the gang has not started by then, its slices are given up and it is planned anew';
  return [{ untilMs: epochMs(Math.min(...ends)), text }];
}
