/** The longest deadline that a client gets, also for a stream. */
export const DEADLINE_MAX_MS = 86_400_000;

const CONNECT = 'connect-timeout-ms';
const GRPC = 'grpc-timeout';
const unitMs: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1_000,
  m: 1,
  u: 0.001,
  n: 0.000_001,
};

/** The client said how long it waits. */
export const hasDeadline = (headers: Headers): boolean => headers.has(CONNECT) || headers.has(GRPC);

/**
 * A client may wait for a year; a timer may not, beyond 24 days it ends at once. Deadlines too far away
 * become the longest there is. What is no deadline stays for Connect to refuse.
 */
export function boundDeadline(headers: Headers): void {
  const connect = /^\d{1,10}$/.exec(headers.get(CONNECT) ?? '');
  if (connect !== null && Number(connect[0]) > DEADLINE_MAX_MS) {
    headers.set(CONNECT, String(DEADLINE_MAX_MS));
  }
  const [, count, unit = ''] = /^(\d{1,8})([HMSmun])$/.exec(headers.get(GRPC) ?? '') ?? [];
  if (count !== undefined && Number(count) * (unitMs[unit] ?? 0) > DEADLINE_MAX_MS) {
    headers.set(GRPC, `${DEADLINE_MAX_MS / 1_000}S`);
  }
}
