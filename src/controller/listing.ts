import { type Machine, machineStates } from '../model/machine.ts';

const states: ReadonlySet<unknown> = new Set(machineStates);
const ID_MAX = 500;
const HOSTS_MAX = 10_000;
const FAILURE_MAX = 1_000;

/**
 * What a provider listed, as far as it makes sense. Adapters parse what their cloud says; this is the
 * last door, so that one malformed row cannot stop a fleet.
 */
export function checkListing(listing: unknown): Listing | null {
  if (!Array.isArray(listing)) return null;
  const rows: readonly unknown[] = listing;
  let checked = known.get(rows);
  if (checked === undefined) {
    const machines = rows.filter(isMachine);
    checked = { machines, dropped: rows.length - machines.length };
    known.set(rows, checked);
  }
  return checked;
}

interface Listing {
  readonly machines: readonly Machine[];
  readonly dropped: number;
}

/** A provider that knows that nothing has changed may give the same list again. */
const known = new WeakMap<readonly unknown[], Listing>();

const isName = (value: unknown): boolean =>
  typeof value === 'string' && value.length > 0 && value.length <= ID_MAX;

function isMachine(row: unknown): row is Machine {
  if (typeof row !== 'object' || row === null) return false;
  const machine: Partial<Record<keyof Machine, unknown>> = row;
  const { hostIndex, interruptionAtMs, failure } = machine;
  return (
    isName(machine.machineId) &&
    isName(machine.sliceId) &&
    isName(machine.group) &&
    states.has(machine.state) &&
    Number.isInteger(hostIndex) &&
    Number(hostIndex) >= 0 &&
    Number(hostIndex) < HOSTS_MAX &&
    (interruptionAtMs === null || Number.isFinite(interruptionAtMs)) &&
    (failure === undefined || (typeof failure === 'string' && failure.length <= FAILURE_MAX))
  );
}
