import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { renderExplanation } from '../src/cli/render/explanation.ts';
import { createMoments } from '../src/cli/render/moment.ts';
import { createStyle } from '../src/cli/render/style.ts';
import { hours, minutes, seconds } from './scenarios/sketch.ts';
import { Stage } from './scenarios/stage.ts';
import { ask } from './why.ts';

const config = `
groups:
  - { name: h100-spot, provider: simulated, device: gpu, host: { gpu: 8 }, max: 4, pricePerHour: 24, preemptible: true }
  - { name: h100, provider: simulated, device: gpu, host: { gpu: 8 }, max: 1, pricePerHour: 60 }
  - { name: cpu, provider: simulated, host: { cpu: 16 }, max: 3, pricePerHour: 1, idleTimeout: 10m }
  - { name: v5e-16, provider: simulated, device: tpu, host: { tpu: 4 }, hostsPerSlice: 4, max: 2, pricePerHour: 20 }
limits: { upscalingSpeed: none, concurrentLaunches: none, createsPerMinute: none }
`;

/** What `bellows why` prints, as the page has it. */
async function example(stage: Stage, name: string): Promise<string> {
  const moments = createMoments(stage.fleet.nowMs, 'UTC');
  const view = { style: createStyle(false), moments, columns: Infinity };
  const text = renderExplanation(await ask(stage, name), view);
  return `$ bellows why ${name}\n${text}`;
}

test('the examples in docs/why.md are what a fleet really answers', async () => {
  const stage = new Stage(config, { wallStartMs: Date.UTC(2026, 10, 15, 3, 0) });
  stage.stockout('h100-spot', minutes(30));
  stage.submit('train', { gpu: 8, runMs: hours(1) }, 3);
  stage.submit('tokenize', { cpu: 8, runMs: minutes(2) });
  stage.submit('pretrain', { tpu: 4, gang: 8, runMs: hours(1) });
  await stage.run(seconds(58));
  const placed = await example(stage, 'pretrain');
  await stage.run(seconds(73));
  const waiting = await example(stage, 'train-1');
  await stage.until(() => stage.finished().length === 1, minutes(10));
  await stage.run(minutes(4));
  const idle = await example(stage, 'cpu-1-toiwc2');
  const page = readFileSync(new URL('../docs/why.md', import.meta.url), 'utf8');
  const examples = [...page.matchAll(/```text\n(.*?)```/gs)].map(([, text]) => text);
  expect([waiting, placed, idle]).toEqual(examples);
  await stage.end();
});
