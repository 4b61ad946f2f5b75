import type { ServiceImpl } from '@connectrpc/connect';
import type { AutoscalerService } from '../api/gen/bellows/v1/autoscaler_pb.ts';
import type { Clock } from '../ports/clock.ts';
import { byText } from '../support/order.ts';
import { must } from '../support/assert.ts';
import { fleetOf, type ServedFleet } from './served-fleet.ts';
import { listEntries } from './views/entry-list.ts';
import { listEvents } from './views/event-list.ts';
import { SliceList } from './views/slice-list.ts';
import { StatusView } from './views/status-view.ts';
import { intervalOf, watchStatus } from './views/watch-status.ts';

export type StatusRoutes = Pick<
  ServiceImpl<typeof AutoscalerService>,
  'listFleets' | 'getAutoscalerStatus' | 'watchStatus' | 'listEntries' | 'listSlices' | 'listEvents'
>;

/** The calls that only look. */
export function statusRoutes(
  fleets: readonly ServedFleet[],
  { version, clock }: { readonly version: string; readonly clock: Clock },
): StatusRoutes {
  const views = new Map(
    fleets.map((fleet) => {
      return [fleet, { status: new StatusView(fleet), slices: new SliceList(fleet) }];
    }),
  );
  const viewsOf = (fleet: ServedFleet) => must(views.get(fleet), 'views of every fleet');
  return {
    listFleets: () => ({ version, fleets: fleets.map(toInfo).sort(byName) }),
    getAutoscalerStatus: ({ fleet }) => {
      return { status: viewsOf(fleetOf(fleets, fleet)).status.current() };
    },
    watchStatus: (request, { signal, requestHeader }) => {
      const fleet = fleetOf(fleets, request.fleet);
      const intervalMs = intervalOf(request.interval);
      // Every protocol names its codec there; the rest is text, and read by people.
      const isBinary = /\bproto\b|grpc(-web)?$/.test(requestHeader.get('content-type') ?? '');
      const view = viewsOf(fleet).status;
      return watchStatus(fleet, { view, clock, intervalMs, signal, isBinary });
    },
    listEntries: (request) => listEntries(fleetOf(fleets, request.fleet).controller.last, request),
    listSlices: (request) => viewsOf(fleetOf(fleets, request.fleet)).slices.list(request),
    listEvents: (request) => listEvents(fleetOf(fleets, request.fleet), request),
  };
}

function toInfo({ name, controller }: ServedFleet) {
  const { mode, fleet } = controller.control;
  return { name, standing: controller.standing.kind, mode, groupCount: fleet.groups.length };
}

const byName = (a: { readonly name: string }, b: { readonly name: string }): number =>
  byText(a.name, b.name);
