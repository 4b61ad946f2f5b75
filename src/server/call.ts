import type { DescMethod, Message } from '@bufbuild/protobuf';
import { type ConnectError, createContextKey } from '@connectrpc/connect';
import type { Caller } from './caller.ts';

/** One call from its headers to its answer. */
export interface Call {
  readonly method: DescMethod;
  /** Null: refused before it was known who asks. */
  readonly caller: Caller | null;
  /** Address and port. */
  readonly from: string;
  /** The token it came with, if any. */
  readonly tokenId: string | null;
  /** Ends the route: the client went away, time is up, or the server closes. */
  readonly controller: AbortController;
  /** Set: it was refused at the gate, and no route may see it. */
  refusal: ConnectError | null;
  /** The request, where it was decoded before Connect had it. */
  message: Message | null;
  /** The route, or what stands around it, was reached: the request could be read. */
  hasRun: boolean;
  /** What became of it, once that is known. */
  outcome: CallOutcome | null;
  /** For the audit log. */
  fleet: string;
  subject: Readonly<Record<string, string | number | boolean>>;
}

export type CallOutcome =
  | { readonly kind: 'ok' }
  | { readonly kind: 'failed'; readonly error: ConnectError };

export function createCall(facts: {
  readonly method: DescMethod;
  readonly caller: Caller | null;
  readonly from: string;
  readonly tokenId: string | null;
}): Call {
  return {
    ...facts,
    controller: new AbortController(),
    refusal: null,
    message: null,
    hasRun: false,
    outcome: null,
    fleet: '',
    subject: {},
  };
}

export const isStreaming = (method: DescMethod): boolean => method.methodKind !== 'unary';

/** Set for every call that the server hands to a route. */
export const callKey = createContextKey<Call | null>(null, { description: 'the call' });
