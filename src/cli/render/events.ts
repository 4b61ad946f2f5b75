import type { Event } from '../../api/gen/bellows/v1/status_pb.ts';
import type { Moments } from './moment.ts';
import { isFailure } from './status-failures.ts';
import type { Style } from './style.ts';
import { oneLine } from './words.ts';

/** As wide as the longest kind, so that events that come one by one stand in columns, too. */
const KIND_WIDTH = 'controller-started'.length;

/** Time, kind and what happened; one line each. What went wrong stands out on a terminal. */
export function renderEvents(
  events: readonly Event[],
  { style, moments }: { readonly style: Style; readonly moments: Moments },
): string {
  return events
    .map((event) => {
      const { at, kind, text } = event;
      const word = oneLine(kind).padEnd(KIND_WIDTH);
      const marked = isFailure(event) ? style.bad(word) : word;
      return `${moments.clock(at)}  ${marked}  ${oneLine(text)}\n`;
    })
    .join('');
}
