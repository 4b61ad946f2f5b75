import { parseConfig } from '../../config/config-file.ts';
import { configJsonSchema, snapshotJsonSchema } from '../../config/json-schema.ts';
import { type Problem, renderProblem } from '../../config/problem.ts';
import { INPUT_SIZE_MAX, readInput } from '../../config/read-file.ts';
import { scenarioJsonSchema } from '../../config/scenario-schema.ts';
import type { Settings } from '../../config/schema.ts';

/** Where a command writes; the bin gives the process's own streams. */
export interface Output {
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
}

const EXIT_OK = 0;
const EXIT_BAD_INPUT = 2;

/**
 * `bellows config check FILE...`: every problem of every file, on standard error, or what is in it.
 * `--json` prints a line per file, `{"file","ok","problems"}`. Exit code 0, or 2 if one is bad.
 */
export async function checkConfig(
  files: readonly string[],
  options: { readonly json: boolean },
  out: Output,
): Promise<number> {
  let exit = EXIT_OK;
  for (const path of files) {
    const read = readInput(path, { sizeMax: INPUT_SIZE_MAX });
    const file = read.kind === 'ok' ? read.file : read.problem.file;
    const parsed =
      read.kind === 'ok'
        ? parseConfig(read.text, read.file)
        : { kind: 'bad' as const, problems: [read.problem] };
    const problems: readonly Problem[] = parsed.kind === 'bad' ? parsed.problems : [];
    if (parsed.kind === 'bad') exit = EXIT_BAD_INPUT;
    if (options.json) {
      out.stdout(`${JSON.stringify({ file, ok: parsed.kind === 'ok', problems })}\n`);
    } else if (parsed.kind === 'ok') {
      out.stdout(`${file}: ok, ${summarize(parsed.config.settings)}\n`);
    } else {
      for (const problem of problems) out.stderr(`${renderProblem(problem)}\n`);
    }
  }
  return exit;
}

/** `4 groups, strategy cost, max 200 slices`. */
function summarize({ groups, strategy, limits }: Settings): string {
  const count = groups.length === 1 ? '1 group' : `${groups.length} groups`;
  const groupsMax = groups.reduce((sum, group) => sum + group.max, 0);
  const max = Math.min(groupsMax, limits.maxSlices ?? groupsMax);
  return `${count}, strategy ${strategy}, max ${max} slices`;
}

/** `bellows config schema`: the JSON Schema of bellows.yaml, of snapshot files or of scenarios. */
export async function printConfigSchema(
  options: { readonly snapshot?: boolean; readonly scenario?: boolean },
  out: Output,
): Promise<number> {
  const schema =
    options.scenario === true
      ? scenarioJsonSchema()
      : options.snapshot === true
        ? snapshotJsonSchema()
        : configJsonSchema();
  out.stdout(`${JSON.stringify(schema, null, 2)}\n`);
  return EXIT_OK;
}
