import { ConnectError } from '@connectrpc/connect';
import type { VirtualClock } from '../src/sim/virtual-clock.ts';

/** So many steps of virtual time, half a minute, must be enough for any answer. */
const STEPS_MAX = 600;
const STEP_MS = 50;

/** Lets time pass until a call is answered. */
export async function answered<T>(clock: VirtualClock, answer: Promise<T>): Promise<T> {
  const standing = { isOver: false };
  const end = (): void => void (standing.isOver = true);
  answer.then(end, end);
  for (let n = 0; !standing.isOver && n < STEPS_MAX; n++) await clock.advance(STEP_MS);
  return answer;
}

/** What a call is refused with: its code and its message. */
export async function refusal(
  clock: VirtualClock,
  answer: Promise<unknown>,
): Promise<readonly [code: ConnectError['code'], message: string]> {
  try {
    await answered(clock, answer);
  } catch (error) {
    const { code, rawMessage } = ConnectError.from(error);
    return [code, rawMessage];
  }
  throw new Error('it was answered');
}
