import { fork } from 'node:child_process';
import { setMaxListeners } from 'node:events';
import { Agent, request } from 'node:http';
import { createClient } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import { AutoscalerService } from '../src/api/gen/bellows/v1/autoscaler_pb.ts';
import { must } from '../src/support/assert.ts';

// The other side of `status`: a process of its own, so that what it costs is not the server's.

export type Format = 'json' | 'binary';

/** What the client is told to do; it answers with one message. */
export type Order =
  /** Asks for the status so many times, one after another. */
  | {
      readonly kind: 'ask';
      readonly format: Format;
      readonly count: number;
      readonly gzip: boolean;
    }
  /** Opens so many streams; answers once each has had its first status. */
  | {
      readonly kind: 'watch';
      readonly format: Format;
      readonly count: number;
      readonly gzip: boolean;
    }
  /** Closes them, and says how many statuses came. */
  | { readonly kind: 'stop' };

export interface Asked {
  /** From the request to the last byte of the answer. */
  readonly ms: readonly number[];
  readonly bytes: number;
}

export interface Client {
  order<Answer>(order: Order): Promise<Answer>;
  close(): void;
}

/** Starts the process; `url` is that of the server. */
export function startClient(url: string): Client {
  const child = fork(must(process.argv[1], 'the bundle'), ['status', '--client', url]);
  return {
    order: <Answer>(order: Order) =>
      new Promise<Answer>((resolve) => {
        child.once('message', (answer) => resolve(answer as Answer)); // what runClient answers
        child.send(order);
      }),
    close: () => child.disconnect(),
  };
}

/** The process itself: does as it is told until nobody is there to tell it. */
export function runClient(url: string): void {
  let stop: (() => Promise<number>) | null = null;
  process.on('message', (message) => {
    const order = message as Order; // from startClient
    void (async () => {
      if (order.kind === 'ask') process.send?.(await ask(url, order));
      else if (order.kind === 'watch') {
        stop = await watch(url, order);
        process.send?.({ isWatching: true });
      } else process.send?.({ count: (await stop?.()) ?? 0 });
    })();
  });
}

const agent = new Agent({ keepAlive: true, maxSockets: 1 });

async function ask(
  url: string,
  { format, count, gzip }: Extract<Order, { kind: 'ask' }>,
): Promise<Asked> {
  const ms: number[] = [];
  let bytes = 0;
  for (let n = 0; n < count; n++) {
    const startedMs = performance.now();
    bytes = await askOnce(`${url}/bellows.v1.AutoscalerService/GetAutoscalerStatus`, format, gzip);
    ms.push(performance.now() - startedMs);
  }
  return { ms, bytes };
}

/** By hand: the time to take the answer apart is the client's. */
function askOnce(url: string, format: Format, gzip: boolean): Promise<number> {
  const headers = {
    'content-type': format === 'json' ? 'application/json' : 'application/proto',
    'connect-protocol-version': '1',
    ...(gzip ? { 'accept-encoding': 'gzip' } : {}),
  };
  return new Promise((resolve, reject) => {
    const asking = request(url, { method: 'POST', headers, agent }, (answer) => {
      let bytes = 0;
      answer.on('data', (chunk: Buffer) => (bytes += chunk.length));
      answer.on('end', () => {
        if (answer.statusCode === 200) resolve(bytes);
        else reject(new Error(`status ${answer.statusCode}`));
      });
    });
    asking.on('error', reject);
    asking.end(format === 'json' ? '{}' : '');
  });
}

async function watch(
  url: string,
  { format, count, gzip }: Extract<Order, { kind: 'watch' }>,
): Promise<() => Promise<number>> {
  const stopped = new AbortController();
  setMaxListeners(0, stopped.signal); // one for each stream
  let statuses = 0;
  const firsts: Promise<void>[] = [];
  const ends: Promise<void>[] = [];
  for (let n = 0; n < count; n++) {
    const transport = createConnectTransport({
      baseUrl: url,
      httpVersion: '1.1',
      useBinaryFormat: format === 'binary',
      nodeOptions: { agent: new Agent({ keepAlive: true }) },
      ...(gzip ? {} : { acceptCompression: [] }),
    });
    const client = createClient(AutoscalerService, transport);
    firsts.push(
      new Promise((resolve) => {
        const run = async (): Promise<void> => {
          for await (const { status } of client.watchStatus({}, { signal: stopped.signal })) {
            if (status !== undefined) statuses++;
            resolve();
          }
        };
        ends.push(run().catch(() => {})); // stopped: the stream ends with an error
      }),
    );
  }
  await Promise.all(firsts);
  return async () => {
    stopped.abort();
    await Promise.all(ends);
    return statuses;
  };
}
