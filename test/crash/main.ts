import { rmSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { runCrashes } from './crash-run.ts';

// npm run crash -- --kills N [--seed K]

const { values } = parseArgs({
  options: { kills: { type: 'string', default: '100' }, seed: { type: 'string', default: '1' } },
});
const [kills, seed] = [Number(values.kills), Number(values.seed)];
if (!Number.isInteger(kills) || kills < 0 || kills > 10_000 || !Number.isInteger(seed)) {
  console.error('usage: npm run crash -- --kills N (0 to 10000) [--seed K]');
  process.exit(2);
}
const startedMs = Date.now();
const report = await runCrashes({
  kills,
  seed,
  onLife: (life) => process.stderr.isTTY && process.stderr.write(`\rlife ${life + 1} of ${kills} `),
});
const { lost, leaked, doubled, refused, replay } = report;
for (const line of [...lost, ...leaked, ...doubled, ...refused]) console.log(`  ${line}`);
console.log(replay.lines.trimEnd());
const isGood =
  lost.length + leaked.length + doubled.length + refused.length === 0 &&
  report.settled &&
  report.exitCode === 0 &&
  replay.exitCode === 0;
if (isGood) rmSync(report.folder, { recursive: true, force: true });
else console.log(`what it left behind: ${report.folder}`);
console.log(
  `${report.kills} kills in ${Math.round((Date.now() - startedMs) / 1_000)} s: ` +
    `${report.acknowledged} requests acknowledged, ${lost.length} lost; ` +
    `${report.hostsSeen} host processes seen, ${leaked.length} leaked; ` +
    `${doubled.length} slices doubled; ${refused.length} refused; ` +
    `settled ${report.settled}; exit code ${report.exitCode}; replay exit code ${replay.exitCode}`,
);
process.exit(isGood ? 0 : 1);
