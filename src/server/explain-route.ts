import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError, type ServiceImpl } from '@connectrpc/connect';
import {
  type AutoscalerService,
  ExplainResponseSchema,
} from '../api/gen/bellows/v1/autoscaler_pb.ts';
import type { Turns } from '../support/turns.ts';
import type { Answer } from './explain/answer.ts';
import { explain } from './explain/explain.ts';
import { viewOf } from './explain/fleet-view.ts';
import { findSubjects, subjectText } from './explain/subject.ts';
import { fleetOf, type ServedFleet } from './served-fleet.ts';

/** Other things of the same name that are listed. */
const ALSO_MAX = 20;

/** The answer to "why", for an entry, a slice, a group or a floor. */
export function explainRoute(
  fleets: readonly ServedFleet[],
): Pick<ServiceImpl<typeof AutoscalerService>, 'explain'> {
  return {
    async explain(request) {
      const fleet = fleetOf(fleets, request.fleet);
      const view = viewOf(fleet);
      if (view.standing.kind === 'following') {
        // What is remembered here may be another's past.
        throw new ConnectError(
          `this controller does not lead fleet ${fleet.name}: ask the one that does, or ask again in a few seconds`,
          Code.Unavailable,
        );
      }
      const [subject, ...others] = await runInTurns(findSubjects(view, request.subject));
      if (subject === undefined) throw new ConnectError('nothing was found', Code.Internal);
      const also = others.slice(0, ALSO_MAX).map(subjectText);
      return create(ExplainResponseSchema, { ...toMessage(explain(view, subject)), also });
    },
  };
}

/** Others have a turn wherever it stops. What it reads was frozen before it began. */
async function runInTurns<T>(turns: Turns<T>): Promise<T> {
  let next = turns.next();
  for (; next.done !== true; next = turns.next()) await new Promise(setImmediate);
  return next.value;
}

function toMessage(answer: Answer): MessageInitShape<typeof ExplainResponseSchema> {
  const { kind, subject, summary, remedy, nextLook } = answer;
  return {
    kind,
    subject,
    summary,
    remedy,
    chain: answer.chain.map(({ atMs, ...reason }) => {
      return atMs === null ? { reason } : { at: timestampFromMs(atMs), reason };
    }),
    alternatives: answer.options.map(({ group, ...reason }) => ({ group, reason })),
    ...(nextLook.atMs === null ? {} : { nextLookAt: timestampFromMs(nextLook.atMs) }),
    nextLook: nextLook.text,
  };
}
