import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { Code, ConnectError, type ServiceImpl } from '@connectrpc/connect';
import type { AutoscalerService } from '../api/gen/bellows/v1/autoscaler_pb.ts';
import type {
  PushDemandResponseSchema,
  ReportHostsResponseSchema,
} from '../api/gen/bellows/v1/demand_pb.ts';
import type { ReportAnswer } from '../controller/host-reports.ts';
import { epochMs } from '../model/ids.ts';
import type { Clock } from '../ports/clock.ts';
import { callerOf } from './caller.ts';
import { readFloor } from './codec/floor.ts';
import { readReports } from './codec/reports.ts';
import { obeyed } from './durable.ts';
import { countEntries, type PageOutcome, PushDesk } from './push-desk.ts';
import { tooMuch } from './push-refusals.ts';
import { pause } from './push-totals.ts';
import { fleetOf, type ServedFleet } from './served-fleet.ts';

type DemandRoutes = Pick<
  ServiceImpl<typeof AutoscalerService>,
  'pushDemand' | 'streamDemand' | 'reportHosts' | 'requestResources'
>;

/** Floors of one fleet. */
const FLOORS_MAX = 10_000;

/** What schedulers say: pending work, hosts, floors. Acknowledged once it is durable. */
export function demandRoutes(
  fleets: readonly ServedFleet[],
  { clock }: { readonly clock: Clock },
): DemandRoutes {
  const desk = new PushDesk(clock);
  return {
    async pushDemand(request) {
      const fleet = fleetOf(fleets, request.fleet);
      // A message was parsed in this turn already: reading its entries is another one's work.
      await pause(clock);
      return toPushResponse(await desk.take(fleet, request));
    },

    async streamDemand(requests) {
      let isEmpty = true;
      for await (const { push } of requests) {
        isEmpty = false;
        if (push === undefined) throw wrongStream('push is missing in a message');
        const fleet = fleetOf(fleets, push.fleet);
        // Many pages may have arrived together; others have their turn between them.
        await pause(clock);
        const outcome = await desk.take(fleet, push);
        if (outcome.kind === 'durable') return { push: toPushResponse(outcome) };
      }
      throw wrongStream(
        isEmpty ? 'the stream has no page' : 'the stream ended with `more` to come',
      );
    },

    async reportHosts(request) {
      const { controller, name } = fleetOf(fleets, request.fleet);
      // What is not read yet, or old, would make slices unknown that are there.
      if (controller.epoch === null || controller.standing.kind === 'following') {
        const message = `this controller does not lead fleet ${name}; ask again later`;
        throw new ConnectError(message, Code.Unavailable);
      }
      return toReportResponse(controller.report(readReports(request, controller.now)));
    },

    async requestResources(request, context) {
      const fleet = fleetOf(fleets, request.fleet);
      const wish = readFloor(request);
      if (wish.kind === 'drop') {
        await obeyed(fleet, { kind: 'drop-floor', id: wish.id }, clock);
        return {};
      }
      const { controller, name } = fleet;
      const { floors } = controller.held;
      if (floors.length >= FLOORS_MAX && !floors.some(({ id }) => id === wish.floor.id)) {
        throw tooMuch(`fleet ${name} has ${floors.length} floors; drop some`);
      }
      const expiresAtMs = epochMs(controller.now + wish.ttlMs);
      const floor = { ...wish.floor, owner: callerOf(context).name, expiresAtMs };
      await obeyed(fleet, { kind: 'hold-floor', floor }, clock);
      return { expiresAt: timestampFromMs(expiresAtMs) };
    },
  };
}

const wrongStream = (what: string): ConnectError =>
  new ConnectError(
    `${what}; send pages 0, 1, ... with \`more\` set on all but the last, then end the stream`,
    Code.InvalidArgument,
  );

function toPushResponse(outcome: PageOutcome): MessageInitShape<typeof PushDemandResponseSchema> {
  if (outcome.kind === 'staged') {
    const { generation, entryCount } = outcome;
    return { durable: false, generation: BigInt(generation), entryCount: BigInt(entryCount) };
  }
  const { held } = outcome;
  return {
    durable: true,
    generation: BigInt(held.generation),
    entryCount: BigInt(countEntries(held)),
    expiresAt: timestampFromMs(held.expiresAtMs),
  };
}

function toReportResponse(
  answer: ReportAnswer,
): MessageInitShape<typeof ReportHostsResponseSchema> {
  return {
    orders: answer.orders.map(({ sliceId, order, deadlineMs }) => ({
      sliceId,
      order,
      ...(deadlineMs === null ? {} : { deadline: timestampFromMs(deadlineMs) }),
    })),
    unknownSliceIds: [...answer.unknownIds],
  };
}
