import type { EpochMs } from '../model/ids.ts';
import { decideTick } from '../controller/decide-tick.ts';
import { type JournalSource, type TickRange, toReadTick } from './source.ts';

/** Where two values part, from the top down. */
export interface Difference {
  readonly path: readonly (string | number)[];
  /** Undefined where there was or is nothing. */
  readonly was: unknown;
  readonly is: unknown;
}

/** Why a tick is not proven. */
export type TickFault =
  | { readonly kind: 'different'; readonly difference: Difference }
  /** Equal in every value, but not written in the same order. */
  | { readonly kind: 'reordered' }
  /** Deciding it ended in an error. */
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'missing'; readonly parts: readonly string[] };

export interface FaultyTick {
  readonly seq: number;
  readonly epoch: number;
  readonly atMs: EpochMs;
  readonly fault: TickFault;
}

export interface IdentityReport {
  readonly ticks: number;
  readonly identical: number;
  /** Decided otherwise, in another order, or not at all. */
  readonly different: number;
  /** Not run: parts of them are gone. */
  readonly missing: number;
  /** Places between the first and the last tick that the journal does not hold. */
  readonly gaps: number;
  readonly firstMs: EpochMs | null;
  readonly lastMs: EpochMs | null;
  /** The first of each sort, in order. */
  readonly faults: readonly FaultyTick[];
}

/** Ticks named in a report; the others are counted. */
const FAULTS_MAX = 10;

/** Runs every recorded tick again and compares what it concludes with the record, byte for byte. */
export async function checkIdentity(
  source: JournalSource,
  range: TickRange,
  onTick: (ticks: number, atMs: EpochMs) => void,
): Promise<IdentityReport> {
  let [ticks, identical, missing, gaps] = [0, 0, 0, 0];
  let firstMs: EpochMs | null = null;
  let lastMs: EpochMs | null = null;
  let lastSeq: number | null = null;
  const faults: FaultyTick[] = [];
  for await (const raw of source.ticks(range)) {
    const { seq, epoch, atMs } = raw;
    ticks++;
    if (lastSeq !== null) gaps += seq - lastSeq - 1;
    lastSeq = seq;
    firstMs ??= atMs;
    lastMs = atMs;
    const read = toReadTick(raw);
    const fault: TickFault | null =
      read.kind === 'missing' ? read : runAgain(read.input, read.outputText);
    if (fault === null) identical++;
    else if (fault.kind === 'missing') missing++;
    if (fault !== null && faults.length < FAULTS_MAX) faults.push({ seq, epoch, atMs, fault });
    onTick(ticks, atMs);
  }
  const different = ticks - identical - missing;
  return { ticks, identical, different, missing, gaps, firstMs, lastMs, faults };
}

function runAgain(
  input: Parameters<typeof decideTick>[0],
  outputText: string,
): Exclude<TickFault, { kind: 'missing' }> | null {
  let text: string;
  try {
    text = JSON.stringify(decideTick(input));
  } catch (error) {
    // Whatever it was, the record says that it did not happen then: it belongs in the report.
    return { kind: 'failed', message: error instanceof Error ? error.message : String(error) };
  }
  if (text === outputText) return null;
  const difference = findDifference(parseOrText(outputText), JSON.parse(text));
  return difference === null ? { kind: 'reordered' } : { kind: 'different', difference };
}

/** A record that is not even JSON is shown as it is. */
function parseOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The first place, in the order of the record, where two JSON values differ; null when nowhere. */
export function findDifference(was: unknown, is: unknown): Difference | null {
  if (Object.is(was, is)) return null;
  if (!isTree(was) || !isTree(is) || Array.isArray(was) !== Array.isArray(is)) {
    return { path: [], was, is };
  }
  const keys = new Set([...Object.keys(was), ...Object.keys(is)]);
  for (const key of keys) {
    const inner = findDifference(was[key], is[key]);
    if (inner === null) continue;
    return { ...inner, path: [Array.isArray(was) ? Number(key) : key, ...inner.path] };
  }
  return null;
}

const isTree = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;
