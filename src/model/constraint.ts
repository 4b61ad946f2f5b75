export const constraintOps = [
  'eq',
  'ne',
  'in',
  'not-in',
  'exists',
  'not-exists',
  'gt',
  'ge',
  'lt',
  'le',
] as const;
export type ConstraintOp = (typeof constraintOps)[number];

/**
 * A condition on the attributes of a group. A hard one excludes; a soft one only ranks: groups that
 * satisfy more soft constraints come first.
 */
export interface Constraint {
  readonly key: string;
  readonly op: ConstraintOp;
  /** None for exists and not-exists, one or more for in and not-in, one for the others. */
  readonly values: readonly string[];
  readonly soft: boolean;
}

/** How many values an operator takes. */
export const constraintArity: Readonly<Record<ConstraintOp, { min: number; max: number }>> = {
  eq: { min: 1, max: 1 },
  ne: { min: 1, max: 1 },
  in: { min: 1, max: 1_000 },
  'not-in': { min: 1, max: 1_000 },
  exists: { min: 0, max: 0 },
  'not-exists': { min: 0, max: 0 },
  gt: { min: 1, max: 1 },
  ge: { min: 1, max: 1 },
  lt: { min: 1, max: 1 },
  le: { min: 1, max: 1 },
};
