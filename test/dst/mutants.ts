import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { type Mutation, mutations } from './mutations.ts';

// npm run dst:mutants [-- NAME...]: plants each bug in a bundle of its own and runs seeds until one
// notices. A bug that 200 seeds do not notice means that the simulation has a blind spot.

const SEEDS_MAX = 200;
const STEP = 20;
const root = process.cwd();

const plant = ({ edits }: Mutation): Plugin => ({
  name: 'plant',
  setup: (bundle) => {
    bundle.onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const edit = edits.find(({ file }) => file === relative(root, path));
      if (edit === undefined) return null;
      const parts = readFileSync(path, 'utf8').split(edit.find);
      if (parts.length !== 2) {
        throw new Error(`${edit.file} has ${parts.length - 1} places for: ${edit.find}`);
      }
      return { contents: parts.join(edit.replace), loader: 'ts' };
    });
  },
});

/** The first seeds that notice, or null; with what they said. */
async function hunt(mutation: Mutation): Promise<{ seeds: number; words: string } | null> {
  const outfile = join(root, '.bench', `mutant-${mutation.name}.mjs`);
  await build({
    entryPoints: [join(root, 'test/dst/main.ts')],
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    outfile,
    logLevel: 'warning',
    plugins: [plant(mutation)],
  });
  for (let from = 1; from <= SEEDS_MAX; from += STEP) {
    const args = [outfile, '--seeds', String(STEP), '--from', String(from), '--first'];
    const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    if (status === 0) continue;
    const [seed = '?'] = /seed (\d+) broke/.exec(stdout)?.slice(1) ?? [];
    const words = stdout.split('\n')[1]?.trim() ?? '';
    return { seeds: Number(seed), words };
  }
  return null;
}

const names = process.argv.slice(2);
const chosen = mutations.filter(({ name }) => names.length === 0 || names.includes(name));
let missed = 0;
for (const mutation of chosen) {
  const caught = await hunt(mutation);
  if (caught === null) missed++;
  const verdict = caught === null ? `NOT caught in ${SEEDS_MAX} seeds` : `seed ${caught.seeds}`;
  console.log(
    `${mutation.name.padEnd(24)} ${verdict.padEnd(12)} ${caught?.words ?? mutation.harm}`,
  );
}
console.log(`${chosen.length - missed} of ${chosen.length} planted bugs caught`);
process.exit(missed > 0 ? 1 : 0);
