import { describe, expect, test } from 'vitest';
import { ProviderError } from '../ports/provider.ts';
import { VirtualClock } from '../sim/virtual-clock.ts';
import { Lane, type Outcome } from './lanes.ts';

function aLane() {
  const clock = new VirtualClock();
  const lane = new Lane(clock, { widthMax: 2, deadlineMs: 1_000 });
  const outcomes: string[] = [];
  const settle = (outcome: Outcome<unknown>): void => {
    outcomes.push(
      outcome.kind === 'done'
        ? `done ${String(outcome.value)}`
        : `${outcome.error.kind}: ${outcome.error.message}`,
    );
  };
  return { clock, lane, outcomes, settle };
}

/** A call that is answered by hand. */
function aCall() {
  let answer: (value: string) => void = () => {};
  const promise = new Promise<string>((resolve) => {
    answer = resolve;
  });
  let signal: AbortSignal | null = null;
  const call = (given: AbortSignal): Promise<string> => {
    signal = given;
    return promise;
  };
  return { call, resolve: answer, isAborted: () => signal?.aborted ?? false };
}

describe('a lane', () => {
  test('hands over the answer', async () => {
    const { clock, lane, outcomes, settle } = aLane();
    lane.run(() => Promise.resolve('x'), settle);
    await clock.advance(0);
    expect(outcomes).toEqual(['done x']);
    expect(clock.pendingCount).toBe(0);
  });

  test('counts what is in flight', async () => {
    const { clock, lane, settle } = aLane();
    const [one, two] = [aCall(), aCall()];
    lane.run(one.call, settle);
    lane.run(two.call, settle);
    expect([lane.free, lane.inFlight]).toEqual([0, 2]);
    one.resolve('x');
    await clock.advance(0);
    expect([lane.free, lane.inFlight]).toEqual([1, 1]);
  });

  test('gives up a call at its deadline and tells it so; what it answers later is not heard', async () => {
    const { clock, lane, outcomes, settle } = aLane();
    const slow = aCall();
    lane.run(slow.call, settle);
    await clock.advance(999);
    expect([outcomes.length, slow.isAborted()]).toEqual([0, false]);
    await clock.advance(1);
    expect([lane.free, slow.isAborted()]).toEqual([2, true]);
    slow.resolve('late');
    await clock.advance(10_000);
    expect(outcomes).toEqual(['timeout: no answer within 1000 ms']);
  });

  test.each([
    [
      'throws before it returns a promise',
      () => {
        throw new TypeError('oops');
      },
      'garbage: the provider failed: oops',
    ],
    [
      'throws what is no error',
      () => {
        throw 'text';
      },
      'garbage: the provider failed: text',
    ],
    ['rejects', () => Promise.reject(new Error('no')), 'garbage: the provider failed: no'],
    [
      'rejects in our words',
      () => Promise.reject(new ProviderError('throttled', 'slow down')),
      'throttled: slow down',
    ],
  ] as const)('survives a call that %s', async (_name, call, outcome) => {
    const { clock, lane, outcomes, settle } = aLane();
    lane.run(call, settle);
    await clock.advance(0);
    expect(outcomes).toEqual([outcome]);
    expect(lane.free).toBe(2);
  });

  test('tells all calls to end', () => {
    const { lane, settle } = aLane();
    const [one, two] = [aCall(), aCall()];
    lane.run(one.call, settle);
    lane.run(two.call, settle);
    lane.abortAll();
    expect([one.isAborted(), two.isAborted()]).toEqual([true, true]);
  });
});
