import { createInterface } from 'node:readline';
import { create } from '@bufbuild/protobuf';
import { createClient } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import { toWireEntry } from '../src/api/demand-wire.ts';
import { AutoscalerService } from '../src/api/gen/bellows/v1/autoscaler_pb.ts';
import {
  type PushDemandRequest,
  PushDemandRequestSchema,
} from '../src/api/gen/bellows/v1/demand_pb.ts';
import { createScene } from './tick.ts';

const PAGE = 2_000;

/**
 * A scheduler that pushes all its work whenever it is told a generation. Half of them leave the times
 * to the server, as schedulers do that know none.
 */
export async function pushAll([url = '', encoding = 'json']: readonly string[]): Promise<void> {
  const entries = createScene('cost').entries.map(toWireEntry);
  const undated = entries.map(({ submittedAt: _submittedAt, ...entry }) => entry);
  const transport = createConnectTransport({
    baseUrl: url,
    httpVersion: '1.1',
    useBinaryFormat: encoding !== 'json',
  });
  const client = createClient(AutoscalerService, transport);
  console.log('ready');
  for await (const line of createInterface({ input: process.stdin })) {
    const generation = Number(line);
    const isDated = generation % 2 === 0;
    const said = isDated ? entries : undated;
    const pages = Array.from({ length: Math.ceil(said.length / PAGE) }, (_, page) =>
      create(PushDemandRequestSchema, {
        source: 'bench',
        generation: BigInt(generation),
        // Another first entry each time, so that no push is one that was held already.
        entries: said.slice(page * PAGE + (page === 0 ? generation % 7 : 0), (page + 1) * PAGE),
        page,
        more: (page + 1) * PAGE < said.length,
      }),
    );
    if (encoding === 'stream') await client.streamDemand(stream(pages));
    else for (const page of pages) await client.pushDemand(page);
    console.log('durable');
  }
}

async function* stream(pages: readonly PushDemandRequest[]) {
  for (const push of pages) yield { push };
}
