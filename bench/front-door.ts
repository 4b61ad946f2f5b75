import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRoutes } from '../src/server/routes.ts';
import type { ServedFleet } from '../src/server/served-fleet.ts';
import { openServer } from '../src/server/server.ts';
import { openTokenBook } from '../src/server/token-book.ts';
import { systemClock } from '../src/wiring/system-clock.ts';

/** The server that `bellows up` opens, on loopback and without tokens. */
export async function listen(fleet: ServedFleet): Promise<{ url: string; close(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'bellows-bench-'));
  const server = await openServer({
    listen: '127.0.0.1:0',
    tls: null,
    allowedHosts: [],
    requireTokens: false,
    bodyMaxBytes: 8 * 2 ** 20,
    requestsPerSecond: 10_000,
    streamsMax: 1_000,
    tokens: openTokenBook(join(folder, 'tokens.json')),
    audit: { write: () => {}, close: async () => {} },
    log: { write: () => {} },
    clock: systemClock,
    routes: createRoutes([fleet], { version: 'bench', clock: systemClock }),
  });
  const close = async (): Promise<void> => {
    await server.close(0);
    rmSync(folder, { recursive: true });
  };
  return { url: server.url, close };
}
