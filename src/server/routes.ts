import type { ConnectRouter } from '@connectrpc/connect';
import { AutoscalerService } from '../api/gen/bellows/v1/autoscaler_pb.ts';
import type { Clock } from '../ports/clock.ts';
import { demandRoutes } from './demand-routes.ts';
import { explainRoute } from './explain-route.ts';
import { operatorRoutes } from './operator-routes.ts';
import type { ServedFleet } from './served-fleet.ts';
import type { SharedJson } from './shared-json.ts';
import { statusRoutes } from './status-routes.ts';

/** All that the service answers. */
export function createRoutes(
  fleets: readonly ServedFleet[],
  options: { readonly version: string; readonly clock: Clock },
): (router: ConnectRouter, shared: SharedJson) => void {
  return (router, shared) =>
    void router.service(AutoscalerService, {
      ...statusRoutes(fleets, options, shared),
      ...demandRoutes(fleets, options),
      ...operatorRoutes(fleets, options),
      ...explainRoute(fleets),
    });
}
