import type { Ask, EntryForm } from '../model/demand.ts';
import { nearestName } from '../support/nearest.ts';
import { byNumber } from '../support/order.ts';
import { describeValue, fileProblem, type Parsed, type Problem } from './problem.ts';
import { parseDuration, parseQuantity } from './quantity.ts';
import type { TraceJob, TraceSource } from './scenario.ts';
import { cellProblem, type CsvRow, readCsv } from './scenario-csv.ts';
import type { TraceRow } from './scenario-schema.ts';

/** Columns that are resources where a source does not say which are. */
const resourceColumns = ['cpu', 'memory', 'disk', 'gpu', 'tpu'];
const PROBLEMS_MAX = 20;
const TASKS_PER_GANG_MAX = 1_000_000;

type Ok<T> = Extract<Parsed<T>, { kind: 'ok' }>;
const ok = <T>(value: T): Ok<T> => ({ kind: 'ok', value });

export type TraceParse =
  | { readonly kind: 'ok'; readonly source: TraceSource }
  | { readonly kind: 'bad'; readonly problems: readonly Problem[] };

/** Where in a row each thing is; -1 for what has no column. */
interface Columns {
  readonly arrival: number;
  readonly runTime: number;
  readonly gang: number;
  readonly priority: number;
  readonly owner: number;
  readonly device: number;
  readonly variant: number;
  readonly resources: readonly (readonly [name: string, column: number])[];
}

/**
 * Reads a trace. `base` is what every row asks for where its columns say nothing. The earliest
 * arrival is time 0 of the trace, which `skip`, `speed` and `from` then move.
 */
export function parseTrace(
  text: string,
  file: string,
  { row, base }: { readonly row: TraceRow; readonly base: Ask },
): TraceParse {
  const rows = readCsv(text);
  const head = rows.next();
  if (head.done === true) {
    return { kind: 'bad', problems: [fileProblem(file, 'the trace is empty', 'give a head line')] };
  }
  const found = findColumns(file, row, head.value);
  if (found.problems.length > 0) return { kind: 'bad', problems: found.problems };
  const jobs: TraceJob[] = [];
  const problems: Problem[] = [];
  const forms = new Map<string, EntryForm>();
  let skippedRows = 0;
  for (const cells of rows) {
    const read = readRow(file, cells, { row, base, columns: found.columns, forms });
    if (read.kind === 'job') jobs.push(read.job);
    else if (row.badRows === 'skip') skippedRows++;
    else problems.push(read.problem);
    if (problems.length >= PROBLEMS_MAX || jobs.length >= (row.rows ?? Infinity)) break;
  }
  if (problems.length > 0) return { kind: 'bad', problems };
  if (jobs.length === 0) {
    const why = skippedRows > 0 ? `all of its ${skippedRows} rows are bad` : 'it has no rows';
    return { kind: 'bad', problems: [fileProblem(file, why, 'check the columns and the file')] };
  }
  return { kind: 'ok', source: { kind: 'trace', id: row.id, jobs: place(jobs, row), skippedRows } };
}

/** Jobs in order, their times moved to where the scenario wants them. */
function place(jobs: TraceJob[], { skip, speed, from }: TraceRow): readonly TraceJob[] {
  jobs.sort(byNumber(({ atMs }) => atMs));
  const firstMs = (jobs[0]?.atMs ?? 0) + skip;
  return jobs
    .filter(({ atMs }) => atMs >= firstMs)
    .map((job) => ({ ...job, atMs: Math.round(from + (job.atMs - firstMs) / speed) }));
}

function findColumns(
  file: string,
  { columns }: TraceRow,
  head: CsvRow,
): { readonly columns: Columns; readonly problems: readonly Problem[] } {
  const problems: Problem[] = [];
  const find = (what: string, name: string | undefined): number => {
    if (name === undefined) return -1;
    const index = head.cells.indexOf(name);
    if (index >= 0) return index;
    const near = nearestName(name, head.cells);
    const message = `there is no column ${describeValue(name)}`;
    const known = `its columns are ${head.cells.join(', ')}`;
    const remedy =
      near === null
        ? `${known}; name one with columns: { ${what}: ... }`
        : `did you mean ${near}? write columns: { ${what}: ${near} }`;
    problems.push(cellProblem(file, { line: head.line, column: 1 }, what, { message, remedy }));
    return -1;
  };
  const named = columns.resources ?? {};
  const plain = resourceColumns.filter((name) => head.cells.includes(name));
  const resources =
    columns.resources === undefined ? plain.map((n) => [n, n]) : Object.entries(named);
  return {
    columns: {
      arrival: find('arrival', columns.arrival),
      runTime: find('runTime', columns.runTime),
      gang: find('gang', columns.gang),
      priority: find('priority', columns.priority),
      owner: find('owner', columns.owner),
      device: find('device', columns.device),
      variant: find('variant', columns.variant),
      resources: resources.map(([name = '', column]) => [name, find(`resources.${name}`, column)]),
    },
    problems,
  };
}

interface Reading {
  readonly row: TraceRow;
  readonly base: Ask;
  readonly columns: Columns;
  /** By what they ask for: jobs alike share one. */
  readonly forms: Map<string, EntryForm>;
}

type RowRead =
  | { readonly kind: 'job'; readonly job: TraceJob }
  | { readonly kind: 'bad'; readonly problem: Problem };

class BadCell extends Error {
  readonly problem: Problem;
  constructor(problem: Problem) {
    super(problem.message);
    this.problem = problem;
  }
}

function readRow(file: string, csv: CsvRow, { row, base, columns, forms }: Reading): RowRead {
  /** The value of a cell, or of nothing where there is no such column or it is empty. */
  const cell = <T>(what: string, index: number, parse: (raw: string) => Parsed<T>): T | null => {
    const raw = index < 0 ? '' : (csv.cells[index] ?? '');
    if (raw === '') return null;
    const parsed = parse(raw);
    if (parsed.kind === 'ok') return parsed.value;
    const place = { line: csv.line, column: csv.columns[index] ?? 1 };
    throw new BadCell(cellProblem(file, place, what, parsed));
  };
  const need = <T>(what: string, index: number, parse: (raw: string) => Parsed<T>): T => {
    const value = cell(what, index, parse);
    if (value !== null) return value;
    const words = { message: 'is empty', remedy: 'fill it in, or write badRows: skip' };
    throw new BadCell(cellProblem(file, { line: csv.line, column: 1 }, what, words));
  };
  try {
    const atMs = need('arrival', columns.arrival, (raw) => parseInstant(raw, row.units['arrival']));
    const runMs = need('runTime', columns.runTime, (raw) => parseTime(raw, row.units['runTime']));
    const resources: Record<string, number> = { ...base.resources };
    for (const [name, column] of columns.resources) {
      const unit = row.units[name] ?? '';
      const parse = (raw: string): Parsed<number> =>
        parseQuantity(name, /^[\d.eE+]+$/.test(raw) ? `${raw}${unit}` : raw, 'up');
      const value = cell(name, column, parse);
      if (value !== null) resources[name] = value;
    }
    const gang = cell('gang', columns.gang, (raw) => parseCount(raw, TASKS_PER_GANG_MAX));
    const device = cell('device', columns.device, ok);
    const variant = cell('variant', columns.variant, ok);
    const ask = { ...base, resources, device: toDevice(base, device, variant) };
    return {
      kind: 'job',
      job: {
        atMs,
        runMs,
        form: intern(forms, ask, gang ?? row.gang ?? null),
        priority: cell('priority', columns.priority, (raw) => parseCount(raw, 1e6)) ?? row.priority,
        owner: cell('owner', columns.owner, ok) ?? row.owner ?? null,
      },
    };
  } catch (error) {
    if (error instanceof BadCell) return { kind: 'bad', problem: error.problem };
    throw error;
  }
}

function toDevice(base: Ask, type: string | null, variant: string | null): Ask['device'] {
  if (type === null && variant === null) return base.device;
  if (type === 'cpu') return null;
  return {
    type: type ?? base.device?.type ?? 'gpu',
    variants: variant === null ? (base.device?.variants ?? null) : variant.split('|'),
  };
}

/** A gang of one is a task alone: that is what traces mean by it. */
function intern(forms: Map<string, EntryForm>, ask: Ask, gang: number | null): EntryForm {
  const taskCount = gang ?? 1;
  const key = JSON.stringify([taskCount, ask.device, Object.entries(ask.resources)]);
  const known = forms.get(key);
  if (known !== undefined) return known;
  const form: EntryForm =
    taskCount > 1 ? { kind: 'gang', ask, taskCount } : { kind: 'single', ask };
  forms.set(key, form);
  return form;
}

function parseCount(raw: string, max: number): Parsed<number> {
  const value = Number(raw);
  if (Number.isInteger(value) && Math.abs(value) <= max) return ok(value);
  const message = `${describeValue(raw)} is not a whole number`;
  return { kind: 'bad', message, remedy: 'write one, or badRows: skip' };
}

/** A point in time with its zone, or a number in the unit (seconds) from any start. */
function parseInstant(raw: string, unit: string | undefined): Parsed<number> {
  if (/^\d{4}-\d\d-\d\d/.test(raw)) {
    // Without a zone it is UTC: the same on every machine.
    const isZoned = /(?:[Zz]|[+-]\d\d:?\d\d)$/.test(raw);
    const ms = Date.parse(isZoned ? raw : `${raw.replace(' ', 'T')}Z`);
    if (!Number.isNaN(ms)) return ok(ms);
  }
  return parseTime(raw, unit);
}

function parseTime(raw: string, unit = 's'): Parsed<number> {
  if (!/^\d+(\.\d+)?$/.test(raw)) return parseDuration(raw);
  // Traces count from 1970 as often as from 0: as durations such numbers are above the limit.
  const size = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }[unit];
  if (size !== undefined) return ok(Math.round(Number(raw) * size));
  const message = `the unit ${describeValue(unit)} is not one of ms, s, m, h, d`;
  return { kind: 'bad', message, remedy: 'correct it under units' };
}
