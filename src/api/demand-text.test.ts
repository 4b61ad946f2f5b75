import fc from 'fast-check';
import { expect, test } from 'vitest';
import { arbitrarySnapshot } from '../../test/arbitraries.ts';
import { anAsk } from '../../test/builders.ts';
import type { EntryForm } from '../model/demand.ts';
import { formText } from './demand-text.ts';

const ask = anAsk({ resources: { cpu: 2_000, memory: 6 * 2 ** 30, disk: 0 } });
const gpu = anAsk({
  device: { type: 'gpu', variants: ['H100', 'A100'] },
  preemptible: false,
  constraints: [{ key: 'zone', op: 'eq', values: ['us-a'], soft: true }],
  resources: { gpu: 500 },
});

test.each([
  ['cpu 2, memory 6GiB', { kind: 'single', ask }],
  ['on gpu H100 or A100, gpu 0.5, on-demand, zone = us-a (soft)', { kind: 'single', ask: gpu }],
  ['no resources', { kind: 'single', ask: anAsk({ resources: {} }) }],
  [
    'on tpu, no resources, preemptible',
    {
      kind: 'single',
      ask: anAsk({ device: { type: 'tpu', variants: null }, preemptible: true, resources: {} }),
    },
  ],
  ['gang of 16: cpu 2, memory 6GiB', { kind: 'gang', ask, taskCount: 16 }],
  [
    'STRICT_SPREAD of 3: 3 x (cpu 1)',
    {
      kind: 'bundles',
      strategy: 'STRICT_SPREAD',
      bundles: [anAsk(), anAsk(), anAsk()],
    },
  ],
  [
    'PACK of 4: cpu 1 + 2 x (cpu 2, memory 6GiB) + cpu 1',
    {
      kind: 'bundles',
      strategy: 'PACK',
      bundles: [anAsk(), ask, ask, anAsk()],
    },
  ],
] satisfies readonly (readonly [string, EntryForm])[])('%s', (text, form) => {
  expect(formText(form)).toBe(text);
});

test('every form has words, on one line', () => {
  fc.assert(
    fc.property(arbitrarySnapshot(), ({ demand }) => {
      const texts = demand.map(({ form }) => formText(form));
      expect(texts.filter((text) => /^$|\n|undefined|NaN|\[object/.test(text))).toEqual([]);
    }),
  );
});
