// A first week with a new autoscaler: look, do not touch.
//
// What happens elsewhere: a dry run is a flag on some calls, and one of them is forgotten.
//
// What Bellows does: `advisory` decides, explains and records every tick as always, and carries nothing
// out: the same reasons, no call but lists. Promise 4.

import { expect, test } from 'vitest';
import { hours, minutes } from './sketch.ts';
import { Stage } from './stage.ts';

const config = `
groups:
  - { name: gpu, provider: simulated, device: gpu, host: { gpu: 8 }, min: 1, max: 6, pricePerHour: 30 }
`;

test('it says what it would do, and why, and does nothing', async () => {
  const stage = new Stage(config, { mode: 'advisory' });
  stage.submit('job', { gpu: 8, runMs: hours(1) }, 3);
  stage.submit('huge', { gpu: 80, runMs: hours(1) });
  await stage.run(minutes(30));
  expect(stage.made()).toEqual([]);
  expect(stage.fleet.records()).toEqual([]);
  expect(stage.calls.every(({ kind }) => kind === 'list')).toBe(true);
  const { output } = stage.fleet.leader?.last ?? never();
  expect(output.decision.groups).toMatchObject([{ group: 'gpu', launch: 3 }]);
  expect(output.steps.filter(({ kind }) => kind === 'launch')).toHaveLength(3);
  expect(stage.reasonFor('job-2').code).toBe('placed');
  expect(stage.reasonFor('huge').code).toBe('insufficient-resources');
  await stage.end();
});

test('machines of an earlier, active life are seen, explained and left alone', async () => {
  const stage = new Stage(config);
  stage.submit('job', { gpu: 8, runMs: minutes(5) }, 3);
  await stage.until(() => stage.finished().length === 3, minutes(15));
  const { control } = stage.fleet.leader?.last?.input ?? never();
  stage.fleet.changeControl({ ...control, mode: 'advisory' });
  stage.calls.length = 0;
  await stage.run(hours(1));
  expect(stage.alive()).toHaveLength(3); // idle for long: in active mode two of them would be gone
  expect(stage.calls.every(({ kind }) => kind === 'list')).toBe(true);
  const { output } = stage.fleet.leader?.last ?? never();
  expect(output.steps.some(({ kind }) => kind === 'drain')).toBe(true);
  stage.fleet.changeControl({ ...control, mode: 'active' });
  await stage.until(() => stage.alive().length === 1, minutes(10));
  await stage.end();
});

function never(): never {
  throw new Error('there is one');
}
