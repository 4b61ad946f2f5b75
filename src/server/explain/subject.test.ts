import { Code } from '@connectrpc/connect';
import { expect, test } from 'vitest';
import { anAsk, anEntry } from '../../../test/builders.ts';
import { hours, minutes, seconds } from '../../../test/scenarios/sketch.ts';
import { Stage } from '../../../test/scenarios/stage.ts';
import { ask, askInVain } from '../../../test/why.ts';
import { entryId, epochMs } from '../../model/ids.ts';
import { must } from '../../support/assert.ts';

const config = `
groups:
  - { name: cpu, provider: simulated, host: { cpu: 16 }, max: 4, pricePerHour: 1 }
  - { name: cpu-big, provider: simulated, host: { cpu: 64 }, max: 4, pricePerHour: 4 }
limits: { upscalingSpeed: none, concurrentLaunches: none, createsPerMinute: none }
`;

async function staged(): Promise<Stage> {
  const stage = new Stage(config);
  stage.submit('train', { cpu: 16, runMs: hours(1) });
  stage.submit('evaluate', { cpu: 64, runMs: hours(1) });
  await stage.run(seconds(30));
  return stage;
}

test('a unique beginning of a slice id will do; one that fits several is not guessed', async () => {
  const stage = await staged();
  const [big] = stage.slices('cpu-big');
  const [small] = stage.slices('cpu');
  const answer = await ask(stage, must(big, 'a slice').id.slice(0, -2));
  expect([answer.kind, answer.subject]).toEqual(['slice', big?.id]);
  const several = await askInVain(stage, 'cpu-');
  expect(several.code).toBe(Code.InvalidArgument);
  expect(several.rawMessage).toBe(
    `2 slices begin with "cpu-": ${small?.id}, ${big?.id}; say more of the id`,
  );
  expect((await askInVain(stage, 'cp')).code).toBe(Code.NotFound);
  await stage.end();
});

test('one name for several things: entry, slice, group, floor; the others are named', async () => {
  const stage = await staged();
  const expiresAtMs = epochMs(stage.fleet.nowMs + minutes(5));
  const entries = [anEntry({ id: 'cpu' })];
  await stage.tell({
    kind: 'push-demand',
    push: { source: 'x', generation: 1, entries, expiresAtMs },
  });
  const floor = { id: entryId('cpu'), owner: 'ana', count: 1, ask: anAsk(), expiresAtMs };
  await stage.tell({ kind: 'hold-floor', floor });
  await stage.run(seconds(20));
  const answer = await ask(stage, 'cpu');
  expect([answer.kind, answer.also]).toEqual(['entry', ['group cpu', 'floor cpu']]);
  await stage.end();
});

test.each([
  ['trian', 'did you mean the entry train?'],
  ['cpu-bg', 'did you mean the group cpu-big?'],
  ['evaluete', 'An entry that is pending no longer was started, taken back, or not refreshed'],
  ['cpu-1-zzzz-0', 'A slice of cpu that ended some time ago is in the events'],
  ['nothing-like-it', 'no entry, slice, group or floor is called "nothing-like-it".'],
])('%s is not known', async (name, words) => {
  const stage = await staged();
  const error = await askInVain(stage, name);
  expect(error.code).toBe(Code.NotFound);
  expect(error.rawMessage).toContain(words);
  await stage.end();
});

test.each([
  ['', 'subject is empty: set it to the id of an entry'],
  ['x'.repeat(1_001), 'subject has 1001 characters; no name has more than 1000'],
])('a subject that cannot be: %#', async (name, words) => {
  const stage = await staged();
  const error = await askInVain(stage, name);
  expect(error.code).toBe(Code.InvalidArgument);
  expect(error.rawMessage).toContain(words);
  await stage.end();
});
