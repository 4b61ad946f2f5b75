import type { Entry } from '../model/demand.ts';
import type { EpochMs, SliceId } from '../model/ids.ts';
import type { Resources } from '../model/resources.ts';
import { byFirst, byNumber, type Compare } from '../support/order.ts';
import { subtract } from './amounts.ts';
import type { Piece } from './queue.ts';
import { type Room, Rooms } from './rooms.ts';
import { toWaiting, type Waiting } from './tally.ts';

interface Running {
  readonly loads: readonly { readonly key: string; readonly took: Resources }[];
  readonly endsMs: number;
}

interface Use {
  readonly used: Record<string, number>;
  pieces: number;
}

const byTurn: Compare<Piece> = byFirst(
  byNumber(({ priority }) => -priority),
  byNumber(({ submittedAtMs }) => submittedAtMs),
  byNumber(({ arrivedMs }) => arrivedMs),
);

/** How long each piece holds its room, wherever it is put. Infinity: to the end. */
export function createRunTimes(pieces: readonly Piece[]): (piece: Piece) => number {
  const byForm = new Map<Piece['form'], number[]>();
  const all: number[] = [];
  for (const { form, origin, leftMs, endedMs } of pieces) {
    if (leftMs === null || endedMs === null || origin === 'there') continue;
    all.push(endedMs - leftMs);
    const list = byForm.get(form);
    if (list === undefined) byForm.set(form, [endedMs - leftMs]);
    else list.push(endedMs - leftMs);
  }
  const medians = new Map([...byForm].map(([form, times]) => [form, median(times)]));
  const medianOfAll = all.length === 0 ? Infinity : median(all);
  return ({ form, leftMs, endedMs, isWithdrawn }) => {
    if (leftMs !== null && endedMs !== null) return endedMs - leftMs;
    if (leftMs !== null && !isWithdrawn) return Infinity; // it was still running at the end
    return medians.get(form) ?? medianOfAll;
  };
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted(byNumber((value) => value));
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

/** The recorded work on other hosts: it comes when it came, and runs as long as it ran. */
export class ModelWork {
  readonly #coming: readonly Piece[];
  readonly #runMs: (piece: Piece) => number;
  #next = 0;
  #waiting: Piece[] = [];
  #running: Running[] = [];
  readonly #uses = new Map<string, Use>();
  readonly #waitsMs: number[] = [];

  constructor(pieces: readonly Piece[], runMs: (piece: Piece) => number) {
    this.#coming = pieces.toSorted(byNumber(({ arrivedMs }) => arrivedMs));
    this.#runMs = runMs;
  }

  /** Ends, comings and withdrawals up to now. */
  advance(nowMs: EpochMs): void {
    this.#running = this.#running.filter(({ loads, endsMs }) => {
      if (endsMs > nowMs) return true;
      for (const { key, took } of loads) this.#free(key, took);
      return false;
    });
    for (; ; this.#next++) {
      const piece = this.#coming[this.#next];
      if (piece === undefined || piece.arrivedMs > nowMs) break;
      if (piece.home === null) this.#waiting.push(piece);
      else {
        const key = keyOf(piece.home.sliceId, piece.home.hostIndex);
        const took = piece.form.kind === 'single' ? piece.form.ask.resources : {};
        this.#run([{ key, took }], piece.endedMs ?? Infinity);
      }
    }
    this.#waiting = this.#waiting.filter(({ isWithdrawn, leftMs, submittedAtMs }) => {
      if (!isWithdrawn || leftMs === null || leftMs > nowMs) return true;
      this.#waitsMs.push(leftMs - submittedAtMs);
      return false;
    });
  }

  /** Puts what waits on hosts that have room. */
  place(rooms: Iterable<Room>, nowMs: EpochMs): void {
    if (this.#waiting.length === 0) return;
    const open = new Rooms(rooms);
    const placed = new Set<Piece>();
    for (const piece of this.#waiting.toSorted(byTurn)) {
      const taken = piece.invalid === null ? open.take(piece.id, piece.form) : null;
      if (taken === null) continue;
      const loads = taken.map(({ room, took }) => {
        return { key: keyOf(room.sliceId, room.hostIndex), took };
      });
      this.#run(loads, nowMs + this.#runMs(piece));
      this.#waitsMs.push(nowMs - piece.submittedAtMs);
      placed.add(piece);
    }
    if (placed.size > 0) this.#waiting = this.#waiting.filter((piece) => !placed.has(piece));
  }

  /** What runs on a host takes; null when nothing runs there. */
  usedOn(sliceId: SliceId, hostIndex: number): Resources | null {
    return this.#uses.get(keyOf(sliceId, hostIndex))?.used ?? null;
  }

  /** What waits, as its scheduler would push it: in the order in which it came. */
  entries(): readonly Entry[] {
    const entries = new Map<string, Entry & { count: number }>();
    for (const piece of this.#waiting) {
      const { id, form, priority, submittedAtMs, owner, taskIds, invalid } = piece;
      const key = `${id} ${priority} ${submittedAtMs}`;
      const known = entries.get(key);
      if (known?.form === form) known.count++;
      else {
        const entry = { id, count: 1, form, priority, submittedAtMs, owner, taskIds, invalid };
        entries.set(known === undefined ? key : `${key} ${entries.size}`, entry);
      }
    }
    return [...entries.values()];
  }

  /** Waits of everything that came, those not over counted to the end. */
  waiting(endMs: EpochMs): Waiting {
    const open = this.#waiting.map(({ submittedAtMs }) => endMs - submittedAtMs);
    return toWaiting([...this.#waitsMs, ...open], open.length);
  }

  #run(loads: Running['loads'], endsMs: number): void {
    for (const { key, took } of loads) {
      const use = this.#uses.get(key) ?? { used: {}, pieces: 0 };
      for (const name in took) use.used[name] = (use.used[name] ?? 0) + (took[name] ?? 0);
      use.pieces++;
      this.#uses.set(key, use);
    }
    this.#running.push({ loads, endsMs });
  }

  #free(key: string, took: Resources): void {
    const use = this.#uses.get(key);
    if (use === undefined) return;
    subtract(use.used, took);
    if (--use.pieces === 0) this.#uses.delete(key);
  }
}

const keyOf = (sliceId: SliceId, hostIndex: number): string => `${sliceId} ${hostIndex}`;
