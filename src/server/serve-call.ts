import { Code, ConnectError, createContextValues } from '@connectrpc/connect';
import {
  universalRequestFromNodeRequest,
  universalResponseToNodeResponse,
} from '@connectrpc/connect-node';
import { createAsyncIterable } from '@connectrpc/connect/protocol';
import { boundDeadline } from './deadline.ts';
import { AutoscalerService } from '../api/gen/bellows/v1/autoscaler_pb.ts';
import type { Clock } from '../ports/clock.ts';
import { runInTurns } from '../support/turns.ts';
import { type Call, callKey, isStreaming } from './call.ts';
import { goneError, unreadable } from './call-guard.ts';
import { callerKey } from './caller.ts';
import type { RpcHandler } from './gate.ts';
import { type NodeRequest, type NodeResponse, whenOver } from './node-request.ts';
import { readPageJson } from './page-json.ts';
import { pause } from './push-totals.ts';
import { untilAborted } from './until-aborted.ts';
import { failingBody, RequestBody, type BodyRules } from './request-body.ts';

type RpcRequest = Parameters<RpcHandler>[0];
type RpcResponse = Awaited<ReturnType<RpcHandler>>;

interface Exchange {
  readonly request: NodeRequest;
  readonly response: NodeResponse;
  readonly handler: RpcHandler;
  readonly call: Call;
}

/** Hands a call that was let in to its route, and the route's answer back. Sets the call's outcome. */
export async function serveCall(
  exchange: Exchange,
  rules: Omit<BodyRules, 'isStream' | 'signal'>,
  onAnswered: () => void,
): Promise<void> {
  const { request, response, handler, call } = exchange;
  const body = new RequestBody(request, {
    ...rules,
    isStream: isStreaming(call.method),
    signal: call.controller.signal,
  });
  const over = whenOver(request, response).then(() => call.controller.abort(goneError()));
  try {
    const tooLong = body.refuseByLength();
    // A client that asked for leave to send a body waits for this.
    if (tooLong === null && request.headers.expect !== undefined) response.writeContinue();
    const readable =
      isPageJson(exchange) && tooLong === null ? await decodePage(call, body, rules.clock) : body;
    const rpc = toRpc(exchange, tooLong === null ? readable : failingBody(tooLong));
    let answer = await handler(rpc);
    if (!call.hasRun) {
      let error = tooLong ?? body.failure;
      if (error === null && (await isBlamedOnUs(answer))) {
        error = unreadable(call.method.input.typeName);
        answer = await handler({ ...rpc, body: failingBody(error) });
      }
      call.outcome = { kind: 'failed', error: error ?? new ConnectError('', codeOf(answer)) };
    }
    onAnswered();
    await send(answer, response, over);
  } finally {
    body.release();
  }
}

/** A page of pending work in plain JSON. */
const isPageJson = ({ request, call }: Exchange): boolean =>
  call.method === AutoscalerService.method.pushDemand &&
  /^application\/json\b/i.test(request.headers['content-type'] ?? '') &&
  request.headers['content-encoding'] === undefined;

/** Decodes a large page before Connect has it, which then gets an empty one in its place. */
async function decodePage(
  call: Call,
  body: RequestBody,
  clock: Clock,
): Promise<AsyncIterable<Uint8Array>> {
  try {
    const pieces: Uint8Array[] = [];
    for await (const piece of body) pieces.push(piece);
    const bytes = Buffer.concat(pieces);
    if (bytes.length < DECODE_MIN_BYTES) return createAsyncIterable([bytes]);
    call.message = await untilAborted(
      runInTurns(readPageJson(new TextDecoder().decode(bytes)), () => pause(clock)),
      call.controller.signal,
    );
    return createAsyncIterable([call.message === null ? bytes : Buffer.from('{}')]);
  } catch (error) {
    return failingBody(ConnectError.from(error));
  }
}

/** What is smaller nobody waits for. */
const DECODE_MIN_BYTES = 65_536;

/** Answers with the refusal, in the words of the caller's protocol; no route sees it. */
export async function refuseCall(exchange: Exchange, refusal: ConnectError): Promise<void> {
  const over = whenOver(exchange.request, exchange.response);
  const answer = await exchange.handler(toRpc(exchange, failingBody(refusal)));
  await send(answer, exchange.response, over);
}

function toRpc({ request, response, call }: Exchange, body: AsyncIterable<Uint8Array>): RpcRequest {
  const values = createContextValues().set(callKey, call);
  if (call.caller !== null) values.set(callerKey, call.caller);
  const rpc = universalRequestFromNodeRequest(request, response, undefined, values);
  // No route needs the secret, and what does not have it cannot tell it.
  rpc.header.delete('authorization');
  // With a length, room for all of it would be made before the first byte came.
  rpc.header.delete('content-length');
  boundDeadline(rpc.header);
  return { ...rpc, body };
}

/** Connect's own writer waits, at the end, for an event that never comes. */
function send(answer: RpcResponse, response: NodeResponse, over: Promise<void>): Promise<void> {
  return Promise.race([universalResponseToNodeResponse(answer, response), over]);
}

/**
 * Connect answers a body that it cannot decode with `internal`, and no hook of it is near. Where no
 * route has run, that is all it can mean. Each protocol says it elsewhere.
 */
async function isBlamedOnUs(answer: RpcResponse): Promise<boolean> {
  if (answer.status === INTERNAL_STATUS) return true;
  if (answer.trailer?.get('grpc-status') === String(Code.Internal)) return true;
  if (answer.body === undefined || !isGrpcWeb(answer)) return false;
  // A refusal is one short piece; as the body can be read once, the piece becomes the body.
  const pieces: Uint8Array[] = [];
  for await (const piece of answer.body) pieces.push(piece);
  answer.body = createAsyncIterable(pieces);
  return Buffer.concat(pieces).includes(`grpc-status: ${Code.Internal}\r\n`);
}

const INTERNAL_STATUS = 500;

/** Of an answer that no route made. Where it is not said in the open, it was about the message. */
const codeOf = (answer: RpcResponse): Code =>
  Number(answer.trailer?.get('grpc-status') ?? Code.InvalidArgument);

const isGrpcWeb = (answer: RpcResponse): boolean =>
  answer.header?.get('content-type')?.startsWith('application/grpc-web') ?? false;
