import type { EntryForm } from '../model/demand.ts';
import { epochMs } from '../model/ids.ts';
import { finding } from './finding.ts';
import type { Finding, Path } from './problem.ts';
import type { RunTime, SyntheticSource, WorkShape } from './scenario.ts';
import { HOURS_PER_DAY, type RunTimeRow, type SyntheticRow } from './scenario-schema.ts';
import { toEntries } from './snapshot-demand.ts';
import type { EntryRow } from './snapshot-schema.ts';

type ShapeRow = Pick<EntryRow, 'gang' | 'device' | 'preemptible' | 'constraints' | 'resources'>;

/** Office hours, nine to five and a lunch; their mean is 1. Night work is what they leave. */
const office = [2, 1, 1, 1, 1, 2, 4, 8, 18, 28, 32, 30, 24, 28, 32, 30, 26, 20, 12, 8, 6, 4, 3, 2];
const curves = {
  flat: office.map(() => 1),
  office: office.map((weight) => (weight * HOURS_PER_DAY) / sum(office)),
  night: office.map((weight) => ((34 - weight) * HOURS_PER_DAY) / (34 * 24 - sum(office))),
} as const;

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** A source that draws its work; null when something about it is wrong. */
export function toSynthetic(
  path: Path,
  row: SyntheticRow,
  findings: Finding[],
): SyntheticSource | null {
  const before = findings.length;
  const { arrivals, bursts = [] } = row;
  if (arrivals === undefined && bursts.length === 0) {
    findings.push(finding(path, undefined, 'nothing ever arrives', 'add arrivals or bursts'));
  }
  if (row.to !== undefined && row.to <= row.from) {
    const message = 'it ends before it begins';
    findings.push(finding([...path, 'to'], undefined, message, 'make `to` later than `from`'));
  }
  for (const [index, { every }] of bursts.entries()) {
    if (every !== 0) continue;
    const message = 'a burst every 0s would never end';
    const at = [...path, 'bursts', index, 'every'];
    findings.push(finding(at, undefined, message, 'write a longer time'));
  }
  const shapes = toShapes(path, row, findings);
  if (findings.length > before) return null;
  const curve = arrivals?.daily ?? 'flat';
  const factors = typeof curve === 'string' ? curves[curve] : curve;
  return {
    kind: 'synthetic',
    id: row.id,
    perHour: factors.map((factor) => factor * (arrivals?.perHour ?? 0)),
    bursts: bursts.map(({ at, count, over, every }) => {
      return { atMs: at, count, overMs: over, everyMs: every ?? null };
    }),
    count: row.count,
    shapes,
    priority: row.priority,
    owner: row.owner ?? null,
    fromMs: row.from,
    toMs: row.to ?? null,
  };
}

function toShapes(path: Path, row: SyntheticRow, findings: Finding[]): readonly WorkShape[] {
  if (row.shapes === undefined) {
    const form = toForm(path, row, findings);
    const runTime = toRunTime([...path, 'runTime'], row.runTime, findings);
    return form === null || runTime === null ? [] : [{ weight: 1, form, runTime }];
  }
  for (const key of ['resources', 'gang', 'device', 'preemptible', 'constraints'] as const) {
    if (row[key] === undefined) continue;
    const message = 'a source with shapes asks for nothing itself';
    findings.push(finding([...path, key], undefined, message, 'move it into the shapes'));
  }
  if (row.shapes.every(({ weight }) => weight === 0)) {
    const message = 'no shape weighs anything';
    findings.push(finding([...path, 'shapes'], undefined, message, 'give one a weight'));
  }
  return row.shapes.flatMap((shape, index): readonly WorkShape[] => {
    const at = [...path, 'shapes', index];
    const form = toForm(at, shape, findings);
    const isOwn = shape.runTime !== undefined;
    const runTimeAt = isOwn ? [...at, 'runTime'] : [...path, 'runTime'];
    const runTime = toRunTime(runTimeAt, shape.runTime ?? row.runTime, findings);
    return form === null || runTime === null ? [] : [{ weight: shape.weight, form, runTime }];
  });
}

/** What a row asks for, checked as the demand of a snapshot is. */
export function toForm(path: Path, row: ShapeRow, findings: Finding[]): EntryForm | null {
  const { gang, device, preemptible, constraints, resources } = row;
  const item = { id: 'one', count: 1, priority: 0, age: 0 };
  const asked = { ...item, gang, device, preemptible, constraints, resources };
  const entries = toEntries([], [{ path, item: asked }], epochMs(0));
  findings.push(...entries.findings);
  return entries.items[0]?.form ?? null;
}

function toRunTime(path: Path, row: RunTimeRow | undefined, findings: Finding[]): RunTime | null {
  const refuse = (message: string, remedy: string): null => {
    findings.push(finding(path, undefined, message, remedy));
    return null;
  };
  if (row === undefined) return refuse('is missing', 'say how long the work runs: runTime: 20m');
  if (typeof row === 'number') return { kind: 'fixed', ms: row };
  const words = Object.keys(row).sort().join(' ');
  const { from, to, mean, median, p95 } = row;
  if (words === 'from to' && from !== undefined && to !== undefined) {
    if (to < from) return refuse('`to` is shorter than `from`', 'swap them');
    return { kind: 'even', fromMs: from, toMs: to };
  }
  if (words === 'mean' && mean !== undefined) return { kind: 'exponential', meanMs: mean };
  if (words === 'median p95' && median !== undefined && p95 !== undefined) {
    if (median === 0 || p95 < median) {
      return refuse('p95 is below the median, or the median is 0', 'raise them');
    }
    return { kind: 'log-normal', medianMs: median, p95Ms: p95 };
  }
  const remedy = 'write a duration, { from, to }, { mean } or { median, p95 }';
  return refuse(`${words === '' ? 'nothing' : words} is no run time`, remedy);
}
