import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'bench/**/*.test.ts'],
    // They need more than npm: `npm run test:opt-in`.
    exclude: ['test/opt-in/**'],
    pool: 'forks',
    // By itself it leaves a core free, which on two cores is half of them.
    maxWorkers: '100%',
    testTimeout: 120_000,
  },
});
