import { Code, ConnectError } from '@connectrpc/connect';
import type { Command, CommandAnswer } from '../controller/commands.ts';
import type { Clock } from '../ports/clock.ts';
import { StoreError } from '../ports/store.ts';
import type { ServedFleet } from './served-fleet.ts';

/** A call waits so long for its command; clients give up soon after. */
const ANSWER_MAX_MS = 25_000;
/** Commands of one fleet that wait at a time: while another controller leads, nobody takes them. */
const WAITING_MAX = 1_000;

const waiting = new WeakMap<object, number>();

/** What comes of a command once it is durable. What keeps it from being so is told in words. */
export const obeyed = (
  fleet: ServedFleet,
  command: Command,
  clock: Clock,
): Promise<CommandAnswer> => inTime(submit(fleet, command), fleet, clock);

/** The same, however long it takes. */
export async function submit(
  { controller, name }: ServedFleet,
  command: Command,
): Promise<CommandAnswer> {
  const count = waiting.get(controller) ?? 0;
  if (count >= WAITING_MAX) {
    const message = `${count} calls wait for fleet ${name} already; ask again later`;
    throw new ConnectError(message, Code.Unavailable);
  }
  waiting.set(controller, count + 1);
  try {
    return await controller.command(command);
  } finally {
    waiting.set(controller, (waiting.get(controller) ?? 1) - 1);
  }
}

/** The answer, if it comes while somebody waits for it. */
export function inTime<T>(
  answer: Promise<T>,
  { name, controller }: Pick<ServedFleet, 'name' | 'controller'>,
  clock: Clock,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = clock.after(ANSWER_MAX_MS, () => {
      const isFollowing = controller.standing.kind === 'following';
      const why = isFollowing ? `another controller leads fleet ${name}` : 'the store is slow';
      const seconds = ANSWER_MAX_MS / 1_000;
      const message = `not durable after ${seconds} s: ${why}; it may still be taken, so ask again`;
      reject(new ConnectError(message, Code.Unavailable));
    });
    answer.then(
      (value) => {
        timer.cancel();
        resolve(value);
      },
      (error: unknown) => {
        timer.cancel();
        reject(error instanceof StoreError ? toUnavailable(error) : toError(error));
      },
    );
  });
}

const toError = (error: unknown): Error =>
  error instanceof Error ? error : new Error(String(error));

/** Whoever asked may ask again, and learns whether that could be twice. */
function toUnavailable(error: StoreError): ConnectError {
  const kept =
    error.kind === 'unknown-outcome'
      ? 'it may or may not have been kept, so ask again'
      : 'nothing was kept, so ask again later';
  return new ConnectError(
    `${error.message}; ${kept}`,
    Code.Unavailable,
    undefined,
    undefined,
    error,
  );
}
