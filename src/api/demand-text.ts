import type { Ask, EntryForm } from '../model/demand.ts';
import { unreachable } from '../support/assert.ts';
import { formatResources } from './format.ts';
import { constraintText } from './reason-text.ts';

/** What an entry asks for, in one line: `gang of 16: tpu v5litepod-16, tpu 4`. */
export function formText(form: EntryForm): string {
  switch (form.kind) {
    case 'single':
      return askText(form.ask);
    case 'gang':
      return `gang of ${form.taskCount}: ${askText(form.ask)}`;
    case 'bundles':
      return `${form.strategy} of ${form.bundles.length}: ${bundlesText(form.bundles)}`;
    default:
      return unreachable(form);
  }
}

/** Equal neighbours are counted, not repeated. */
function bundlesText(bundles: readonly Ask[]): string {
  const counted: { readonly text: string; count: number }[] = [];
  for (const text of bundles.map(askText)) {
    const last = counted.at(-1);
    if (last?.text === text) last.count++;
    else counted.push({ text, count: 1 });
  }
  return counted.map(({ text, count }) => (count > 1 ? `${count} x (${text})` : text)).join(' + ');
}

function askText({ device, preemptible, constraints, resources }: Ask): string {
  const asked = Object.fromEntries(Object.entries(resources).filter(([, value]) => value > 0));
  const words = [
    device && `on ${[device.type, device.variants?.join(' or ')].filter(Boolean).join(' ')}`,
    formatResources(asked) || 'no resources',
    preemptible === null ? null : preemptible ? 'preemptible' : 'on-demand',
    ...constraints.map(constraintText),
  ];
  return words.filter((word) => word !== null).join(', ');
}
