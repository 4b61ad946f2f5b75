import fc from 'fast-check';
import { expect, test } from 'vitest';
import { groupName } from '../../model/ids.ts';
import { createCatalogue, type HostType } from './catalogue.ts';
import { decideOpening } from './opening.ts';

const aType = (name: string, capacity: readonly number[], usd: number): HostType => {
  const priceMicroUsdPerHour = usd * 1_000_000;
  return { name: groupName(name), capacity: Float64Array.from(capacity), priceMicroUsdPerHour };
};
const types = [aType('one', [8, 1], 2), aType('four', [64, 4], 6), aType('cpu', [64, 0], 3)];
const anywhere = { mayOpen: Uint8Array.of(1, 1, 1), mayVisit: new Uint8Array(3) };
const ONE_GPU = 0;
const CPU_ONLY = 1;
const TOO_LARGE = 2;
const shapes = [
  [6, 1],
  [16, 0],
  [8, 9],
].map((need) => {
  return { ...anywhere, need: Float64Array.from(need) };
});
const catalogue = createCatalogue({ types, shapes, deviceResource: 1 });
const nothing = { runningCount: new Int32Array(3), hostCount: new Int32Array(3) };

// prettier-ignore: a table is read by column
test.each([
  ['one piece alone gets a small host', [ONE_GPU], [0, 0, 0], [0, 0, 0], 'one'],
  ['a backlog gets a host that takes it all', [0, 0, 0, 0], [0, 0, 0], [0, 0, 0], 'four'],
  ['filler in a large pool buys large', [ONE_GPU], [90, 0, 0], [0, 20, 0], 'four'],
  ['filler in a small pool does not', [ONE_GPU], [2, 0, 0], [2, 0, 0], 'one'],
  ['work without accelerator is no filler', [ONE_GPU], [0, 99, 0], [0, 20, 0], 'one'],
  ['CPU work gets CPUs', [CPU_ONLY, CPU_ONLY], [0, 0, 0], [0, 0, 0], 'cpu'],
] as const)('%s', (_name, backlog, running, hosts, group) => {
  const input = {
    backlog,
    runningCount: Int32Array.from(running),
    hostCount: Int32Array.from(hosts),
  };
  expect(decideOpening(catalogue, input)).toMatchObject({ kind: 'open', group });
});

test('says what the host is for', () => {
  expect(decideOpening(catalogue, { ...nothing, backlog: [0, 0, 0, 0, 0] })).toMatchObject({
    group: 'four',
    takes: [0, 1, 2, 3],
    why: { backlogWorthMicroUsd: 6_000_000, priceMicroUsdPerHour: 6_000_000, runnerUp: 'one' },
  });
});

test('work that fits no type opens nothing', () => {
  const decision = decideOpening(catalogue, { ...nothing, backlog: [TOO_LARGE, ONE_GPU] });
  expect(decision).toEqual({ kind: 'none', shape: TOO_LARGE });
});

test('what a host is to take fits it, the first always among it', () => {
  const counts = fc
    .array(fc.nat(50), { minLength: 3, maxLength: 3 })
    .map((n) => Int32Array.from(n));
  const backlogs = fc.array(fc.nat(2), { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(backlogs, counts, counts, (backlog, runningCount, hostCount) => {
      const decision = decideOpening(catalogue, { backlog, runningCount, hostCount });
      if (decision.kind === 'none') return;
      expect(decision.takes[0]).toBe(0);
      for (const k of [0, 1]) {
        const used = decision.takes.reduce((sum, at) => sum + shapes[backlog[at]!]!.need[k]!, 0);
        expect(used).toBeLessThanOrEqual(types[decision.type]!.capacity[k]!);
      }
      // What fills a host is worth no more than the host.
      const { backlogWorthMicroUsd, fillerWorthMicroUsd, priceMicroUsdPerHour } = decision.why;
      expect(backlogWorthMicroUsd).toBeGreaterThan(0);
      expect(fillerWorthMicroUsd).toBeGreaterThanOrEqual(0);
      expect(fillerWorthMicroUsd).toBeLessThanOrEqual(priceMicroUsdPerHour * 2);
    }),
  );
});
