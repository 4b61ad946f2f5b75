import { defineConfig } from 'vitest/config';

// What needs more than npm: see scripts/opt-in.sh.
export default defineConfig({
  test: { include: ['test/opt-in/**/*.test.ts'], pool: 'forks', testTimeout: 120_000 },
});
