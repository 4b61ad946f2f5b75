import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * A program for a process of its own, bundled as the benchmarks are; paths in it are from the root
 * of the checkout. Returns the file to run. Gone after the tests of one file.
 */
export function useProgram(contents: string): string {
  const folder = join(root, `node_modules/.cache/bellows/test-${process.pid}`);
  const outfile = join(folder, 'program.mjs');
  beforeAll(async () => {
    mkdirSync(folder, { recursive: true });
    await build({
      stdin: { contents, resolveDir: root, loader: 'ts' },
      absWorkingDir: root,
      bundle: true,
      format: 'esm',
      packages: 'external',
      platform: 'node',
      outfile,
    });
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  return outfile;
}
