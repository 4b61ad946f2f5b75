import type { Constraint } from '../model/constraint.ts';
import type { Ask, DeviceAsk, Entry, EntryForm, Floor, Task } from '../model/demand.ts';
import { entryId, type EpochMs, epochMs } from '../model/ids.ts';
import type { Resources } from '../model/resources.ts';
import { entriesFromTasks } from '../policy/demand/entries.ts';
import { findInvalid } from '../policy/demand/validity.ts';
import { finding, findDuplicateIds, type Named } from './finding.ts';
import { type Finding, type Path, PROBLEMS_SOUGHT_MAX } from './problem.ts';
import type { Placed } from './salvage.ts';
import type { Converted } from './snapshot-slices.ts';
import { type AskRow, BUNDLES_MAX, TASKS_MAX } from './snapshot-schema.ts';
import type { EntryRow, FloorRow, TaskRow } from './snapshot-schema.ts';

/** Tasks and entries as pending work, in the order given, tasks first. Counts stay counts. */
export function toEntries(
  taskRows: readonly Placed<TaskRow>[],
  entryRows: readonly Placed<EntryRow>[],
  atMs: EpochMs,
): Converted<Entry> {
  const findings: Finding[] = [];
  const tasks = taskRows.map(({ path, item }) => toTask(path, item, atMs, findings));
  const fromTasks = entriesFromTasks(tasks);
  const fromRows = entryRows.flatMap(({ path, item }): readonly Entry[] => {
    const form = toForm(path, item, findings);
    return form === null ? [] : [toEntry(item, form, atMs)];
  });
  const named: Named[] = [
    ...nameTaskEntries(taskRows),
    ...entryRows.map(({ path, item }) => ({ path, id: item.id, count: item.count })),
  ];
  findings.push(...findDuplicateIds(named), ...findDuplicateTasks(taskRows));
  const items = [...fromTasks, ...fromRows];
  const total = items.reduce((sum, { count, form }) => sum + count * taskCount(form), 0);
  if (total > TASKS_MAX) {
    const message = `${total} tasks are above the limit of ${TASKS_MAX}`;
    findings.push(finding(['demand'], total, message, 'lower the counts'));
  }
  return { items, findings };
}

/** Floors: capacity to hold whether used or not. */
export function toFloors(rows: readonly Placed<FloorRow>[]): Converted<Floor> {
  const findings: Finding[] = [];
  const items = rows.map(({ path, item }): Floor => {
    const ask = toAsk(path, item, item.resources, findings);
    return { id: entryId(item.id), ask, count: item.count };
  });
  const named = rows.map(({ path, item }) => ({ path, id: item.id, count: item.count }));
  return { items, findings: [...findings, ...findDuplicateIds(named)] };
}

function taskCount(form: EntryForm): number {
  if (form.kind === 'single') return 1;
  return form.kind === 'gang' ? form.taskCount : form.bundles.length;
}

function toTask(path: Path, row: TaskRow, atMs: EpochMs, findings: Finding[]): Task {
  return {
    id: row.id,
    gang: row.gang ?? null,
    ask: toAsk(path, row, row.resources, findings),
    priority: row.priority,
    submittedAtMs: epochMs(atMs - row.age),
    owner: row.owner ?? null,
  };
}

/** The entries that tasks become: each gang once, where its first task stands. */
function nameTaskEntries(rows: readonly Placed<TaskRow>[]): readonly Named[] {
  const gangs = new Set<string>();
  return rows.flatMap(({ path, item: { id, gang } }): readonly Named[] => {
    if (gang === undefined) return [{ path, id, count: 1 }];
    if (gangs.has(gang)) return [];
    gangs.add(gang);
    return [{ path, id: gang, count: 1 }];
  });
}

/** Tasks of gangs; a task alone is an entry, whose id is looked at with the others. */
function findDuplicateTasks(rows: readonly Placed<TaskRow>[]): readonly Finding[] {
  const members = rows.filter(({ item }) => item.gang !== undefined);
  return findDuplicateIds(members.map(({ path, item }) => ({ path, id: item.id, count: 1 })));
}

function toEntry(row: EntryRow, form: EntryForm, atMs: EpochMs): Entry {
  return {
    id: entryId(row.id),
    count: row.count,
    form,
    priority: row.priority,
    submittedAtMs: epochMs(atMs - row.age),
    owner: row.owner ?? null,
    taskIds: [],
    // What findInvalid finds is a problem of the file, so none is left here.
    invalid: null,
  };
}

/** Null when something about the form itself is wrong. */
function toForm(path: Path, row: EntryRow, findings: Finding[]): EntryForm | null {
  const refuse = (key: string, message: string, remedy: string): null => {
    findings.push(finding([...path, key], undefined, message, remedy));
    return null;
  };
  if (row.bundles !== undefined) {
    if (row.gang !== undefined) return refuse('gang', 'gang and bundles do not mix', 'keep one');
    if (row.resources !== undefined) {
      return refuse('resources', 'an entry of bundles has none of its own', 'move it to the parts');
    }
    return toBundles(path, row, row.bundles, findings);
  }
  if (row.resources === undefined) return refuse('resources', 'is missing', 'add it');
  const ask = toAsk(path, row, row.resources, findings);
  if (row.gang === undefined) return { kind: 'single', ask };
  return { kind: 'gang', ask, taskCount: row.gang };
}

function toBundles(
  path: Path,
  row: EntryRow,
  { strategy, parts }: NonNullable<EntryRow['bundles']>,
  findings: Finding[],
): EntryForm | null {
  const total = parts.reduce((sum, part) => sum + part.count, 0);
  if (total > BUNDLES_MAX) {
    const message = `${total} bundles are above the limit of ${BUNDLES_MAX}`;
    findings.push(finding([...path, 'bundles', 'parts'], total, message, 'lower the counts'));
    return null;
  }
  const bundles = parts.flatMap((part, index) => {
    const own: AskRow = {
      device: part.device ?? row.device,
      preemptible: part.preemptible ?? row.preemptible,
      constraints: part.constraints ?? row.constraints,
    };
    // A mistake that the entry passes on is shown where it was made.
    const at = part.constraints === undefined ? path : [...path, 'bundles', 'parts', index];
    const ask = toAsk(at, own, part.resources, findings);
    return Array.from({ length: part.count }, () => ask);
  });
  return { kind: 'bundles', strategy, bundles };
}

function toAsk(path: Path, row: AskRow, resources: Resources, findings: Finding[]): Ask {
  const rows = row.constraints ?? [];
  const constraints = rows.map((constraint, index): Constraint => {
    const { key, op, value, values, soft } = constraint;
    if (value !== undefined && values !== undefined) {
      const at = [...path, 'constraints', index, 'values'];
      findings.push(finding(at, undefined, 'value and values are both given', 'keep one'));
    }
    return { key, op, values: (value === undefined ? (values ?? []) : [value]).map(String), soft };
  });
  const { preemptible } = row;
  const ask: Ask = {
    device: toDevice(path, row.device, findings),
    preemptible: preemptible ?? null,
    constraints,
    resources,
  };
  const isLooking = constraints.length > 0 && findings.length < PROBLEMS_SOUGHT_MAX;
  if (isLooking) findings.push(...findInvalidAsk(path, ask));
  return ask;
}

function toDevice(path: Path, row: AskRow['device'], findings: Finding[]): DeviceAsk | null {
  if (row === undefined) return null;
  if (typeof row === 'string') return { type: row, variants: null };
  if (row.variant !== undefined && row.variants !== undefined) {
    const at = [...path, 'device', 'variants'];
    findings.push(finding(at, undefined, 'variant and variants are both given', 'keep one'));
  }
  return { type: row.type, variants: row.variants ?? (row.variant ? [row.variant] : null) };
}

/** What no fleet could serve: in a file, a mistake of its writer. */
function findInvalidAsk(path: Path, ask: Ask): readonly Finding[] {
  const invalid = findInvalid({ kind: 'single', ask });
  switch (invalid?.kind) {
    case 'ill-typed-constraint': {
      const { constraint, expected } = invalid;
      const at = [...path, 'constraints', ask.constraints.indexOf(constraint)];
      const message = `${constraintText(constraint)} needs ${expected}`;
      return [finding(at, undefined, message, 'correct its value or its op')];
    }
    case 'contradictory-constraints': {
      const [first] = invalid.constraints;
      const index = first === undefined ? 0 : ask.constraints.indexOf(first);
      const list = invalid.constraints.map(constraintText).join(' and ');
      const message = `${list} cannot hold together`;
      return [finding([...path, 'constraints', index], undefined, message, 'drop or soften one')];
    }
    default:
      return [];
  }
}

const constraintText = ({ key, op, values }: Constraint): string =>
  [key, op, values.join('|')].filter((part) => part !== '').join(' ');
