import type { z } from 'zod';
import { epochMs, groupName, machineId, sliceId } from '../../model/ids.ts';
import type { Machine } from '../../model/machine.ts';
import type { Refusal } from '../../model/refusal.ts';
import type { LaunchOutcome, LaunchRequest } from '../../ports/provider.ts';
import { unreachable } from '../../support/assert.ts';
import {
  firstProblem,
  type Hide,
  isObject,
  type MachineRow,
  machineRow,
  type OutcomeRow,
  outcomeRow,
  showValue,
} from './answer.ts';
import { cutLine } from './error-lines.ts';

/** Names of unknown fields that are told of one answer. */
const UNKNOWN_FIELDS_MAX = 5;

/** Problems of one answer that are put into words; the others are counted. */
const PROBLEMS_MAX = 20;

/** An answer as far as it can be used. A row that cannot hides no other. */
export type Reading<T> =
  | {
      readonly kind: 'read';
      readonly value: readonly T[];
      readonly problems: readonly string[];
      /** Problems beyond those in words. */
      readonly moreCount: number;
    }
  /** Nothing of it can be used; `problem` says which field, which value and what is admitted. */
  | { readonly kind: 'unusable'; readonly problem: string };

/** The machines of a list's answer. */
export function readMachines(answer: unknown, hide: Hide): Reading<Machine> {
  const rows = rowsOf(answer, 'machines', hide);
  if (typeof rows === 'string') return { kind: 'unusable', problem: rows };
  const problems = new Problems();
  for (const words of unknownFields(rows, machineRow.shape, 'machines')) problems.add(() => words);
  const machines = new Map<string, Machine>();
  rows.forEach((row, index) => {
    const parsed = machineRow.safeParse(row);
    const at = (): string => `machines[${index}]${nameOf(row, 'machineId', hide)}`;
    if (!parsed.success) {
      problems.add(() => `${at()}: ${firstProblem(row, parsed.error, hide)}`);
    } else if (machines.has(parsed.data.machineId)) problems.add(() => `${at()}: is listed twice`);
    else machines.set(parsed.data.machineId, toMachine(parsed.data, hide));
  });
  const { first } = problems;
  // An empty list would say that every machine is gone. This one says only that it is ill written.
  if (rows.length > 0 && machines.size === 0 && first !== undefined) {
    return { kind: 'unusable', problem: `no machine of the list can be used; ${first}` };
  }
  return { kind: 'read', value: [...machines.values()], ...problems.told() };
}

/**
 * The outcomes of a launch's answer, in the order of the requests. A request without a usable
 * outcome is left out: nobody knows what became of it, and it will be asked again or released.
 */
export function readOutcomes(
  answer: unknown,
  batch: readonly LaunchRequest[],
  hide: Hide,
): Reading<LaunchOutcome> {
  const rows = rowsOf(answer, 'outcomes', hide);
  if (typeof rows === 'string') return { kind: 'unusable', problem: rows };
  const problems = new Problems();
  const asked = new Set<string>(batch.map((request) => request.sliceId));
  const outcomes = new Map<string, LaunchOutcome | null>();
  rows.forEach((row, index) => {
    const parsed = outcomeRow.safeParse(row);
    const at = (): string => `outcomes[${index}]${nameOf(row, 'sliceId', hide)}`;
    if (!parsed.success) {
      problems.add(() => `${at()}: ${firstProblem(row, parsed.error, hide)}`);
      return;
    }
    const { sliceId: id } = parsed.data;
    if (!asked.has(id)) problems.add(() => `${at()}: this slice was not asked for`);
    else if (outcomes.has(id)) {
      problems.add(() => `${at()}: has more than one outcome; none is believed`);
    }
    outcomes.set(id, outcomes.has(id) ? null : toOutcome(parsed.data, hide));
  });
  for (const id of asked) {
    if (!outcomes.has(id)) problems.add(() => `outcomes: none that can be used for slice ${id}`);
  }
  const value = batch.flatMap((request) => outcomes.get(request.sliceId) ?? []);
  const { first } = problems;
  if (value.length > 0 || first === undefined) return { kind: 'read', value, ...problems.told() };
  return { kind: 'unusable', problem: first };
}

/** What is wrong with an answer: the first problems in words, all of them in number. */
class Problems {
  readonly #words: string[] = [];
  #count = 0;

  /** The words are made only if they are told: an answer may be wrong in a hundred thousand rows. */
  add(say: () => string): void {
    this.#count += 1;
    if (this.#count <= PROBLEMS_MAX) this.#words.push(say());
  }

  get first(): string | undefined {
    return this.#words[0];
  }

  told(): { readonly problems: readonly string[]; readonly moreCount: number } {
    return { problems: this.#words, moreCount: this.#count - this.#words.length };
  }
}

/** The rows under the answer's one field, or what is wrong with it as a whole. */
function rowsOf(answer: unknown, field: string, hide: Hide): readonly unknown[] | string {
  const remedy = `the answer must be {"${field}": [...]}`;
  if (!isObject(answer) || Array.isArray(answer)) {
    return `${showValue(answer, hide)} is not an object; ${remedy}`;
  }
  const rows = answer[field];
  if (rows === undefined) return `${field} is missing; ${remedy}`;
  if (!Array.isArray(rows)) return `${field} is ${showValue(rows, hide)}; ${remedy}`;
  return rows;
}

/** How a row calls itself, for people who look for it. */
function nameOf(row: unknown, field: string, hide: Hide): string {
  const name = isObject(row) ? row[field] : undefined;
  return typeof name === 'string' ? ` (${showValue(name, hide)})` : '';
}

/** Misspelt names of fields that may be left out would else go unseen. The rows count all the same. */
function unknownFields(rows: readonly unknown[], shape: z.ZodRawShape, field: string): string[] {
  const unknown = new Set<string>();
  for (const row of rows) {
    if (!isObject(row)) continue;
    for (const name in row) if (!(name in shape)) unknown.add(name);
    if (unknown.size >= UNKNOWN_FIELDS_MAX) break;
  }
  const known = Object.keys(shape).join(', ');
  return [...unknown]
    .slice(0, UNKNOWN_FIELDS_MAX)
    .map((name) => `${field}[].${cutLine(name, 60)}: is ignored; known are ${known}`);
}

function toMachine(row: MachineRow, hide: Hide): Machine {
  const { failure, interruptionAtMs } = row;
  return {
    machineId: machineId(row.machineId),
    sliceId: sliceId(row.sliceId),
    group: groupName(row.group),
    hostIndex: row.hostIndex,
    state: row.state,
    interruptionAtMs: typeof interruptionAtMs === 'number' ? epochMs(interruptionAtMs) : null,
    ...(typeof failure === 'string' && failure !== '' ? { failure: cutLine(hide(failure)) } : {}),
  };
}

function toOutcome(row: OutcomeRow, hide: Hide): LaunchOutcome {
  const id = sliceId(row.sliceId);
  switch (row.kind) {
    case 'accepted':
      return { kind: row.kind, sliceId: id, machineIds: (row.machineIds ?? []).map(machineId) };
    case 'refused':
      return { kind: row.kind, sliceId: id, refusal: toRefusal(row.refusal, hide) };
    default:
      return unreachable(row);
  }
}

type RefusalRow = Extract<OutcomeRow, { kind: 'refused' }>['refusal'];

function toRefusal(row: RefusalRow, hide: Hide): Refusal {
  const detail = cutLine(hide(row.detail ?? '')) || 'the program gave no detail';
  switch (row.kind) {
    case 'stockout':
    case 'permanent':
    case 'unknown':
      return { kind: row.kind, detail };
    case 'quota-exceeded':
      return { kind: row.kind, quotaName: row.quotaName, detail };
    case 'throttled':
      return { kind: row.kind, retryAfterMs: row.retryAfterMs ?? null, detail };
    default:
      return unreachable(row);
  }
}
