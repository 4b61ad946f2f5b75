import type { Ask, EntryForm } from '../../model/demand.ts';
import type { InvalidDemand } from '../../model/reason.ts';
import { findInvalid } from '../../policy/demand/validity.ts';

/** A form as it was said, before it is known whether the same was said already. */
export interface SaidForm {
  /** Equal text, equal form. */
  readonly text: string;
  readonly taskCount: number;
  /** Each part of bundles once: enough to see whether it makes sense. */
  readonly outline: EntryForm;
  /** Letters of the form itself, the parts of bundles multiplied out. */
  readonly measure: () => number;
  readonly make: () => EntryForm;
}

export interface KnownForm {
  readonly form: EntryForm;
  readonly invalid: InvalidDemand | null;
  /** Letters that it takes in the store. */
  readonly size: number;
}

/**
 * The forms of one push, each once. A hundred thousand tasks have a few hundred shapes: entries that
 * share the object are grouped, checked and recorded many times faster.
 */
export class FormTable {
  readonly #known = new Map<string, KnownForm>();

  /** The form, or its size where that is above `sizeMax`: then it is not made at all. */
  intern(said: SaidForm, sizeMax: number): KnownForm | number {
    const before = this.#known.get(said.text);
    const size = before?.size ?? measureForm(said);
    if (size > sizeMax) return size;
    if (before !== undefined) return before;
    const known = { form: said.make(), invalid: findInvalid(said.outline), size };
    this.#known.set(said.text, known);
    return known;
  }
}

/** What is invalid is stored with what is wrong about it. */
function measureForm({ measure, outline }: SaidForm): number {
  const invalid = findInvalid(outline);
  return measure() + (invalid === null ? 0 : JSON.stringify(invalid).length);
}

/**
 * Equal text, equal ask. Resources are in order of their names, which have no space and no equals sign
 * in them. Written out, since this is made once for every entry.
 */
export function askText({ device, preemptible, constraints, resources }: Ask): string {
  let text = device === null ? '' : JSON.stringify(device);
  if (preemptible !== null) text += preemptible ? 'spot' : 'firm';
  if (constraints.length > 0) text += JSON.stringify(constraints);
  for (const name in resources) text += ` ${name}=${resources[name] ?? 0}`;
  return text;
}
