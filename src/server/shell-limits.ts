/** How much, how many and how long: what keeps one client from taking the server from the others. */
export interface ShellLimits {
  /** Connections at a time; one above is dropped. */
  readonly connectionsMax: number;
  readonly headerBytesMax: number;
  readonly headersMax: number;
  /** For the first three bytes, or the TLS handshake. */
  readonly firstBytesMs: number;
  /** For all headers of a request. */
  readonly headersMs: number;
  /** For the whole body of a unary call; between two pieces of a streamed one. */
  readonly bodyMs: number;
  /** Nothing moves either way: the connection is closed. Longer than any unary call may take. */
  readonly idleMs: number;
  /** What a client still sends after it has its answer is read so long, so that it sees the answer. */
  readonly lingerMs: number;
  /** Unary calls at a time; one client gets at most half of them. */
  readonly callsMax: number;
  /** A unary call whose client named no deadline. */
  readonly callMs: number;
  /** The longest deadline that a client gets for a unary call. */
  readonly callMsMax: number;
  /** Bodies read at the same time, all together, in bodies of the largest size. */
  readonly bodiesMax: number;
  /** Wrong or missing tokens per address and minute; more are answered shortly and noted once. */
  readonly failuresPerMinute: number;
  /** Streams of one HTTP/2 connection. */
  readonly sessionStreamsMax: number;
  /** Resets, pings and settings of one HTTP/2 connection at once; a tenth of it per second is fine. */
  readonly sessionStrikesMax: number;
}

export const shellLimits: ShellLimits = {
  connectionsMax: 2_000,
  headerBytesMax: 16_384,
  headersMax: 100,
  firstBytesMs: 5_000,
  headersMs: 10_000,
  bodyMs: 60_000,
  idleMs: 180_000,
  lingerMs: 1_000,
  callsMax: 256,
  callMs: 30_000,
  callMsMax: 120_000,
  bodiesMax: 8,
  failuresPerMinute: 10,
  sessionStreamsMax: 100,
  sessionStrikesMax: 1_000,
};
