import { describe, expect, test } from 'vitest';
import { aControl, aGroup, aRecord } from '../../test/builders.ts';
import { withRetired } from './retire.ts';

const both = aControl({
  fleet: {
    groups: [aGroup({ name: 'old', min: 2, spare: 1, quotaPool: 'p' }), aGroup({ name: 'new' })],
  },
});
const onlyNew = aControl({ fleet: { groups: [aGroup({ name: 'new' })] } });
const ofOld = aRecord({ id: 's', group: 'old', hostCount: 4 });

describe('a group that the configuration drops', () => {
  test('stays while it has slices: as it was known, with nothing to launch', () => {
    const control = withRetired(onlyNew, both, [ofOld]);
    expect(control.retired).toEqual(['old']);
    expect(control.fleet.groups.map(({ name }) => name)).toEqual(['new', 'old']);
    expect(control.fleet.groups[1]).toEqual({
      ...both.fleet.groups[0],
      min: 0,
      spare: 0,
      max: 0,
      quotaPool: null,
    });
    expect(control.groups.map(({ group }) => group)).toEqual(['new', 'old']);
  });

  test('stays retired over further changes', () => {
    const once = withRetired(onlyNew, both, [ofOld]);
    expect(withRetired(onlyNew, once, [ofOld])).toEqual(once);
  });

  test('is back when a later configuration names it again', () => {
    const once = withRetired(onlyNew, both, [ofOld]);
    expect(withRetired(both, once, [ofOld])).toEqual(both);
  });

  test.each([
    ['has no slices', []],
    ['has only slices that ended', [{ ...ofOld, status: 'terminated' as const }]],
  ])('is forgotten when it %s', (_name, records) => {
    expect(withRetired(onlyNew, both, records)).toBe(onlyNew);
  });

  test('is made up from its slice when nobody remembers it', () => {
    const control = withRetired(onlyNew, null, [ofOld]);
    expect(control.fleet.groups[1]).toMatchObject({
      name: 'old',
      hostsPerSlice: 4,
      max: 0,
      min: 0,
    });
    expect(control.groups[1]).toMatchObject({ group: 'old', shape: ofOld.shape, onChange: 'keep' });
  });
});

test('a configuration that comes with retired groups of its own is corrected', () => {
  const odd = { ...onlyNew, retired: [ofOld.group] };
  expect(withRetired(odd, null, []).retired).toEqual([]);
});
