import type { PushDemandRequest } from '../api/gen/bellows/v1/demand_pb.ts';
import type { CommandAnswer } from '../controller/commands.ts';
import { epochMs } from '../model/ids.ts';
import type { DemandPush } from '../model/push.ts';
import type { Clock } from '../ports/clock.ts';
import { must } from '../support/assert.ts';
import { runInTurns } from '../support/turns.ts';
import { type PageBody, type PageHead, readBodyInTurns, readHead } from './codec/page.ts';
import { FormTable } from './codec/forms.ts';
import { inTime, submit } from './durable.ts';
import { refusePage, refusePush, tooMuch } from './push-refusals.ts';
import { type StagedPush, Staging, standingOf } from './push-staging.ts';
import { addTotals, findExcess, measure, pause, type Totals } from './push-totals.ts';
import type { ServedFleet } from './served-fleet.ts';

/** Pushes whose pages are awaited, of all fleets. */
const STAGINGS_MAX = 100;
/** A page that does not come for so long is not awaited any more. */
const IDLE_MAX_MS = 2 * 60_000;
/** Letters of all that is staged or waits to be durable: more would crowd out everything else. */
const STAGED_SIZE_MAX = 1_000 * 2 ** 20;
/** Pushes that are remembered, so that a page that comes twice is known. */
const REMEMBERED_MAX = 1_000;
/** Sources of one fleet. */
const SOURCES_MAX = 1_000;

/** A page is read anew when another one of its source was taken meanwhile; so many times. */
const READINGS_MAX = 10;

/** What became of a page. */
export type PageOutcome =
  | { readonly kind: 'staged'; readonly generation: number; readonly entryCount: number }
  | { readonly kind: 'durable'; readonly held: DemandPush };

/** A push of which pages are here. */
interface Pushing {
  readonly fleet: ServedFleet;
  readonly head: PageHead;
  /** Null once its last page is here. */
  staging: Staging | null;
  pageDigests: readonly string[];
  /** What is sent when the last page comes, or comes again. */
  sent: StagedPush | null;
  /** Under way; the same page meanwhile waits for the same answer. */
  answer: Promise<CommandAnswer> | null;
  totals: Totals;
  /** Letters that are kept of it here. */
  size: number;
  touchedMs: number;
}

interface ReadPage {
  readonly fleet: ServedFleet;
  readonly head: PageHead;
  readonly body: PageBody;
  readonly known: Pushing | null;
}

/**
 * Takes pushes in, page by page. Pages of one generation come in order; a page that comes again is
 * acknowledged again. Nothing counts before the last one, whose answer comes when all is durable.
 */
export class PushDesk {
  readonly #clock: Clock;
  /** By fleet and source: the newest generation of each. */
  readonly #pushes = new Map<string, Pushing>();
  /** Sizes of pushes that wait to be durable, also of those that a newer one took the place of. */
  readonly #waiting = new Set<{ readonly size: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Rejects with what is wrong, in words. */
  async take(fleet: ServedFleet, request: PushDemandRequest): Promise<PageOutcome> {
    // Decoding the message took its time; reading it is another turn.
    await pause(this.#clock);
    this.#forgetIdle();
    const head = readHead(request);
    const key = `${fleet.name}\n${head.source}`;
    for (let n = 0; n < READINGS_MAX; n++) {
      const known = this.#find(key, head);
      const pageCount = known?.pageDigests.length ?? 0;
      const reading = {
        forms: known?.staging?.forms ?? new FormTable(),
        // A page that comes again has ids that it took itself.
        taken: head.page === pageCount ? (known?.staging?.ids ?? null) : null,
        nowMs: fleet.controller.now,
      };
      const turns = readBodyInTurns(request, reading);
      const body = await runInTurns(turns, () => pause(this.#clock));
      // Others had their turn meanwhile: what they brought may have the same ids.
      const isSame = this.#find(key, head) === known;
      if (!isSame || (known?.pageDigests.length ?? 0) !== pageCount) continue;
      return this.#place(key, { fleet, head, body, known });
    }
    throw tooMuch('pages of one source come at the same time; send one after the other');
  }

  #place(key: string, { fleet, head, body, known }: ReadPage): Promise<PageOutcome> {
    const staging = known?.staging ?? null;
    const standing = known === null ? null : standingOf(head, body.digest, known.pageDigests);
    // All of it in one page can be sent as it is, also when it was forgotten since.
    const isWhole = head.page === 0 && head.isLast && known?.answer == null;
    if (known !== null && standing === 'repeated' && !isWhole) {
      return this.#repeat(key, known, head);
    }
    if (known !== null && staging !== null && standing === 'next') {
      return this.#add(key, known, head, body);
    }
    // A scheduler that began anew has other work by now; its first page says so.
    if (head.page === 0) return this.#add(key, this.#begin(key, fleet, head), head, body);
    if (standing === 'other-content') this.#pushes.delete(key);
    const follows = staging === null ? null : standing;
    throw refusePage(head, follows, known?.pageDigests.length ?? 0);
  }

  /** What is known of the push that a page belongs to. */
  #find(key: string, head: PageHead): Pushing | null {
    const known = this.#pushes.get(key);
    if (known === undefined) return null;
    if (head.generation < known.head.generation) {
      throw refusePush(head, { kind: 'stale-generation', generation: known.head.generation });
    }
    const isSame =
      head.generation === known.head.generation &&
      head.baseGeneration === known.head.baseGeneration;
    return isSame ? known : null;
  }

  #begin(key: string, fleet: ServedFleet, head: PageHead): Pushing {
    const { sources } = fleet.controller.held;
    const held = sources.find(({ source }) => source === head.source);
    // What is durable only rises: no need to wait for the other pages.
    const isLeading = fleet.controller.standing.kind !== 'following';
    if (isLeading && held !== undefined && head.generation < held.generation) {
      throw refusePush(head, { kind: 'stale-generation', generation: held.generation });
    }
    if (held === undefined && sources.length >= SOURCES_MAX) {
      const message = `${SOURCES_MAX} sources have pushed to fleet ${fleet.name}`;
      throw tooMuch(
        `${message}; use the same name for the same scheduler, or wait until some expire`,
      );
    }
    this.#pushes.delete(key);
    const open = [...this.#pushes.values()].filter(({ staging }) => staging !== null);
    if (!head.isLast && open.length >= STAGINGS_MAX) {
      const message = `${STAGINGS_MAX} pushes wait for their next page`;
      throw tooMuch(`${message}; try again in ${IDLE_MAX_MS / 60_000} min`);
    }
    const staging = new Staging(head);
    const { pageDigests } = staging;
    return {
      fleet,
      head,
      staging,
      pageDigests,
      sent: null,
      answer: null,
      totals: staging.totals,
      size: 0,
      touchedMs: this.#clock.monotonicMs(),
    };
  }

  async #add(key: string, pushing: Pushing, head: PageHead, body: PageBody): Promise<PageOutcome> {
    const staging = must(pushing.staging, 'pages are added while some are awaited');
    const totals = staging.totalsWith(body);
    const excess = findExcess(totals);
    if (excess !== null) throw tooMuch(`${excess}; push less`);
    if (this.#stagedSize() + body.size > STAGED_SIZE_MAX) {
      throw tooMuch(`pushes of ${STAGED_SIZE_MAX} letters are under way; try again in a minute`);
    }
    staging.add(body);
    pushing.totals = totals;
    pushing.size = totals.size;
    pushing.touchedMs = this.#clock.monotonicMs();
    this.#pushes.delete(key); // the map is in order of last use
    this.#pushes.set(key, pushing);
    if (!head.isLast) return staged(pushing.fleet, head);
    pushing.sent = staging.finish();
    pushing.staging = null;
    return this.#send(key, pushing, head);
  }

  async #repeat(key: string, pushing: Pushing, head: PageHead): Promise<PageOutcome> {
    pushing.touchedMs = this.#clock.monotonicMs();
    return head.isLast ? this.#send(key, pushing, head) : staged(pushing.fleet, head);
  }

  async #send(key: string, pushing: Pushing, head: PageHead): Promise<PageOutcome> {
    const { fleet } = pushing;
    pushing.answer ??= this.#deliver(pushing, head.ttlMs);
    const answer = await inTime(pushing.answer, fleet, this.#clock);
    if (answer.kind !== 'done') {
      if (this.#pushes.get(key) === pushing) this.#pushes.delete(key);
      throw refusePush(head, answer);
    }
    const held = heldOf(fleet, head.source);
    if (held === undefined) throw refusePush(head, { kind: 'wrong-base', generation: null });
    return { kind: 'durable', held };
  }

  async #deliver(pushing: Pushing, ttlMs: number): Promise<CommandAnswer> {
    const { fleet, size } = pushing;
    const sent = must(pushing.sent, 'its last page is here');
    const place = { size };
    this.#waiting.add(place);
    try {
      await this.#checkDelta(sent, pushing);
      const expiresAtMs = epochMs(fleet.controller.now + ttlMs);
      const { push, ...rest } = sent;
      const answer = await submit(fleet, {
        kind: 'push-demand',
        push: { ...push, expiresAtMs },
        ...rest,
      });
      if (answer.kind === 'done') {
        pushing.sent = toRefresh(sent);
        pushing.size = 0;
      }
      return answer;
    } finally {
      this.#waiting.delete(place);
      // What failed is sent again when its last page comes again.
      pushing.answer = null;
    }
  }

  /** What a delta adds must leave the whole set within bounds. */
  async #checkDelta({ delta, push }: StagedPush, { fleet, totals }: Pushing): Promise<void> {
    const held = heldOf(fleet, push.source);
    if (delta === undefined || totals.entryCount === 0) return;
    if (held === undefined || held.generation !== delta.baseGeneration) return;
    const excess = findExcess(addTotals(await measure(held.entries, this.#clock), totals));
    if (excess !== null) throw tooMuch(`together with what is held, ${excess}; push the full set`);
  }

  /** Nobody is waited for any longer than that. Looked at with every page. */
  #forgetIdle(): void {
    const leastMs = this.#clock.monotonicMs() - IDLE_MAX_MS;
    for (const [key, { touchedMs, answer }] of this.#pushes) {
      const isOver = touchedMs < leastMs || this.#pushes.size > REMEMBERED_MAX;
      if (isOver && answer === null) this.#pushes.delete(key);
    }
  }

  #stagedSize(): number {
    let size = 0;
    for (const pushing of this.#pushes.values()) if (pushing.answer === null) size += pushing.size;
    for (const place of this.#waiting) size += place.size;
    return size;
  }
}

/**
 * What is durable needs no second copy of its entries here: a delta on itself is told by its digest,
 * and nothing but the expiry changes. Should the source be forgotten by then, it is refused.
 */
function toRefresh({ push }: StagedPush): StagedPush {
  const delta = { baseGeneration: push.generation, removedIds: [] };
  return { push: { ...push, entries: [] }, delta };
}

const heldOf = ({ controller }: ServedFleet, name: string): DemandPush | undefined =>
  controller.held.sources.find(({ source }) => source === name);

function staged(fleet: ServedFleet, { source }: PageHead): PageOutcome {
  const held = heldOf(fleet, source);
  const entryCount = held === undefined ? 0 : countEntries(held);
  return { kind: 'staged', generation: held?.generation ?? 0, entryCount };
}

/** Entries, counts multiplied out. */
export function countEntries({ entries }: DemandPush): number {
  let count = 0;
  for (const entry of entries) count += entry.count;
  return count;
}
