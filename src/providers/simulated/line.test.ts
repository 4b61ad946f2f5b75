import { describe, expect, test } from 'vitest';
import { aLaunch, CloudBench } from '../../../test/cloud-bench.ts';
import { sliceId } from '../../model/ids.ts';
import type { FaultKind, Faults } from './faults.ts';
import { faultTimes } from './offer.ts';

const s0 = sliceId('s-0');
const countOf = ({ cloud }: CloudBench, kind: FaultKind): number => cloud.truth.faultCounts()[kind];
const withFaults = (faults: Partial<Faults>): CloudBench => new CloudBench({ faults });

describe('calls', () => {
  // prettier-ignore: a table is read by column
  test.each([
    ['lost-request', { lostRequestRatio: 1 }, ['failed', 'failed'], 0],
    ['lost-reply', { lostReplyRatio: 1 }, ['failed', 'failed'], 1],
    ['garbled-reply', { garbledReplyRatio: 1 }, ['failed', 'failed'], 1],
    ['late-reply', { lateReplyRatio: 1 }, ['silent', 'silent'], 1],
    ['throttled', { throttledRatio: 1 }, ['failed', 'failed'], 0],
    ['late-create', { lateCreateRatio: 1 }, ['failed', 'answered'], 0],
  ] as const)(
    '%s: the caller is told nothing, the effect happens or not',
    async (kind, faults, kinds, made) => {
      const bench = withFaults(faults);
      const launched = await bench.launch(aLaunch());
      const listed = await bench.list();
      expect([launched.kind, listed.kind]).toEqual(kinds);
      expect(bench.cloud.truth.alive()).toHaveLength(made);
      expect(countOf(bench, kind)).toBeGreaterThan(0);
    },
  );

  // prettier-ignore: a table is read by column
  test.each([
    ['lostReplyRatio', 'timeout'],
    ['garbledReplyRatio', 'garbage'],
    ['throttledRatio', 'throttled'],
  ] as const)('%s fails as %s', async (ratio, error) => {
    const bench = withFaults({ [ratio]: 1 });
    expect(await bench.list()).toEqual({ kind: 'failed', error });
    expect(await bench.terminate(s0)).toEqual({ kind: 'failed', error });
  });

  test('a lost request fails as a timeout or as unreachable', async () => {
    const bench = withFaults({ lostRequestRatio: 1 });
    const errors = new Set<string>();
    for (let at = 0; at < 20; at++) {
      const answer = await bench.list();
      if (answer.kind === 'failed') errors.add(answer.error);
    }
    expect(errors).toEqual(new Set(['timeout', 'unreachable']));
  });

  test('a hang is never answered; some take effect all the same', async () => {
    const bench = withFaults({ hangRatio: 1 });
    const asked = Array.from({ length: 20 }, (_, index) =>
      aLaunch({ sliceId: sliceId(`s-${index}`) }),
    );
    for (const request of asked) expect((await bench.launch(request)).kind).toBe('silent');
    const madeCount = bench.cloud.truth.alive().length;
    expect(madeCount).toBeGreaterThan(3);
    expect(madeCount).toBeLessThan(17);
  });

  test('an aborted launch rejects at once, and still takes effect', async () => {
    const bench = withFaults({});
    const controller = new AbortController();
    const launch = bench.cloud.provider.launch([aLaunch()], controller.signal);
    controller.abort();
    await expect(launch).rejects.toMatchObject({ kind: 'timeout' });
    expect(bench.cloud.truth.alive()).toEqual([]);
    await bench.clock.advance(1_000);
    expect(bench.cloud.truth.alive()).toHaveLength(1);
  });

  test('a late reply comes in the end to who waits for it', async () => {
    const bench = withFaults({ lateReplyRatio: 1 });
    const patient = await bench.answer((signal) => bench.cloud.provider.list(signal), 600_000);
    expect(patient.kind).toBe('answered');
    expect(bench.clock.monotonicMs()).toBeGreaterThan(faultTimes.lateReply.fromMs);
  });

  test('close ends the calls under way, not what they do', async () => {
    const bench = withFaults({});
    const launch = bench.cloud.provider.launch([aLaunch()], new AbortController().signal);
    await bench.cloud.provider.close();
    await expect(launch).rejects.toMatchObject({ kind: 'unreachable' });
    await bench.clock.advance(1_000);
    expect(bench.cloud.truth.alive()).toHaveLength(1);
  });
});
