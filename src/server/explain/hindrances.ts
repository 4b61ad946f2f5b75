import { eventText } from '../../api/event-text.ts';
import type { Group } from '../../model/group.ts';
import type { EpochMs } from '../../model/ids.ts';
import type { Pause } from '../../model/pause.ts';
import { isWithin, type Trouble } from '../../model/trouble.ts';
import { isPaused } from '../../planner/conditions.ts';
import { happened, holds, type Link } from './answer.ts';
import type { FleetView } from './fleet-view.ts';
import type { Awaited } from './next-look.ts';
import { evenNow, sinceText } from './phrases.ts';

/** Why a group launches nothing for a while, as a link and as what ends it. */
export interface Hindrance {
  readonly link: Link;
  /** Null: nobody knows when it ends. */
  readonly end: Awaited | null;
  /** What a person can do about it; null where only time helps. */
  readonly remedy: string | null;
}

/** A trouble for each kind and scope, and a few pauses; nobody reads more. */
const HINDRANCES_MAX = 25;

/** What keeps a group from launching: pauses as they stand now, troubles as last decided from. */
export function hindrancesOf(view: FleetView, group: Group): readonly Hindrance[] {
  const { nowMs, held, last } = view;
  const pauses = held.pauses.filter((pause) => isPaused(pause, 'launches', group));
  const troubles = (last?.input.troubles ?? []).filter(({ scope }) => isWithin(scope, group));
  const isUnlisted = last?.input.unlisted.includes(group.provider) === true;
  return [
    ...(isUnlisted ? [ofSilence(group)] : []),
    ...troubles.map((trouble) => ofTrouble(trouble, group, nowMs)),
    ...pauses.map((pause) => ofPause(pause)),
  ].slice(0, HINDRANCES_MAX);
}

export function ofPause(pause: Pause): Hindrance {
  const { id, sinceMs, untilMs } = pause;
  const text = eventText({ atMs: sinceMs, event: { kind: 'paused', pause } });
  return {
    link: happened(sinceMs, 'paused', text),
    end: untilMs === null ? null : { untilMs, text: `pause ${id} ends` },
    remedy: `end the pause: bellows resume ${id}`,
  };
}

function ofTrouble(trouble: Trouble, { name }: Group, nowMs: EpochMs): Hindrance {
  const { sinceMs, untilMs, kind, detail } = trouble;
  // Waits follow one another: only the end of the present one is certain.
  const first = `the first refusal was ${sinceText(sinceMs, nowMs)} ago`;
  const isPermanent = kind === 'permanent';
  const remedy = isPermanent ? `mend what the provider complains about: ${detail}` : null;
  if (untilMs <= nowMs) {
    const text = `${name} was in ${kind}; the wait is over, and one launch tries it first`;
    return { link: holds(kind, `${text}; ${first}`), end: null, remedy };
  }
  const event = { kind: 'backoff-started', trouble } as const;
  return {
    link: holds(kind, `${eventText({ atMs: evenNow(untilMs, nowMs), event })}; ${first}`),
    end: { untilMs, text: `${name} is tried again, with one launch first` },
    remedy,
  };
}

/** To launch without knowing what is there could be to launch twice. */
function ofSilence({ name, provider }: Group): Hindrance {
  const text = `provider ${provider} has not listed its machines since the start: ${name} waits`;
  return { link: holds('provider-silent', text), end: null, remedy: `look after ${provider}` };
}
