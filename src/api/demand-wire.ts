import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Ask, Entry, EntryForm } from '../model/demand.ts';
import { type Resources, resourceUnit } from '../model/resources.ts';
import { unreachable } from '../support/assert.ts';
import {
  type Ask as WireAsk,
  AskSchema,
  type BundlePart,
  BundlePartSchema,
  BundlesSchema,
  type Entry as WireEntry,
  EntrySchema,
  GangSchema,
} from './gen/bellows/v1/demand_pb.ts';

/** An entry as it is pushed. Whether it makes sense is not said: the server sees that itself. */
export function toWireEntry(entry: Entry): WireEntry {
  return create(EntrySchema, {
    id: entry.id,
    count: entry.count,
    form: toWireForm(entry.form, entry.taskIds),
    priority: entry.priority,
    submittedAt: timestampFromMs(entry.submittedAtMs),
    owner: entry.owner ?? '',
  });
}

export function toWireAsk({ device, preemptible, constraints, resources }: Ask): WireAsk {
  return create(AskSchema, {
    ...(device === null
      ? {}
      : { device: { type: device.type, variants: [...(device.variants ?? [])] } }),
    ...(preemptible === null ? {} : { preemptible }),
    constraints: constraints.map(({ values, ...rest }) => ({ ...rest, values: [...values] })),
    resources: toWireAmounts(resources),
  });
}

/** Amounts in natural units: cores and devices, bytes for memory and disk. */
export function toWireAmounts(resources: Resources): Record<string, number> {
  return Object.fromEntries(
    Object.entries(resources).map(([name, value]) => [
      name,
      resourceUnit(name) === 'bytes' ? value : value / 1_000,
    ]),
  );
}

function toWireForm(form: EntryForm, taskIds: readonly string[]): WireEntry['form'] {
  switch (form.kind) {
    case 'single':
      return { case: 'single', value: toWireAsk(form.ask) };
    case 'gang': {
      const { ask, taskCount } = form;
      const gang = { ask: toWireAsk(ask), taskCount, taskIds: [...taskIds] };
      return { case: 'gang', value: create(GangSchema, gang) };
    }
    case 'bundles': {
      const { strategy, bundles } = form;
      return {
        case: 'bundles',
        value: create(BundlesSchema, { strategy, parts: toParts(bundles) }),
      };
    }
    default:
      return unreachable(form);
  }
}

/** Equal ones in a row are one part with a count. */
function toParts(bundles: readonly Ask[]): BundlePart[] {
  const parts: BundlePart[] = [];
  let lastText = '';
  bundles.forEach((ask, n) => {
    const last = parts.at(-1);
    const text = ask === bundles[n - 1] ? lastText : JSON.stringify(ask);
    if (last !== undefined && text === lastText) last.count++;
    else parts.push(create(BundlePartSchema, { ask: toWireAsk(ask), count: 1 }));
    lastText = text;
  });
  return parts;
}
