import { AutoscalerService } from '../api/gen/bellows/v1/autoscaler_pb.ts';
import type { Role } from './caller.ts';

/** A call, by the name it has in the generated service. */
export type RpcName = keyof typeof AutoscalerService.method;

interface Permission {
  /** The least role, as a refusal names it. */
  readonly needs: string;
  readonly roles: readonly Role[];
  /** It changes something, and is audited. */
  readonly isMutating: boolean;
}

const looking: Permission = {
  needs: 'viewer',
  roles: ['viewer', 'scheduler', 'operator', 'admin'],
  isMutating: false,
};
const scheduling: Permission = {
  needs: 'scheduler',
  roles: ['scheduler', 'operator', 'admin'],
  isMutating: true,
};
const reporting: Permission = {
  needs: 'scheduler or worker',
  roles: ['worker', 'scheduler', 'operator', 'admin'],
  isMutating: true,
};
const operating: Permission = {
  needs: 'operator',
  roles: ['operator', 'admin'],
  isMutating: true,
};
const administering: Permission = { needs: 'admin', roles: ['admin'], isMutating: true };

/** Who may make which call. The comments in the proto say the same. */
export const permissions: Readonly<Record<RpcName, Permission>> = {
  listFleets: looking,
  pushDemand: scheduling,
  streamDemand: scheduling,
  reportHosts: reporting,
  requestResources: scheduling,
  getAutoscalerStatus: looking,
  watchStatus: looking,
  listEntries: looking,
  listSlices: looking,
  listEvents: looking,
  explain: looking,
  drainSlice: operating,
  protectSlice: operating,
  pause: operating,
  resume: operating,
  reloadConfig: administering,
};

/** A call of the service by its name, or null for one that has no row here: nobody may make it. */
export const permissionOf = (localName: string): Permission | null =>
  Object.hasOwn(permissions, localName)
    ? // The line above makes sure that it is one of these keys.
      permissions[localName as RpcName]
    : null;
