import { basename, dirname, join } from 'node:path';

/** Where everything of one fleet lies. */
export interface Layout {
  /** One folder for each slice that there is: its intent, and a folder for each host. */
  readonly slices: string;
  /** One empty file for each slice that was released, also for those that never were. */
  readonly ended: string;
  /** Logs of hosts that did not end in order. */
  readonly failed: string;
  /** What is being made, until it is renamed into its place, and what is being removed. */
  readonly drafts: string;
}

export function layoutOf(dataDir: string, fleet: string): Layout {
  const inFleet = (name: string): string => join(dataDir, fleet, name);
  return {
    slices: inFleet('slices'),
    ended: inFleet('ended'),
    failed: inFleet('failed'),
    drafts: inFleet('drafts'),
  };
}

// Files of a slice and of a host.
export const INTENT_FILE = 'intent.json';
export const HOST_FILE = 'host.json';
export const STATE_FILE = 'state.json';
export const LOG_FILE = 'host.log';
export const SCRIPT_FILE = 'bootstrap.sh';

/** What a host finds from its own folder, `.../slices/SLICE/INDEX`. */
export function surroundingsOf(hostDir: string): {
  readonly intentFile: string;
  readonly endedFile: string;
} {
  const sliceDir = dirname(hostDir);
  const fleetDir = dirname(dirname(sliceDir));
  return {
    intentFile: join(sliceDir, INTENT_FILE),
    endedFile: join(fleetDir, 'ended', basename(sliceDir)),
  };
}

const safeName = /^[A-Za-z0-9][A-Za-z0-9._-]{0,149}$/;

/** Fleets and slices give files their names: what could leave its folder is none. */
export const isSafeName = (name: string): boolean => safeName.test(name);

/** Host folders are named by their index, written in one way only. */
export const parseIndex = (name: string): number | null =>
  /^(0|[1-9][0-9]{0,4})$/.test(name) ? Number(name) : null;
