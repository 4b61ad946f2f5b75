import fc from 'fast-check';
import { expect, test } from 'vitest';
import { aGroup, anAsk } from '../../../test/builders.ts';
import { type Constraint, type ConstraintOp, constraintOps } from '../../model/constraint.ts';
import { satisfies } from './eligibility.ts';
import { findInvalid, isNumeric } from './validity.ts';

const zone = (op: ConstraintOp, ...values: readonly string[]): Constraint => {
  return { key: 'zone', op, values, soft: false };
};
const kindOf = (constraints: readonly Constraint[]): string | null =>
  findInvalid({ kind: 'single', ask: anAsk({ constraints }) })?.kind ?? null;

const torn = 'contradictory-constraints';
const illTyped = 'ill-typed-constraint';

// prettier-ignore: a table is read by column
test.each([
  ['nothing', [], null],
  ['two equal', [zone('eq', 'a'), zone('eq', 'A')], null],
  ['two unlike', [zone('eq', 'a'), zone('eq', 'b')], torn],
  ['equal and unequal', [zone('eq', 'a'), zone('ne', 'A')], torn],
  ['one of several left', [zone('in', 'a', 'b'), zone('not-in', 'a')], null],
  ['none of several left', [zone('in', 'a', 'b'), zone('not-in', 'b', 'a')], torn],
  ['disjoint lists', [zone('in', 'a', 'b'), zone('in', 'c')], torn],
  ['there and not there', [zone('exists'), zone('not-exists')], torn],
  ['unequal and not there', [zone('ne', 'a'), zone('not-exists')], torn],
  ['not there, twice', [zone('not-exists'), zone('not-exists')], null],
  ['an empty range', [zone('gt', '3'), zone('lt', '2')], torn],
  ['a range of one', [zone('ge', '3'), zone('le', '3')], null],
  ['a range of none', [zone('gt', '3'), zone('le', '3')], torn],
  ['a value outside its range', [zone('eq', '5'), zone('lt', '5')], torn],
  ['a word in a range', [zone('eq', 'a'), zone('gt', '1')], torn],
  ['a number that is none', [zone('gt', 'a')], illTyped],
  ['no value', [zone('eq')], illTyped],
  ['two values for one', [zone('eq', 'a', 'b')], illTyped],
  ['a value for exists', [zone('exists', 'a')], illTyped],
  ['an empty list', [zone('in')], illTyped],
  ['a soft contradiction', [zone('eq', 'a'), { ...zone('eq', 'b'), soft: true }], null],
  ['a soft one ill typed', [{ ...zone('gt', 'x'), soft: true }], illTyped],
  ['other keys', [zone('eq', 'a'), { ...zone('eq', 'b'), key: 'rack' }], null],
])('%s', (_name, constraints, kind) => {
  expect(kindOf(constraints)).toBe(kind);
});

test('a gang and bundles need a task', () => {
  expect(findInvalid({ kind: 'gang', ask: anAsk(), taskCount: 0 })).toEqual({ kind: 'zero-tasks' });
  expect(findInvalid({ kind: 'bundles', strategy: 'PACK', bundles: [] })).toEqual({
    kind: 'zero-tasks',
  });
});

test('any part of bundles can be what is wrong', () => {
  const bundles = [anAsk(), anAsk({ constraints: [zone('gt', 'x')] })];
  expect(findInvalid({ kind: 'bundles', strategy: 'SPREAD', bundles })?.kind).toBe(illTyped);
});

test.each([
  ['3', true],
  ['-1.5e3', true],
  [' 4 ', true],
  ['', false],
  [' ', false],
  ['Infinity', false],
  ['NaN', false],
  ['4x', false],
])('%j is a number: %s', (text, is) => {
  expect(isNumeric(text)).toBe(is);
});

test('what is called contradictory no attribute satisfies', () => {
  const value = fc.constantFrom('a', 'b', '1', '2', '3');
  const constraint = fc.tuple(fc.constantFrom(...constraintOps), value).map(([op, word]) => {
    return zone(op, ...(op === 'exists' || op === 'not-exists' ? [] : [word]));
  });
  const have = fc.option(fc.constantFrom('a', 'b', 'c', '0', '1', '1.5', '2', '3', '4'));
  fc.assert(
    fc.property(fc.array(constraint, { maxLength: 4 }), have, (constraints, zone) => {
      if (kindOf(constraints) !== torn) return;
      const group = aGroup({ attributes: zone === null ? {} : { zone } });
      expect(constraints.every((one) => satisfies(one, group))).toBe(false);
    }),
    { numRuns: 2_000 },
  );
});
