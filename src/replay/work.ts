import type { EntryForm } from '../model/demand.ts';
import type { Group } from '../model/group.ts';
import { type EpochMs, epochMs, type SliceId } from '../model/ids.ts';
import { addResources, type Resources } from '../model/resources.ts';
import type { TrackedSlice } from '../model/slice-record.ts';
import type { TickInput } from '../model/tick.ts';
import { findMismatches, partsOf } from '../policy/demand/eligibility.ts';
import { above, common, covers, isSome, subtract } from './amounts.ts';
import { type Piece, QueueReader } from './queue.ts';
import { type Room, Rooms } from './rooms.ts';
import { isSplittable, toGang, UnnamedWork } from './unnamed.ts';

/** A scheduler's queue and its hosts' reports may reach us so far apart. */
const SKEW_MS = 60_000;

interface Load {
  readonly piece: Piece;
  readonly took: Record<string, number>;
  readonly sinceMs: EpochMs;
  /** The tick that found its room. */
  readonly seenMs: EpochMs;
}

interface Book {
  readonly sliceId: SliceId;
  readonly hostIndex: number;
  group: Group;
  used: Resources;
  readonly loads: Load[];
  /** What this tick shows to be taken or given back, and nothing has explained yet. */
  rise: Record<string, number>;
  fall: Record<string, number>;
}

/**
 * Finds out from recorded ticks how long each piece of work held its room. The journal says when a
 * piece stopped waiting and how the free room of every host changed, not what runs where: so room
 * taken on a host is given to work that stopped waiting at that time and fits; room that comes free
 * ends the oldest work there that it covers. The room in use at any time is as recorded, whoever of
 * several equal pieces it was.
 */
export class WorkReader {
  readonly #queue = new QueueReader();
  readonly #books = new Map<string, Book>();
  readonly #unnamed = new UnnamedWork();
  readonly #loadCounts = new Map<Piece, number>();
  #first: { readonly atMs: EpochMs; readonly ready: ReadonlySet<SliceId> } | null = null;
  /** Waits no longer, and no room was seen taken for it yet. */
  #limbo: Piece[] = [];
  #atMs = epochMs(0);

  feed(input: TickInput): void {
    const { atMs } = input;
    this.#atMs = atMs;
    this.#first ??= {
      atMs,
      ready: new Set(input.slices.flatMap((slice) => (isUp(slice) ? slice.id : []))),
    };
    const left = this.#queue.feed(input.demand, atMs);
    this.#observe(input);
    for (const book of this.#books.values()) this.#endFitting(book, atMs);
    this.#start([...this.#limbo, ...left], atMs);
    this.#nameGangs(atMs);
    for (const book of this.#books.values()) this.#settle(book, atMs);
  }

  /** Every piece, those of the queue first, in the order in which they came. */
  finish(): readonly Piece[] {
    for (const piece of this.#limbo) piece.isWithdrawn = true;
    this.#limbo = [];
    return [...this.#queue.pieces, ...this.#unnamed.pieces];
  }

  /** What changed on every host since the tick before. */
  #observe({ slices, control, atMs }: TickInput): void {
    const groups = new Map(control.fleet.groups.map((group) => [group.name, group]));
    const there = new Set<string>();
    for (const { id, group: name, status, hosts } of slices) {
      const group = groups.get(name);
      if (group === undefined || !isUp({ status })) continue;
      hosts.forEach(({ free }, hostIndex) => {
        const key = `${id} ${hostIndex}`;
        there.add(key);
        if (free !== null) this.#update(key, { sliceId: id, hostIndex, group, free });
      });
    }
    for (const [key, book] of this.#books) {
      if (there.has(key)) continue;
      // Gone, and whatever ran there has ended or waits again.
      for (const load of book.loads) this.#end(load, atMs);
      this.#books.delete(key);
    }
  }

  #update(
    key: string,
    seen: Pick<Book, 'sliceId' | 'hostIndex' | 'group'> & { readonly free: Resources },
  ): void {
    const { sliceId, hostIndex, group, free } = seen;
    const used: Record<string, number> = {};
    for (const name in group.host) {
      used[name] = Math.max(0, (group.host[name] ?? 0) - (free[name] ?? 0));
    }
    const known = this.#books.get(key);
    if (known !== undefined) {
      known.rise = above(used, known.used);
      known.fall = above(known.used, used);
      Object.assign(known, { used, group });
      return;
    }
    const book: Book = { sliceId, hostIndex, group, used, loads: [], rise: {}, fall: {} };
    this.#books.set(key, book);
    const first = this.#first;
    if (first?.ready.has(sliceId) === true) {
      const origin = { kind: 'there', atMs: first.atMs } as const;
      if (isSome(used))
        this.#addLoad(book, this.#unnamed.add(book, used, origin), used, first.atMs);
    } else book.rise = above(used, {});
  }

  /** Room came free: the oldest work that it covers has ended. */
  #endFitting(book: Book, atMs: EpochMs): void {
    if (!isSome(book.fall)) return;
    for (const load of book.loads.slice()) {
      if (!isSome(load.took) || !covers(book.fall, load.took)) continue;
      subtract(book.fall, load.took);
      this.#drop(book, load, atMs);
    }
  }

  /** Gives the room that was taken to the work that stopped waiting. */
  #start(pieces: readonly Piece[], atMs: EpochMs): void {
    if (pieces.length === 0) return;
    this.#limbo = [];
    const rooms = new Rooms(
      [...this.#books.values()].filter(({ rise }) => isSome(rise)).map(toRoom),
    );
    for (const piece of pieces) {
      const taken = rooms.take(piece.id, piece.form);
      if (taken !== null) {
        for (const { room, took } of taken) {
          const book = this.#books.get(`${room.sliceId} ${room.hostIndex}`);
          if (book !== undefined) this.#addLoad(book, piece, took, piece.leftMs ?? atMs);
        }
      } else if (!this.#succeed(piece, atMs)) {
        if (atMs - (piece.leftMs ?? atMs) < SKEW_MS) this.#limbo.push(piece);
        else piece.isWithdrawn = true;
      }
    }
  }

  /** No room shows: it took the place of work that ended since the last tick. False when of none. */
  #succeed(piece: Piece, atMs: EpochMs): boolean {
    const { form } = piece;
    const parts = partsOf(form);
    const [part] = parts;
    if (part === undefined || parts.length > 1) return false;
    const admits = new Map<string, boolean>();
    const isAdmitted = (group: Group): boolean => {
      const known = admits.get(group.name) ?? findMismatches(part, group).length === 0;
      admits.set(group.name, known);
      return known;
    };
    let best: { readonly book: Book; readonly load: Load } | null = null;
    for (const book of this.#books.values()) {
      if (book.loads.length === 0 || !isAdmitted(book.group)) continue;
      for (const load of book.loads) {
        if (best !== null && load.sinceMs >= best.load.sinceMs) continue;
        const isGang = form.kind === 'gang' || load.piece.form.kind === 'gang';
        const can = isGang ? isGangLike(form, load.piece.form) : canSucceed(part.need, load, book);
        if (can && load.piece !== piece) best = { book, load };
      }
    }
    if (best === null) return false;
    if (form.kind === 'gang') return this.#succeedGang(piece, best.load.piece, atMs);
    const { book, load } = best;
    const { need } = part;
    if (isSplittable(load.piece) && covers(load.took, need)) this.#carve(book, load, need, atMs);
    else {
      subtract(book.rise, above(need, load.took));
      subtract(book.fall, above(load.took, need));
      this.#drop(book, load, atMs);
    }
    this.#addLoad(book, piece, need, piece.leftMs ?? atMs);
    return true;
  }

  #succeedGang(piece: Piece, before: Piece, atMs: EpochMs): boolean {
    for (const book of this.#books.values()) {
      for (const load of book.loads.filter((one) => one.piece === before)) {
        this.#drop(book, load, atMs);
        this.#addLoad(book, piece, load.took, piece.leftMs ?? atMs);
      }
    }
    return true;
  }

  /** All hosts of an empty slice were taken alike and at once: by a gang that nobody saw wait. */
  #nameGangs(atMs: EpochMs): void {
    const slices = new Map<SliceId, Book[]>();
    for (const book of this.#books.values()) {
      const { sliceId, group, rise, loads } = book;
      if (group.hostsPerSlice === 1 || loads.length > 0 || !isSome(rise)) continue;
      const hosts = slices.get(sliceId);
      if (hosts === undefined) slices.set(sliceId, [book]);
      else hosts.push(book);
    }
    for (const books of slices.values()) {
      const [first] = books;
      if (first === undefined || books.length < first.group.hostsPerSlice) continue;
      const took = { ...first.rise };
      if (books.some(({ rise }) => isSome(above(rise, took)) || isSome(above(took, rise))))
        continue;
      const piece = this.#unnamed.add(first, took, { kind: 'unseen', atMs });
      piece.form = toGang(piece.form, books.length);
      for (const book of books) {
        this.#addLoad(book, piece, took, atMs);
        book.rise = {};
      }
    }
  }

  /** What is left unexplained: work that nobody saw wait, or unnamed work of which a part has ended. */
  #settle(book: Book, atMs: EpochMs): void {
    if (isSome(book.fall)) {
      for (const load of book.loads.slice()) {
        const share = common(load.took, book.fall);
        if (!isSplittable(load.piece) || !isSome(share) || !isAlike(share, load.took)) continue;
        subtract(book.fall, share);
        this.#carve(book, load, share, atMs);
      }
    }
    this.#succeedUnseen(book, atMs);
    if (isSome(book.rise)) {
      const took = { ...book.rise };
      const piece = this.#unnamed.add(book, took, { kind: 'unseen', atMs });
      this.#addLoad(book, piece, took, atMs);
    }
    book.rise = {};
    book.fall = {};
  }

  /**
   * A change that no whole piece explains, such as CPUs without memory: one piece has ended and another,
   * of another size, has begun in its place.
   */
  #succeedUnseen(book: Book, atMs: EpochMs): void {
    const { rise, fall } = book;
    const fresh = book.loads.find(({ seenMs, took }) => seenMs === atMs && !isAlike(rise, took));
    if (fresh !== undefined && isSome(rise)) {
      // Of several that began at once, the wrong one was put here: it took what is left over, too.
      for (const name in rise) fresh.took[name] = (fresh.took[name] ?? 0) + (rise[name] ?? 0);
      book.rise = {};
      return;
    }
    const load = book.loads.find(
      ({ piece, took }) => piece.form.kind === 'single' && covers(took, fall),
    );
    if (load === undefined || (!isSome(fall) && (!isSome(rise) || isAlike(rise, load.took))))
      return;
    const took = addResources(above(load.took, fall), rise);
    this.#drop(book, load, atMs);
    book.fall = {};
    book.rise = { ...took };
  }

  /** Ends a part of unnamed work, which may have been several pieces all the time. */
  #carve(book: Book, load: Load, share: Resources, atMs: EpochMs): void {
    subtract(load.took, share);
    if (!isSome(load.took)) {
      this.#drop(book, load, atMs);
      return;
    }
    const { piece } = load;
    this.#unnamed.split(piece, { group: book.group, ended: share, left: load.took, atMs });
  }

  #addLoad(book: Book, piece: Piece, took: Resources, sinceMs: EpochMs): void {
    book.loads.push({ piece, took: { ...took }, sinceMs, seenMs: this.#atMs });
    this.#loadCounts.set(piece, (this.#loadCounts.get(piece) ?? 0) + 1);
  }

  #drop(book: Book, load: Load, atMs: EpochMs): void {
    book.loads.splice(book.loads.indexOf(load), 1);
    this.#end(load, atMs);
  }

  /** A piece has ended when all its room is free. */
  #end({ piece }: Load, atMs: EpochMs): void {
    const left = (this.#loadCounts.get(piece) ?? 1) - 1;
    if (left > 0) {
      this.#loadCounts.set(piece, left);
      return;
    }
    this.#loadCounts.delete(piece);
    piece.endedMs = atMs;
  }
}

const isUp = ({ status }: Pick<TrackedSlice, 'status'>): boolean =>
  status === 'ready' || status === 'draining';

const toRoom = ({ sliceId, hostIndex, group, rise }: Book): Room => {
  return {
    sliceId,
    hostIndex,
    group,
    reservedFor: null,
    free: rise,
    whole: { ...rise },
    isEmpty: true,
  };
};

/** Both take some of the same resources. */
const isAlike = (a: Resources, b: Resources): boolean =>
  Object.keys(b).every((name) => (b[name] ?? 0) <= 0 || (a[name] ?? 0) > 0);

const isGangLike = (a: EntryForm, b: EntryForm): boolean =>
  a.kind === 'gang' && b.kind === 'gang' && a.taskCount === b.taskCount;

/** Whether the end of a load and the start of `need` on its host leave what the reports show. */
const canSucceed = (need: Resources, { piece, took }: Load, { rise, fall }: Book): boolean =>
  (isSplittable(piece) && covers(took, need)) ||
  (covers(rise, above(need, took)) && covers(fall, above(took, need)));
