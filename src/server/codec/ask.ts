import type {
  Ask as WireAsk,
  Constraint as WireConstraint,
} from '../../api/gen/bellows/v1/demand_pb.ts';
import { describeValue, type Path } from '../../config/problem.ts';
import { type Constraint, constraintOps } from '../../model/constraint.ts';
import type { Ask, DeviceAsk } from '../../model/demand.ts';
import { nearestName } from '../../support/nearest.ts';
import { readAmounts } from './amounts.ts';
import { checkText, type Complaints, ID_LENGTH_MAX } from './complaints.ts';

const CONSTRAINTS_MAX = 100;
const VALUES_MAX = 1_000;
const DEVICE_LENGTH_MAX = 63;

const noAsk: Ask = { device: null, preemptible: null, constraints: [], resources: {} };

/** What one task needs. Fields come in a fixed order, so that equal asks have equal text. */
export function readAsk(wire: WireAsk | undefined, path: Path, complaints: Complaints): Ask {
  if (wire === undefined) {
    complaints.add(path, 'is missing', 'say what each task needs');
    return noAsk;
  }
  return {
    device: wire.device === undefined ? null : readDevice(wire.device, path, complaints),
    preemptible: wire.preemptible ?? null,
    constraints: readConstraints(wire.constraints, path, complaints),
    resources: readAmounts(wire.resources, {
      path,
      field: 'resources',
      rounding: 'up',
      complaints,
    }),
  };
}

function readDevice(
  { type, variants }: NonNullable<WireAsk['device']>,
  path: Path,
  complaints: Complaints,
): DeviceAsk {
  const at = [...path, 'device'];
  const lengthMax = DEVICE_LENGTH_MAX;
  checkText(type, { path: [...at, 'type'], lengthMax, complaints });
  if (variants.length > VALUES_MAX) {
    const message = `${variants.length} variants are above the limit of ${VALUES_MAX}`;
    complaints.add([...at, 'variants'], message, 'name fewer, or none for any variant');
  } else {
    variants.forEach((variant, n) => {
      checkText(variant, { path: [...at, 'variants', n], lengthMax, complaints });
    });
  }
  return { type, variants: variants.length === 0 ? null : variants };
}

function readConstraints(
  wire: readonly WireConstraint[],
  path: Path,
  complaints: Complaints,
): readonly Constraint[] {
  if (wire.length === 0) return noAsk.constraints;
  const at = [...path, 'constraints'];
  if (wire.length > CONSTRAINTS_MAX) {
    const message = `${wire.length} constraints are above the limit of ${CONSTRAINTS_MAX}`;
    complaints.add(at, message, 'give fewer');
    return [];
  }
  return wire.flatMap((constraint, n) => readConstraint(constraint, [...at, n], complaints) ?? []);
}

/** How many values an operator takes is a matter of sense, not of form: see `findInvalid`. */
function readConstraint(
  { key, op: word, values, soft }: WireConstraint,
  path: Path,
  complaints: Complaints,
): Constraint | null {
  const lengthMax = ID_LENGTH_MAX;
  checkText(key, { path: [...path, 'key'], lengthMax, complaints });
  if (values.length > VALUES_MAX) {
    const message = `${values.length} values are above the limit of ${VALUES_MAX}`;
    complaints.add([...path, 'values'], message, 'give fewer');
  } else {
    values.forEach((value, n) => {
      if (value.length <= lengthMax) return;
      checkText(value, { path: [...path, 'values', n], lengthMax, complaints });
    });
  }
  const op = constraintOps.find((known) => known === word);
  if (op === undefined) {
    complaints.add([...path, 'op'], ...notOneOf(word, constraintOps));
    return null;
  }
  return { key, op, values, soft };
}

/** What to say of a word that is not in its list, with the nearest that is. */
export function notOneOf(
  word: string,
  words: readonly string[],
): readonly [message: string, remedy: string] {
  const near = nearestName(word, words);
  const listed = words.map((one) => (one === '' ? 'nothing' : one)).join(', ');
  if (word === '') return ['is missing', `use one of ${listed}`];
  const remedy = near === null || near === '' ? 'use one of these' : `did you mean ${near}?`;
  return [`${describeValue(word)} is not one of ${listed}`, remedy];
}
