import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ServiceImpl } from '@connectrpc/connect';
import { connectNodeAdapter } from '@connectrpc/connect-node';
import { AutoscalerService } from '../src/api/gen/bellows/v1/autoscaler_pb.ts';
import type { Screen, Surroundings } from '../src/cli/surroundings.ts';

export type Routes = Partial<ServiceImpl<typeof AutoscalerService>>;

export interface WireServer {
  readonly url: string;
  readonly port: number;
  readonly close: () => Promise<void>;
}

/** A server of the real service on a real socket, whose answers the test gives. */
export async function openWireServer(
  routes: Routes,
  { port = 0, onRequest }: { port?: number; onRequest?: (request: IncomingMessage) => void } = {},
): Promise<WireServer> {
  const answer = connectNodeAdapter({
    routes: (router) => void router.service(AutoscalerService, routes),
  });
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    onRequest?.(request);
    answer(request, response);
  });
  await new Promise<void>((resolve, reject) => {
    server.on('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  // A server on TCP has an address of this kind.
  const address = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${address.port}`,
    port: address.port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export interface Printed {
  stdout: string;
  stderr: string;
}

/** Surroundings that keep what is printed: no terminal, UTC, a clock that stands unless told otherwise. */
export function aPlace(
  over: Partial<Omit<Surroundings, 'screen'>> & {
    screen?: Screen;
    interrupt?: AbortController;
  } = {},
): {
  readonly around: Surroundings;
  readonly printed: Printed;
  readonly interrupt: AbortController;
} {
  const printed: Printed = { stdout: '', stderr: '' };
  const { screen, interrupt = new AbortController(), ...rest } = over;
  const around: Surroundings = {
    out: {
      stdout: (text) => void (printed.stdout += text),
      stderr: (text) => void (printed.stderr += text),
      hasColour: false,
      hasProgress: false,
    },
    env: {},
    nowMs: () => NOW_MS,
    screen: () => screen ?? null,
    userName: 'ana',
    timeZone: 'UTC',
    interrupted: () => interrupt.signal,
    ...rest,
  };
  return { around, printed, interrupt };
}

/** A Sunday morning. */
export const NOW_MS = Date.parse('2026-11-15T09:14:07Z');

/** Runs a command against a server with these answers, which is gone afterwards. */
export async function runAgainst(
  routes: Routes,
  run: (options: { readonly server: string }, around: Surroundings) => Promise<number>,
  place = aPlace(),
): Promise<Printed & { readonly exit: number }> {
  const server = await openWireServer(routes);
  try {
    const exit = await run({ server: server.url }, place.around);
    const plain = (text: string): string => text.replaceAll(server.url, 'http://server');
    return { exit, stdout: plain(place.printed.stdout), stderr: plain(place.printed.stderr) };
  } finally {
    await server.close();
  }
}

/** Waits until something holds; fails after ten seconds. */
export async function eventually(holds: () => boolean, what: string): Promise<void> {
  const endMs = performance.now() + 10_000;
  while (!holds()) {
    if (performance.now() > endMs) throw new Error(`waited in vain for: ${what}`);
    await new Promise((resolve) => void setTimeout(resolve, 5));
  }
}
