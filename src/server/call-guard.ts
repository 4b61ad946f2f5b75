import { randomBytes } from 'node:crypto';
import {
  Code,
  ConnectError,
  type Interceptor,
  type StreamRequest,
  type StreamResponse,
  type UnaryRequest,
} from '@connectrpc/connect';
import { formatDuration } from '../api/format.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import { must } from '../support/assert.ts';
import { addPage, describeRequest } from './audit-subject.ts';
import { type Call, callKey } from './call.ts';
import { hasDeadline } from './deadline.ts';
import { untilAborted } from './until-aborted.ts';

export interface GuardRules {
  readonly clock: Clock;
  readonly log: Log;
  /** For a unary call whose client named no deadline. */
  readonly callMs: number;
  readonly callMsMax: number;
  /** False: the token of a stream was revoked or has expired since. */
  readonly isStillAllowed: (call: Call) => boolean;
}

/**
 * Stands around every route: gives it a deadline, ends it when its client or the server goes, keeps
 * what went wrong inside from getting out, and notes what became of it.
 */
export function createCallGuard(rules: GuardRules): Interceptor {
  return (next) => async (request) => {
    const call = must(request.contextValues.get(callKey), 'the call of a request');
    call.hasRun = true;
    if (call.refusal !== null) throw call.refusal;
    const unlink = link(request.signal, call.controller);
    const { signal } = call.controller;
    if (request.stream) {
      const message = guardInput(request, call);
      try {
        const guarded: StreamRequest = { ...request, signal, message };
        const response = await untilAborted(next(guarded), signal);
        if (!response.stream) throw new ConnectError('one answer to a stream', Code.Internal);
        // Its one answer is made; whether the client takes it is another matter.
        if (request.method.methodKind === 'client_streaming') call.outcome = { kind: 'ok' };
        const output = guardOutput(response, call, { ...rules, unlink });
        return { ...response, message: output };
      } catch (error) {
        unlink();
        throw fail(error, call, rules);
      }
    }
    const stop = armDeadline(request, call, rules);
    const message = call.message ?? request.message;
    Object.assign(call, describeRequest(message));
    try {
      const response = await untilAborted(next({ ...request, message, signal }), signal);
      call.outcome = { kind: 'ok' };
      return response;
    } catch (error) {
      throw fail(error, call, rules);
    } finally {
      stop();
      unlink();
    }
  };
}

/** Aborts the second when the first is; undone by calling the result. */
function link(from: AbortSignal, to: AbortController): () => void {
  const onAbort = (): void => to.abort(from.reason);
  if (from.aborted) onAbort();
  else from.addEventListener('abort', onAbort, { once: true });
  return () => from.removeEventListener('abort', onAbort);
}

function armDeadline(request: UnaryRequest, call: Call, rules: GuardRules): () => void {
  // Connect watches the client's own deadline; ours is the longest that it may be.
  const withinMs = hasDeadline(request.header) ? rules.callMsMax : rules.callMs;
  const timer = rules.clock.after(withinMs, () => {
    const message = `no answer within ${formatDuration(withinMs)}; what was asked for may still happen`;
    call.controller.abort(new ConnectError(message, Code.DeadlineExceeded));
  });
  return () => timer.cancel();
}

/** Messages of a stream as they come; what cannot be read is the sender's fault. */
async function* guardInput(request: StreamRequest, call: Call): StreamRequest['message'] {
  const messages = request.message[Symbol.asyncIterator]();
  const { signal } = call.controller;
  for (;;) {
    let next: IteratorResult<unknown>;
    try {
      next = await untilAborted(messages.next(), signal);
    } catch (error) {
      if (!(error instanceof ConnectError) || error.code !== Code.Internal) throw error;
      throw unreadable(request.method.input.typeName);
    }
    if (next.done === true) return;
    const { fleet, subject } = describeRequest(next.value);
    call.fleet ||= fleet;
    call.subject = addPage(call.subject, subject);
    yield next.value as never; // It comes from an iterable of this very type.
  }
}

/** A body that is no such message. Connect would call that `internal`, as if the fault were ours. */
export const unreadable = (typeName: string): ConnectError =>
  new ConnectError(
    `the body is no ${typeName} in protobuf; check it, and that its content type is the right one`,
    Code.InvalidArgument,
  );

export const goneError = (): ConnectError =>
  new ConnectError('the client went away', Code.Canceled);

async function* guardOutput(
  response: StreamResponse,
  call: Call,
  rules: GuardRules & { readonly unlink: () => void },
): StreamResponse['message'] {
  const messages = response.message[Symbol.asyncIterator]();
  const { signal } = call.controller;
  try {
    for (;;) {
      const next = await untilAborted(messages.next(), signal);
      if (next.done === true) break;
      if (!rules.isStillAllowed(call)) {
        throw new ConnectError('the token of this stream is no longer valid', Code.Unauthenticated);
      }
      yield next.value;
    }
    call.outcome = { kind: 'ok' };
  } catch (error) {
    throw fail(error, call, rules);
  } finally {
    rules.unlink();
    call.controller.abort();
    // Not awaited: a route that hangs must not keep the connection.
    messages.return?.().catch(() => undefined);
  }
}

/** What the caller is told. Anything unforeseen becomes a number that the log explains. */
function fail(error: unknown, call: Call, rules: Pick<GuardRules, 'log'>): ConnectError {
  const told = toTold(error, call, rules);
  call.outcome = { kind: 'failed', error: told };
  return told;
}

const unforeseen = new Set([Code.Internal, Code.Unknown, Code.DataLoss]);

function toTold(error: unknown, call: Call, { log }: Pick<GuardRules, 'log'>): ConnectError {
  if (error instanceof ConnectError && !unforeseen.has(error.code)) return error;
  const { signal } = call.controller;
  if (signal.aborted) {
    // Whatever a route throws because it was told to stop: the reason for stopping counts.
    if (signal.reason instanceof ConnectError) return signal.reason;
    return goneError();
  }
  const id = randomBytes(6).toString('hex');
  const cause = error instanceof ConnectError ? (error.cause ?? error) : error;
  log.write('error', 'call-failed', {
    id,
    rpc: call.method.name,
    who: call.caller?.name ?? '',
    message: cause instanceof Error ? cause.message : String(cause),
    stack: cause instanceof Error ? (cause.stack ?? '') : '',
  });
  return new ConnectError(
    `internal error ${id}; the server's log has more under this id`,
    Code.Internal,
  );
}
