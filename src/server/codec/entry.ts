import type {
  Bundles as WireBundles,
  Entry as WireEntry,
  Gang as WireGang,
} from '../../api/gen/bellows/v1/demand_pb.ts';
import { PRIORITY_MAX } from '../../config/group-schema.ts';
import { describeValue, type Path } from '../../config/problem.ts';
import { BUNDLES_MAX, TASKS_MAX } from '../../config/snapshot-schema.ts';
import { bundleStrategies, type Entry, type EntryForm } from '../../model/demand.ts';
import { entryId, type EpochMs, epochMs } from '../../model/ids.ts';
import { unreachable } from '../../support/assert.ts';
import { notOneOf, readAsk } from './ask.ts';
import { checkOptionalText, checkText, type Complaints, ID_LENGTH_MAX } from './complaints.ts';
import { askText, type FormTable, type SaidForm } from './forms.ts';
import { readInstant } from './spans.ts';

/** What is needed to read entries. */
export interface EntryReading {
  readonly forms: FormTable;
  readonly complaints: Complaints;
  /** The time of entries whose scheduler gives none. */
  readonly nowMs: EpochMs;
  /** Letters that its page may still take in the store; parts are multiplied out within it alone. */
  readonly sizeMax: number;
}

/** An entry, and what the push that it belongs to must know of it. */
export interface ReadEntry {
  readonly entry: Entry;
  /** Its scheduler gave no time. */
  readonly isUndated: boolean;
  /** All that was said of it, whatever the encoding: equal text, equal entry. */
  readonly text: string;
  /** Letters that it takes in the store, about. */
  readonly size: number;
  /** Tasks, all counts multiplied out. */
  readonly taskCount: number;
}

/** Braces, field names, numbers and an instant, as the store has them. */
const ENTRY_SIZE = 150;

/** One entry; null when something is wrong with it, which is noted then. */
export function readEntry(
  wire: WireEntry,
  path: Path,
  { forms, complaints, nowMs, sizeMax }: EntryReading,
): ReadEntry | null {
  const { id, priority, owner } = wire;
  const lengthMax = ID_LENGTH_MAX;
  // Paths are made for what is wrong alone: of a hundred thousand entries, few are.
  if (id === '' || id.length > lengthMax) {
    checkText(id, { path: [...path, 'id'], lengthMax, complaints });
  }
  if (owner.length > lengthMax) {
    checkOptionalText(owner, { path: [...path, 'owner'], lengthMax, complaints });
  }
  const count = wire.count === 0 ? 1 : wire.count;
  if (count > TASKS_MAX) {
    const message = `${count} entries are above the limit of ${TASKS_MAX}`;
    complaints.add([...path, 'count'], message, 'lower the count');
  }
  if (Math.abs(priority) > PRIORITY_MAX) {
    const range = `${-PRIORITY_MAX} to ${PRIORITY_MAX}`;
    complaints.add([...path, 'priority'], `${priority} is outside ${range}`, 'write one of these');
  }
  const saidMs =
    wire.submittedAt === undefined
      ? null
      : readInstant(wire.submittedAt, { path, field: 'submitted_at', complaints });
  const said = readForm(wire, path, complaints);
  if (said === null || !complaints.isEmpty) return null;
  const known = forms.intern(said, sizeMax);
  if (typeof known === 'number') {
    const message = `takes ${known} letters in the store, and its page has ${sizeMax} left`;
    complaints.add(path, message, 'push fewer in one page');
    return null;
  }
  const taskIds = wire.form.case === 'gang' ? wire.form.value.taskIds : [];
  const entry: Entry = {
    id: entryId(id),
    count,
    form: known.form,
    priority,
    submittedAtMs: epochMs(saidMs ?? nowMs),
    owner: owner === '' ? null : owner,
    taskIds,
    invalid: known.invalid,
  };
  const names = `${JSON.stringify(id)}${owner === '' ? '' : JSON.stringify(owner)}`;
  const tasks = taskIds.length === 0 ? '' : JSON.stringify(taskIds);
  return {
    entry,
    isUndated: saidMs === null,
    text: `${names} ${count} ${priority} ${saidMs}${tasks} ${said.text}\n`,
    size: ENTRY_SIZE + names.length + tasks.length + known.size,
    taskCount: count * said.taskCount,
  };
}

function readForm({ form }: WireEntry, path: Path, complaints: Complaints): SaidForm | null {
  switch (form.case) {
    case 'single': {
      const ask = readAsk(form.value, [...path, 'single'], complaints);
      const outline = { kind: 'single', ask } as const;
      return { text: `single ${askText(ask)}`, taskCount: 1, ...plain(outline) };
    }
    case 'gang':
      return readGang(form.value, [...path, 'gang'], complaints);
    case 'bundles':
      return readBundles(form.value, [...path, 'bundles'], complaints);
    case undefined:
      complaints.add(path, 'asks for nothing', 'set one of single, gang and bundles');
      return null;
    default:
      return unreachable(form);
  }
}

function readGang(wire: WireGang, path: Path, complaints: Complaints): SaidForm | null {
  const { taskCount, taskIds } = wire;
  const ask = readAsk(wire.ask, [...path, 'ask'], complaints);
  const at = [...path, 'task_ids'];
  if (taskCount > TASKS_MAX) {
    const message = `${taskCount} tasks are above the limit of ${TASKS_MAX}`;
    complaints.add([...path, 'task_count'], message, 'lower the count');
  } else if (taskIds.length > 0 && taskIds.length !== taskCount) {
    const message = `has ${taskIds.length} names for ${taskCount} tasks`;
    complaints.add(at, message, 'name each task, or none');
  } else {
    checkTaskIds(taskIds, at, complaints);
  }
  // A gang of none is taken, and shown as what it is: nothing that could ever run.
  const outline = { kind: 'gang', ask, taskCount } as const;
  return { text: `gang ${taskCount} ${askText(ask)}`, taskCount, ...plain(outline) };
}

function checkTaskIds(taskIds: readonly string[], path: Path, complaints: Complaints): void {
  if (taskIds.length === 0) return;
  const seen = new Set<string>();
  taskIds.forEach((id, n) => {
    checkText(id, { path: [...path, n], lengthMax: ID_LENGTH_MAX, complaints });
    if (seen.has(id)) {
      const message = `the id ${describeValue(id)} is taken already`;
      complaints.add([...path, n], message, 'give each its own');
    }
    seen.add(id);
  });
}

function readBundles(wire: WireBundles, path: Path, complaints: Complaints): SaidForm | null {
  const strategy = bundleStrategies.find((known) => known === wire.strategy);
  if (strategy === undefined) {
    complaints.add([...path, 'strategy'], ...notOneOf(wire.strategy, bundleStrategies));
    return null;
  }
  const at = [...path, 'parts'];
  const taskCount = wire.parts.reduce((sum, { count }) => sum + Math.max(1, count), 0);
  if (taskCount > BUNDLES_MAX) {
    const message = `${taskCount} parts are above the limit of ${BUNDLES_MAX}`;
    complaints.add(at, message, 'lower the counts');
    return null;
  }
  const parts = wire.parts.map((part, n) => {
    const ask = readAsk(part.ask, [...at, n, 'ask'], complaints);
    return { ask, count: Math.max(1, part.count) };
  });
  return {
    text: `bundles ${strategy} ${parts.map(({ ask, count }) => `${count} ${askText(ask)}`).join('\n')}`,
    taskCount,
    outline: { kind: 'bundles', strategy, bundles: parts.map(({ ask }) => ask) },
    measure: () =>
      parts.reduce((sum, { ask, count }) => sum + count * JSON.stringify(ask).length, 0),
    make: () => {
      const bundles = parts.flatMap(({ ask, count }) => Array.from({ length: count }, () => ask));
      return { kind: 'bundles', strategy, bundles };
    },
  };
}

/** A form that is its own outline. */
const plain = (outline: EntryForm): Pick<SaidForm, 'outline' | 'measure' | 'make'> => ({
  outline,
  measure: () => JSON.stringify(outline).length,
  make: () => outline,
});
