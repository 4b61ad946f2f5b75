import { createHash } from 'node:crypto';
import type { ArrivingPush } from '../controller/demand-push.ts';
import type { Entry } from '../model/demand.ts';
import type { EntryId } from '../model/ids.ts';
import { FormTable } from './codec/forms.ts';
import { IdBook } from './codec/id-book.ts';
import type { PageBody, PageHead } from './codec/page.ts';
import { addTotals, type Totals } from './push-totals.ts';

/** Where a page stands to what was staged before. */
export type PageStanding = 'next' | 'repeated' | 'other-content' | 'too-early';

/** What a push becomes once its last page is here; when it expires is said when it is sent. */
export interface StagedPush extends Omit<ArrivingPush, 'push'> {
  readonly push: Omit<ArrivingPush['push'], 'expiresAtMs'>;
}

/** The pages of one generation of one source, in order. Nothing of them counts yet. */
export class Staging {
  readonly forms = new FormTable();
  readonly ids = new IdBook();
  readonly #head: Pick<PageHead, 'source' | 'generation' | 'baseGeneration'>;
  readonly #entries: Entry[] = [];
  readonly #undated = new Set<EntryId>();
  readonly #removedIds: EntryId[] = [];
  readonly #pageDigests: string[] = [];
  // Page by page: at the end, a hundred thousand entries would be a long moment.
  readonly #entriesHash = createHash('sha256');
  readonly #removedHash = createHash('sha256');
  #totals: Totals = { entryCount: 0, taskCount: 0, size: 0 };

  constructor(head: Pick<PageHead, 'source' | 'generation' | 'baseGeneration'>) {
    this.#head = head;
  }

  get pageDigests(): readonly string[] {
    return this.#pageDigests;
  }

  get totals(): Totals {
    return this.#totals;
  }

  totalsWith({ entries, taskCount, size }: PageBody): Totals {
    return addTotals(this.#totals, { entryCount: entries.length, taskCount, size });
  }

  add(body: PageBody): void {
    for (const entry of body.entries) {
      this.#entries.push(entry);
      this.ids.add(entry.id, entry.count);
    }
    for (const id of body.undated) this.#undated.add(id);
    for (const id of body.removedIds) this.#removedIds.push(id);
    this.#entriesHash.update(body.entriesText);
    this.#removedHash.update(body.removedText);
    this.#pageDigests.push(body.digest);
    this.#totals = this.totalsWith(body);
  }

  /** After the last page; nothing can be added any more. */
  finish(): StagedPush {
    const { source, generation, baseGeneration } = this.#head;
    const contents = [
      String(baseGeneration),
      this.#entriesHash.digest('hex'),
      this.#removedHash.digest('hex'),
    ];
    const digest = createHash('sha256').update(contents.join(' ')).digest('hex');
    const removedIds = this.#removedIds;
    return {
      push: { source, generation, entries: this.#entries, digest },
      undated: this.#undated,
      ...(baseGeneration === null ? {} : { delta: { baseGeneration, removedIds } }),
    };
  }
}

/** Where a page stands to those whose digests are known. */
export function standingOf(
  { page }: PageHead,
  digest: string,
  known: readonly string[],
): PageStanding {
  if (page > known.length) return 'too-early';
  if (page === known.length) return 'next';
  return known[page] === digest ? 'repeated' : 'other-content';
}
