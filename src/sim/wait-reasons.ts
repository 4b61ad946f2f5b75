import { exclusionText, invalidText } from '../api/reason-text.ts';
import type { ClassVerdict } from '../model/decision.ts';
import type { EpochMs } from '../model/ids.ts';
import type { Exclusion, GroupExclusion, Unmet } from '../model/reason.ts';
import type { TickInput, TickOutput } from '../model/tick.ts';
import { byFirst, byNumber, byText } from '../support/order.ts';
import type { WaitReason } from './report.ts';

const HOUR_MS = 3_600_000;
/** Groups named in a reason. */
const GROUPS_SHOWN = 3;

/** Rules that no state of the fleet changes: they say what the work is, not why it waits. */
const standing: ReadonlySet<Exclusion['kind']> = new Set([
  'device',
  'variant',
  'preemptible',
  'constraint',
  'gang-shape',
  'host-too-small',
]);

interface Tally {
  readonly kind: WaitReason['kind'];
  text: string;
  entryMs: number;
  most: number;
  readonly fromMs: EpochMs;
  toMs: EpochMs;
}

interface Waiting {
  readonly key: string;
  readonly kind: WaitReason['kind'];
  readonly count: number;
  readonly text: (atMs: EpochMs) => string;
}

/** Adds up why work waited: what a tick said holds until the next one speaks. */
export class WaitReasons {
  readonly #tallies = new Map<string, Tally>();
  #last: { readonly atMs: EpochMs; readonly waiting: readonly Waiting[] } | null = null;

  note({ atMs }: TickInput, { decision }: TickOutput): void {
    this.#settle(atMs);
    this.#last = { atMs, waiting: decision.classes.flatMap(toWaiting) };
  }

  /** The weightiest first. */
  finish(atMs: EpochMs): readonly WaitReason[] {
    this.#settle(atMs);
    this.#last = null;
    return [...this.#tallies.values()]
      .map(({ entryMs, ...rest }) => ({ ...rest, entryHours: entryMs / HOUR_MS }))
      .sort(
        byFirst(
          byNumber(({ entryHours }) => -entryHours),
          (a, b) => byText(a.text, b.text),
        ),
      );
  }

  #settle(untilMs: EpochMs): void {
    if (this.#last === null) return;
    const { atMs, waiting } = this.#last;
    const counts = new Map<string, number>();
    for (const { key, kind, count, text } of waiting) {
      const tally = this.#tallies.get(key) ?? this.#open(key, kind, atMs);
      tally.entryMs += count * Math.max(0, untilMs - atMs);
      tally.toMs = untilMs;
      const together = (counts.get(key) ?? 0) + count;
      counts.set(key, together);
      if (together <= tally.most) continue;
      tally.most = together;
      tally.text = text(atMs);
    }
  }

  #open(key: string, kind: WaitReason['kind'], fromMs: EpochMs): Tally {
    const tally: Tally = { kind, text: '', entryMs: 0, most: 0, fromMs, toMs: fromMs };
    this.#tallies.set(key, tally);
    return tally;
  }
}

function toWaiting({ placed, unmet, unmetCount }: ClassVerdict): readonly Waiting[] {
  const all: Waiting[] = placed.map(({ count, spots }) => {
    const coming = spots.filter(({ room }) => room !== 'free-room');
    const names = [...new Set(coming.map(({ group }) => group))].join(', ');
    return names === ''
      ? {
          key: 'room',
          kind: 'room-there',
          count,
          text: () => 'there is room; it is about to start',
        }
      : { key: `coming ${names}`, kind: 'coming', count, text: () => `${names} is on its way` };
  });
  if (unmet === null) return all;
  const rules = unmet.groups.filter(({ exclusion }) => !standing.has(exclusion.kind));
  const key = `${unmet.code} ${rules.map((rule) => `${rule.group} ${rule.exclusion.kind}`).join()}`;
  const text = (atMs: EpochMs): string => unmetText(unmet, rules, atMs);
  return [...all, { key, kind: 'unmet', count: unmetCount, text }];
}

function unmetText(unmet: Unmet, rules: readonly GroupExclusion[], atMs: EpochMs): string {
  if (unmet.invalid !== null) return invalidText(unmet.invalid);
  if (rules.length === 0) return `${unmet.code}: it can never run in this fleet as configured`;
  const shown = rules.slice(0, GROUPS_SHOWN).map(({ group, exclusion }) => {
    return `${group} ${exclusionText(withoutEnd(exclusion), atMs)}`;
  });
  const more = rules.length > GROUPS_SHOWN ? ` and ${rules.length - GROUPS_SHOWN} more groups` : '';
  return shown.join('; ') + more;
}

/** Over a whole run nobody asks how long a condition still had to go at one moment. */
const withoutEnd = (rule: Exclusion): Exclusion =>
  'untilMs' in rule ? { ...rule, untilMs: null } : rule;
