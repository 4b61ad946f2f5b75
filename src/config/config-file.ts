import type { Control } from '../model/control.ts';
import type { Fleet } from '../model/fleet.ts';
import { toControl } from './control.ts';
import { readDocument, type TextDocument } from './document.ts';
import { explainIssue, toFindings } from './issues.ts';
import {
  capProblems,
  type Finding,
  type Path,
  type Problem,
  PROBLEMS_SOUGHT_MAX,
} from './problem.ts';
import { findBrokenRules } from './rules.ts';
import { salvage, wholeInput } from './salvage.ts';
import { type Settings, settingsSchema } from './schema.ts';

/** A configuration that was checked: all it says, and the parts that others look at. */
export interface Config {
  readonly settings: Settings;
  /** What policies look at. */
  readonly fleet: Fleet;
  /** What the controller looks at, `fleet` within it; mode `active`. */
  readonly control: Control;
}

export type ConfigParse =
  | { readonly kind: 'ok'; readonly config: Config }
  | { readonly kind: 'bad'; readonly problems: readonly Problem[] };

/**
 * Reads bellows.yaml, as YAML or JSON. Total; all problems at once, each with its line and column.
 * `file` is the name that messages show.
 */
export function parseConfig(text: string, file: string): ConfigParse {
  const read = readDocument(text, file);
  return read.kind === 'bad' ? read : parseConfigDocument(read.document);
}

/** Reads a document as a whole as a configuration. */
export function parseConfigDocument(document: TextDocument): ConfigParse {
  const { config, findings } = checkConfig(document.data, []);
  if (config !== null && document.duplicates.length === 0) return { kind: 'ok', config };
  return { kind: 'bad', problems: capProblems(placeFindings(document, findings)) };
}

/** Findings, the first 1,000, and keys given twice, as problems. */
export function placeFindings(
  document: TextDocument,
  findings: readonly Finding[],
): readonly Problem[] {
  const sought = findings.slice(0, PROBLEMS_SOUGHT_MAX);
  return [...document.duplicates, ...sought.map((finding) => document.place(finding))];
}

/** A configuration that lies at `base` in a document; null exactly when something was found. */
export function checkConfig(
  data: unknown,
  base: Path,
): { readonly config: Config | null; readonly findings: readonly Finding[] } {
  const parsed = settingsSchema.safeParse(data, { error: explainIssue, reportInput: true });
  const issues = parsed.success ? [] : parsed.error.issues;
  const input = parsed.success ? wholeInput(data, parsed.data) : salvage(data, issues);
  const broken = input === null ? [] : findBrokenRules(input);
  const findings = [
    ...toFindings(issues, base),
    ...broken.map(({ path, at, value, message, remedy }): Finding => {
      return { path: [...base, ...path], at, value, message, remedy };
    }),
  ];
  if (!parsed.success || findings.length > 0) return { config: null, findings };
  const control = toControl(parsed.data, 'active');
  return { config: { settings: parsed.data, fleet: control.fleet, control }, findings };
}
