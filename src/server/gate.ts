import type { DescMethod } from '@bufbuild/protobuf';
import { Code, ConnectError, type ConnectRouter } from '@connectrpc/connect';
import type { Clock } from '../ports/clock.ts';
import { nearestName } from '../support/nearest.ts';
import { type Admissions, tooMany } from './admission.ts';
import { type Call, createCall, isStreaming } from './call.ts';
import type { Caller } from './caller.ts';
import type { HostCheck } from './host-check.ts';
import { type Ends, endsOf, type NodeRequest, type PlainRefusal } from './node-request.ts';
import { permissionOf } from './permissions.ts';
import { type Buckets, clientOf } from './rate.ts';
import type { Slots } from './slots.ts';

/** Serves one call, whatever the protocol. */
export type RpcHandler = ConnectRouter['handlers'][number];

/** What becomes of a request, by its headers alone: nothing of its body has been read. */
export type Verdict =
  /** Refused in plain HTTP. */
  | { readonly kind: 'plain'; readonly refusal: PlainRefusal; readonly call: Call | null }
  /** No call: a page, perhaps. */
  | { readonly kind: 'page' }
  /** Refused in the words of the caller's protocol. */
  | {
      readonly kind: 'refused';
      readonly handler: RpcHandler;
      readonly call: Call;
      readonly refusal: ConnectError;
    }
  | {
      readonly kind: 'admitted';
      readonly handler: RpcHandler;
      readonly call: Call;
      readonly release: () => void;
    };

export interface GateRules {
  readonly clock: Clock;
  readonly handlers: ReadonlyMap<string, RpcHandler>;
  readonly hosts: HostCheck;
  readonly admissions: Admissions;
  readonly rates: Buckets;
  readonly calls: Slots;
  readonly streams: Slots;
  readonly isClosing: () => boolean;
}

const unaryTypes = /^application\/(?:json|proto|grpc(?:-web)?(?:\+(?:proto|json))?)(?:\s*;.*)?$/i;
const streamTypes =
  /^application\/(?:connect\+(?:json|proto)|grpc(?:-web)?(?:\+(?:proto|json))?)(?:\s*;.*)?$/i;

/** Every request passes here, in this order: name, path, form, who, how often, may they, room. */
export class Gate {
  readonly #rules: GateRules;

  constructor(rules: GateRules) {
    this.#rules = rules;
  }

  judge(request: NodeRequest): Verdict {
    const { handlers, hosts, rates, clock } = this.#rules;
    const ends = endsOf(request);
    const path = request.url?.split('?', 1)[0] ?? '';
    const handler = handlers.get(path);
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    const host = hosts.judge(request.headers, { localAddress: ends.localAddress, isRead });
    if (host.kind === 'refused') {
      const refusal = { status: 403, code: 'permission_denied', message: host.message };
      const call = handler === undefined ? null : stranger(handler.method, ends);
      return { kind: 'plain', refusal, call };
    }
    if (handler !== undefined) return this.#judgeCall(request, ends, handler);
    const taken = rates.take(`address ${clientOf(ends.remoteAddress)}`, clock.monotonicMs());
    if (taken.kind === 'taken')
      return path.startsWith('/bellows.') ? noCall(path, handlers) : { kind: 'page' };
    const { rawMessage } = tooMany('requests', taken.retryMs);
    return plain({ status: 429, code: 'resource_exhausted', message: rawMessage });
  }

  #judgeCall(request: NodeRequest, ends: Ends, handler: RpcHandler): Verdict {
    const { admissions, rates, clock, isClosing } = this.#rules;
    const { method } = handler;
    const form = refuseForm(request, method);
    if (form !== null) return plain(form);
    const refuse = (refusal: ConnectError, call: Call): Verdict => {
      return { kind: 'refused', handler, call: { ...call, refusal }, refusal };
    };
    if (isClosing()) return refuse(closingError(), stranger(method, ends));
    const admission = admissions.admit(request.headers, ends);
    if (admission.kind === 'refused') return refuse(admission.error, stranger(method, ends));
    const { caller, tokenId } = admission;
    const call = createCall({ method, caller, from: ends.from, tokenId });
    const client = caller.hasToken
      ? `token ${caller.name}`
      : `address ${clientOf(ends.remoteAddress)}`;
    const taken = rates.take(client, clock.monotonicMs());
    if (taken.kind === 'empty') return refuse(tooMany('requests', taken.retryMs), call);
    const denied = refuseRole(method, caller);
    if (denied !== null) return refuse(denied, call);
    const release = this.#takeRoom(method, client);
    if (release instanceof ConnectError) return refuse(release, call);
    return { kind: 'admitted', handler, call, release };
  }

  #takeRoom(method: DescMethod, client: string): (() => void) | ConnectError {
    const isStream = isStreaming(method);
    const slots = isStream ? this.#rules.streams : this.#rules.calls;
    const taken = slots.take(client);
    if (typeof taken === 'function') return taken;
    const what = isStream ? 'streams' : 'calls';
    const hint = isStream ? 'end some, or raise server.streamsMax' : 'wait for some to end';
    const message =
      taken === 'full'
        ? `the server has ${slots.max} ${what} open, the most it may; ${hint}`
        : `this client has ${slots.clientMax} ${what} open, the most one may; ${hint}`;
    return new ConnectError(message, Code.ResourceExhausted);
  }
}

export const closingError = (): ConnectError =>
  new ConnectError('the server is shutting down; try again', Code.Unavailable);

const plain = (refusal: PlainRefusal): Verdict => ({ kind: 'plain', refusal, call: null });

/** A call by somebody of whom nothing but the address is known. */
const stranger = (method: DescMethod, { from }: Ends): Call =>
  createCall({ method, caller: null, from, tokenId: null });

/** Calls come by POST, as one of a few content types: none that a web page may send elsewhere unasked. */
function refuseForm(request: NodeRequest, method: DescMethod): PlainRefusal | null {
  if (request.method !== 'POST') {
    return {
      status: 405,
      code: 'unimplemented',
      message: `${method.name} is called by POST, not ${request.method ?? 'this'}`,
      headers: { allow: 'POST' },
    };
  }
  const isStream = isStreaming(method);
  const type = request.headers['content-type'] ?? '';
  if ((isStream ? streamTypes : unaryTypes).test(type)) return null;
  const forms = isStream ? 'application/connect+json' : 'application/json';
  return {
    status: 415,
    code: 'unimplemented',
    message:
      `the content type ${JSON.stringify(type.slice(0, 100))} is none that ${method.name} reads; ` +
      `send ${forms}, ${forms.replace('json', 'proto')}, application/grpc or application/grpc-web`,
  };
}

function refuseRole(method: DescMethod, caller: Caller): ConnectError | null {
  const permission = permissionOf(method.localName);
  if (permission?.roles.includes(caller.role) === true) return null;
  const message =
    permission === null
      ? `nobody may call ${method.name}`
      : `${method.name} needs the role ${permission.needs}; ${caller.name} has the role ${caller.role}`;
  return new ConnectError(message, Code.PermissionDenied);
}

function noCall(path: string, handlers: ReadonlyMap<string, RpcHandler>): Verdict {
  const near = nearestName(path, [...handlers.keys()]);
  const hint = near === null ? 'docs/api.md lists the calls' : `did you mean ${near}?`;
  const message = `there is no call ${JSON.stringify(path.slice(0, 100))}; ${hint}`;
  return plain({ status: 404, code: 'unimplemented', message });
}
