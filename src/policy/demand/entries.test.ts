import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anAsk } from '../../../test/builders.ts';
import type { Ask, Task } from '../../model/demand.ts';
import { epochMs } from '../../model/ids.ts';
import { entriesFromTasks } from './entries.ts';

type TaskOver = Partial<Omit<Task, 'ask' | 'submittedAtMs'>> & {
  readonly ask?: Partial<Ask>;
  readonly atMs?: number;
};

const aTask = ({ ask, atMs, ...over }: TaskOver = {}): Task => ({
  id: 'task',
  gang: null,
  priority: 0,
  owner: null,
  submittedAtMs: epochMs(atMs ?? 0),
  ...over,
  ask: anAsk(ask),
});
const gangOf = (...tasks: readonly TaskOver[]) =>
  entriesFromTasks(tasks.map((over, index) => aTask({ id: `t${index}`, gang: 'g', ...over })))[0];

test('tasks alone and gangs become entries, where their first task stands', () => {
  const entries = entriesFromTasks([
    aTask({ id: 'a' }),
    aTask({ id: 'g0', gang: 'g', owner: 'ann' }),
    aTask({ id: 'b' }),
    aTask({ id: 'g1', gang: 'g' }),
  ]);
  expect(entries).toMatchObject([
    { id: 'a', form: { kind: 'single' }, taskIds: [] },
    { id: 'g', form: { kind: 'gang', taskCount: 2 }, taskIds: ['g0', 'g1'], owner: 'ann' },
    { id: 'b', form: { kind: 'single' } },
  ]);
});

test('a gang has waited as long as its first task', () => {
  expect(gangOf({ atMs: 30 }, { atMs: 10 }, { atMs: 20 })?.submittedAtMs).toBe(10);
});

describe('tasks of a gang that do not ask for the same', () => {
  const zone = (value: string) => ({
    key: 'zone',
    op: 'eq' as const,
    values: [value],
    soft: false,
  });

  test.each([
    ['resources', { resources: { cpu: 1 } }, { resources: { cpu: 2 } }, ['resources.cpu']],
    [
      'one more resource',
      { resources: { cpu: 1 } },
      { resources: { cpu: 1, gpu: 1 } },
      ['resources.gpu'],
    ],
    ['device', { device: null }, { device: { type: 'gpu', variants: null } }, ['device']],
    [
      'variants',
      { device: { type: 'gpu', variants: ['L4'] } },
      { device: { type: 'gpu', variants: ['H100'] } },
      ['variants'],
    ],
    ['kind of capacity', { preemptible: true }, { preemptible: null }, ['preemptible']],
    ['constraints', { constraints: [zone('a')] }, { constraints: [zone('b')] }, ['constraints']],
    [
      'several fields',
      { preemptible: true, resources: { cpu: 1 } },
      { preemptible: false, resources: { cpu: 2 } },
      ['preemptible', 'resources.cpu'],
    ],
    [
      'nothing: 0 is what is not there',
      { resources: { cpu: 1, gpu: 0 } },
      { resources: { cpu: 1 } },
      [],
    ],
    [
      'nothing: case does not matter in variants',
      { device: { type: 'gpu', variants: ['H100'] } },
      { device: { type: 'gpu', variants: ['h100'] } },
      [],
    ],
  ] as const)('%s', (_name, first, second, fields) => {
    const invalid = gangOf({ ask: first }, { ask: second })?.invalid ?? null;
    const found = invalid?.kind === 'mixed-gang' ? invalid.differences : [];
    expect(found.map(({ field }) => field)).toEqual(fields);
    expect(invalid === null).toBe(fields.length === 0);
  });

  test('stay one entry that names every value with its tasks', () => {
    const [small, large] = [{ resources: { cpu: 1_000 } }, { resources: { cpu: 2_000 } }];
    const entry = gangOf({ ask: small }, { ask: large }, { ask: small });
    expect(entry?.invalid).toEqual({
      kind: 'mixed-gang',
      differences: [
        {
          field: 'resources.cpu',
          values: [
            { value: '1000', taskIds: ['t0', 't2'] },
            { value: '2000', taskIds: ['t1'] },
          ],
        },
      ],
    });
  });

  test('differ in priority, too', () => {
    expect(gangOf({ priority: 1 }, { priority: 2 })?.invalid).toMatchObject({
      differences: [{ field: 'priority' }],
    });
  });
});

test('no task is lost and none is doubled', () => {
  const gang = fc.constantFrom(null, 'g', 'h');
  fc.assert(
    fc.property(fc.array(gang, { maxLength: 20 }), (gangs) => {
      const tasks = gangs.map((name, index) => aTask({ id: `t${index}`, gang: name }));
      const ids = entriesFromTasks(tasks).flatMap(({ id, taskIds, form }) =>
        form.kind === 'gang' ? taskIds : [id],
      );
      expect([...ids].sort()).toEqual(tasks.map(({ id }) => id).sort());
    }),
  );
});
