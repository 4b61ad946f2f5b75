import { rmSync, statSync } from 'node:fs';
import { parseConfig } from '../../config/config-file.ts';
import { renderProblem } from '../../config/problem.ts';
import { parseDuration } from '../../config/quantity.ts';
import { INPUT_SIZE_MAX, readInput } from '../../config/read-file.ts';
import { compareWith } from '../../replay/compare.ts';
import { detectForm, openJournalFile, writeJournalFile } from '../../replay/file.ts';
import { checkIdentity } from '../../replay/identity.ts';
import { type JournalSource, openStoreSource, type TickRange } from '../../replay/source.ts';
import type { Control } from '../../model/control.ts';
import { type EpochMs, epochMs } from '../../model/ids.ts';
import { StoreError } from '../../ports/store.ts';
import { unreachable } from '../../support/assert.ts';
import { type Output, exitCodes } from '../output.ts';
import { formatTime, renderIdentity, toIdentityJson } from '../render/replay-identity.ts';
import { renderComparison, toComparisonJson } from '../render/replay-comparison.ts';
import { createStyle } from '../render/style.ts';
import { openJournalDatabase } from '../../wiring.ts';

interface ReplayOptions {
  readonly since?: unknown;
  readonly until?: unknown;
  readonly with?: unknown;
  readonly export?: unknown;
  readonly json?: unknown;
}

interface Replay {
  readonly path: string;
  readonly source: JournalSource;
  readonly range: TickRange;
  readonly isJson: boolean;
  readonly out: Output;
}

/** A mistake of the user, with the line to print. */
class BadInput extends Error {
  override readonly name = 'BadInput';
}

/**
 * `bellows replay FILE|DB`: 0 when every tick came out as recorded, 1 when one did not or could not
 * be run, 2 when the input is no good. With `--with` or `--export`: 0, or 2.
 */
export async function runReplay(
  path: string,
  options: ReplayOptions,
  out: Output,
): Promise<number> {
  try {
    const range = parseRange(options, epochMs(Date.now()));
    const file = textOf(options.with);
    const target = textOf(options.export);
    if (file !== null && target !== null) {
      throw new BadInput('--with and --export are two commands; give one of them');
    }
    const control = file === null ? null : readControl(file);
    const source = await openJournal(path);
    const replay: Replay = { path, source, range, isJson: options.json === true, out };
    try {
      if (target !== null) return await exportTo(target, replay);
      if (file !== null && control !== null) return await compare(file, control, replay);
      return await prove(replay);
    } finally {
      await source.close();
    }
  } catch (error) {
    const lines = explain(error);
    if (lines === null) throw error;
    out.stderr(`${lines}\n`);
    return exitCodes.badInput;
  }
}

async function prove(replay: Replay): Promise<number> {
  const { path, source, range, isJson, out } = replay;
  const progress = createProgress(out);
  const startedMs = performance.now();
  const report = await checkIdentity(source, range, progress.show);
  const tookMs = performance.now() - startedMs;
  progress.clear();
  if (report.ticks === 0) throw await noTicks(replay);
  const shown = { journal: path, fleet: source.fleet, tookMs, report };
  out.stdout(
    isJson
      ? `${JSON.stringify(toIdentityJson(shown), null, 2)}\n`
      : renderIdentity(shown, createStyle(out.hasColour)),
  );
  return report.identical === report.ticks ? exitCodes.ok : exitCodes.failed;
}

async function compare(config: string, control: Control, replay: Replay): Promise<number> {
  const { path, source, range, isJson, out } = replay;
  const progress = createProgress(out);
  const comparison = await compareWith(control, { source, range, onTick: progress.show });
  progress.clear();
  if (comparison === null) throw await noTicks(replay);
  const shown = { journal: path, fleet: source.fleet, config, comparison };
  out.stdout(
    isJson
      ? `${JSON.stringify(toComparisonJson(shown), null, 2)}\n`
      : renderComparison(shown, createStyle(out.hasColour)),
  );
  return exitCodes.ok;
}

async function exportTo(target: string, replay: Replay): Promise<number> {
  const { source, range, isJson, out } = replay;
  const { ticks } = await writeJournalFile(target, source, range);
  if (ticks === 0) {
    rmSync(target);
    throw await noTicks(replay);
  }
  out.stdout(
    isJson
      ? `${JSON.stringify({ file: target, ticks })}\n`
      : `${target}: ${ticks} ticks of ${source.fleet}\n`,
  );
  return exitCodes.ok;
}

/** A database or an exported journal, told apart by their first bytes. */
async function openJournal(path: string): Promise<JournalSource> {
  if (statSync(path).isDirectory()) {
    throw new BadInput(`${path} is a directory; name the database or the journal in it`);
  }
  const form = detectForm(path);
  switch (form) {
    case 'database':
      return openStoreSource(await openJournalDatabase(path));
    case 'gzip':
    case 'text':
      return openJournalFile(path);
    case 'empty':
      throw new BadInput(`${path} is empty: no controller has recorded anything in it`);
    case 'other':
      throw new BadInput(
        `${path} is neither a database of Bellows nor a journal; give the file that store.path ` +
          'names, or one that `bellows replay DB --export FILE` wrote',
      );
    default:
      return unreachable(form);
  }
}

function readControl(path: string): Control {
  const read = readInput(path, { sizeMax: INPUT_SIZE_MAX });
  if (read.kind === 'bad') throw new BadInput(renderProblem(read.problem));
  const parsed = parseConfig(read.text, read.file);
  if (parsed.kind === 'ok') return parsed.config.control;
  throw new BadInput(parsed.problems.map(renderProblem).join('\n'));
}

function parseRange({ since, until }: ReplayOptions, nowMs: EpochMs): TickRange {
  const [from, to] = [textOf(since), textOf(until)];
  const sinceMs = from === null ? 0 : parseTime('--since', from, nowMs);
  const untilMs = to === null ? Number.MAX_SAFE_INTEGER : parseTime('--until', to, nowMs);
  if (sinceMs > untilMs) {
    throw new BadInput(
      `--since ${formatTime(epochMs(sinceMs))} is after --until ${formatTime(epochMs(untilMs))}`,
    );
  }
  return { sinceMs: epochMs(sinceMs), untilMs: epochMs(untilMs) };
}

const timePattern =
  /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?))?(Z|[+-]\d{2}:\d{2})?$/i;

/** `2026-11-15T06:00Z`, without a zone in UTC, a date for its first moment; or `2h` for that long ago. */
function parseTime(option: string, text: string, nowMs: EpochMs): number {
  const match = timePattern.exec(text.trim());
  if (match !== null) {
    const [, date, time = '00:00', zone = 'Z'] = match;
    const atMs = Date.parse(`${date}T${time}${zone.toUpperCase()}`);
    if (!Number.isNaN(atMs)) return atMs;
  } else {
    const ago = parseDuration(text);
    if (ago.kind === 'ok') return nowMs - ago.value;
  }
  throw new BadInput(
    `${option}: ${JSON.stringify(text)} is no time; write 2026-11-15T06:00Z, a date, or 2h for ` +
      'two hours ago',
  );
}

/** Says what there is instead of what was asked for. */
async function noTicks({ path, source, range }: Replay): Promise<BadInput> {
  const all = { sinceMs: epochMs(0), untilMs: epochMs(Number.MAX_SAFE_INTEGER) };
  for await (const { atMs } of source.ticks(all)) {
    const [from, to] = [range.sinceMs, range.untilMs].map(formatTime);
    const asked = atMs > range.untilMs ? `up to ${to}` : `from ${from} on`;
    return new BadInput(
      `${path} has no ticks ${asked}; its first is of ${formatTime(atMs)}; change --since or --until`,
    );
  }
  return new BadInput(`${path} has no ticks: its controller has decided nothing yet`);
}

/** The line for what is wrong with the input; null when it is none of that. */
function explain(error: unknown): string | null {
  if (error instanceof BadInput || error instanceof StoreError) return error.message;
  if (!(error instanceof Error) || !('code' in error) || !('path' in error)) return null;
  const path = String(error.path);
  switch (error.code) {
    case 'ENOENT':
      return `${path}: there is no such file or folder; check the path`;
    case 'EEXIST':
      return `${path} exists already; name another file, or remove it first`;
    case 'EACCES':
    case 'EPERM':
      return `${path} may not be used by this user; check its permissions`;
    default:
      return `${path} cannot be used (${String(error.code)}); check the path`;
  }
}

const textOf = (option: unknown): string | null => (typeof option === 'string' ? option : null);

const PROGRESS_MS = 250;

/** A line on a terminal that says how far it is; nothing elsewhere. */
function createProgress({ stderr, hasProgress }: Output): {
  readonly show: (ticks: number, atMs: EpochMs) => void;
  readonly clear: () => void;
} {
  let shownMs = performance.now();
  let isShown = false;
  return {
    show(ticks, atMs) {
      if (!hasProgress || performance.now() - shownMs < PROGRESS_MS) return;
      shownMs = performance.now();
      isShown = true;
      stderr(`\r${ticks} ticks, at ${formatTime(atMs)}\u001B[K`);
    },
    clear() {
      if (isShown) stderr('\r\u001B[K');
    },
  };
}
