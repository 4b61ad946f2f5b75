import { createServer as createHttp1, type Server as Http1Server } from 'node:http';
import { createServer as createHttp2, type Http2Server, type ServerHttp2Session } from 'node:http2';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTls, type TLSSocket } from 'node:tls';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import { answerBadRequest } from './bad-request.ts';
import { explainListenError, type ListenAddress } from './listen-address.ts';
import type { NodeRequest, NodeResponse } from './node-request.ts';
import { guardSession } from './session-guard.ts';
import type { ShellLimits } from './shell-limits.ts';

export interface SocketOptions {
  readonly address: ListenAddress;
  /** PEM texts. */
  readonly tls: { readonly cert: string; readonly key: string } | null;
  readonly limits: ShellLimits;
  readonly clock: Clock;
  readonly log: Log;
  /** A client that waits for leave to send its body gets it by `writeContinue`. */
  readonly onRequest: (request: NodeRequest, response: NodeResponse) => void;
}

/** One port that speaks HTTP/1.1 and HTTP/2, in the clear or over TLS. */
export class FrontSocket {
  readonly #options: SocketOptions;
  readonly #http1: Http1Server;
  readonly #http2: Http2Server;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** Those that have not said yet what they speak. */
  readonly #silent = new Set<Socket>();
  readonly #sessions = new Set<ServerHttp2Session>();
  #droppedMs = -Infinity;

  constructor(options: SocketOptions) {
    this.#options = options;
    this.#http1 = openHttp1(options);
    this.#http2 = openHttp2(options);
    this.#http2.on('session', (session) => {
      this.#sessions.add(session);
      session.once('close', () => this.#sessions.delete(session));
      guardSession(session, { ...options.limits, clock: options.clock, log: options.log });
    });
    this.#server = this.#openServer();
    this.#server.maxConnections = options.limits.connectionsMax;
    this.#server.on('connection', (socket) => this.#keep(socket));
    this.#server.on('drop', () => this.#noteDrop());
  }

  get connectionCount(): number {
    return this.#sockets.size;
  }

  async listen(): Promise<AddressInfo> {
    const { address } = this.#options;
    try {
      await new Promise<void>((resolve, reject) => {
        this.#server.once('error', reject);
        this.#server.listen(address.port, address.host, resolve);
      });
    } catch (error) {
      await this.close(0);
      throw explainListenError(error, address);
    }
    // Running out of file descriptors while accepting is such an error; those there are go on.
    this.#server.on('error', (error) => {
      this.#options.log.write('error', 'accept-failed', { message: error.message });
    });
    // Starts its watch over slow headers, which waits for a `listen` that is not its own.
    this.#http1.emit('listening');
    // A server that listens on a port has an address of this form.
    return this.#server.address() as AddressInfo;
  }

  /** Takes no new connections; those there are end once they are idle. */
  stopAccepting(): void {
    this.#server.close(() => undefined);
    for (const session of this.#sessions) session.close();
    for (const socket of this.#silent) socket.destroy();
    this.#http1.close(() => undefined);
    this.closeIdle();
  }

  /** Connections of HTTP/1.1 that wait for another request. */
  closeIdle(): void {
    this.#http1.closeIdleConnections();
  }

  /** Cuts what is left after the grace, or at once when nothing is. */
  async close(graceMs: number): Promise<void> {
    this.stopAccepting();
    if (graceMs > 0 && this.#sockets.size > 0) await this.#untilEmpty(graceMs);
    for (const session of this.#sessions) session.destroy();
    for (const socket of this.#sockets) socket.destroy();
    this.#http1.closeAllConnections();
  }

  async #untilEmpty(graceMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = this.#options.clock.after(graceMs, resolve);
      const look = (): void => {
        if (this.#sockets.size > 0) return;
        timer.cancel();
        resolve();
      };
      for (const socket of this.#sockets) socket.once('close', look);
    });
  }

  #openServer(): Server {
    const { tls, limits } = this.#options;
    if (tls === null) {
      const server = createServer({ allowHalfOpen: true, noDelay: true });
      server.on('connection', (socket) => this.#sniff(socket));
      return server;
    }
    try {
      const server = createTls({
        ...tls,
        ALPNProtocols: ['h2', 'http/1.1'],
        minVersion: 'TLSv1.2',
        handshakeTimeout: limits.firstBytesMs,
        allowHalfOpen: true,
        noDelay: true,
      });
      server.on('secureConnection', (socket) => {
        socket.setMaxListeners(0);
        socket.on('error', () => undefined);
        this.#hand(socket, socket.alpnProtocol === 'h2');
      });
      server.on('tlsClientError', (_error, socket) => socket.destroy());
      return server;
    } catch (error) {
      const words = error instanceof Error ? error.message : String(error);
      throw new Error(
        `the TLS certificate and key cannot be used (${words}); check that server.tls names PEM ` +
          `files that belong together`,
        { cause: error },
      );
    }
  }

  /** In the clear, the first three bytes tell: HTTP/2 begins with `PRI`, and no method of HTTP/1.1 does. */
  #sniff(socket: Socket): void {
    const { clock, limits } = this.#options;
    this.#silent.add(socket);
    const timer = clock.after(limits.firstBytesMs, () => socket.destroy());
    const settle = (): void => {
      timer.cancel();
      this.#silent.delete(socket);
    };
    const onEnd = (): void => void socket.destroy();
    const onReadable = (): void => {
      // Null while there are fewer.
      const head: Buffer | null = socket.read(3);
      if (head === null) return;
      settle();
      socket.off('readable', onReadable);
      socket.off('end', onEnd);
      socket.unshift(head);
      this.#hand(socket, head.toString('latin1') === 'PRI');
    };
    socket.once('end', onEnd);
    socket.once('close', settle);
    socket.on('readable', onReadable);
  }

  #hand(socket: Socket | TLSSocket, isHttp2: boolean): void {
    if (isHttp2) this.#http2.emit('connection', socket);
    else this.#http1.emit('connection', socket);
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    // Requests that wait behind each other on one connection each listen for its end.
    socket.setMaxListeners(0);
    socket.once('close', () => this.#sockets.delete(socket));
    // Resets by the peer; whoever reads the socket sees it end.
    socket.on('error', () => undefined);
  }

  #noteDrop(): void {
    const nowMs = this.#options.clock.monotonicMs();
    if (nowMs - this.#droppedMs < 60_000) return;
    this.#droppedMs = nowMs;
    const { connectionsMax } = this.#options.limits;
    this.#options.log.write('warn', 'connections-full', { connectionsMax });
  }
}

function openHttp1({ limits, onRequest }: SocketOptions): Http1Server {
  const server = createHttp1({
    maxHeaderSize: limits.headerBytesMax,
    headersTimeout: limits.headersMs,
    // Bodies have a limit of their own, since streams may last.
    requestTimeout: 0,
    keepAliveTimeout: limits.idleMs,
    connectionsCheckingInterval: Math.min(1_000, limits.headersMs),
    // Judged by our own check, in our own words.
    requireHostHeader: false,
    noDelay: true,
  });
  server.maxHeadersCount = limits.headersMax;
  server.timeout = limits.idleMs;
  server.on('request', onRequest);
  server.on('checkContinue', onRequest);
  server.on('clientError', answerBadRequest);
  return server;
}

function openHttp2({ limits, onRequest }: SocketOptions): Http2Server {
  const server = createHttp2({
    maxSessionMemory: 10,
    maxHeaderListPairs: limits.headersMax,
    maxOutstandingPings: 10,
    maxSettings: 32,
    maxSessionInvalidFrames: 100,
    maxSessionRejectedStreams: 100,
    settings: {
      maxConcurrentStreams: limits.sessionStreamsMax,
      maxHeaderListSize: limits.headerBytesMax,
      enablePush: false,
    },
  });
  server.on('request', onRequest);
  server.on('checkContinue', onRequest);
  return server;
}
