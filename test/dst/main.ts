import { runSeed } from '../../src/sim/dst.ts';

// npm run dst -- --seeds N [--from K] [--verbose]

function readFlag(name: string, fallback: number): number {
  const at = process.argv.indexOf(`--${name}`);
  if (at < 0) return fallback;
  const value = Number(process.argv[at + 1]);
  if (!Number.isInteger(value) || value < 0) {
    console.error(`--${name} takes a whole number, not ${process.argv[at + 1] ?? 'nothing'}`);
    process.exit(2);
  }
  return value;
}

const from = readFlag('from', 1);
const seeds = readFlag('seeds', 100);
const isFirstEnough = process.argv.includes('--first');
const isVerbose = process.argv.includes('--verbose');
let ticks = 0;
let faults = 0;
let simulatedMs = 0;
let failed = 0;
const kinds = new Map<string, number>();
const startedMs = Date.now();
for (let seed = from; seed < from + seeds; seed++) {
  const report = await runSeed(seed);
  ticks += report.tickCount;
  faults += report.faultCount;
  simulatedMs += report.simulatedMs;
  for (const [kind, count] of report.faults) kinds.set(kind, (kinds.get(kind) ?? 0) + count);
  if (report.broken.length > 0) {
    failed++;
    console.log(`seed ${seed} broke ${report.broken.length} promises:`);
    for (const line of report.broken.slice(0, isVerbose ? 100 : 5)) console.log(`  ${line}`);
    console.log(`  replay it: npm run dst -- --seeds 1 --from ${seed} --verbose`);
  }
  if (failed > 0 && isFirstEnough) break;
  if (process.stderr.isTTY) process.stderr.write(`\rseed ${seed}, ${failed} failed `);
}
if (isVerbose) console.log(Object.fromEntries([...kinds].sort(([a], [b]) => (a < b ? -1 : 1))));
const seconds = (Date.now() - startedMs) / 1_000;
console.log(
  `${seeds} seeds (${from} to ${from + seeds - 1}), ${failed} failed, ${ticks} ticks, ${faults} faults, ` +
    `${(simulatedMs / 3_600_000).toFixed(0)} simulated hours in ${seconds.toFixed(0)} s`,
);
process.exit(failed > 0 ? 1 : 0);
