import type { DrainSliceRequest, PauseRequest } from '../../api/gen/bellows/v1/autoscaler_pb.ts';
import type { Pause } from '../../model/pause.ts';
import { notOneOf } from './ask.ts';
import { checkOptionalText, checkText, Complaints, ID_LENGTH_MAX } from './complaints.ts';
import { readSpan } from './spans.ts';

const REASON_LENGTH_MAX = 1_000;
/** Work that must go at once, or that may take a month. */
const DRAIN = { minMs: 0, maxMs: 30 * 86_400_000 };
const PAUSE = { minMs: 1_000, maxMs: 365 * 86_400_000 };
const pauseWords = ['launches', 'terminations', 'both'] as const satisfies readonly Pause['what'][];

export function readDrain({ sliceId, reason, author, deadline }: DrainSliceRequest): {
  readonly id: string;
  readonly reason: string;
  /** Null: its group's draining timeout. */
  readonly spanMs: number | null;
} {
  const complaints = new Complaints();
  checkText(sliceId, { path: ['slice_id'], lengthMax: ID_LENGTH_MAX, complaints });
  checkWords({ reason, author }, complaints);
  const spanMs = readSpan(deadline, { path: ['deadline'], range: DRAIN, complaints });
  complaints.settle();
  return { id: sliceId, reason, spanMs };
}

export function readSliceId(id: string): string {
  const complaints = new Complaints();
  checkText(id, { path: ['slice_id'], lengthMax: ID_LENGTH_MAX, complaints });
  complaints.settle();
  return id;
}

export function readPause({ what: word, group, reason, author, ttl }: PauseRequest): {
  readonly what: Pause['what'];
  readonly group: string;
  readonly reason: string;
  /** Null: until somebody ends it. */
  readonly ttlMs: number | null;
} {
  const complaints = new Complaints();
  const what = pauseWords.find((known) => known === word);
  if (what === undefined) complaints.add(['what'], ...notOneOf(word, pauseWords));
  checkOptionalText(group, { path: ['group'], lengthMax: ID_LENGTH_MAX, complaints });
  checkWords({ reason, author }, complaints);
  const ttlMs = readSpan(ttl, { path: ['ttl'], range: PAUSE, complaints });
  complaints.settle();
  return { what: what ?? 'both', group, reason, ttlMs };
}

function checkWords(
  { reason, author }: { readonly reason: string; readonly author: string },
  complaints: Complaints,
): void {
  checkOptionalText(reason, { path: ['reason'], lengthMax: REASON_LENGTH_MAX, complaints });
  checkOptionalText(author, { path: ['author'], lengthMax: ID_LENGTH_MAX, complaints });
}
