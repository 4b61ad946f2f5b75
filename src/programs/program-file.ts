import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { must } from '../support/assert.ts';

/**
 * Where the code of a thread or process of ours is, given its place in the sources. In a build it
 * lies at the same place under dist. Run from the sources (tests) or from a bundle (benchmarks) there
 * is none, and Node 20 loads no TypeScript: then it is bundled from the sources of the checkout that
 * we are in, always fresh.
 */
export async function findProgramFile(source: `${string}.ts`): Promise<URL> {
  const built = new URL(`../${source.replace(/\.ts$/, '.js')}`, import.meta.url);
  if (existsSync(built)) return built;
  let bundling = bundled.get(source);
  if (bundling === undefined) {
    bundling = bundle(`src/${source}`, findCheckout(dirname(fileURLToPath(import.meta.url))));
    bundled.set(source, bundling);
  }
  return bundling;
}

const bundled = new Map<string, Promise<URL>>();

function findCheckout(folder: string): string {
  if (existsSync(join(folder, 'src/programs/program-file.ts'))) return folder;
  const parent = dirname(folder);
  // Only a bundle carried out of its checkout gets here; its maker reads this.
  if (parent === folder) throw new Error('this bundle lies in no checkout of Bellows');
  return findCheckout(parent);
}

async function bundle(source: string, checkout: string): Promise<URL> {
  const { build } = await import('esbuild');
  const { outputFiles } = await build({
    absWorkingDir: checkout,
    entryPoints: [source],
    bundle: true,
    format: 'esm',
    packages: 'external',
    platform: 'node',
    write: false,
  });
  const { contents } = must(outputFiles[0], 'the bundle');
  // Inside node_modules, so that packages are found from there. Named by content and renamed into
  // place: test files run side by side.
  const folder = join(checkout, 'node_modules/.cache/bellows');
  const hash = createHash('sha256').update(contents).digest('hex').slice(0, 16);
  const file = join(folder, `${basename(source, '.ts')}-${hash}.mjs`);
  if (!existsSync(file)) {
    mkdirSync(folder, { recursive: true });
    const draft = `${file}.${process.pid}`;
    writeFileSync(draft, contents);
    renameSync(draft, file);
  }
  return pathToFileURL(file);
}
