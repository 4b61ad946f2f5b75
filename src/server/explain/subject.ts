import { Code, ConnectError } from '@connectrpc/connect';
import type { HeldFloor } from '../../model/push.ts';
import type { SliceRecord } from '../../model/slice-record.ts';
import { unreachable } from '../../support/assert.ts';
import { nearestName } from '../../support/nearest.ts';
import { byText } from '../../support/order.ts';
import type { Turns } from '../../support/turns.ts';
import { findEntries, type FoundEntry } from './entry-lookup.ts';
import { type FleetView, groupOf, type KnownGroup } from './fleet-view.ts';

/** What a question is about. */
export type Subject =
  | { readonly kind: 'entry'; readonly entry: FoundEntry }
  | { readonly kind: 'slice'; readonly record: SliceRecord }
  | { readonly kind: 'group'; readonly known: KnownGroup }
  | { readonly kind: 'floor'; readonly floor: HeldFloor };

/** Fewer characters begin too many ids. */
const PREFIX_MIN = 4;
const NAME_MAX = 1_000;
/** Names of a kind that are compared with one that nothing has: letter by letter, so there is a limit. */
const NAMES_COMPARED = 5_000;
/** And so many before others have a turn: some milliseconds' worth. */
const COMPARED_PER_TURN = 250;
const NAMES_SHOWN = 5;

/** All that a name means, most likely first; never empty. */
export function* findSubjects(view: FleetView, name: string): Turns<readonly Subject[]> {
  if (name === '') {
    const kinds = 'an entry, a task of a gang, a slice or a floor, or the name of a group';
    throw new ConnectError(`subject is empty: set it to the id of ${kinds}`, Code.InvalidArgument);
  }
  if (name.length > NAME_MAX) {
    const seen = `subject has ${name.length} characters`;
    throw new ConnectError(`${seen}; no name has more than ${NAME_MAX}`, Code.InvalidArgument);
  }
  const entries = yield* findEntries(view, name);
  const known = groupOf(view, name);
  const exact: readonly Subject[] = [
    ...entries.map((entry) => ({ kind: 'entry', entry }) as const),
    ...view.records
      .filter(({ id }) => id === name)
      .map((record) => ({ kind: 'slice', record }) as const),
    ...(known === null ? [] : [{ kind: 'group', known } as const]),
    ...view.held.floors
      .filter(({ id }) => id === name)
      .map((floor) => ({ kind: 'floor', floor }) as const),
  ];
  return exact.length > 0 ? exact : [yield* findByPrefix(view, name)];
}

function* findByPrefix(view: FleetView, name: string): Turns<Subject> {
  const records =
    name.length < PREFIX_MIN ? [] : view.records.filter(({ id }) => id.startsWith(name));
  const [record] = records;
  if (record === undefined) throw new ConnectError(yield* unknownText(view, name), Code.NotFound);
  if (records.length === 1) return { kind: 'slice', record };
  const ids = records.map(({ id }) => id).sort(byText);
  const shown = ids.slice(0, NAMES_SHOWN).join(', ');
  const more = ids.length > NAMES_SHOWN ? ` and ${ids.length - NAMES_SHOWN} more` : '';
  throw new ConnectError(
    `${ids.length} slices begin with ${JSON.stringify(name)}: ${shown}${more}; say more of the id`,
    Code.InvalidArgument,
  );
}

/** Names that look like it, and what may have become of the thing. */
function* unknownText(view: FleetView, name: string): Turns<string> {
  const groups = view.last?.input.control.fleet.groups.map((group) => group.name) ?? [];
  const names: readonly (readonly [string, readonly string[]])[] = [
    ['entry', entryNames(view)],
    ['slice', view.records.slice(0, NAMES_COMPARED).map(({ id }) => id)],
    ['group', groups],
    ['floor', view.held.floors.slice(0, NAMES_COMPARED).map(({ id }) => id)],
  ];
  const near: string[] = [];
  for (const [kind, known] of names) {
    const nearest = yield* nearestOf(name, known);
    if (nearest !== null) near.push(`the ${kind} ${nearest}`);
  }
  const meant = near.length === 0 ? '.' : `; did you mean ${near.join(' or ')}?`;
  const quoted = JSON.stringify(name.length > 100 ? `${name.slice(0, 100)}...` : name);
  const group = groups.find((each) => name.startsWith(`${each}-`));
  const hint =
    group === undefined
      ? 'An entry that is pending no longer was started, taken back, or not refreshed in time.'
      : `A slice of ${group} that ended some time ago is in the events: bellows events ${name} --since 24h`;
  const early = view.last === null ? ' Groups are known after the first decision.' : '';
  return `no entry, slice, group or floor is called ${quoted}${meant} ${hint}${early}`;
}

function entryNames({ held }: FleetView): readonly string[] {
  const names: string[] = [];
  for (const { entries } of held.sources) {
    for (const { id } of entries.slice(0, NAMES_COMPARED - names.length)) names.push(id);
  }
  return names;
}

/** As `nearestName`, some at a time. */
function* nearestOf(name: string, known: readonly string[]): Turns<string | null> {
  const best: string[] = [];
  for (let first = 0; first < known.length; first += COMPARED_PER_TURN) {
    if (first > 0) yield;
    best.push(nearestName(name, known.slice(first, first + COMPARED_PER_TURN)) ?? '');
  }
  return nearestName(
    name,
    best.filter((each) => each !== ''),
  );
}

/** A subject in a few words, for the list of other things of the same name. */
export function subjectText(subject: Subject): string {
  switch (subject.kind) {
    case 'entry': {
      const { id, push } = subject.entry;
      return push === null ? `entry ${id}, no longer pending` : `entry ${id} of ${push.source}`;
    }
    case 'slice':
      return `slice ${subject.record.id}`;
    case 'group':
      return `group ${subject.known.group.name}`;
    case 'floor':
      return `floor ${subject.floor.id}`;
    default:
      return unreachable(subject);
  }
}
