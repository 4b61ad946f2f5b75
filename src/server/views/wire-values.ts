import type { Timestamp } from '@bufbuild/protobuf/wkt';
import type { Reason } from '../../api/gen/bellows/v1/status_pb.ts';
import { type Resources, resourceUnit } from '../../model/resources.ts';

// Messages are plain objects. Those that a large status has by the thousand are written out here:
// the general `create` looks at every field of every one.

const MICRO = 1_000_000;
const MILLI = 1_000;

/** An instant; left out where there is none, or none that is known. */
export function toTimestamp(atMs: number | null | undefined): Timestamp | undefined {
  if (atMs === null || atMs === undefined || !Number.isFinite(atMs)) return undefined;
  const wholeMs = Math.round(atMs);
  const seconds = Math.floor(wholeMs / 1_000);
  const nanos = (wholeMs - seconds * 1_000) * 1_000_000;
  return { $typeName: 'google.protobuf.Timestamp', seconds: BigInt(seconds), nanos };
}

export const fromTimestamp = ({ seconds, nanos }: Timestamp): number =>
  Number(seconds) * 1_000 + nanos / 1_000_000;

/** Cores, devices and bytes, as people count them. */
export function toAmounts(resources: Resources): Record<string, number> {
  const amounts: Record<string, number> = {};
  for (const name in resources) {
    const value = resources[name] ?? 0;
    amounts[name] = resourceUnit(name) === 'bytes' ? value : value / MILLI;
  }
  return amounts;
}

export const toUsd = (microUsd: number): number => microUsd / MICRO;

/** For fields that are left out where nothing is known. */
export const toUsdOrNone = (microUsd: number | null): number | undefined =>
  microUsd === null ? undefined : toUsd(microUsd);

export const toReason = (kind: string, text: string): Reason => {
  return { $typeName: 'bellows.v1.Reason', kind, text };
};
