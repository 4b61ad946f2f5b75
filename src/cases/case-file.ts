import { z } from 'zod';
import { readDocument } from '../config/document.ts';
import { type Problem, fileProblem } from '../config/problem.ts';
import { INPUT_SIZE_MAX, readInput } from '../config/read-file.ts';
import type { Case } from './run-case.ts';

export interface CaseFile {
  readonly name: string;
  readonly cases: readonly Case[];
}

export type CaseFileRead =
  | { readonly kind: 'ok'; readonly file: CaseFile }
  | { readonly kind: 'bad'; readonly problems: readonly Problem[] };

/** Notes, tags and the like are allowed beside these. */
const caseSchema = z.looseObject({
  id: z.string({ error: 'a case needs an id' }).min(1, 'a case needs an id'),
  policy: z.string({ error: 'a case names its policy' }).min(1, 'a case names its policy'),
  given: z.unknown().refine((given) => given !== undefined, 'a case needs "given"'),
});
const fileSchema = z.looseObject({
  format: z.literal('bellows-cases/1', {
    error: 'the format of a file of cases is "bellows-cases/1"',
  }),
  cases: z
    .array(caseSchema, { error: 'cases is a list of { id, policy, given, expect }' })
    .min(1, 'a file of cases has at least one'),
});

/** Reads a file of cases, JSON or YAML; `-` is standard input. */
export function readCaseFile(path: string): CaseFileRead {
  const input = readInput(path, { sizeMax: INPUT_SIZE_MAX });
  if (input.kind === 'bad') return { kind: 'bad', problems: [input.problem] };
  const read = readDocument(input.text, input.file);
  if (read.kind === 'bad') return read;
  const { document } = read;
  const parsed = fileSchema.safeParse(document.data);
  if (!parsed.success) {
    const problems = parsed.error.issues.map(({ path: at, message }) =>
      // Paths of plain data hold only keys and indices.
      document.place({
        path: at as (string | number)[],
        at: 'value',
        value: undefined,
        message,
        remedy: 'see docs/policy-tests.md',
      }),
    );
    return { kind: 'bad', problems };
  }
  const duplicate = findDuplicate(parsed.data.cases.map(({ id }) => id));
  if (duplicate !== null) {
    const problem = fileProblem(input.file, `two cases are called "${duplicate}"`, 'rename one');
    return { kind: 'bad', problems: [problem] };
  }
  return { kind: 'ok', file: { name: input.file, cases: parsed.data.cases } };
}

function findDuplicate(ids: readonly string[]): string | null {
  const seen = new Set<string>();
  for (const id of ids) {
    if (seen.has(id)) return id;
    seen.add(id);
  }
  return null;
}
