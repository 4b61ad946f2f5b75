import { type ConnectError, createRouterTransport, createClient } from '@connectrpc/connect';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import {
  AutoscalerService,
  type ExplainResponse,
} from '../src/api/gen/bellows/v1/autoscaler_pb.ts';
import type { FleetEvent } from '../src/model/event.ts';
import { epochMs } from '../src/model/ids.ts';
import { explainRoute } from '../src/server/explain-route.ts';
import { FleetFeed } from '../src/server/fleet-feed.ts';
import type { ServedFleet } from '../src/server/served-fleet.ts';
import { must } from '../src/support/assert.ts';
import type { Stage } from './scenarios/stage.ts';

/** A staged fleet as the routes see it, with what happened so far. */
export async function serve({ fleet }: Stage): Promise<ServedFleet> {
  const feed = new FleetFeed();
  const ask = { sinceMs: epochMs(0), afterSeq: -1, limit: 1_000_000 };
  for (const { seq, atMs, text } of await fleet.store.readEvents(ask)) {
    const event: FleetEvent = JSON.parse(text);
    feed.happened([{ atMs, event }], seq);
  }
  return {
    name: 'staged',
    controller: must(fleet.leader, 'somebody leads'),
    store: fleet.store,
    feed,
    reload: () => Promise.resolve({ kind: 'refused', problems: [] }),
  };
}

/** Asks over the wire, as a client does. */
export async function ask(stage: Stage, subject: string): Promise<ExplainResponse> {
  const route = explainRoute([await serve(stage)]);
  const transport = createRouterTransport(({ service }) => service(AutoscalerService, route));
  return createClient(AutoscalerService, transport).explain({ subject });
}

/** What an unanswerable question is told. */
export async function askInVain(stage: Stage, subject: string): Promise<ConnectError> {
  return ask(stage, subject).then(
    ({ summary }) => Promise.reject(new Error(`answered: ${summary}`)),
    (error: ConnectError) => error,
  );
}

/** An answer as people read it; times are seconds since the stage began. */
export async function why(stage: Stage, subject: string): Promise<string> {
  const answer = await ask(stage, subject);
  const startMs = stage.fleet.nowMs - stage.atMs;
  const when = (at: ExplainResponse['nextLookAt']): string =>
    at === undefined ? 'now' : `${Math.round((timestampMs(at) - startMs) / 1_000)}s`;
  const lines = [`${answer.kind} ${answer.subject}`, answer.summary];
  for (const { at, reason } of answer.chain) {
    lines.push(`  ${when(at)} ${reason?.kind}: ${reason?.text}`);
  }
  for (const { group, reason } of answer.alternatives) {
    lines.push(`  - ${group} (${reason?.kind}) ${reason?.text}`);
  }
  if (answer.remedy !== '') lines.push(`remedy: ${answer.remedy}`);
  lines.push(`next look ${when(answer.nextLookAt)}: ${answer.nextLook}`);
  if (answer.also.length > 0) lines.push(`also: ${answer.also.join(', ')}`);
  return lines.join('\n');
}
