import { Code, ConnectError } from '@connectrpc/connect';
import type { Problem } from '../config/problem.ts';
import type { Controller } from '../controller/controller.ts';
import type { Store } from '../ports/store.ts';
import { nearestName } from '../support/nearest.ts';
import type { FleetFeed } from './fleet-feed.ts';

/** One fleet that this process runs, as the routes see it. */
export interface ServedFleet {
  readonly name: string;
  readonly controller: Controller;
  readonly store: Pick<Store, 'readEvents'>;
  /** What happened lately, and a bell for those who watch. */
  readonly feed: FleetFeed;
  /** Reads the configuration again. */
  reload(ask: { readonly isDryRun: boolean }): Promise<ReloadOutcome>;
}

export type ReloadOutcome =
  /** The old configuration keeps running. */
  | { readonly kind: 'refused'; readonly problems: readonly Problem[] }
  | { readonly kind: 'changed'; readonly change: ConfigChange };

/** What another configuration means, on what was last seen. */
export interface ConfigChange {
  /** One line each; none when nothing changes. */
  readonly lines: readonly string[];
  readonly launches: BeforeAfter;
  readonly releases: BeforeAfter;
  readonly microUsdPerHour: BeforeAfter;
}

export interface BeforeAfter {
  readonly before: number;
  readonly after: number;
}

/** The fleet that a request means: by name, or the only one. */
export function fleetOf(fleets: readonly ServedFleet[], name: string): ServedFleet {
  const names = fleets.map((fleet) => fleet.name);
  const [only] = fleets;
  if (name === '' && fleets.length === 1 && only !== undefined) return only;
  const found = fleets.find((fleet) => fleet.name === name);
  if (found !== undefined) return found;
  if (name === '') {
    const remedy = `set fleet to one of ${names.join(', ')}`;
    throw new ConnectError(`several fleets are served here; ${remedy}`, Code.InvalidArgument);
  }
  const near = nearestName(name, names);
  const remedy = near === null ? `there is ${names.join(', ')}` : `did you mean ${near}?`;
  throw new ConnectError(`no fleet ${JSON.stringify(name)} here; ${remedy}`, Code.NotFound);
}
