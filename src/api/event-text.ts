import type { FleetEvent, TimedEvent } from '../model/event.ts';
import type { EpochMs } from '../model/ids.ts';
import type { Pause } from '../model/pause.ts';
import type { Trouble, TroubleScope } from '../model/trouble.ts';
import { unreachable } from '../support/assert.ts';
import { formatDuration, formatSpan, plural } from './format.ts';
import { causeText, refusalText } from './verdict-text.ts';

type EventKind = FleetEvent['kind'];

/** Written as a record, so that a kind that is forgotten does not compile. */
const known: Readonly<Record<EventKind, true>> = {
  'slice-moved': true,
  'launch-refused': true,
  'backoff-started': true,
  'backoff-ended': true,
  'gang-rolled-back': true,
  paused: true,
  resumed: true,
  'provider-silent': true,
  'provider-back': true,
  'stray-machine': true,
  'garbage-dropped': true,
  'group-removed': true,
  'config-changed': true,
  'clock-jumped': true,
  'controller-started': true,
};

/** Every kind of event, in the order of the documents. */
export const eventKinds: readonly string[] = Object.keys(known);

/** What happened, in one sentence. Times are told as seen from when it happened. */
export function eventText({ atMs, event }: TimedEvent): string {
  switch (event.kind) {
    case 'slice-moved':
      return movedText(event, atMs);
    case 'launch-refused':
      return `launch of slice ${event.sliceId} of ${event.group} refused: ${refusalText(event.refusal)}`;
    case 'backoff-started':
      return backoffText(event.trouble, atMs);
    case 'backoff-ended': {
      const why = event.why === 'success' ? 'machines came' : 'nothing was refused for long enough';
      return `${scopeText(event.trouble.scope)} is out of ${event.trouble.kind}: ${why}`;
    }
    case 'gang-rolled-back': {
      const released = plural(event.sliceIds.length, 'slice');
      return `gang ${event.gang} did not come together in time; ${released} let go`;
    }
    case 'paused':
      return pausedText(event.pause, atMs);
    case 'resumed':
      return `pause ${event.pauseId} ended ${event.by === 'expiry' ? 'by itself' : 'by an operator'}`;
    case 'provider-silent':
      return `provider ${event.provider} gives no lists to rely on: ${event.detail}`;
    case 'provider-back':
      return `provider ${event.provider} gives lists again`;
    case 'stray-machine':
      return `machines of slice ${event.sliceId} of ${event.group}, which nobody remembers, were ${event.action}`;
    case 'garbage-dropped': {
      const rows = plural(event.count, 'row');
      return `provider ${event.provider} listed ${rows} that cannot be; left out`;
    }
    case 'group-removed':
      return `group ${event.group} is no longer in the configuration; ${plural(event.slices, 'slice')} of it to drain`;
    case 'config-changed':
      return `another configuration is in force, with ${plural(event.groups, 'group')}`;
    case 'clock-jumped': {
      const way = event.byMs < 0 ? 'back' : 'forward';
      return `the wall clock was put ${way} by ${formatDuration(Math.abs(event.byMs))}; waits go on as if it had not been`;
    }
    case 'controller-started':
      return `${event.holder} took the lead (epoch ${event.epoch})`;
    default:
      return unreachable(event);
  }
}

/** `slice s-12 of h100: booting -> initializing (hosts up)`. */
function movedText(
  { sliceId, group, event, from, to, cause }: Extract<FleetEvent, { kind: 'slice-moved' }>,
  atMs: EpochMs,
): string {
  const way = from === null ? to : `${from} -> ${to}`;
  const words = event.replaceAll('-', ' ');
  const why = cause === null ? words : `${words}: ${causeText(cause, atMs)}`;
  return `slice ${sliceId} of ${group}: ${way} (${why})`;
}

function backoffText({ scope, kind, attempts, untilMs, detail }: Trouble, atMs: EpochMs): string {
  const wait = formatSpan(Math.max(0, untilMs - atMs));
  const times = attempts > 1 ? `, ${attempts} times in a row` : '';
  const words = detail === '' ? '' : `: ${detail}`;
  return `nothing is launched in ${scopeText(scope)} for ${wait} (${kind}${times})${words}`;
}

function pausedText({ id, what, group, author, reason, untilMs }: Pause, atMs: EpochMs): string {
  const stopped = what === 'both' ? 'launches and terminations' : what;
  const where = group === null ? 'the fleet' : `group ${group}`;
  const wait = untilMs === null ? '' : ` for ${formatSpan(Math.max(0, untilMs - atMs))}`;
  const why = reason === '' ? '' : `: ${reason}`;
  return `${author} paused ${stopped} of ${where}${wait} (${id})${why}`;
}

const scopeText = ({ kind, name }: TroubleScope): string => `${kind.replaceAll('-', ' ')} ${name}`;
