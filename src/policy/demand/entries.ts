import { type Ask, type Entry, type Task } from '../../model/demand.ts';
import { entryId } from '../../model/ids.ts';
import type { GangDifference, InvalidDemand } from '../../model/reason.ts';
import { must } from '../../support/assert.ts';
import { byText } from '../../support/order.ts';
import { findInvalid } from './validity.ts';

/**
 * Tasks become entries: one per task alone, one per gang, in the order their first task came.
 * A gang whose tasks do not ask for the same thing stays one entry, invalid, with the differences.
 */
export function entriesFromTasks(tasks: readonly Task[]): readonly Entry[] {
  const gangs = new Map<string, Task[]>();
  const units: { readonly gang: string | null; readonly tasks: Task[] }[] = [];
  for (const task of tasks) {
    const members = task.gang === null ? undefined : gangs.get(task.gang);
    if (members !== undefined) {
      members.push(task);
      continue;
    }
    const unit = { gang: task.gang, tasks: [task] };
    if (task.gang !== null) gangs.set(task.gang, unit.tasks);
    units.push(unit);
  }
  return units.map((unit) => entryFrom(unit.gang, unit.tasks));
}

function entryFrom(gang: string | null, tasks: readonly Task[]): Entry {
  const first = must(tasks[0], 'a unit starts with its first task');
  const differences = gang === null ? [] : findDifferences(tasks);
  const mixed: InvalidDemand | null =
    differences.length > 0 ? { kind: 'mixed-gang', differences } : null;
  const form =
    gang === null
      ? ({ kind: 'single', ask: first.ask } as const)
      : ({ kind: 'gang', ask: first.ask, taskCount: tasks.length } as const);
  return {
    id: entryId(gang ?? first.id),
    count: 1,
    form,
    priority: first.priority,
    // A gang waits as long as its first task.
    submittedAtMs: tasks.reduce(
      (oldest, task) => (task.submittedAtMs < oldest ? task.submittedAtMs : oldest),
      first.submittedAtMs,
    ),
    owner: first.owner,
    taskIds: gang === null ? [] : tasks.map((task) => task.id),
    invalid: mixed ?? findInvalid(form),
  };
}

/** The fields in which tasks of a gang differ, each with its values and the tasks behind them. */
function findDifferences(tasks: readonly Task[]): readonly GangDifference[] {
  const fields = new Map<string, Map<string, string[]>>();
  const names = new Set(tasks.flatMap((task) => Object.keys(task.ask.resources)));
  for (const task of tasks) {
    for (const [field, value] of describeAsk(task, [...names].sort(byText))) {
      const values = fields.get(field) ?? new Map<string, string[]>();
      fields.set(field, values);
      values.set(value, [...(values.get(value) ?? []), task.id]);
    }
  }
  return [...fields]
    .filter(([, values]) => values.size > 1)
    .map(([field, values]) => ({
      field,
      values: [...values].map(([value, taskIds]) => ({ value, taskIds })),
    }));
}

/** Every field that must be equal over a gang, as text. */
function describeAsk(task: Task, resourceNames: readonly string[]): [string, string][] {
  const { ask } = task;
  const variants = ask.device?.variants;
  return [
    ['device', ask.device === null ? 'none' : ask.device.type],
    ['variants', variants ? variants.map((name) => name.toLowerCase()).join('|') : 'any'],
    ['preemptible', ask.preemptible === null ? 'either' : String(ask.preemptible)],
    ['constraints', constraintsText(ask)],
    ['priority', String(task.priority)],
    ...resourceNames.map((name): [string, string] => [
      `resources.${name}`,
      String(ask.resources[name] ?? 0),
    ]),
  ];
}

const constraintsText = (ask: Ask): string =>
  ask.constraints
    .map(({ key, op, values, soft }) => `${key} ${op} ${values.join('|')}${soft ? ' (soft)' : ''}`)
    .join(', ') || 'none';
