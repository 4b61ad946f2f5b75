/** Closed on purpose: each kind has its own scope and back-off, and a new one must not compile unnoticed. */
export type Refusal =
  | { readonly kind: 'stockout'; readonly detail: string }
  | { readonly kind: 'quota-exceeded'; readonly quotaName: string; readonly detail: string }
  | {
      readonly kind: 'throttled';
      /** The provider's own word on when to come back; null when it gave none. */
      readonly retryAfterMs: number | null;
      readonly detail: string;
    }
  /** Will not succeed however often it is asked: a bad image, a missing permission. */
  | { readonly kind: 'permanent'; readonly detail: string }
  /** Nobody can say; also a call that failed or was never answered. */
  | { readonly kind: 'unknown'; readonly detail: string };

export type RefusalKind = Refusal['kind'];
export const refusalKinds = [
  'stockout',
  'quota-exceeded',
  'throttled',
  'permanent',
  'unknown',
] as const satisfies readonly RefusalKind[];
