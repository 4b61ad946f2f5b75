import type { ServiceImpl } from '@connectrpc/connect';
import {
  type AutoscalerService,
  GetAutoscalerStatusResponseSchema,
  WatchStatusResponseSchema,
} from '../api/gen/bellows/v1/autoscaler_pb.ts';
import type { Clock } from '../ports/clock.ts';
import { byText } from '../support/order.ts';
import { must } from '../support/assert.ts';
import { fleetOf, type ServedFleet } from './served-fleet.ts';
import type { SharedJson } from './shared-json.ts';
import { listEntries } from './views/entry-list.ts';
import { listEvents } from './views/event-list.ts';
import { SliceList } from './views/slice-list.ts';
import { StatusView } from './views/status-view.ts';
import { StatusWriter } from './views/status-writer.ts';
import { intervalOf, watchStatus } from './views/watch-status.ts';

export type StatusRoutes = Pick<
  ServiceImpl<typeof AutoscalerService>,
  'listFleets' | 'getAutoscalerStatus' | 'watchStatus' | 'listEntries' | 'listSlices' | 'listEvents'
>;

/** The calls that only look. */
export function statusRoutes(
  fleets: readonly ServedFleet[],
  { version, clock }: { readonly version: string; readonly clock: Clock },
  shared: SharedJson | null,
): StatusRoutes {
  const views = new Map(
    fleets.map((fleet) => {
      const status = new StatusWriter(new StatusView(fleet), shared);
      return [fleet, { status, slices: new SliceList(fleet) }];
    }),
  );
  const viewsOf = (fleet: ServedFleet) => must(views.get(fleet), 'views of every fleet');
  return {
    listFleets: () => ({ version, fleets: fleets.map(toInfo).sort(byName) }),
    getAutoscalerStatus: (request, { requestHeader }) => {
      const { status } = viewsOf(fleetOf(fleets, request.fleet));
      return status.write(GetAutoscalerStatusResponseSchema, typeOf(requestHeader));
    },
    watchStatus: (request, { signal, requestHeader }) => {
      const fleet = fleetOf(fleets, request.fleet);
      const intervalMs = intervalOf(request.interval);
      const { status } = viewsOf(fleet);
      const message = () => status.write(WatchStatusResponseSchema, typeOf(requestHeader));
      return watchStatus(fleet, { message, clock, intervalMs, signal });
    },
    listEntries: (request) => listEntries(fleetOf(fleets, request.fleet).controller.last, request),
    listSlices: (request) => viewsOf(fleetOf(fleets, request.fleet)).slices.list(request),
    listEvents: (request) => listEvents(fleetOf(fleets, request.fleet), request),
  };
}

const typeOf = (header: Headers): string => header.get('content-type') ?? '';

function toInfo({ name, controller }: ServedFleet) {
  const { mode, fleet } = controller.control;
  return { name, standing: controller.standing.kind, mode, groupCount: fleet.groups.length };
}

const byName = (a: { readonly name: string }, b: { readonly name: string }): number =>
  byText(a.name, b.name);
