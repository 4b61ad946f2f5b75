import { z } from 'zod';
import { invalidText } from '../api/reason-text.ts';
import type { Entry, Floor } from '../model/demand.ts';
import { type EpochMs, epochMs } from '../model/ids.ts';
import { placeFindings } from './config-file.ts';
import { readDocument } from './document.ts';
import { finding } from './finding.ts';
import { explainIssue, toFindings } from './issues.ts';
import { capProblems, type Finding, type Problem, PROBLEMS_SOUGHT_MAX } from './problem.ts';
import type { Placed } from './salvage.ts';
import { toEntries, toFloors } from './snapshot-demand.ts';
import { rowSchemas, snapshotTopSchema } from './snapshot-schema.ts';

/** Pending work and floors to tell a running Bellows of. */
export interface DemandFile {
  /** Null where the file says nothing of pending work, which is not the same as none. */
  readonly entries: readonly Entry[] | null;
  readonly floors: readonly Floor[];
  /** Ages of entries count from here: one submitted just then has no age in the file. */
  readonly atMs: EpochMs;
}

export type DemandFileParse =
  | { readonly kind: 'ok'; readonly demand: DemandFile }
  | { readonly kind: 'bad'; readonly problems: readonly Problem[] };

/** A snapshot without its configuration will do, too. */
const topSchema = snapshotTopSchema.extend({ config: z.unknown().optional() });

/**
 * Reads `{ tasks, demand, floors }`, a whole snapshot file (whose slices and configuration are left
 * aside), or a bare list of entries. Total; all problems at once. Ages count from the file's `at`
 * where that has passed, otherwise from now.
 */
export function parseDemandFile(text: string, file: string, nowMs: EpochMs): DemandFileParse {
  const read = readDocument(text, file);
  if (read.kind === 'bad') return read;
  const { document } = read;
  const refuse = (findings: readonly Finding[]): DemandFileParse => {
    return { kind: 'bad', problems: capProblems(placeFindings(document, findings)) };
  };
  const isBare = Array.isArray(document.data);
  const data: unknown = isBare ? { demand: document.data } : document.data;
  const top = topSchema.safeParse(data, { error: explainIssue, reportInput: true });
  // The path of a bare list starts at its index.
  const unwrap = (found: Finding): Finding =>
    isBare ? { ...found, path: found.path.slice(1) } : found;
  if (!top.success) return refuse(toFindings(top.error.issues, []).map(unwrap));
  const findings: Finding[] = [];
  const atMs = epochMs(Math.min(top.data.at ?? nowMs, nowMs));
  const tasks = parseRows('tasks', rowSchemas.tasks, top.data.tasks, findings);
  const demand = parseRows('demand', rowSchemas.demand, top.data.demand, findings);
  const entries = toEntries(tasks, demand, atMs);
  const floors = toFloors(parseRows('floors', rowSchemas.floors, top.data.floors, findings));
  const broken = entries.items.flatMap((entry) => findInvalidEntry(entry, tasks));
  findings.push(...entries.findings, ...floors.findings, ...broken);
  if (findings.length > 0 || document.duplicates.length > 0) return refuse(findings.map(unwrap));
  const hasWork = isBare || hasKey(data, 'demand') || hasKey(data, 'tasks');
  if (!hasWork && !hasKey(data, 'floors')) {
    const remedy = 'give demand, tasks or floors; see docs/snapshot-files.md';
    return refuse([finding([], undefined, 'there is no work in this file', remedy)]);
  }
  const all = { entries: hasWork ? entries.items : null, floors: floors.items, atMs };
  return { kind: 'ok', demand: all };
}

/** Rows one by one; those that are wrong are left out, the others can still be checked further. */
function parseRows<Schema extends z.ZodType>(
  section: string,
  schema: Schema,
  raw: readonly unknown[],
  findings: Finding[],
): readonly Placed<z.output<Schema>>[] {
  const rows: Placed<z.output<Schema>>[] = [];
  for (const [index, value] of raw.entries()) {
    const path = [section, index];
    const row = schema.safeParse(value, { error: explainIssue, reportInput: true });
    if (row.success) rows.push({ path, item: row.data });
    else findings.push(...toFindings(row.error.issues, path));
    if (findings.length >= PROBLEMS_SOUGHT_MAX) break;
  }
  return rows;
}

/** Tasks that call themselves a gang but are none: the wire has no place for such a thing. */
function findInvalidEntry(
  { id, invalid }: Entry,
  tasks: readonly Placed<{ readonly gang?: string | undefined }>[],
): readonly Finding[] {
  // What else can be wrong with an entry was found where its row was read.
  if (invalid?.kind !== 'mixed-gang') return [];
  const first = tasks.find(({ item }) => item.gang === id);
  const remedy = 'make them equal, or give them gangs of their own';
  return [finding(first?.path ?? ['tasks'], undefined, invalidText(invalid), remedy)];
}

const hasKey = (data: unknown, key: string): boolean =>
  typeof data === 'object' && data !== null && Object.hasOwn(data, key);
