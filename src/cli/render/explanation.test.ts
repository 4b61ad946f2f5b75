import { create } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import { inSeconds } from '../../../test/wire-messages.ts';
import { NOW_MS } from '../../../test/wire-server.ts';
import { ExplainResponseSchema } from '../../api/gen/bellows/v1/autoscaler_pb.ts';
import { renderExplanation } from './explanation.ts';
import { createMoments } from './moment.ts';
import { createStyle } from './style.ts';

const view = { style: createStyle(false), moments: createMoments(NOW_MS, 'UTC'), columns: 100 };

test('an entry that waits', () => {
  const answer = create(ExplainResponseSchema, {
    kind: 'entry',
    subject: 'finetune',
    summary: 'finetune waits: every group that would do is at its bounds.',
    chain: [
      { at: inSeconds(-1_500), reason: { kind: 'submitted', text: 'pushed by slurm for bob' } },
      { reason: { kind: 'no-capacity', text: 'at max: needs 2 slices, 1 left of 6' } },
    ],
    alternatives: [
      { group: 'h100', reason: { kind: 'at-max', text: 'at max: needs 2 slices, 1 left of 6' } },
      { group: 'l4-spot', reason: { kind: 'variant', text: 'variant: needs H100, has L4' } },
    ],
    remedy: 'raise max of h100 from 6 to 8',
    nextLookAt: inSeconds(11),
    nextLook: 'the next decision',
    also: ['finetune of source ray'],
  });
  expect(`\n${renderExplanation(answer, view)}`).toMatchInlineSnapshot(`
    "
    ENTRY  finetune
      finetune waits: every group that would do is at its bounds.

    HOW IT CAME
      08:49:07 (25m ago)  submitted    pushed by slurm for bob
      now                 no-capacity  at max: needs 2 slices, 1 left of 6

    GROUPS CONSIDERED
      group    outcome  why
      h100     at-max   at max: needs 2 slices, 1 left of 6
      l4-spot  variant  variant: needs H100, has L4

    remedy     raise max of h100 from 6 to 8
    next look  by 09:14:18 (in 11s): the next decision

    also called so: finetune of source ray
    "
  `);
});

test('what has no chain, no alternatives and no remedy is a sentence', () => {
  const answer = create(ExplainResponseSchema, {
    kind: 'group',
    subject: 'cpu-16',
    summary: 'nothing asks for it',
  });
  expect(renderExplanation(answer, view)).toBe('GROUP  cpu-16\n  nothing asks for it\n');
});
