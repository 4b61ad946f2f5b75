import { type Problem, fileProblem, renderProblem } from '../../config/problem.ts';
import { INPUT_SIZE_MAX, readInput } from '../../config/read-file.ts';
import { parseSnapshot } from '../../config/snapshot-file.ts';
import { measureBound } from '../../controller/bound.ts';
import { type Strategy, strategies } from '../../model/fleet.ts';
import type { Snapshot } from '../../model/snapshot.ts';
import { decideDemand } from '../../policy/demand/decide.ts';
import { nearestName } from '../../support/nearest.ts';
import { openSolver } from '../../wiring.ts';
import { type Output, exitCodes } from '../output.ts';
import { type PlanReport, createReport } from '../plan-report.ts';
import { renderAgainst, toAgainstJson } from '../render/against.ts';
import { findEntry, renderEntry, toEntryJson } from '../render/entry.ts';
import { toPlanJson } from '../render/plan-json.ts';
import { renderPlan } from '../render/plan-text.ts';
import { createStyle } from '../render/style.ts';

interface PlanOptions {
  readonly strategy?: unknown;
  readonly explain?: unknown;
  readonly against?: unknown;
  readonly all?: unknown;
  readonly bound?: unknown;
  readonly json?: unknown;
}

interface Loaded {
  readonly file: string;
  readonly snapshot: Snapshot;
  readonly form: 'snapshot' | 'config';
}

/** `bellows plan FILE...`: 0 with a plan, 2 when the input is no good. Unmet work is no error. */
export async function runPlan(
  paths: readonly string[],
  options: PlanOptions,
  out: Output,
): Promise<number> {
  const refuse = (...messages: readonly string[]): number => {
    for (const message of messages) out.stderr(`${message}\n`);
    return exitCodes.badInput;
  };
  const strategy = parseStrategy(options.strategy);
  if (strategy.kind === 'bad') return refuse(strategy.message);
  const against = typeof options.against === 'string' ? options.against : null;
  const entry = typeof options.explain === 'string' ? options.explain : null;
  if (paths.length > 1 && (against !== null || entry !== null)) {
    return refuse(
      `--${entry === null ? 'against' : 'explain'} takes one file, not ${paths.length}`,
    );
  }
  const loads = [...paths, ...(against === null ? [] : [against])].map((path) =>
    load(path, strategy.strategy),
  );
  const problems = loads.flatMap((one) => (one.kind === 'bad' ? one.problems : []));
  if (problems.length > 0) return refuse(...problems.map(renderProblem));
  const files = loads.flatMap((one) => (one.kind === 'ok' ? [one.loaded] : []));
  const [first, second] = files;
  const hasBound = options.bound !== false && entry === null;
  const print = createPrinter(
    out,
    options.json !== true ? 'text' : paths.length > 1 ? 'lines' : 'json',
  );
  if (first !== undefined && entry !== null) {
    const report = await plan(first, hasBound);
    const found = findEntry(report, entry);
    if (found.kind === 'unknown') return refuse(found.message);
    return print(
      () => renderEntry(report, found, createStyle(out.hasColour)),
      () => toEntryJson(report, found),
    );
  }
  if (first !== undefined && second !== undefined && against !== null) {
    const before = await plan(first, hasBound);
    const after = await plan(withDemandOf(second, first), hasBound);
    return print(
      () => renderAgainst(before, after, createStyle(out.hasColour)),
      () => toAgainstJson(before, after),
    );
  }
  for (const [index, file] of files.entries()) {
    const report = await plan(file, hasBound);
    if (index > 0 && options.json !== true) out.stdout('\n');
    const text = { style: createStyle(out.hasColour), isWhole: options.all === true };
    print(
      () => renderPlan(report, text),
      () => toPlanJson(report),
    );
  }
  return exitCodes.ok;
}

/** Prints one form of a result; the others are never made. Several documents take a line each. */
function createPrinter(out: Output, form: 'text' | 'json' | 'lines') {
  return (toText: () => string, toJson: () => unknown): number => {
    const indent = form === 'json' ? 2 : 0;
    out.stdout(form === 'text' ? toText() : `${JSON.stringify(toJson(), null, indent)}\n`);
    return exitCodes.ok;
  };
}

type StrategyParse =
  | { readonly kind: 'ok'; readonly strategy: Strategy | null }
  | { readonly kind: 'bad'; readonly message: string };

function parseStrategy(wanted: unknown): StrategyParse {
  if (typeof wanted !== 'string') return { kind: 'ok', strategy: null };
  const strategy = strategies.find((name) => name === wanted);
  if (strategy !== undefined) return { kind: 'ok', strategy };
  const nearest = nearestName(wanted, strategies);
  const hint = nearest === null ? `one of ${strategies.join(', ')}` : `did you mean ${nearest}?`;
  return { kind: 'bad', message: `--strategy: "${wanted}" is no strategy; ${hint}` };
}

type Load =
  | { readonly kind: 'ok'; readonly loaded: Loaded }
  | { readonly kind: 'bad'; readonly problems: readonly Problem[] };

function load(path: string, strategy: Strategy | null): Load {
  const input = readInput(path, { sizeMax: INPUT_SIZE_MAX });
  if (input.kind === 'bad') return { kind: 'bad', problems: [input.problem] };
  const parsed = parseSnapshot(input.text, input.file, (config) =>
    readInput(config, { sizeMax: INPUT_SIZE_MAX }),
  );
  if (parsed.kind === 'bad') return parsed;
  const { snapshot, form } = parsed;
  const unpriced = snapshot.fleet.groups.find((group) => group.priceMicroUsdPerHour === null);
  if (strategy === 'cost' && unpriced !== undefined) {
    const message = `--strategy cost needs a price of every group, and ${unpriced.name} has none`;
    const remedy = 'give it pricePerHour (0 for what is paid for anyway)';
    return { kind: 'bad', problems: [fileProblem(input.file, message, remedy)] };
  }
  const fleet = strategy === null ? snapshot.fleet : { ...snapshot.fleet, strategy };
  return { kind: 'ok', loaded: { file: input.file, snapshot: { ...snapshot, fleet }, form } };
}

/** A bare config is compared on the work and the slices of the snapshot beside it. */
function withDemandOf(other: Loaded, base: Loaded): Loaded {
  if (other.form === 'snapshot') return other;
  return { ...other, snapshot: { ...base.snapshot, fleet: other.snapshot.fleet } };
}

async function plan({ file, snapshot }: Loaded, hasBound: boolean): Promise<PlanReport> {
  const decision = decideDemand(snapshot);
  const bound = hasBound ? await measureBound(openSolver(), snapshot, decision) : null;
  return createReport(file, snapshot, decision, bound);
}
