import { explainFailure, isPassing } from './call-failure.ts';
import type { Remote } from './client.ts';
import { type Surroundings, pauseFor } from './surroundings.ts';

/** Time between two calls to a server that is away. */
const AGAIN_MS = 1_000;

/** Says once that the server is away, and once that it is back. */
export interface OutageTeller {
  readonly away: (error: unknown) => void;
  readonly back: () => void;
}

export function createOutageTeller(remote: Remote, { out }: Surroundings): OutageTeller {
  let isAway = false;
  return {
    away: (error) => {
      if (isAway) return;
      isAway = true;
      const why = explainFailure(error, remote)?.message ?? `${remote.address.url} is away`;
      out.stderr(`${why}\ntrying again every second; Ctrl-C ends it\n`);
    },
    back: () => {
      if (isAway) out.stderr(`${remote.address.url} answers again\n`);
      isAway = false;
    },
  };
}

/** Calls until there is an answer, or a failure that time does not heal; null when interrupted. */
export async function callPatiently<T>(
  call: () => Promise<T>,
  teller: OutageTeller,
  signal: AbortSignal,
): Promise<T | null> {
  while (!signal.aborted) {
    try {
      const answer = await call();
      teller.back();
      return answer;
    } catch (error) {
      if (signal.aborted) return null;
      if (!isPassing(error)) throw error;
      teller.away(error);
    }
    await pauseFor(AGAIN_MS, signal);
  }
  return null;
}
