import { renderProblem } from '../../config/problem.ts';
import { type CaseFile, readCaseFile } from '../../cases/case-file.ts';
import { type Case, type CaseOutcome, runCase } from '../../cases/run-case.ts';
import { type Output, exitCodes } from '../output.ts';
import { createStyle } from '../render/style.ts';

/** Differences of one case that are worth reading at once. */
const DIFFERENCES_SHOWN = 5;
const VALUE_LENGTH_MAX = 120;

/** `bellows test FILE...`: 0 when all hold, 1 when one fails, 2 when a file or a case is no good. */
export async function runTest(
  paths: readonly string[],
  options: { readonly json?: unknown },
  out: Output,
): Promise<number> {
  const isJson = options.json === true;
  const style = createStyle(out.hasColour);
  let [passed, failed, bad] = [0, 0, 0];
  const files: CaseFile[] = [];
  for (const path of paths) {
    const read = readCaseFile(path);
    if (read.kind === 'ok') files.push(read.file);
    else {
      for (const problem of read.problems) out.stderr(`${renderProblem(problem)}\n`);
      bad++;
    }
  }
  if (bad > 0) return exitCodes.badInput;
  for (const { name, cases } of files) {
    for (const one of cases) {
      const startedMs = performance.now();
      const outcome = runCase(one);
      const ms = performance.now() - startedMs;
      if (outcome.kind === 'bad') {
        bad++;
        out.stderr(`${name}: case ${one.id}: ${outcome.message}\n`);
      } else if (outcome.kind === 'failed') failed++;
      else passed++;
      if (isJson) printLine(one, outcome, ms, out);
      else if (outcome.kind === 'failed') printFailure(name, one, outcome, out);
      else if (outcome.kind === 'shown') {
        out.stdout(`${style.bold(one.id)} ${JSON.stringify(outcome.result, null, 2)}\n`);
      }
    }
  }
  if (!isJson) {
    // A case that cannot be run has not held.
    const total = `${passed} passed, ${failed + bad} failed`;
    out.stdout(`${failed + bad > 0 ? style.bad(total) : style.good(total)}\n`);
  }
  if (bad > 0) return exitCodes.badInput;
  return failed > 0 ? exitCodes.failed : exitCodes.ok;
}

function printLine(one: Case, outcome: CaseOutcome, ms: number, out: Output): void {
  const ok = outcome.kind === 'held' || outcome.kind === 'shown';
  const result = outcome.kind === 'bad' ? null : outcome.result;
  const line = { id: one.id, policy: one.policy, ok, result, ms: Number(ms.toFixed(3)) };
  out.stdout(`${JSON.stringify(line)}\n`);
}

function printFailure(
  file: string,
  one: Case,
  { differences }: Extract<CaseOutcome, { kind: 'failed' }>,
  out: Output,
): void {
  const style = createStyle(out.hasColour);
  out.stdout(`${style.bad('failed')} ${style.bold(one.id)} (${one.policy}, ${file})\n`);
  for (const { path, expected, actual } of differences.slice(0, DIFFERENCES_SHOWN)) {
    out.stdout(`  ${path || 'result'}: expected ${show(expected)}, got ${show(actual)}\n`);
  }
  const more = differences.length - DIFFERENCES_SHOWN;
  if (more > 0) out.stdout(`  ... and ${more} more differences\n`);
}

function show(value: unknown): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value);
  return text.length <= VALUE_LENGTH_MAX ? text : `${text.slice(0, VALUE_LENGTH_MAX)}...`;
}
