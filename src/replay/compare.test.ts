import { beforeAll, describe, expect, test } from 'vitest';
import { controlOf, dayConfig, HOUR_MS, runDay } from '../../test/e2e/replay-day.ts';
import { epochMs } from '../model/ids.ts';
import type { Control } from '../model/control.ts';
import { noProcessFaults } from '../sim/lifeline.ts';
import { must } from '../support/assert.ts';
import { type Comparison, compareWith } from './compare.ts';
import { type JournalSource, openStoreSource } from './source.ts';

/** A machine that is busy with other tests takes its time. */
const RECORDING_MS = 120_000;
const everything = { sinceMs: epochMs(0), untilMs: epochMs(Number.MAX_SAFE_INTEGER) };

async function record(options: Partial<Parameters<typeof runDay>[0]> = {}): Promise<JournalSource> {
  const { store } = await runDay({ forMs: 3 * HOUR_MS, ...options });
  return openStoreSource({ ...store, fleet: 'research' });
}

async function compare(
  source: JournalSource,
  control: Control,
  range = everything,
): Promise<Comparison> {
  return must(await compareWith(control, { source, range, onTick: () => {} }), 'a comparison');
}

const launchesOf = ({ groups }: Comparison['model'], name: string): number =>
  groups.find(({ group }) => group === name)?.launches ?? 0;
const hoursOf = ({ groups }: Comparison['model'], name: string): number =>
  groups.find(({ group }) => group === name)?.sliceHours ?? 0;

describe('a quiet day', () => {
  let source: JournalSource;
  beforeAll(async () => {
    source = await record();
  }, RECORDING_MS);

  test('under the same configuration nothing changes, and the model is near the record', async () => {
    const { recorded, model, other, missing, work } = await compare(source, controlOf(dayConfig()));
    expect(other).toEqual(model);
    expect(missing).toBe(0);
    expect(work.withdrawn).toBe(0);
    expect(recorded.launches).toBeGreaterThan(15);
    expect(Math.abs(model.costMicroUsd / recorded.costMicroUsd - 1)).toBeLessThan(0.1);
    expect(Math.abs(model.launches / recorded.launches - 1)).toBeLessThan(0.1);
    expect(Math.abs(model.waiting.meanMs - recorded.waiting.meanMs)).toBeLessThan(5_000);
    expect(model.waiting.pieces).toBe(recorded.waiting.pieces);
  });

  test('with a shorter idle timeout slices come and go more often, for less money', async () => {
    const { model, other } = await compare(source, controlOf(dayConfig({ idleTimeout: '1m' })));
    expect(other.launches).toBeGreaterThan(model.launches);
    expect(other.sliceHours).toBeLessThan(model.sliceHours);
    expect(other.costMicroUsd).toBeLessThan(model.costMicroUsd);
    expect(other.waiting.meanMs).toBeGreaterThanOrEqual(model.waiting.meanMs);
  });

  test('at half the price the same slices cost half', async () => {
    const { model, other } = await compare(source, controlOf(dayConfig({ price: 0.2 })));
    const cost = ({ groups }: Comparison['model']): number =>
      groups.find(({ group }) => group === 'node')?.costMicroUsd ?? 0;
    expect(other.launches).toBe(model.launches);
    expect(cost(other) / cost(model)).toBeCloseTo(0.5, 6);
  });

  test('with fewer nodes work waits longer, and is unmet for want of capacity', async () => {
    const { model, other } = await compare(source, controlOf(dayConfig({ max: 3 })));
    expect(launchesOf(other, 'node')).toBeLessThan(launchesOf(model, 'node'));
    expect(other.waiting.meanMs).toBeGreaterThan(10 * model.waiting.meanMs);
    expect(other.waiting.pieces).toBe(model.waiting.pieces);
    expect(other.unmet.map(({ code }) => code)).toContain('no-capacity');
  });

  test('a group that it adds is used when it is cheaper, and is named as never tried', async () => {
    const extra = `  - { name: spot, provider: simulated, host: { cpu: 8, memory: 32GiB }, max: 40, pricePerHour: 0.1, idleTimeout: 10m }\n`;
    const { model, other, untried } = await compare(source, controlOf(dayConfig({ extra })));
    expect(untried).toEqual(['spot']);
    expect(launchesOf(other, 'spot')).toBeGreaterThan(0);
    expect(other.costMicroUsd).toBeLessThan(model.costMicroUsd);
    expect(other.waiting.meanMs).toBeLessThan(3 * model.waiting.meanMs);
  });

  test('a group that it drops drains, and its work goes elsewhere', async () => {
    const spot = dayConfig().replace('name: node', 'name: nodes-2');
    const range = { ...everything, sinceMs: epochMs(1_767_225_600_000 + HOUR_MS) };
    const { work, model, other } = await compare(source, controlOf(spot), range);
    expect(work.there).toBeGreaterThan(0);
    expect(launchesOf(other, 'node')).toBe(0);
    expect(hoursOf(other, 'node')).toBeGreaterThan(0);
    expect(hoursOf(other, 'node')).toBeLessThan(hoursOf(model, 'node'));
    expect(hoursOf(other, 'nodes-2')).toBeGreaterThan(0);
  });

  test('a range without ticks has nothing to compare', async () => {
    const range = { sinceMs: epochMs(0), untilMs: epochMs(1) };
    const control = controlOf(dayConfig());
    expect(await compareWith(control, { source, range, onTick: () => {} })).toBeNull();
  });
});

test('launches are refused while recorded ones were, and work waits as it did', async () => {
  const source = await record({ stockout: { fromMs: 0.4 * HOUR_MS, toMs: 1.2 * HOUR_MS } });
  const { recorded, model, other } = await compare(source, controlOf(dayConfig()));
  expect(other).toEqual(model);
  expect(recorded.waiting.meanMs).toBeGreaterThan(180_000);
  expect(model.waiting.meanMs).toBeGreaterThan(recorded.waiting.meanMs / 3);
  expect(model.waiting.meanMs).toBeLessThan(recorded.waiting.meanMs * 2);
});

test('losses, failed boots and restarts are survived, and still nothing changes by itself', async () => {
  const faults = {
    faults: { preemptionsPerHour: 0.5, failuresPerHour: 0.2, bootFailedRatio: 0.1 },
    processFaults: { ...noProcessFaults, crashRatio: 0.0005 },
  };
  const spot = dayConfig().replace('max: 40', 'max: 40\n    preemptible: true');
  const control = controlOf(spot);
  const source = await record({ forMs: 2 * HOUR_MS, control, faults });
  const { recorded, model, other } = await compare(source, control);
  expect(other).toEqual(model);
  expect(model.launches).toBeLessThanOrEqual(recorded.launches);
  expect(Math.abs(model.sliceHours / recorded.sliceHours - 1)).toBeLessThan(0.3);
});
