import { type ContextValues, createContextKey } from '@connectrpc/connect';

/** What somebody may do; each call names the roles that may make it. */
export const roles = ['viewer', 'worker', 'scheduler', 'operator', 'admin'] as const;
export type Role = (typeof roles)[number];

/** Who makes a call. */
export interface Caller {
  /** The name of the token, or `local` where none is needed. */
  readonly name: string;
  readonly role: Role;
  /** Address and port. */
  readonly from: string;
  /** False: it came over loopback without a token, and may say itself who it is. */
  readonly hasToken: boolean;
}

const nobody: Caller = { name: 'nobody', role: 'viewer', from: '', hasToken: false };

/** Set by the gate before a route runs. */
export const callerKey = createContextKey<Caller>(nobody, { description: 'who makes the call' });

export const callerOf = (context: { readonly values: ContextValues }): Caller =>
  context.values.get(callerKey);

/** The author to be recorded: a token's word counts more than what a caller says of itself. */
export function authorOf(caller: Caller, said: string): string {
  if (caller.hasToken || said === '') return caller.name;
  return said;
}
