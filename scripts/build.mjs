// Bundles what is run: the command, and the programs of its threads and hosts. One file instead of
// hundreds is what makes `bellows` start quickly. Types are checked by `npm run typecheck`.
import { rmSync } from 'node:fs';
import { build } from 'esbuild';

rmSync('dist', { recursive: true, force: true });
await build({
  entryPoints: [
    'src/cli/main.ts',
    'src/store/sqlite/worker.ts',
    'src/solver/worker.ts',
    'src/providers/local/host-main.ts',
  ],
  // As in the sources, so that programs find each other; chunks lie one folder deep, as all rooms do.
  outbase: 'src',
  outdir: 'dist',
  chunkNames: 'chunks/[name]-[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  sourcemap: true,
  // Native code and WebAssembly stay in their packages; esbuild is only asked for in a checkout.
  external: ['libsql', 'highs', 'esbuild'],
  // Packages in CommonJS ask for Node's modules by `require`.
  banner: {
    js: "import { createRequire as createRequireOfBundle } from 'node:module'; const require = createRequireOfBundle(import.meta.url);",
  },
  logLevel: 'warning',
});
