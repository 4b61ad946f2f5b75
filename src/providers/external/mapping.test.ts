import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { groupName, sliceId } from '../../model/ids.ts';
import type { LaunchRequest } from '../../ports/provider.ts';
import { type Reading, readMachines, readOutcomes } from './mapping.ts';

const asIs = (text: string): string => text;
const row = { machineId: 'm-1', sliceId: 's-1', group: 'g', hostIndex: 0, state: 'ready' };
const machine = { ...row, interruptionAtMs: null };

describe('a list', () => {
  const good = { ...row, machineId: 'm-2' };

  test.each([
    ['a row that is no object', 7, 'machines[0]: 7 is not an object with named fields'],
    [
      'no state',
      { ...row, state: undefined },
      /^machines\[0\] \("m-1"\): state is missing; it must be one of starting, running, ready/,
    ],
    ['an unknown state', { ...row, state: 'up' }, /state is "up"; it must be one of starting,/],
    [
      'an index below 0',
      { ...row, hostIndex: -1 },
      /hostIndex is -1; it must be a whole number from 0 to 9999/,
    ],
    [
      'an index that is text',
      { ...row, hostIndex: '0' },
      /hostIndex is "0"; it must be a whole number/,
    ],
    [
      'no machine id',
      { ...row, machineId: '' },
      /machineId is ""; it must be the provider's name of the machine/,
    ],
    [
      'an id with a line end',
      { ...row, sliceId: 'a\nb' },
      /sliceId is "a\\nb"; it must be the slice id/,
    ],
    [
      'an instant that is text',
      { ...row, interruptionAtMs: '2026-01-01' },
      /interruptionAtMs is "2026-01-01"; it must be milliseconds since 1970/,
    ],
    ['a failure that is no text', { ...row, failure: 1 }, /failure is 1; it must be text/],
    ['the same machine again', { ...good }, 'machines[1] ("m-2"): is listed twice'],
  ])('%s drops that row alone', (_name, bad, problem) => {
    const reading = read(readMachines({ machines: [bad, good] }, asIs));
    expect(reading.value).toEqual([{ ...machine, machineId: 'm-2' }]);
    expect(reading.problems).toHaveLength(1);
    expect(reading.problems[0]).toMatch(problem);
  });

  test.each([
    ['nothing', null, /^null is not an object; the answer must be \{"machines": \[\.\.\.\]\}/],
    ['a list without its name', [row], /is not an object/],
    ['another field', { machine: [] }, /^machines is missing/],
    ['no list', { machines: {} }, /^machines is \{\}/],
    [
      'rows of which none can be used',
      { machines: [{}, {}] },
      /^no machine of the list can be used; machines\[0\]: machineId is missing/,
    ],
  ])('%s is of no use as a whole', (_name, answer, problem) => {
    const reading = readMachines(answer, asIs);
    if (reading.kind !== 'unusable') throw new Error('it was used');
    expect(reading.problem).toMatch(problem);
  });

  test('of no machines is a list', () => {
    expect(readMachines({ machines: [] }, asIs)).toMatchObject({
      kind: 'read',
      value: [],
      problems: [],
    });
  });

  test('fields that may be left out are read', () => {
    const told = { ...row, state: 'gone', interruptionAtMs: 5, failure: 'no\nspace\tleft' };
    const { value } = read(readMachines({ machines: [told] }, asIs));
    expect(value).toEqual([{ ...told, failure: 'no space left' }]);
  });

  test('a misspelt field is told, and costs nothing', () => {
    const reading = readMachines({ machines: [{ ...row, interruptedAt: 5 }] }, asIs);
    expect(reading).toMatchObject({ value: [machine] });
    expect(read(reading).problems[0]).toMatch(
      /^machines\[\]\.interruptedAt: is ignored; known are/,
    );
  });

  test('whatever it says, reading it ends in a reading', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.array(fc.jsonValue()), (answer, machines) => {
        readMachines(answer, asIs);
        readMachines({ machines: [...machines, row] }, asIs);
        readOutcomes({ outcomes: machines }, batch, asIs);
      }),
    );
  });
});

const aRequest = (id: string): LaunchRequest => ({
  sliceId: sliceId(id),
  group: groupName('g'),
  hostCount: 1,
  host: { cpu: 1_000 },
  device: { type: 'cpu', variant: null },
  preemptible: false,
  attributes: {},
  launch: {},
  bootstrap: null,
});
const batch = [aRequest('s-1'), aRequest('s-2')];
const accepted = { kind: 'accepted', sliceId: 's-2', machineIds: ['m-2'] };
const refusing = (refusal: object): object => ({ kind: 'refused', sliceId: 's-1', refusal });

describe('a launch', () => {
  test('is answered in the order of the requests, whatever that of the answer', () => {
    const first = { kind: 'accepted', sliceId: 's-1' };
    const reading = readOutcomes({ outcomes: [accepted, first] }, batch, asIs);
    expect(read(reading)).toMatchObject({ value: [{ ...first, machineIds: [] }, accepted] });
    expect(read(reading).problems).toEqual([]);
  });

  test.each([
    [{ kind: 'stockout' }, { kind: 'stockout', detail: 'the program gave no detail' }],
    [
      { kind: 'quota-exceeded', quotaName: 'gpus', detail: 'full' },
      { kind: 'quota-exceeded', quotaName: 'gpus', detail: 'full' },
    ],
    [
      { kind: 'throttled', detail: 'slow' },
      { kind: 'throttled', retryAfterMs: null, detail: 'slow' },
    ],
    [
      { kind: 'throttled', retryAfterMs: 9, detail: 'slow' },
      { kind: 'throttled', retryAfterMs: 9, detail: 'slow' },
    ],
    [
      { kind: 'permanent', detail: 'no image' },
      { kind: 'permanent', detail: 'no image' },
    ],
    [
      { kind: 'unknown', detail: 'x'.repeat(999) },
      { kind: 'unknown', detail: `${'x'.repeat(299)}…` },
    ],
  ])('may be refused: %j', (told, refusal) => {
    const reading = readOutcomes({ outcomes: [refusing(told), accepted] }, batch, asIs);
    expect(read(reading).value[0]).toEqual({ kind: 'refused', sliceId: 's-1', refusal });
  });

  test.each([
    [
      'an unknown kind',
      { kind: 'ok', sliceId: 's-1' },
      /\("s-1"\): kind is "ok"; it must be accepted or refused/,
    ],
    ['no refusal', { kind: 'refused', sliceId: 's-1' }, /refusal is missing/],
    [
      'an unknown refusal',
      refusing({ kind: 'sold-out' }),
      /refusal\.kind is "sold-out"; it must be one of stockout, quota-exceeded,/,
    ],
    [
      'a quota without a name',
      refusing({ kind: 'quota-exceeded' }),
      /refusal\.quotaName is missing; it must be the name of the quota/,
    ],
    [
      'a wait in words',
      refusing({ kind: 'throttled', retryAfterMs: '5s' }),
      /refusal\.retryAfterMs is "5s"; it must be milliseconds/,
    ],
    [
      'ids that are no list',
      { kind: 'accepted', sliceId: 's-1', machineIds: 'm' },
      /machineIds is "m"; it must be a list/,
    ],
    [
      'a slice that was not asked for',
      { kind: 'accepted', sliceId: 's-9' },
      /this slice was not asked for/,
    ],
  ])('%s leaves its own slice without an outcome', (_name, bad, problem) => {
    const { value, problems } = read(readOutcomes({ outcomes: [bad, accepted] }, batch, asIs));
    expect(value).toEqual([accepted]);
    expect(problems[0]).toMatch(problem);
    expect(problems[1]).toBe('outcomes: none that can be used for slice s-1');
  });

  test('two outcomes for a slice are none', () => {
    const twice = [{ kind: 'accepted', sliceId: 's-1' }, refusing({ kind: 'stockout' }), accepted];
    const { value, problems } = read(readOutcomes({ outcomes: twice }, batch, asIs));
    expect(value).toEqual([accepted]);
    expect(problems).toEqual(['outcomes[1] ("s-1"): has more than one outcome; none is believed']);
  });

  test('no outcome at all is of no use', () => {
    const reading = readOutcomes({ outcomes: [] }, batch, asIs);
    const problem = 'outcomes: none that can be used for slice s-1';
    expect(reading).toEqual({ kind: 'unusable', problem });
  });

  test('secrets do not come back in words', () => {
    const hide = (text: string): string => text.replaceAll('hush', '*');
    const outcomes = [refusing({ kind: 'unknown', detail: 'with hush' }), { kind: 'hush' }];
    const { value, problems } = read(readOutcomes({ outcomes }, batch, hide));
    expect(JSON.stringify([value, problems])).not.toContain('hush');
  });
});

function read<T>(reading: Reading<T>): Extract<Reading<T>, { kind: 'read' }> {
  if (reading.kind !== 'read') throw new Error(reading.problem);
  return reading;
}
