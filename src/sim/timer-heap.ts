import { must } from '../support/assert.ts';

export interface Timer {
  readonly atMs: number;
  /** Order of insertion: timers of the same instant fire in it. */
  readonly seq: number;
  readonly callback: () => void;
  state: 'pending' | 'fired' | 'cancelled';
}

const isBefore = (a: Timer, b: Timer): boolean =>
  a.atMs < b.atMs || (a.atMs === b.atMs && a.seq < b.seq);

/** Below this many cancelled timers a sweep is not worth its time. */
const SWEEP_COUNT_MIN = 1_024;

/** Timers by time, then insertion: a binary heap. Cancelled ones stay until popped or swept out. */
export class TimerHeap {
  #items: Timer[] = [];
  #cancelledCount = 0;

  /** Timers that will still fire. */
  get size(): number {
    return this.#items.length - this.#cancelledCount;
  }

  push(timer: Timer): void {
    this.#items.push(timer);
    this.#rise(this.#items.length - 1);
  }

  /** Of a timer that has fired or was cancelled: nothing. */
  cancel(timer: Timer): void {
    if (timer.state !== 'pending') return;
    timer.state = 'cancelled';
    this.#cancelledCount++;
    // Most timers of a simulation are deadlines that never come: without a sweep they would
    // outnumber the living and slow every step.
    const isMostlyDead = this.#cancelledCount * 2 > this.#items.length;
    if (this.#cancelledCount >= SWEEP_COUNT_MIN && isMostlyDead) this.#sweep();
  }

  /** The next timer to fire, left in place; null when none is pending. */
  peek(): Timer | null {
    for (;;) {
      const first = this.#items[0];
      if (first === undefined) return null;
      if (first.state === 'pending') return first;
      this.#removeFirst();
      this.#cancelledCount--;
    }
  }

  /** The next timer, taken out, if it is due by then. */
  popDue(untilMs: number): Timer | null {
    const first = this.peek();
    if (first === null || first.atMs > untilMs) return null;
    this.#removeFirst();
    first.state = 'fired';
    return first;
  }

  #removeFirst(): void {
    const last = must(this.#items.pop(), 'a first timer');
    if (this.#items.length === 0) return;
    this.#items[0] = last;
    this.#sink(0);
  }

  #sweep(): void {
    this.#items = this.#items.filter((timer) => timer.state === 'pending');
    this.#cancelledCount = 0;
    for (let at = (this.#items.length >> 1) - 1; at >= 0; at--) this.#sink(at);
  }

  #rise(from: number): void {
    const items = this.#items;
    const timer = must(items[from], 'the timer that rises');
    let at = from;
    while (at > 0) {
      const parentAt = (at - 1) >> 1;
      const parent = must(items[parentAt], 'a parent');
      if (!isBefore(timer, parent)) break;
      items[at] = parent;
      at = parentAt;
    }
    items[at] = timer;
  }

  #sink(from: number): void {
    const items = this.#items;
    const timer = must(items[from], 'the timer that sinks');
    let at = from;
    for (;;) {
      let childAt = 2 * at + 1;
      let child = items[childAt];
      if (child === undefined) break;
      const right = items[childAt + 1];
      if (right !== undefined && isBefore(right, child)) {
        child = right;
        childAt++;
      }
      if (!isBefore(child, timer)) break;
      items[at] = child;
      at = childAt;
    }
    items[at] = timer;
  }
}
