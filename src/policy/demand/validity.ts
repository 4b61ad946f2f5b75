import type { Constraint } from '../../model/constraint.ts';
import { constraintArity } from '../../model/constraint.ts';
import type { Ask, EntryForm } from '../../model/demand.ts';
import type { InvalidDemand } from '../../model/reason.ts';
import { unreachable } from '../../support/assert.ts';

/** What is wrong with a request in itself, whatever the fleet; null when nothing is. */
export function findInvalid(form: EntryForm): InvalidDemand | null {
  switch (form.kind) {
    case 'single':
      return findInvalidAsk(form.ask);
    case 'gang':
      return form.taskCount < 1 ? { kind: 'zero-tasks' } : findInvalidAsk(form.ask);
    case 'bundles':
      if (form.bundles.length === 0) return { kind: 'zero-tasks' };
      for (const bundle of form.bundles) {
        const invalid = findInvalidAsk(bundle);
        if (invalid !== null) return invalid;
      }
      return null;
    default:
      return unreachable(form);
  }
}

function findInvalidAsk(ask: Ask): InvalidDemand | null {
  const hard = ask.constraints.filter((constraint) => !constraint.soft);
  for (const constraint of ask.constraints) {
    const expected = findIllTyped(constraint);
    if (expected !== null) return { kind: 'ill-typed-constraint', constraint, expected };
  }
  for (const key of new Set(hard.map((constraint) => constraint.key))) {
    const sameKey = hard.filter((constraint) => constraint.key === key);
    if (areContradictory(sameKey)) {
      return { kind: 'contradictory-constraints', constraints: sameKey };
    }
  }
  return null;
}

/** What the operator would have needed; null when the constraint is well formed. */
function findIllTyped({ op, values }: Constraint): string | null {
  const { min, max } = constraintArity[op];
  if (values.length < min || values.length > max) {
    return max === 0 ? 'no value' : max === 1 ? 'exactly one value' : 'one or more values';
  }
  const isOrdered = op === 'gt' || op === 'ge' || op === 'lt' || op === 'le';
  if (isOrdered && !values.every(isNumeric)) return 'a number';
  return null;
}

/** True for what compares as a number: the same reading for requests and for attributes. */
export const isNumeric = (text: string): boolean =>
  text.trim() !== '' && Number.isFinite(Number(text));

/**
 * True when no value at all could satisfy these hard constraints on one key. Sound, not complete:
 * it knows absence, equality sets and an empty numeric range.
 */
function areContradictory(constraints: readonly Constraint[]): boolean {
  const isAbsent = constraints.some(({ op }) => op === 'not-exists');
  // Every other operator needs the attribute to be there.
  if (isAbsent) return constraints.some(({ op }) => op !== 'not-exists');
  const sets = constraints
    .filter(({ op }) => op === 'eq' || op === 'in')
    .map(({ values }) => values.map((value) => value.toLowerCase()));
  if (sets.length > 0) {
    const wanted = sets.reduce((all, these) => all.filter((value) => these.includes(value)));
    return wanted.every((value) => constraints.some((one) => excludes(one, value)));
  }
  return isEmptyRange(constraints);
}

/** True when an attribute of this (lower-case) value fails the constraint. */
function excludes({ op, values }: Constraint, value: string): boolean {
  const first = Number(values[0]);
  switch (op) {
    case 'ne':
    case 'not-in':
      return values.some((other) => other.toLowerCase() === value);
    case 'gt':
      return !(isNumeric(value) && Number(value) > first);
    case 'ge':
      return !(isNumeric(value) && Number(value) >= first);
    case 'lt':
      return !(isNumeric(value) && Number(value) < first);
    case 'le':
      return !(isNumeric(value) && Number(value) <= first);
    case 'eq':
    case 'in':
    case 'exists':
    case 'not-exists':
      return false;
    default:
      return unreachable(op);
  }
}

function isEmptyRange(constraints: readonly Constraint[]): boolean {
  let low = -Infinity;
  let high = Infinity;
  let isOpen = false;
  for (const { op, values } of constraints) {
    const value = Number(values[0]);
    if ((op === 'gt' || op === 'ge') && value >= low) low = value;
    if ((op === 'lt' || op === 'le') && value <= high) high = value;
  }
  for (const { op, values } of constraints) {
    const value = Number(values[0]);
    if ((op === 'gt' && value === low) || (op === 'lt' && value === high)) isOpen = true;
  }
  return low > high || (low === high && isOpen);
}
