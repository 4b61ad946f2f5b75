import { dirname, isAbsolute, join } from 'node:path';
import type { z } from 'zod';
import type { Fleet } from '../model/fleet.ts';
import { type EpochMs, epochMs } from '../model/ids.ts';
import type { Snapshot } from '../model/snapshot.ts';
import { classify } from '../policy/demand/classes.ts';
import {
  checkConfig,
  type Config,
  parseConfig,
  parseConfigDocument,
  placeFindings,
} from './config-file.ts';
import { readDocument, type TextDocument } from './document.ts';
import { finding } from './finding.ts';
import { explainIssue, toFindings } from './issues.ts';
import { capProblems, type Finding, type Problem, PROBLEMS_SOUGHT_MAX } from './problem.ts';
import { type InputRead, STDIN_NAME } from './read-file.ts';
import type { Placed } from './salvage.ts';
import { settingsSchema } from './schema.ts';
import { toEntries, toFloors } from './snapshot-demand.ts';
import { rowSchemas, snapshotTopSchema } from './snapshot-schema.ts';
import type { ConditionRow, EntryRow, FloorRow, SliceRow, TaskRow } from './snapshot-schema.ts';
import { toConditions, toSlices } from './snapshot-slices.ts';

export type SnapshotParse =
  | {
      readonly kind: 'ok';
      readonly snapshot: Snapshot;
      readonly config: Config;
      /** `config`: the file is a bellows.yaml, so there are no slices and no demand. */
      readonly form: 'snapshot' | 'config';
    }
  | { readonly kind: 'bad'; readonly problems: readonly Problem[] };

/** Keys that only a snapshot file has. */
const snapshotKeys = [
  'config',
  'format',
  'at',
  'slices',
  'conditions',
  'tasks',
  'demand',
  'floors',
];

/**
 * Reads a snapshot file, or a bellows.yaml in its place. Total; all problems at once. `file` is the
 * name that messages show; a config that the file names by path is read through `readConfig`, which
 * gets the path made relative to where `file` is.
 */
export function parseSnapshot(
  text: string,
  file: string,
  readConfig: (path: string) => InputRead,
): SnapshotParse {
  const read = readDocument(text, file);
  if (read.kind === 'bad') return read;
  const { document } = read;
  if (isConfigForm(document.data)) {
    const parsed = parseConfigDocument(document);
    if (parsed.kind === 'bad') return parsed;
    const { config } = parsed;
    const empty = { slices: [], conditions: [], demand: [], floors: [] };
    const snapshot = { atMs: epochMs(0), fleet: config.fleet, ...empty };
    return { kind: 'ok', snapshot, config, form: 'config' };
  }
  return parseSnapshotDocument(document, readConfig);
}

function isConfigForm(data: unknown): boolean {
  if (typeof data !== 'object' || data === null) return false;
  return 'groups' in data && !snapshotKeys.some((key) => key in data);
}

function parseSnapshotDocument(
  document: TextDocument,
  readConfig: (path: string) => InputRead,
): SnapshotParse {
  const top = snapshotTopSchema.safeParse(document.data, {
    error: explainIssue,
    reportInput: true,
  });
  if (!top.success) {
    const findings = toFindings(top.error.issues, []).map(explainMisplaced);
    return { kind: 'bad', problems: capProblems(placeFindings(document, findings)) };
  }
  const findings: Finding[] = [];
  const { slices, conditions, tasks, demand, floors } = top.data;
  const rows = {
    slices: parseRows('slices', rowSchemas.slices, slices, findings),
    conditions: parseRows('conditions', rowSchemas.conditions, conditions, findings),
    tasks: parseRows('tasks', rowSchemas.tasks, tasks, findings),
    demand: parseRows('demand', rowSchemas.demand, demand, findings),
    floors: parseRows('floors', rowSchemas.floors, floors, findings),
  };

  const named = readNamedConfig(document.file, top.data.config, readConfig);
  findings.push(...named.findings.slice(0, PROBLEMS_SOUGHT_MAX));
  const built = buildSnapshot(rows, named.config?.fleet ?? null, epochMs(top.data.at ?? 0));
  findings.push(...built.findings.slice(0, PROBLEMS_SOUGHT_MAX));
  const { config } = named;
  const isClean = findings.length === 0 && document.duplicates.length === 0;
  if (config !== null && built.snapshot !== null && isClean) {
    return { kind: 'ok', snapshot: built.snapshot, config, form: 'snapshot' };
  }
  const own = placeFindings(document, findings);
  return { kind: 'bad', problems: capProblems([...own, ...named.problems]) };
}

interface Rows {
  readonly slices: readonly Placed<SliceRow>[];
  readonly conditions: readonly Placed<ConditionRow>[];
  readonly tasks: readonly Placed<TaskRow>[];
  readonly demand: readonly Placed<EntryRow>[];
  readonly floors: readonly Placed<FloorRow>[];
}

/** Without a fleet only what does not need one is checked. */
function buildSnapshot(
  rows: Rows,
  fleet: Fleet | null,
  atMs: EpochMs,
): { readonly snapshot: Snapshot | null; readonly findings: readonly Finding[] } {
  const entries = toEntries(rows.tasks, rows.demand, atMs);
  const floors = toFloors(rows.floors);
  if (fleet === null)
    return { snapshot: null, findings: [...entries.findings, ...floors.findings] };
  const slices = toSlices(rows.slices, fleet, atMs);
  const conditions = toConditions(rows.conditions, fleet, atMs);
  const findings = [entries, floors, slices, conditions].flatMap((part) => part.findings);
  if (findings.length > 0) return { snapshot: null, findings };
  const reserved = new Set(
    slices.items.flatMap(({ reservedFor }) => (reservedFor === null ? [] : [reservedFor])),
  );
  const snapshot = {
    atMs,
    fleet,
    slices: slices.items,
    conditions: conditions.items,
    demand: classify(entries.items, reserved),
    floors: floors.items,
  };
  return { snapshot, findings };
}

/** Rows one by one; those that are wrong are left out, the others can still be checked further. */
function parseRows<Schema extends z.ZodType>(
  section: string,
  schema: Schema,
  raw: readonly unknown[],
  findings: Finding[],
): readonly Placed<z.output<Schema>>[] {
  const rows: Placed<z.output<Schema>>[] = [];
  const options = { error: explainIssue, reportInput: true };
  for (const [index, value] of raw.entries()) {
    const path = [section, index];
    const row = schema.safeParse(value, options);
    if (row.success) rows.push({ path, item: row.data });
    else findings.push(...toFindings(row.error.issues, path));
    if (findings.length >= PROBLEMS_SOUGHT_MAX) break;
  }
  return rows;
}

interface NamedConfig {
  readonly config: Config | null;
  /** In the snapshot file itself. */
  readonly findings: readonly Finding[];
  /** In the file it names. */
  readonly problems: readonly Problem[];
}

function readNamedConfig(
  file: string,
  named: string | Readonly<Record<string, unknown>>,
  readConfig: (path: string) => InputRead,
): NamedConfig {
  if (typeof named !== 'string') return { ...checkConfig(named, ['config']), problems: [] };
  const isRelative = !isAbsolute(named) && file !== STDIN_NAME;
  const read = readConfig(isRelative ? join(dirname(file), named) : named);
  if (read.kind === 'bad') {
    const { message, remedy } = read.problem;
    const why = `cannot read ${read.problem.file}: ${message}`;
    return { config: null, findings: [finding(['config'], named, why, remedy)], problems: [] };
  }
  const parsed = parseConfig(read.text, read.file);
  if (parsed.kind === 'bad') return { config: null, findings: [], problems: parsed.problems };
  return { config: parsed.config, findings: [], problems: [] };
}

/** A section of bellows.yaml at the top of a snapshot file belongs one level down. */
function explainMisplaced(found: Finding): Finding {
  const key = found.path.length === 1 ? String(found.path[0]) : '';
  const isMisplaced = found.at === 'key' && Object.hasOwn(settingsSchema.shape, key);
  return isMisplaced ? { ...found, remedy: `move it under config: { ${key}: ... }` } : found;
}
