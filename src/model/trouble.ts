import type { EpochMs, GroupName } from './ids.ts';
import type { Group } from './group.ts';
import type { RefusalKind } from './refusal.ts';
import { unreachable } from '../support/assert.ts';

/** How far a trouble reaches. */
export interface TroubleScope {
  readonly kind: 'group' | 'quota-pool' | 'provider';
  readonly name: string;
}

/** `churn`: machines that come and go too quickly (see GroupHealth). */
export type TroubleKind = RefusalKind | 'churn';

/** Why nothing is launched in a scope for a while. It always ends, and says when. */
export interface Trouble {
  readonly scope: TroubleScope;
  readonly kind: TroubleKind;
  /** Refusals in a row: each doubles the wait up to a ceiling. */
  readonly attempts: number;
  readonly sinceMs: EpochMs;
  readonly untilMs: EpochMs;
  /** The provider's own words, cut to a stated length. */
  readonly detail: string;
}

/** One trouble per scope and kind. */
export const troubleId = ({ scope, kind }: Pick<Trouble, 'scope' | 'kind'>): string =>
  `${scope.kind}/${scope.name}/${kind}`;

/** Whether a group lies within a scope. */
export function isWithin(scope: TroubleScope, group: Scoped): boolean {
  switch (scope.kind) {
    case 'group':
      return scope.name === group.name;
    case 'quota-pool':
      return scope.name === group.quotaPool;
    case 'provider':
      return scope.name === group.provider;
    default:
      return unreachable(scope.kind);
  }
}

/** What of a group decides which troubles reach it. */
export type Scoped = Pick<Group, 'name' | 'provider' | 'quotaPool'>;

/** How well a group's machines last: 1 at best. Falls with every early loss, recovers with time. */
export interface GroupHealth {
  readonly group: GroupName;
  /** As of `asOfMs`; it has recovered since. */
  readonly score: number;
  readonly asOfMs: EpochMs;
}
