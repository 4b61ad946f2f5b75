import { expect, test } from 'vitest';
import { aControl, aGroup } from '../../test/builders.ts';
import { learnHost, withLearnedHosts } from './learned-host.ts';

const group = aGroup({ name: 'g', host: { cpu: 16_000, memory: 64 } });
const at = { group, shape: 's' };

test.each([
  ['as promised, nothing is learned', { cpu: 16_000, memory: 64 }, null],
  ['more than promised is not counted on', { cpu: 32_000, memory: 64 }, null],
  ['less is learned', { cpu: 15_500, memory: 64 }, { cpu: 15_500, memory: 64 }],
  ['much less means that it is not empty', { cpu: 7_999, memory: 64 }, null],
  ['what was not reported is not believed to be gone', { cpu: 16_000 }, null],
])('%s', (_name, free, host) => {
  expect(learnHost(undefined, at, free)?.host ?? null).toEqual(host);
});

test('it only shrinks, until the group has another shape', () => {
  const small = learnHost(undefined, at, { cpu: 15_000, memory: 64 }) ?? undefined;
  expect(learnHost(small, at, { cpu: 16_000, memory: 64 })).toBe(small);
  expect(learnHost(small, at, { cpu: 15_500, memory: 60 })?.host).toEqual({
    cpu: 15_000,
    memory: 60,
  });
  expect(learnHost(small, { group, shape: 'other' }, { cpu: 16_000, memory: 64 })).toBeNull();
});

test('decisions count on what was learned, as long as the shape is the same', () => {
  const control = aControl({ fleet: { groups: [group] } });
  const shape = control.groups[0]?.shape ?? '';
  const learned = { group: group.name, shape, host: { cpu: 15_000, memory: 64 } };
  expect(withLearnedHosts(control, [learned]).fleet.groups[0]?.host).toEqual(learned.host);
  const other = withLearnedHosts(control, [{ ...learned, shape: 'other' }]);
  expect(other.fleet.groups[0]?.host).toEqual(group.host);
  expect(withLearnedHosts(control, [])).toBe(control);
});
