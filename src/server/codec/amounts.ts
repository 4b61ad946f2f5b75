import { describeValue, type Path } from '../../config/problem.ts';
import type { Rounding } from '../../config/quantity.ts';
import { QUANTITY_MAX, type Resources, resourceUnit } from '../../model/resources.ts';
import type { Complaints } from './complaints.ts';

/** Kinds of resources on one host or in one ask, and how they are called: as in files. */
const NAMES_MAX = 50;
const namePattern = /^[A-Za-z][A-Za-z0-9._/-]{0,62}$/;

/**
 * What a binary fraction may be off by: 0.3 cores, added up from three tenths, are 300.00000000000006
 * thousandths and must not be 301. A millionth of the smallest unit is nothing that anybody asks for.
 */
const NOISE = 1e-6;
/** Of large amounts, the last bits. */
const NOISE_RATIO = 2 ** -50;

interface AmountPlace {
  readonly path: Path;
  readonly field: 'resources' | 'free';
  readonly rounding: Rounding;
  readonly complaints: Complaints;
}

/**
 * Amounts as schedulers say them, doubles in natural units, to integers in the smallest unit: bytes for
 * memory and disk, thousandths for the rest. In order of names, so that equal amounts have equal text.
 */
export function readAmounts(
  amounts: Readonly<Record<string, number>>,
  { path, field, rounding, complaints }: AmountPlace,
): Resources {
  const names = Object.keys(amounts);
  if (names.length > NAMES_MAX) {
    complaints.add(
      [...path, field],
      `${names.length} resources are above the limit of ${NAMES_MAX}`,
      'name fewer',
    );
    return {};
  }
  const resources: Record<string, number> = {};
  for (const name of names.sort()) {
    const amount = amounts[name] ?? 0;
    if (!namePattern.test(name)) {
      const remedy = 'use 1 to 63 letters, digits, "-", "_", "." and "/", starting with a letter';
      complaints.add(
        [...path, field, name],
        `${describeValue(name)} is not a resource name`,
        remedy,
      );
      continue;
    }
    const isBytes = resourceUnit(name) === 'bytes';
    const scaled = roundAmount(isBytes ? amount : amount * 1_000, rounding);
    if (amount >= 0 && scaled <= QUANTITY_MAX) {
      resources[name] = scaled;
      continue;
    }
    const most = isBytes ? QUANTITY_MAX : Math.floor(QUANTITY_MAX / 1_000);
    const range = `0 to ${most}${isBytes ? ' bytes' : ''}`;
    complaints.add(
      [...path, field, name],
      `${amount} is no amount of ${name}`,
      `write a number from ${range}`,
    );
  }
  return resources;
}

function roundAmount(scaled: number, rounding: Rounding): number {
  const nearest = Math.round(scaled);
  // Adding zero: a zero with a sign is a zero.
  if (Math.abs(scaled - nearest) <= Math.max(NOISE, scaled * NOISE_RATIO)) return nearest + 0;
  return rounding === 'up' ? Math.ceil(scaled) : Math.floor(scaled);
}
