import { causeText } from '../../api/verdict-text.ts';
import type { HistoryStep, SliceEvent, SliceRecord } from '../../model/slice-record.ts';
import { isLive } from '../../model/slice-record.ts';
import type { SliceVerdict } from '../../model/tick.ts';
import { type Answer, happened, holds, inOrder, type Link } from './answer.ts';
import { verdictOn } from './coming.ts';
import { type FleetView, groupOf } from './fleet-view.ts';
import { type NextLook, nextLook } from './next-look.ts';
import { andList, sinceText, verdictText } from './phrases.ts';
import { hopeOf, outlookOn } from './slice-outlook.ts';
import { endingOf, remedyFor } from './slice-remedy.ts';

/** Why a slice is there, why it stays or leaves, or why it ended. */
export function explainSlice(view: FleetView, record: SliceRecord): Answer {
  const { id, history } = record;
  const verdict = isLive(record) ? currentVerdict(view, record) : null;
  const now = verdict === null ? [] : [verdict.link];
  const chain = inOrder([...history.map(toLink), ...marksOf(view, record), ...now]);
  return {
    kind: 'slice',
    subject: id,
    summary: summaryOf(view, record, verdict?.link ?? null),
    chain,
    options: [],
    remedy: remedyFor(view, record, verdict?.verdict ?? null),
    nextLook: lookAt(view, record, verdict?.verdict ?? null),
  };
}

const eventWords: Readonly<Record<SliceEvent, string>> = {
  planned: 'planned',
  adopted: 'taken over',
  'launch-sent': 'asked of the provider',
  'machines-seen': 'its machines are there',
  'hosts-up': 'all its hosts are up',
  'hosts-ready': 'all its hosts are ready for work',
  refused: 'the provider refused',
  cancelled: 'given up',
  'drain-started': 'asked to drain',
  'drain-cancelled': 'the drain was called off',
  'drain-finished': 'nothing runs on it any more',
  'host-lost': 'a host is gone',
  'timed-out': 'out of time',
  'all-gone': 'no machine of it is left',
};

/** `booting: its machines are there`. */
function toLink({ atMs, event, status, cause }: HistoryStep): Link {
  const why = cause === null ? '' : `: ${causeText(cause, atMs)}`;
  return happened(atMs, event, `${status}, ${eventWords[event]}${why}`);
}

/** What is known of it beside its status. */
function marksOf(view: FleetView, record: SliceRecord): readonly Link[] {
  const { group, fallbackFor, reservedFor, reservedSinceMs, idleSinceMs, isProtected } = record;
  const links: Link[] = [];
  const [first] = record.history;
  if (fallbackFor.length > 0 && first !== undefined) {
    const text = `${group} stands in for ${andList(fallbackFor)}, which could not launch then`;
    links.push(happened(first.atMs, 'fallback', text));
  }
  if (!isLive(record)) return links;
  if (reservedFor !== null && reservedSinceMs !== null) {
    links.push(happened(reservedSinceMs, 'reserved', `held for gang ${reservedFor} alone`));
  }
  if (idleSinceMs !== null && record.status !== 'terminating') {
    const since = record.status === 'ready' || record.status === 'draining';
    const text = since ? 'without work since then' : 'needed by nobody since then';
    links.push(happened(idleSinceMs, 'idle', text));
  }
  if (isProtected) {
    links.push(holds('protected-mark', 'an operator protects it: no scale-down touches it'));
  }
  const known = groupOf(view, group);
  if (known !== null && known.own.shape !== record.shape) {
    const text = `the shape or bootstrap of ${group} has changed since (onChange: ${known.own.onChange})`;
    links.push(holds('outdated', text));
  }
  return links;
}

interface Standing {
  readonly verdict: SliceVerdict | null;
  readonly link: Link;
}

/** What the last decision said of it; in the past tense where it has moved on since. */
function currentVerdict(view: FleetView, record: SliceRecord): Standing | null {
  const { last, nowMs } = view;
  if (last === null) return null;
  const { input, output } = last;
  const verdict = verdictOn(view, record.id);
  if (verdict !== null) {
    const text = verdictText(verdict, nowMs);
    // What the decision itself moved is as it said.
    if (record.statusSinceMs <= input.atMs) return { verdict, link: holds(verdict.kind, text) };
    return { verdict: null, link: happened(input.atMs, verdict.kind, text) };
  }
  const launch = output.steps.find((step) => step.kind === 'launch' && step.sliceId === record.id);
  if (launch === undefined) {
    return { verdict: null, link: holds('undecided', 'it came after the last decision') };
  }
  const isSent = output.steps.some((step) => step.kind === 'send' && step.sliceId === record.id);
  const waits = output.deferrals.find(({ group }) => group === record.group);
  if (isSent || waits === undefined || record.status !== 'queued') {
    return { verdict: null, link: holds('launched', 'launched by the last decision') };
  }
  const deferred = { kind: 'deferred', by: waits.by, untilMs: waits.untilMs } as const;
  return { verdict: deferred, link: holds('deferred', verdictText(deferred, nowMs)) };
}

function summaryOf({ nowMs }: FleetView, record: SliceRecord, now: Link | null): string {
  const { id, group, status, statusSinceMs } = record;
  const since = sinceText(statusSinceMs, nowMs);
  const end = endingOf(record);
  const cause = end?.cause == null ? undefined : causeText(end.cause, end.atMs);
  if (!isLive(record)) {
    return `${id}, a slice of ${group}, ended ${since} ago (${status})${after(cause)}`;
  }
  return `${id}, a slice of ${group}, has been ${status} for ${since}${after(wordsFor())}`;

  function wordsFor(): string | undefined {
    // A slice that waits says what it waits for, not again in which status; one that goes, why.
    if (status === 'terminating') return cause ?? now?.text;
    return now?.kind === 'waiting' ? `awaits ${hopeOf(record)}` : now?.text;
  }
}

const after = (words: string | undefined): string => (words === undefined ? '' : `: ${words}`);

function lookAt(view: FleetView, record: SliceRecord, verdict: SliceVerdict | null): NextLook {
  if (isLive(record)) {
    const { awaited, hope } = outlookOn(view, record, verdict);
    return nextLook(view, awaited, hope);
  }
  return { atMs: null, text: 'it has ended: nothing more comes of it' };
}
