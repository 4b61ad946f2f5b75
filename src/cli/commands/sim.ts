import { accessSync, constants, existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { epochMs } from '../../model/ids.ts';
import { writeJournalFile } from '../../replay/file.ts';
import { openStoreSource, type TickRange } from '../../replay/source.ts';
import { renderProblem } from '../../config/problem.ts';
import { INPUT_SIZE_MAX, readInput } from '../../config/read-file.ts';
import type { Scenario } from '../../config/scenario.ts';
import { parseScenario } from '../../config/scenario-file.ts';
import { type RecordedJournal, simulate } from '../../wiring.ts';
import { exitCodes, type Output } from '../output.ts';
import { createProgressLine } from '../render/progress-line.ts';
import { toSimulationJson } from '../render/simulation-json.ts';
import { renderSimulation } from '../render/simulation-text.ts';
import { createStyle } from '../render/style.ts';

interface SimOptions {
  readonly seed?: unknown;
  readonly hours?: unknown;
  readonly record?: unknown;
  readonly json?: unknown;
}

const SEED_MAX = 2 ** 31 - 1;
const HOURS_MAX = 8_760;

/**
 * `bellows sim SCENARIO`: 0 when it ran, 1 when the controller broke a rule of its own, 2 when the
 * input is no good, 130 when it was interrupted, with a report of what was done until then.
 */
export async function runSim(path: string, options: SimOptions, out: Output): Promise<number> {
  const refuse = (...messages: readonly string[]): number => {
    for (const message of messages) out.stderr(`${message}\n`);
    return exitCodes.badInput;
  };
  const over = parseOptions(options);
  if (over.kind === 'bad') return refuse(...over.messages);
  const read = (file: string) => readInput(file, { sizeMax: INPUT_SIZE_MAX });
  const input = read(path);
  if (input.kind === 'bad') return refuse(renderProblem(input.problem));
  const parsed = parseScenario(input.text, input.file, read);
  if (parsed.kind === 'bad') return refuse(...parsed.problems.map(renderProblem));

  const { record } = options;
  if (typeof record === 'string') {
    const trouble = findRecordTrouble(record);
    if (trouble !== null) return refuse(`--record: ${trouble}`);
  }

  const isJson = options.json === true;
  const interrupt = new AbortController();
  // Once: a second Ctrl-C ends the process as ever.
  const onInterrupt = (): void => interrupt.abort();
  process.once('SIGINT', onInterrupt);
  const line = createProgressLine(out, { isShown: out.hasProgress && !isJson });
  const report = await simulate(
    { ...parsed.scenario, ...over.over },
    {
      signal: interrupt.signal,
      onProgress: line.show,
      ...(typeof record === 'string' ? { onRecorded: recordTo(record) } : {}),
    },
  ).finally(() => {
    line.clear();
    process.removeListener('SIGINT', onInterrupt);
  });
  out.stdout(
    isJson
      ? `${JSON.stringify(toSimulationJson(report, input.file), null, 2)}\n`
      : renderSimulation(report, input.file, createStyle(out.hasColour)),
  );
  if (report.crashes.length > 0) return exitCodes.failed;
  return report.isComplete ? exitCodes.ok : exitCodes.interrupted;
}

/** Why nothing can be recorded there; null when it can. Told before the run, not after it. */
function findRecordTrouble(path: string): string | null {
  if (existsSync(path)) return `${path} is there already; name a new file`;
  try {
    accessSync(dirname(resolve(path)), constants.W_OK);
    return null;
  } catch {
    return `${dirname(resolve(path))} is no directory that can be written to`;
  }
}

const always: TickRange = { sinceMs: epochMs(0), untilMs: epochMs(Number.MAX_SAFE_INTEGER) };

const recordTo =
  (path: string) =>
  async (journal: RecordedJournal): Promise<void> => {
    await writeJournalFile(path, openStoreSource(journal), always);
  };

type Overrides =
  | { readonly kind: 'ok'; readonly over: Partial<Pick<Scenario, 'seed' | 'hours'>> }
  | { readonly kind: 'bad'; readonly messages: readonly string[] };

function parseOptions({ seed, hours }: SimOptions): Overrides {
  const messages: string[] = [];
  const take = (name: string, raw: unknown, isValid: (value: number) => boolean, want: string) => {
    if (raw === undefined) return null;
    const value = typeof raw === 'string' && raw.trim() !== '' ? Number(raw) : Number.NaN;
    if (isValid(value)) return value;
    messages.push(`--${name}: ${JSON.stringify(raw)} is not ${want}`);
    return null;
  };
  const isSeed = (value: number): boolean =>
    Number.isInteger(value) && value >= 0 && value <= SEED_MAX;
  const isHours = (value: number): boolean => value >= 0.01 && value <= HOURS_MAX;
  const seedTaken = take('seed', seed, isSeed, `a whole number from 0 to ${SEED_MAX}`);
  const hoursTaken = take('hours', hours, isHours, `a number from 0.01 to ${HOURS_MAX}`);
  if (messages.length > 0) return { kind: 'bad', messages };
  const over = {
    ...(seedTaken === null ? {} : { seed: seedTaken }),
    ...(hoursTaken === null ? {} : { hours: hoursTaken }),
  };
  return { kind: 'ok', over };
}
