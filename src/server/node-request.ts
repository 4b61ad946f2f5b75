import type { IncomingMessage, ServerResponse } from 'node:http';
import { constants, Http2ServerRequest, type Http2ServerResponse } from 'node:http2';
import type { Clock } from '../ports/clock.ts';
import { peerText } from './listen-address.ts';

/** HTTP/1.1 and HTTP/2 alike. */
export type NodeRequest = IncomingMessage | Http2ServerRequest;
export type NodeResponse = ServerResponse | Http2ServerResponse;

/** The two ends of the connection, as far as they are still known. */
export interface Ends {
  readonly remoteAddress: string;
  /** Address and port. */
  readonly from: string;
  readonly localAddress: string;
}

export function endsOf(request: NodeRequest): Ends {
  // HTTP/2 lends its socket only while the session lives; reading it afterwards throws.
  const session = request instanceof Http2ServerRequest ? request.stream.session : undefined;
  const isGone = request instanceof Http2ServerRequest && (session?.destroyed ?? true);
  if (isGone) return { remoteAddress: '', from: '', localAddress: '' };
  const { remoteAddress = '', remotePort = 0, localAddress = '' } = request.socket;
  const plain = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '');
  return {
    remoteAddress: plain(remoteAddress),
    from: peerText(plain(remoteAddress), remotePort),
    localAddress: plain(localAddress),
  };
}

/** A refusal that is about HTTP, before any protocol of calls has a say. */
export interface PlainRefusal {
  readonly status: number;
  /** As in Connect's errors, which clients read alike. */
  readonly code: string;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export function refusePlainly(response: NodeResponse, refusal: PlainRefusal): void {
  const { status, code, message, headers } = refusal;
  response.writeHead(status, { ...headers, 'content-type': 'application/json' });
  response.end(`${JSON.stringify({ code, message })}\n`);
}

/**
 * Resolves once nothing more can be said, sent or not. A response that waits behind another on its
 * connection is not told when that connection closes; hence the second ear.
 */
export function whenOver(request: NodeRequest, response: NodeResponse): Promise<void> {
  return new Promise((resolve) => {
    if (request instanceof Http2ServerRequest) {
      if (request.stream.destroyed) resolve();
      else request.stream.once('close', resolve);
      return;
    }
    const { socket } = request;
    const onOver = (): void => {
      socket.off('close', onOver);
      response.off('close', onOver);
      resolve();
    };
    if (socket.destroyed) resolve();
    socket.on('close', onOver);
    response.on('close', onOver);
  });
}

/**
 * A client that is still sending when it has its answer is heard out for a moment, since a connection
 * that is cut too soon loses the answer too; then it is cut.
 */
export function lingerAfter(
  request: NodeRequest,
  response: NodeResponse,
  rules: { readonly clock: Clock; readonly lingerMs: number },
): void {
  const cut = (): void => {
    if (request.complete) return;
    // The session of HTTP/2 has other streams.
    if (request instanceof Http2ServerRequest) request.stream.close(constants.NGHTTP2_NO_ERROR);
    else request.socket.destroy();
  };
  // In HTTP/2 a response counts as finished when its stream is closed, which is what we are after.
  const sent = request instanceof Http2ServerRequest ? request.stream : response;
  sent.once('finish', () => {
    if (request.complete) return;
    const timer = rules.clock.after(rules.lingerMs, cut);
    request.once('close', () => timer.cancel());
    request.resume();
  });
}
