import { create } from '@bufbuild/protobuf';
import { DrainSliceResponseSchema } from '../../api/gen/bellows/v1/autoscaler_pb.ts';
import type { Slice } from '../../api/gen/bellows/v1/status_pb.ts';
import { type Remote, type ServerOptions, runRemote } from '../client.ts';
import { jsonDocument, toJsonValue } from '../json.ts';
import { CommandError, durationOf, requireText, toWireDuration } from '../option-values.ts';
import { exitCodes } from '../output.ts';
import { callPatiently, createOutageTeller } from '../patience.ts';
import { joinWords, oneLine } from '../render/words.ts';
import { type Surroundings, pauseFor } from '../surroundings.ts';
import { createView } from '../view.ts';
import { findSlice } from './slices.ts';

interface DrainOptions extends ServerOptions {
  readonly reason?: unknown;
  readonly deadline?: unknown;
  readonly wait?: unknown;
}

const DEADLINES = { minMs: 0, maxMs: 30 * 86_400_000 };
const POLL_MS = 1_000;
/** A drain has its own deadline; a release that hangs longer than this needs a person. */
const WAIT_MAX_MS = 86_400_000;

/** `bellows drain SLICE --reason TEXT`: lets work finish, then gives the slice back. */
export function runDrain(
  sliceId: string,
  options: DrainOptions,
  around: Surroundings,
): Promise<number> {
  return runRemote(options, around, async (remote) => {
    const { client, fleet } = remote;
    const reason = requireText('--reason', options.reason, 'say why, for those who ask later');
    const deadlineMs = durationOf('--deadline', options.deadline, DEADLINES);
    const answer = await client.drainSlice({
      fleet,
      sliceId,
      reason,
      author: around.userName,
      ...(deadlineMs === null ? {} : { deadline: toWireDuration(deadlineMs) }),
    });
    const { out } = around;
    const name = oneLine(sliceId);
    if (options.json !== true) out.stdout(`slice ${name} is ${answer.status}\n`);
    if (options.wait !== true) {
      if (options.json === true) {
        out.stdout(jsonDocument(toJsonValue(DrainSliceResponseSchema, answer)));
      } else {
        out.stdout(`see how it goes: bellows why ${name}, or drain it with --wait\n`);
      }
      return exitCodes.ok;
    }
    const isJson = options.json === true;
    return waitForEnd(sliceId, remote, { around, isJson, hasLeft: answer.status !== 'ready' });
  });
}

interface Wait {
  readonly around: Surroundings;
  readonly isJson: boolean;
  /** Ready is where it was before the order, and where it is when the drain was called off. */
  readonly hasLeft: boolean;
}

/** Follows the slice until it has ended, saying each step. */
async function waitForEnd(
  sliceId: string,
  remote: Remote,
  { around, isJson, hasLeft }: Wait,
): Promise<number> {
  const { out, nowMs } = around;
  const signal = around.interrupted();
  const teller = createOutageTeller(remote, around);
  const untilMs = nowMs() + WAIT_MAX_MS;
  let shown = '';
  let isLeaving = hasLeft;
  const end = (status: string): number => {
    const answer = create(DrainSliceResponseSchema, { status });
    if (isJson) out.stdout(jsonDocument(toJsonValue(DrainSliceResponseSchema, answer)));
    return exitCodes.ok;
  };
  while (!signal.aborted && nowMs() < untilMs) {
    const found = await callPatiently(
      async () => ({ slice: await findSlice(remote, sliceId) }),
      teller,
      signal,
    );
    if (found === null) break;
    const { slice } = found;
    // Ended so long ago that nobody remembers it.
    if (slice === null) return end('terminated');
    const line = progressText(slice, around);
    if (line !== shown && !isJson) out.stdout(line);
    shown = line;
    if (slice.status === 'terminated' || slice.status === 'failed') return end(slice.status);
    isLeaving ||= slice.status !== 'ready';
    if (slice.status === 'ready' && isLeaving) {
      const why = slice.verdict?.text ?? 'its drain was called off';
      throw new CommandError(`slice ${oneLine(sliceId)} stays: ${oneLine(why)}`, exitCodes.failed);
    }
    await pauseFor(POLL_MS, signal);
  }
  if (signal.aborted) {
    out.stderr('the drain goes on without you\n');
    return exitCodes.interrupted;
  }
  throw new CommandError(
    `slice ${oneLine(sliceId)} has not ended within 24h; ask bellows why ${oneLine(sliceId)}`,
    exitCodes.failed,
  );
}

/** `09:14:03  draining  draining: ana asked for it: bad disk; work may run until 09:24:03 (in 10m)`. */
function progressText(slice: Slice, around: Surroundings): string {
  const { moments } = createView(around);
  const { status, statusSince, verdict, drainDeadline: deadline, hosts } = slice;
  const busy = hosts.filter(({ use }) => use !== 'idle').length;
  const isDraining = status === 'draining';
  const words = joinWords(
    [
      verdict?.text,
      isDraining ? `${busy} of ${hosts.length} hosts busy` : null,
      isDraining && deadline !== undefined ? `work may run until ${moments.clock(deadline)}` : null,
    ],
    '; ',
  );
  return `${moments.clock(statusSince)}  ${status}  ${oneLine(words)}`.trimEnd().concat('\n');
}
