import type { Ask, DemandClass, EntryForm } from '../../model/demand.ts';
import { unreachable } from '../../support/assert.ts';
import { fingerprint, type PlainData } from '../../support/fingerprint.ts';

const known = new WeakMap<DemandClass, string>();

/**
 * Names a class by what its entries ask for, not by which they are: the same from tick to tick and
 * after a restart, as long as somebody asks for the like.
 */
export function classId(demand: DemandClass): string {
  let id = known.get(demand);
  if (id === undefined) {
    const { form, priority, invalid, isReserved } = demand;
    const wrong = invalid === null ? null : JSON.stringify(invalid);
    id = fingerprint({ form: toPlainForm(form), priority, invalid: wrong, isReserved });
    known.set(demand, id);
  }
  return id;
}

function toPlainForm(form: EntryForm): PlainData {
  switch (form.kind) {
    case 'single':
      return { kind: form.kind, ask: toPlainAsk(form.ask) };
    case 'gang':
      return { kind: form.kind, ask: toPlainAsk(form.ask), taskCount: form.taskCount };
    case 'bundles':
      return {
        kind: form.kind,
        strategy: form.strategy,
        bundles: form.bundles.map(toPlainAsk),
      };
    default:
      return unreachable(form);
  }
}

const toPlainAsk = ({ device, preemptible, constraints, resources }: Ask): PlainData => {
  return {
    device: device === null ? null : { type: device.type, variants: device.variants },
    preemptible,
    constraints: constraints.map(({ key, op, values, soft }) => ({ key, op, values, soft })),
    resources,
  };
};
