import { describe, expect, test } from 'vitest';
import { sliceId } from '../../src/model/ids.ts';
import { type Machine, machineStates } from '../../src/model/machine.ts';
import { ProviderError } from '../../src/ports/provider.ts';
import {
  isWhole,
  never,
  type OpenBench,
  type ProviderBench,
  ProviderDriver,
} from './provider-driver.ts';

/** The rules of the port, for every adapter: called from its own test with a way to open it. */
export function providerContract(name: string, open: OpenBench): void {
  describe(`${name} as a provider`, () => {
    describe('launch', () => launchRules(open));
    describe('launching again', () => idempotencyRules(open));
    describe('terminate', () => terminateRules(open));
    describe('machines of others', () => foreignRules(open));
    describe('a call', () => callRules(open));
  });
}

function launchRules(open: OpenBench): void {
  test('shows every host of the slice, with its tag, index and group, until all are ready', async () => {
    const driver = await ProviderDriver.open(open);
    const request = driver.bench.request(driver.bench.hostCountMax);
    const [outcome] = await driver.launch(request);
    expect(outcome).toMatchObject({ kind: 'accepted', sliceId: request.sliceId });
    const machines = await driver.untilReady(request);
    const indexes = Array.from({ length: request.hostCount }, (_, index) => index);
    expect(machines.map(({ hostIndex }) => hostIndex)).toEqual(indexes);
    expect(new Set(machines.map(({ machineId }) => machineId)).size).toBe(request.hostCount);
    expect(new Set(machines.map(({ group }) => group))).toEqual(new Set([request.group]));
    expect(machines.map(({ interruptionAtMs }) => interruptionAtMs)).toEqual(
      indexes.map(() => null),
    );
    if (outcome?.kind !== 'accepted') return;
    const known = new Set(machines.map(({ machineId }) => machineId));
    expect(outcome.machineIds.filter((id) => !known.has(id))).toEqual([]);
  });

  test('moves hosts towards ready, never back', async () => {
    const driver = await ProviderDriver.open(open);
    const request = driver.bench.request(driver.bench.hostCountMax);
    await driver.launch(request);
    const rankOf = new Map<string, number>();
    await driver.until(request.sliceId, driver.bench.readyWithinMs, (machines) => {
      for (const { machineId, state } of machines) {
        const rank = machineStates.indexOf(state);
        expect(rank).toBeGreaterThanOrEqual(rankOf.get(machineId) ?? 0);
        rankOf.set(machineId, rank);
      }
      return isWhole(machines, request.hostCount);
    });
  });

  test('answers a batch in its order, one outcome for each request', async () => {
    const driver = await ProviderDriver.open(open);
    const batch = [1, driver.bench.hostCountMax, 1].map((count) => driver.bench.request(count));
    const outcomes = await driver.launch(...batch);
    expect(outcomes.map((outcome) => outcome.sliceId)).toEqual(batch.map((ask) => ask.sliceId));
    for (const request of batch) await driver.untilReady(request);
  });

  test('of nothing is answered with nothing', async () => {
    const driver = await ProviderDriver.open(open);
    expect(await driver.launch()).toEqual([]);
  });
}

function idempotencyRules(open: OpenBench): void {
  const idsOf = (machines: readonly Machine[]): readonly string[] =>
    machines.map(({ machineId }) => machineId);

  test('with the same slice id makes nothing new, at once or when it is ready', async () => {
    const driver = await ProviderDriver.open(open);
    const request = driver.bench.request(driver.bench.hostCountMax);
    await driver.launch(request);
    expect(await driver.launch(request)).toMatchObject([{ kind: 'accepted' }]);
    const before = await driver.untilReady(request);
    expect(await driver.launch(request)).toMatchObject([{ kind: 'accepted' }]);
    await driver.bench.advance(driver.bench.readyWithinMs);
    expect(idsOf(await driver.machinesOf(request.sliceId))).toEqual(idsOf(before));
  });

  test('while the first is not yet answered makes nothing new', async () => {
    const driver = await ProviderDriver.open(open);
    const request = driver.bench.request(driver.bench.hostCountMax);
    const ask = (): Promise<unknown> => driver.bench.provider.launch([request], never());
    await driver.answered(Promise.all([ask(), ask()]));
    await driver.untilReady(request);
    await driver.bench.advance(driver.bench.readyWithinMs);
    expect(await driver.machinesOf(request.sliceId)).toHaveLength(request.hostCount);
  });

  test('after a restart finds the machines again, and makes nothing new', async () => {
    const driver = await ProviderDriver.open(open);
    const request = driver.bench.request(driver.bench.hostCountMax);
    await driver.launch(request);
    const before = await driver.untilReady(request);
    await driver.bench.provider.close();
    const restarted = await driver.bench.connect();
    await driver.answered(restarted.launch([request], never()));
    await driver.bench.advance(driver.bench.readyWithinMs);
    const after = await driver.machinesOf(request.sliceId, restarted);
    expect(idsOf(after)).toEqual(idsOf(before));
    await driver.answered(restarted.terminate([request.sliceId], never()));
  });
}

function terminateRules(open: OpenBench): void {
  test('releases every host of the slice, and no other slice', async () => {
    const driver = await ProviderDriver.open(open);
    const [leaving, staying] = [
      driver.bench.request(driver.bench.hostCountMax),
      driver.bench.request(1),
    ];
    await driver.launch(leaving, staying);
    await driver.untilReady(leaving);
    await driver.untilReady(staying);
    await driver.terminate(leaving.sliceId);
    await driver.untilGone(leaving.sliceId);
    expect(isWhole(await driver.machinesOf(staying.sliceId), 1)).toBe(true);
  });

  test('twice, and of a slice that never was, is success', async () => {
    const driver = await ProviderDriver.open(open);
    const request = driver.bench.request(1);
    await driver.launch(request);
    await driver.terminate(request.sliceId);
    await driver.terminate(request.sliceId, driver.bench.request(1).sliceId);
    await driver.untilGone(request.sliceId);
    await driver.terminate(request.sliceId);
    await driver.terminate();
  });

  test('right after the launch, before a list shows the slice, leaves nothing', async () => {
    const driver = await ProviderDriver.open(open);
    const request = driver.bench.request(driver.bench.hostCountMax);
    await driver.launch(request);
    await driver.terminate(request.sliceId);
    await driver.expectGoneForGood(request.sliceId);
  });

  test('while the launch is not yet answered leaves nothing', async () => {
    const driver = await ProviderDriver.open(open);
    const { provider } = driver.bench;
    const request = driver.bench.request(driver.bench.hostCountMax);
    const launch = provider.launch([request], never());
    await driver.terminate(request.sliceId);
    // Refused, cancelled or overtaken: what counts is what is left.
    await driver.answered(launch.catch(() => []));
    await driver.expectGoneForGood(request.sliceId);
  });

  test('leaves nothing of a launch whose caller gave up', async () => {
    const driver = await ProviderDriver.open(open);
    const request = driver.bench.request(driver.bench.hostCountMax);
    const controller = new AbortController();
    const launch = driver.bench.provider.launch([request], controller.signal);
    controller.abort();
    await expect(launch).rejects.toBeInstanceOf(ProviderError);
    await driver.terminate(request.sliceId);
    await driver.expectGoneForGood(request.sliceId);
  });
}

function foreignRules(open: OpenBench): void {
  test('are not listed', async () => {
    const driver = await ProviderDriver.open(open);
    expect(await driver.bench.foreign.aliveCount()).toBeGreaterThan(0);
    expect(await driver.answered(driver.bench.provider.list(never()))).toEqual([]);
  });

  test('are not terminated, not even when their slice is named', async () => {
    const driver = await ProviderDriver.open(open);
    const before = await driver.bench.foreign.aliveCount();
    await driver.terminate(driver.bench.foreign.sliceId);
    await driver.bench.advance(driver.bench.goneWithinMs);
    expect(await driver.bench.foreign.aliveCount()).toBe(before);
  });
}

function callRules(open: OpenBench): void {
  const calls: Readonly<
    Record<string, (bench: ProviderBench, signal: AbortSignal) => Promise<unknown>>
  > = {
    launch: (bench, signal) => bench.provider.launch([bench.request(1)], signal),
    terminate: ({ provider }, signal) => provider.terminate([sliceId('nobody')], signal),
    list: ({ provider }, signal) => provider.list(signal),
  };

  test.each(Object.entries(calls))('%s rejects at once when its signal aborts', async (_, call) => {
    const driver = await ProviderDriver.open(open);
    const controller = new AbortController();
    const underWay = call(driver.bench, controller.signal);
    controller.abort();
    // No time passes here: an abort must not wait for the cloud.
    await expect(underWay).rejects.toMatchObject({ name: 'ProviderError', kind: 'timeout' });
    const tooLate = call(driver.bench, controller.signal);
    await expect(tooLate).rejects.toMatchObject({ name: 'ProviderError', kind: 'timeout' });
  });

  test.each(Object.entries(calls))(
    '%s after close rejects; close twice is fine',
    async (_, call) => {
      const driver = await ProviderDriver.open(open);
      await driver.bench.provider.close();
      await driver.bench.provider.close();
      const late = driver.answered(call(driver.bench, never()));
      await expect(late).rejects.toBeInstanceOf(ProviderError);
    },
  );

  test('a list promises a lag that is a duration', async () => {
    const driver = await ProviderDriver.open(open);
    expect(driver.bench.provider.listLagMs).toBeGreaterThanOrEqual(0);
    expect(driver.bench.provider.listLagMs).toBeLessThan(Number.POSITIVE_INFINITY);
  });
}
