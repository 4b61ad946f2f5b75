import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { must } from '../../support/assert.ts';

/**
 * Where the code of the thread is. In a build it lies beside this file. Run from the sources
 * (tests) or from a bundle (benchmarks) there is none, and Node 20 loads no TypeScript in a thread:
 * then it is bundled from the sources of the checkout that we are in, always fresh.
 */
export async function findWorkerFile(): Promise<URL> {
  const beside = new URL('./worker.js', import.meta.url);
  if (existsSync(beside)) return beside;
  bundled ??= bundle(findCheckout(dirname(fileURLToPath(import.meta.url))));
  return bundled;
}

let bundled: Promise<URL> | null = null;

const SOURCE = 'src/store/sqlite/worker.ts';

function findCheckout(folder: string): string {
  if (existsSync(join(folder, SOURCE))) return folder;
  const parent = dirname(folder);
  // Only a bundle carried out of its checkout gets here; its maker reads this.
  if (parent === folder)
    throw new Error(`worker.js lies not beside this file, nor is ${SOURCE} near`);
  return findCheckout(parent);
}

async function bundle(checkout: string): Promise<URL> {
  const { build } = await import('esbuild');
  const { outputFiles } = await build({
    absWorkingDir: checkout,
    entryPoints: [SOURCE],
    bundle: true,
    format: 'esm',
    packages: 'external',
    platform: 'node',
    write: false,
  });
  const { contents } = must(outputFiles[0], 'the bundle');
  // Inside node_modules, so that libsql is found from there. Named by content and renamed into
  // place: test files run side by side.
  const folder = join(checkout, 'node_modules/.cache/bellows');
  const hash = createHash('sha256').update(contents).digest('hex').slice(0, 16);
  const file = join(folder, `store-worker-${hash}.mjs`);
  if (!existsSync(file)) {
    mkdirSync(folder, { recursive: true });
    const draft = `${file}.${process.pid}`;
    writeFileSync(draft, contents);
    renameSync(draft, file);
  }
  return pathToFileURL(file);
}
