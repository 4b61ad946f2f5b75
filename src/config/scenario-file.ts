import { dirname, isAbsolute, join } from 'node:path';
import type { z } from 'zod';
import type { Group } from '../model/group.ts';
import { epochMs } from '../model/ids.ts';
import { byNumber } from '../support/order.ts';
import { checkConfig, type Config, parseConfig, placeFindings } from './config-file.ts';
import { readDocument } from './document.ts';
import { finding, findDuplicateIds } from './finding.ts';
import { explainIssue, toFindings } from './issues.ts';
import { capProblems, type Finding, type Path, type Problem } from './problem.ts';
import { type InputRead, STDIN_NAME } from './read-file.ts';
import type { Scenario, WorkSource } from './scenario.ts';
import { readTrace } from './scenario-csv.ts';
import { checkEvent, toEvent } from './scenario-events.ts';
import { toMachines } from './scenario-machines.ts';
import {
  type EventRow,
  eventSchema,
  type FaultName,
  faultNames,
  type FaultsRow,
  scenarioTopSchema,
  syntheticSchema,
  traceSchema,
} from './scenario-schema.ts';
import { parseTrace } from './scenario-trace.ts';
import { toForm, toSynthetic } from './scenario-workload.ts';

export type ScenarioParse =
  | { readonly kind: 'ok'; readonly scenario: Scenario }
  | { readonly kind: 'bad'; readonly problems: readonly Problem[] };

/** What was found wrong so far: in the scenario itself, and in files that it names. */
interface Notes {
  readonly findings: Finding[];
  readonly problems: Problem[];
}

/** How a scenario gets at the files that it names. */
interface Files {
  /** Makes a path relative to where the scenario is. */
  readonly resolve: (path: string) => string;
  readonly read: (path: string) => InputRead;
}

/**
 * Reads a scenario, YAML or JSON. Total; all problems at once, also those of the configurations and
 * traces that it names. `file` is the name that messages show.
 */
export function parseScenario(
  text: string,
  file: string,
  readConfig: (path: string) => InputRead,
): ScenarioParse {
  const document = readDocument(text, file);
  if (document.kind === 'bad') return document;
  const bad = ({ findings, problems }: Notes): ScenarioParse => {
    const own = placeFindings(document.document, findings);
    return { kind: 'bad', problems: capProblems([...own, ...problems]) };
  };
  const parsed = scenarioTopSchema.safeParse(document.document.data, issueOptions);
  if (!parsed.success) {
    return bad({ findings: [...toFindings(parsed.error.issues, [])], problems: [] });
  }
  const top = parsed.data;
  const isRelative = file !== STDIN_NAME;
  const resolve = (path: string): string =>
    isRelative && !isAbsolute(path) ? join(dirname(file), path) : path;
  const files = { resolve, read: readConfig };
  const notes: Notes = { findings: [], problems: [] };

  const config = readNamedConfig(['config'], top.config, files, notes);
  const rows = parseEvents(top.events, notes.findings);
  const changes = rows.map(({ row, path }) =>
    row.kind === 'config'
      ? {
          name: nameOf(row.config),
          to: readNamedConfig([...path, 'config'], row.config, files, notes),
        }
      : null,
  );
  const workload = toWorkload(top.workload, files, notes);
  const later = changes.flatMap((change) => change?.to ?? []);
  if (config === null) return bad(notes);
  const groups = joinGroups(config, later);
  const machines = toMachines(top.machines, groups, notes.findings);
  for (const { row, path } of rows) checkEvent(path, row, { config, groups }, notes.findings);
  for (const [index, change] of changes.entries()) {
    const at = rows[index]?.path ?? [];
    if (change?.to != null) checkChange(at, config, change.to, notes.findings);
  }
  const isClean = notes.findings.length === 0 && notes.problems.length === 0;
  if (!isClean || document.document.duplicates.length > 0) return bad(notes);
  const events = rows.flatMap(({ row }, index) => toEvent(row, changes[index] ?? null) ?? []);
  const { seed, hours, start } = top;
  return {
    kind: 'ok',
    scenario: {
      config,
      seed,
      hours,
      startAtMs: start === undefined ? null : epochMs(start),
      workload,
      machines,
      faults: { preset: top.faults.preset, own: toFaults(top.faults) },
      events: events.sort(byNumber(({ atMs }) => atMs)),
    },
  };
}

function toFaults(row: FaultsRow): ReadonlyMap<FaultName, number> {
  return new Map(
    faultNames.flatMap((fault): readonly [FaultName, number][] => {
      const value = row[fault];
      return value === undefined ? [] : [[fault, value]];
    }),
  );
}

const issueOptions = { error: explainIssue, reportInput: true };

const nameOf = (named: string | object): string => (typeof named === 'string' ? named : 'inline');

function readNamedConfig(
  path: Path,
  named: string | Readonly<Record<string, unknown>>,
  files: Files,
  { findings, problems }: Notes,
): Config | null {
  if (typeof named !== 'string') {
    const checked = checkConfig(named, path);
    findings.push(...checked.findings);
    return checked.config;
  }
  const read = files.read(files.resolve(named));
  if (read.kind === 'bad') {
    const { message, remedy, file } = read.problem;
    findings.push(finding(path, named, `cannot read ${file}: ${message}`, remedy));
    return null;
  }
  const parsed = parseConfig(read.text, read.file);
  if (parsed.kind === 'ok') return parsed.config;
  problems.push(...parsed.problems);
  return null;
}

/** Groups of all configurations, each as the first that has it says. */
function joinGroups(config: Config, later: readonly Config[]): ReadonlyMap<string, Group> {
  const groups = new Map<string, Group>();
  for (const { fleet } of [config, ...later]) {
    for (const group of fleet.groups) if (!groups.has(group.name)) groups.set(group.name, group);
  }
  return groups;
}

/** What a simulated cloud sells does not change: a group keeps its price and its provider. */
function checkChange(path: Path, before: Config, after: Config, findings: Finding[]): void {
  const at = [...path, 'config'];
  if (before.fleet.name !== after.fleet.name) {
    const message = `it is of the fleet ${after.fleet.name}, not of ${before.fleet.name}`;
    findings.push(finding(at, undefined, message, 'give both the same fleet'));
  }
  for (const group of after.fleet.groups) {
    const old = before.fleet.groups.find(({ name }) => name === group.name);
    if (old === undefined) continue;
    const differs =
      old.priceMicroUsdPerHour !== group.priceMicroUsdPerHour
        ? 'price'
        : old.provider !== group.provider
          ? 'provider'
          : null;
    if (differs === null) continue;
    const message = `the group ${group.name} has another ${differs} than before`;
    findings.push(finding(at, undefined, message, 'keep it, or give the group another name'));
  }
}

interface PlacedEvent {
  readonly path: Path;
  readonly row: EventRow;
}

function parseEvents(raw: readonly unknown[], findings: Finding[]): readonly PlacedEvent[] {
  return raw.flatMap((value, index): readonly PlacedEvent[] => {
    const path = ['events', index];
    const row = parseRow(path, eventSchema, value, findings);
    return row === null ? [] : [{ path, row }];
  });
}

function parseRow<Schema extends z.ZodType>(
  path: Path,
  schema: Schema,
  value: unknown,
  findings: Finding[],
): z.output<Schema> | null {
  const parsed = schema.safeParse(value, issueOptions);
  if (parsed.success) return parsed.data;
  findings.push(...toFindings(parsed.error.issues, path));
  return null;
}

function toWorkload(raw: readonly unknown[], files: Files, notes: Notes): readonly WorkSource[] {
  const { findings } = notes;
  const named: { id: string; count: number; path: Path }[] = [];
  const sources = raw.flatMap((value, index): readonly WorkSource[] => {
    const path = ['workload', index];
    const isTrace = typeof value === 'object' && value !== null && 'trace' in value;
    const row = isTrace ? null : parseRow(path, syntheticSchema, value, findings);
    if (row !== null) named.push({ id: row.id, count: 1, path });
    const source = isTrace
      ? toTrace(path, value, files, notes)
      : row === null
        ? null
        : toSynthetic(path, row, findings);
    if (isTrace && source !== null) named.push({ id: source.id, count: 1, path });
    return source === null ? [] : [source];
  });
  findings.push(...findDuplicateIds(named));
  return sources;
}

function toTrace(path: Path, value: unknown, files: Files, notes: Notes): WorkSource | null {
  const { findings, problems } = notes;
  const row = parseRow(path, traceSchema, value, findings);
  if (row === null) return null;
  // A gang's size may come from the rows, so the base is what one task asks for.
  const form = toForm(path, { ...row, gang: undefined, resources: row.resources ?? {} }, findings);
  if (form?.kind !== 'single') return null;
  const read = readTrace(files.resolve(row.trace));
  if (read.kind === 'bad') {
    const { message, remedy, file } = read.problem;
    const why = `cannot read ${file}: ${message}`;
    findings.push(finding([...path, 'trace'], row.trace, why, remedy));
    return null;
  }
  const parsed = parseTrace(read.text, read.file, { row, base: form.ask });
  if (parsed.kind === 'ok') return parsed.source;
  problems.push(...parsed.problems);
  return null;
}
