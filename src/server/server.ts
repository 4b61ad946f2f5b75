import { Code, ConnectError, type ConnectRouter, createConnectRouter } from '@connectrpc/connect';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import { Admissions } from './admission.ts';
import type { AuditLog } from './audit.ts';
import { AuditBook } from './audit-book.ts';
import { type Call, isStreaming } from './call.ts';
import { createCallGuard } from './call-guard.ts';
import { DEADLINE_MAX_MS } from './deadline.ts';
import { closingError, Gate, type RpcHandler, type Verdict } from './gate.ts';
import { gzip } from './gzip.ts';
import { HostCheck } from './host-check.ts';
import { isLoopback, type ListenAddress, parseListen, urlOf } from './listen-address.ts';
import { lingerAfter, type NodeRequest, type NodeResponse, refusePlainly } from './node-request.ts';
import { Buckets } from './rate.ts';
import { BodyBudget } from './request-body.ts';
import { refuseCall, serveCall } from './serve-call.ts';
import { SharedJson } from './shared-json.ts';
import { shellLimits, type ShellLimits } from './shell-limits.ts';
import { Slots } from './slots.ts';
import { FrontSocket } from './socket.ts';
import type { TokenBook } from './token-book.ts';

export interface ServerOptions {
  /** `127.0.0.1:7070`, `[::1]:0`, `0.0.0.0:7070`; port 0 picks one. */
  readonly listen: string;
  /** PEM texts. */
  readonly tls: { readonly cert: string; readonly key: string } | null;
  readonly allowedHosts: readonly string[];
  /** Also on loopback. Elsewhere they always are. */
  readonly requireTokens: boolean;
  readonly bodyMaxBytes: number;
  /** Per client; twice as many at once. */
  readonly requestsPerSecond: number;
  readonly streamsMax: number;
  readonly tokens: TokenBook;
  readonly routes: (router: ConnectRouter, shared: SharedJson) => void;
  readonly audit: AuditLog;
  readonly log: Log;
  readonly clock: Clock;
  /** For paths that are no call. Host and Origin are checked before; tokens are not asked for. */
  readonly fallback?: (request: NodeRequest, response: NodeResponse) => void;
  /** Where the defaults do not suit. */
  readonly limits?: Partial<ShellLimits>;
}

export interface RunningServer {
  readonly url: string;
  readonly port: number;
  /** What is going on right now, for status and tests. */
  counts(): ServerCounts;
  /** Lets calls in flight finish and ends streams; cuts what is left after the grace. */
  close(graceMs: number): Promise<void>;
}

export interface ServerCounts {
  readonly connections: number;
  readonly calls: number;
  readonly streams: number;
  readonly bodyBytes: number;
}

/** Smaller answers are not worth packing. */
const COMPRESS_MIN_BYTES = 16_384;

/** Serves the routes as Connect, gRPC and gRPC-Web on one port. Throws a sentence when it cannot. */
export async function openServer(options: ServerOptions): Promise<RunningServer> {
  const address = parseListen(options.listen);
  checkExposure(options, address);
  const server = new Server(options, address);
  await server.listen();
  return server;
}

function checkExposure(
  { tokens, tls, log, clock, requireTokens, listen }: ServerOptions,
  address: ListenAddress,
): void {
  const hasToken = tokens.list().some(({ id }) => tokens.isValid(id, clock.wallMs()));
  const isLocal = isLoopback(address.host);
  if (!isLocal && !hasToken) {
    throw new Error(
      `server.listen: ${listen} can be reached from other machines, and there is no token that ` +
        `would keep strangers out; run \`bellows token create --role admin\`, or listen on 127.0.0.1`,
    );
  }
  if (isLocal && requireTokens && !hasToken) {
    log.write('warn', 'no-tokens', { remedy: 'bellows token create --role admin' });
  }
  if (!isLocal && tls === null) {
    const why = 'tokens and all else can be read on the way; set server.tls';
    log.write('warn', 'no-tls', { listen, why });
  }
}

class Server implements RunningServer {
  readonly #options: ServerOptions;
  readonly #address: ListenAddress;
  readonly #limits: ShellLimits;
  readonly #socket: FrontSocket;
  readonly #book: AuditBook;
  readonly #budget: BodyBudget;
  readonly #calls: Slots;
  readonly #streams: Slots;
  readonly #gate: Gate;
  readonly #active = new Set<Call>();
  #isClosing = false;
  #closed: Promise<void> | null = null;
  #port = 0;

  constructor(options: ServerOptions, address: ListenAddress) {
    this.#options = options;
    this.#address = address;
    this.#limits = { ...shellLimits, ...options.limits };
    this.#book = new AuditBook(options.audit, options.clock);
    this.#budget = new BodyBudget(options.bodyMaxBytes * this.#limits.bodiesMax);
    this.#calls = new Slots(this.#limits.callsMax);
    this.#streams = new Slots(options.streamsMax);
    this.#gate = this.#createGate();
    this.#socket = new FrontSocket({
      address,
      tls: options.tls,
      limits: this.#limits,
      clock: options.clock,
      log: options.log,
      onRequest: (request, response) => this.#handle(request, response),
    });
  }

  async listen(): Promise<void> {
    this.#port = (await this.#socket.listen()).port;
  }

  get url(): string {
    return urlOf(this.#options.tls === null ? 'http' : 'https', this.#address.host, this.#port);
  }

  get port(): number {
    return this.#port;
  }

  counts(): ServerCounts {
    return {
      connections: this.#socket.connectionCount,
      calls: this.#calls.taken,
      streams: this.#streams.taken,
      bodyBytes: this.#budget.bytes,
    };
  }

  close(graceMs: number): Promise<void> {
    this.#closed ??= this.#close(graceMs);
    return this.#closed;
  }

  async #close(graceMs: number): Promise<void> {
    this.#isClosing = true;
    for (const call of this.#active) {
      if (isStreaming(call.method)) call.controller.abort(closingError());
    }
    await this.#socket.close(graceMs);
    for (const call of this.#active) call.controller.abort(closingError());
  }

  #createGate(): Gate {
    const { clock, tokens, requestsPerSecond, allowedHosts, tls, requireTokens } = this.#options;
    const { host } = this.#address;
    return new Gate({
      clock,
      handlers: this.#createHandlers(),
      hosts: new HostCheck({
        scheme: tls === null ? 'http' : 'https',
        port: () => this.#port,
        listenHost: host,
        allowedHosts,
      }),
      admissions: new Admissions({
        tokens,
        clock,
        needsToken: requireTokens || !isLoopback(host),
        failuresPerMinute: this.#limits.failuresPerMinute,
      }),
      rates: new Buckets({ perSecond: requestsPerSecond, burst: requestsPerSecond * 2 }),
      calls: this.#calls,
      streams: this.#streams,
      isClosing: () => this.#isClosing,
    });
  }

  #createHandlers(): ReadonlyMap<string, RpcHandler> {
    const { clock, log, tokens, bodyMaxBytes } = this.#options;
    const { callMs, callMsMax } = this.#limits;
    const guard = createCallGuard({
      clock,
      log,
      callMs,
      callMsMax,
      isStillAllowed: ({ tokenId }) => tokenId === null || tokens.isValid(tokenId, clock.wallMs()),
    });
    const shared = new SharedJson();
    // The types do not know of the encoder; test/e2e/shared-status.test.ts fails should it be gone.
    const jsonOptions = { ignoreUnknownFields: false, textEncoder: shared };
    const router = createConnectRouter({
      acceptCompression: [gzip],
      compressMinBytes: COMPRESS_MIN_BYTES,
      readMaxBytes: bodyMaxBytes,
      maxTimeoutMs: DEADLINE_MAX_MS,
      jsonOptions,
      interceptors: [guard],
    });
    this.#options.routes(router, shared);
    return new Map(router.handlers.map((handler) => [handler.requestPath, handler]));
  }

  /** Nothing thrown here may escape: it would end the process. */
  #handle(request: NodeRequest, response: NodeResponse): void {
    const { clock } = this.#options;
    lingerAfter(request, response, { clock, lingerMs: this.#limits.lingerMs });
    if (this.#isClosing) this.#endAfter(response);
    try {
      const verdict = this.#gate.judge(request);
      this.#follow(verdict, request, response).catch((error: unknown) =>
        this.#noteFailure(error, response),
      );
    } catch (error) {
      this.#noteFailure(error, response);
    }
  }

  async #follow(verdict: Verdict, request: NodeRequest, response: NodeResponse): Promise<void> {
    switch (verdict.kind) {
      case 'plain':
        if (verdict.call !== null) this.#book.denied(verdict.call, { code: Code.PermissionDenied });
        refusePlainly(response, verdict.refusal);
        return;
      case 'page':
        (this.#options.fallback ?? notFound)(request, response);
        return;
      case 'refused': {
        const { handler, call, refusal } = verdict;
        this.#book.denied(call, refusal);
        await refuseCall({ request, response, handler, call }, refusal);
        return;
      }
      case 'admitted':
        await this.#serve(verdict, request, response);
    }
  }

  async #serve(
    { handler, call, release }: Extract<Verdict, { kind: 'admitted' }>,
    request: NodeRequest,
    response: NodeResponse,
  ): Promise<void> {
    const { bodyMaxBytes: bytesMax, clock } = this.#options;
    const rules = { bytesMax, withinMs: this.#limits.bodyMs, clock, budget: this.#budget };
    this.#active.add(call);
    let isNoted = false;
    const note = (): void => {
      if (!isNoted) this.#book.finished(call);
      isNoted = true;
    };
    try {
      await serveCall({ request, response, handler, call }, rules, () => {
        if (this.#isClosing) this.#endAfter(response);
        note();
      });
    } finally {
      note();
      this.#active.delete(call);
      release();
      // Once this turn is over its connection counts as idle.
      if (this.#isClosing) setImmediate(() => this.#socket.closeIdle());
    }
  }

  /** The connection is not for another request. HTTP/2 is told so by its session. */
  #endAfter(response: NodeResponse): void {
    if ('shouldKeepAlive' in response) response.shouldKeepAlive = false;
  }

  #noteFailure(error: unknown, response: NodeResponse): void {
    // Clients that go away are no news.
    const code = error instanceof ConnectError ? error.code : Code.Internal;
    if (code !== Code.Aborted && code !== Code.Canceled) {
      const message = error instanceof Error ? error.message : String(error);
      const stack = error instanceof Error ? (error.stack ?? '') : '';
      this.#options.log.write('error', 'answer-failed', { message, stack });
    }
    if (response.headersSent || response.destroyed) response.destroy();
    else refusePlainly(response, { status: 500, code: 'internal', message: 'internal error' });
  }
}

function notFound(request: NodeRequest, response: NodeResponse): void {
  refusePlainly(response, {
    status: 404,
    code: 'not_found',
    message:
      `there is nothing at ${JSON.stringify((request.url ?? '').slice(0, 100))}; calls go by POST to ` +
      `/bellows.v1.AutoscalerService/NAME`,
  });
}
