import { formatDuration, plural } from '../../api/format.ts';
import type { EpochMs } from '../../model/ids.ts';
import { unreachable } from '../../support/assert.ts';
import type { Happening } from '../../wiring.ts';

const DAY_MS = 86_400_000;

/** `09:30`, with the day from 1 where a run takes several: `day 2 09:30`. UTC. */
export function clockText(atMs: EpochMs, startAtMs: EpochMs, simulatedMs: number): string {
  const time = new Date(atMs).toISOString().slice(11, 16);
  if (simulatedMs <= DAY_MS) return time;
  return `day ${Math.floor((atMs - startAtMs) / DAY_MS) + 1} ${time}`;
}

/** To the second, below ten seconds to a tenth: nobody has waited 3m12s437ms. */
export const roughDuration = (ms: number): string =>
  ms < 9_950
    ? `${Number((ms / 1_000).toFixed(1))}s`
    : formatDuration(Math.round(ms / 1_000) * 1_000);

/** What an event of the scenario did. */
export function happeningText({ event, hit }: Happening): string {
  switch (event.kind) {
    case 'stockout':
      return `${event.group} is out of stock for ${formatDuration(event.forMs)}`;
    case 'fail-boots':
      return `hosts of ${event.group} do not come up for ${formatDuration(event.forMs)}`;
    case 'preempt': {
      const notice =
        event.noticeMs === 0 ? 'at once' : `with notice of ${formatDuration(event.noticeMs)}`;
      return `the provider takes ${plural(hit ?? 0, 'slice')} of ${event.group} back, ${notice}`;
    }
    case 'lose-hosts':
      return `${plural(hit ?? 0, 'host')} of ${event.group} ${hit === 1 ? 'fails' : 'fail'}`;
    case 'hang':
    case 'throttle': {
      const whose = event.provider ?? 'every provider';
      const what = event.kind === 'hang' ? 'answers nothing' : 'throttles all calls';
      return `${whose} ${what} for ${formatDuration(event.forMs)}`;
    }
    case 'pause': {
      const what = event.what === 'both' ? 'launches and terminations' : event.what;
      const where = event.group === null ? '' : ` of ${event.group}`;
      const long = event.forMs === null ? '' : ` for ${formatDuration(event.forMs)}`;
      return `an operator pauses ${what}${where}${long}`;
    }
    case 'config':
      return `the configuration changes to ${event.name}`;
    case 'kill-controller':
      return 'the controller is killed, and started again a little later';
    default:
      return unreachable(event);
  }
}

/** `stockout 31, throttled 4`, most first; empty when there are none. */
export function countsText(counts: ReadonlyMap<string, number>): string {
  return [...counts]
    .sort(([nameA, a], [nameB, b]) => b - a || (nameA < nameB ? -1 : 1))
    .map(([name, count]) => `${name} ${count}`)
    .join(', ');
}
