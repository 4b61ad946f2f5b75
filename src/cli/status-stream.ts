import { Code, ConnectError } from '@connectrpc/connect';
import type { WatchStatusResponse } from '../api/gen/bellows/v1/autoscaler_pb.ts';
import { isPassing } from './call-failure.ts';
import type { Remote } from './client.ts';
import type { OutageTeller } from './patience.ts';
import { pauseFor } from './surroundings.ts';

/** A stream that says nothing for so long is dead, whatever the network thinks. */
const SILENCE_MAX_MS = 60_000;
const AGAIN_MS = 1_000;

/**
 * Every update, connecting again when the server goes away, until the signal fires. Fails when the
 * first connection does, or when a later one is refused for good.
 */
export async function* watchStatus(
  remote: Remote,
  teller: OutageTeller,
  signal: AbortSignal,
): AsyncGenerator<WatchStatusResponse, void, undefined> {
  let hasAnswered = false;
  while (!signal.aborted) {
    let isAnswered = false;
    try {
      for await (const update of openStream(remote, signal)) {
        teller.back();
        hasAnswered = true;
        isAnswered = true;
        yield update;
      }
      teller.away(null);
    } catch (error) {
      if (signal.aborted) return;
      // A stream that broke off says little about why; the next connection will.
      const isBroken = isAnswered && error instanceof ConnectError;
      if (!isBroken && !(hasAnswered && isPassing(error))) throw error;
      teller.away(isBroken ? null : error);
    }
    await pauseFor(AGAIN_MS, signal);
  }
}

/** One connection. The first answer has the time of a call, every other a minute. */
async function* openStream(
  { client, fleet, timeoutMs }: Remote,
  signal: AbortSignal,
): AsyncGenerator<WatchStatusResponse, void, undefined> {
  const silence = new AbortController();
  const either = AbortSignal.any([signal, silence.signal]);
  let timer = setTimeout(() => silence.abort(), timeoutMs);
  try {
    for await (const update of client.watchStatus({ fleet }, { signal: either, timeoutMs: 0 })) {
      clearTimeout(timer);
      yield update;
      timer = setTimeout(() => silence.abort(), SILENCE_MAX_MS);
    }
  } catch (error) {
    if (!silence.signal.aborted) throw error;
    throw new ConnectError('nothing came', Code.DeadlineExceeded);
  } finally {
    clearTimeout(timer);
    silence.abort();
  }
}
