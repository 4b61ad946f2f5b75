import type { Control } from '../model/control.ts';
import { type EntryId, type EpochMs, epochMs, type SliceId } from '../model/ids.ts';
import { onItsWay } from '../model/slice.ts';
import type { TrackedSlice } from '../model/slice-record.ts';
import type { PlanStep, TickInput, TickOutput } from '../model/tick.ts';
import { classify } from '../policy/demand/classes.ts';
import { must, unreachable } from '../support/assert.ts';
import { byText } from '../support/order.ts';
import { decideTick } from '../controller/decide-tick.ts';
import { adoptSlice, type At, createSlice, freeOf, type ModelSlice } from './model-slice.ts';
import type { ModelWork } from './model-work.ts';
import type { Room } from './rooms.ts';
import { isRefused, type WorldTimes } from './times.ts';
import { WorldClock } from './world.ts';
import { withRetired } from '../controller/retire.ts';

const MINUTE_MS = 60_000;

/**
 * A fleet carried forward over recorded ticks: it starts with the slices of the first, gets the
 * recorded work, and carries out what its own ticks decide. Launches and releases take as long as
 * recorded ones did and are refused when those were.
 */
export class ModelFleet {
  readonly #work: ModelWork;
  readonly #times: WorldTimes;
  readonly #clock: WorldClock;
  readonly #slices = new Map<SliceId, ModelSlice>();
  /** Null: the configuration of the record, as it was at each tick. */
  readonly #given: Control | null;
  #control: Control | null = null;
  #sent: { readonly atMs: EpochMs; readonly gang: EntryId | null }[] = [];
  #released: EpochMs[] = [];

  constructor(options: {
    readonly work: ModelWork;
    readonly times: WorldTimes;
    readonly control: Control | null;
  }) {
    this.#work = options.work;
    this.#times = options.times;
    this.#clock = new WorldClock(options.times);
    this.#given = options.control;
  }

  /** Goes on to a recorded tick, and decides it anew. */
  tick(recorded: TickInput): { readonly input: TickInput; readonly output: TickOutput } {
    const { atMs } = recorded;
    if (this.#control === null) this.#begin(recorded);
    const control = this.#cover(this.#given ?? recorded.control);
    this.#work.advance(atMs);
    for (const one of this.#slices.values()) this.#advance(one, atMs);
    this.#work.place(this.#rooms(control), atMs);
    const slices = [...this.#slices.values()]
      .map((one) => this.#look(one, atMs))
      .sort((a, b) => byText(a.id, b.id));
    const reserved = new Set(slices.flatMap(({ reservedFor }) => reservedFor ?? []));
    const sinceMs = atMs - MINUTE_MS;
    this.#sent = this.#sent.filter((one) => one.atMs > sinceMs);
    this.#released = this.#released.filter((releasedMs) => releasedMs > sinceMs);
    const input: TickInput = {
      ...recorded,
      control,
      slices,
      demand: classify(this.#work.entries(), reserved),
      launchedAtMs: this.#sent.map((one) => one.atMs),
      releasedAtMs: [...this.#released],
    };
    const output = decideTick(input);
    const groups = new Map(control.fleet.groups.map((group) => [group.name, group]));
    for (const step of output.steps) this.#carryOut(step, { atMs, control, groups });
    this.#control = control;
    return { input, output };
  }

  /** The slices of the first tick, as they were. */
  #begin({ slices, control, atMs }: TickInput): void {
    this.#control = control;
    const first = { atMs, control, given: this.#given };
    for (const slice of slices) {
      this.#slices.set(
        slice.id,
        adoptSlice(slice, first, { times: this.#times, clock: this.#clock }),
      );
    }
  }

  /** Groups that a configuration does not know but that have slices drain. */
  #cover(control: Control): Control {
    const named = new Set(control.fleet.groups.map(({ name }) => name));
    const strangers = [...this.#slices.values()].filter(({ slice }) => !named.has(slice.group));
    if (strangers.length === 0) return control;
    const records = strangers.map(({ slice }) => ({ ...slice, history: [] }));
    const covered = withRetired(control, this.#control, records);
    return { ...covered, retired: [...control.retired, ...covered.retired] };
  }

  /** What became of a slice since the last tick. */
  #advance(one: ModelSlice, atMs: EpochMs): void {
    const { id, status, drain } = one.slice;
    if (one.isRefused || one.goneAtMs <= atMs) {
      this.#slices.delete(id);
      return;
    }
    if (status === 'draining') {
      if (!this.#isBusy(one)) this.#leave(one, atMs);
      else if (drain !== null && drain.deadlineMs <= atMs) {
        // Scale-down never ends work: it stays, and may be asked again.
        this.#move(one, 'ready', atMs);
        one.slice = { ...one.slice, drain: null };
      }
      return;
    }
    if (status === 'queued' || !onItsWay.has(status)) return;
    if (one.readyAtMs <= atMs) {
      this.#move(one, 'ready', one.readyAtMs);
      const readyAtMs = epochMs(one.readyAtMs);
      one.slice = { ...one.slice, readyAtMs, idleSinceMs: null, isReported: true };
    } else if (status === 'requesting' && one.machinesAtMs <= atMs) {
      this.#move(one, 'booting', one.machinesAtMs);
    }
  }

  #move(one: ModelSlice, status: TrackedSlice['status'], sinceMs: number): void {
    one.slice = { ...one.slice, status, statusSinceMs: epochMs(sinceMs) };
  }

  /** Nothing runs on it: it is released, and gone some time later. */
  #leave(one: ModelSlice, atMs: EpochMs): void {
    if (one.goneAtMs === Infinity) {
      one.goneAtMs = atMs + this.#clock.releaseMs(one.slice.group);
    }
    this.#move(one, 'terminating', atMs);
  }

  #isBusy({ slice }: ModelSlice): boolean {
    return slice.hosts.some((_, index) => this.#work.usedOn(slice.id, index) !== null);
  }

  #rooms(control: Control): Room[] {
    const groups = new Map(control.fleet.groups.map((group) => [group.name, group]));
    return [...this.#slices.values()].flatMap(({ slice, host }) => {
      const group = groups.get(slice.group);
      if (slice.status !== 'ready' || group === undefined) return [];
      return Array.from({ length: slice.hostCount }, (_, hostIndex): Room => {
        const used = this.#work.usedOn(slice.id, hostIndex);
        const { id: sliceId, reservedFor } = slice;
        const free = freeOf(host, used);
        return {
          sliceId,
          hostIndex,
          group,
          reservedFor,
          free,
          whole: host,
          isEmpty: used === null,
        };
      });
    });
  }

  /** The slice as its tick sees it, its hosts reported. */
  #look(one: ModelSlice, atMs: EpochMs): TrackedSlice {
    const { slice, host } = one;
    if (slice.status !== 'ready' && slice.status !== 'draining') return slice;
    const hosts = Array.from({ length: slice.hostCount }, (_, index) => {
      const used = this.#work.usedOn(slice.id, index);
      return { free: freeOf(host, used), isBusy: used !== null };
    });
    const isBusy = hosts.some((each) => each.isBusy);
    const idleSinceMs = isBusy ? null : (slice.idleSinceMs ?? atMs);
    one.slice = { ...slice, hosts, idleSinceMs, isReported: true };
    return one.slice;
  }

  #carryOut(step: PlanStep, at: At): void {
    const { atMs } = at;
    if (step.kind === 'launch') {
      this.#slices.set(step.sliceId, createSlice(step, at));
      return;
    }
    const one = must(this.#slices.get(step.sliceId), 'a plan names known slices');
    const { slice } = one;
    switch (step.kind) {
      case 'send':
        this.#send(one, at);
        return;
      case 'cancel':
        if (slice.status === 'queued') this.#slices.delete(slice.id);
        else {
          this.#leave(one, atMs);
          this.#released.push(atMs);
        }
        return;
      case 'drain': {
        const own = at.control.groups.find(({ group }) => group === slice.group);
        const deadlineMs = epochMs(atMs + (own?.timeouts.drainingMs ?? 0));
        this.#move(one, 'draining', atMs);
        one.slice = { ...one.slice, drain: { why: step.why, deadlineMs } };
        // Its release began when nothing ran there any more, which may be now.
        if (!this.#isBusy(one)) one.goneAtMs = atMs + this.#clock.releaseMs(slice.group);
        this.#released.push(atMs);
        return;
      }
      case 'cancel-drain':
        this.#move(one, 'ready', atMs);
        one.slice = { ...one.slice, drain: null };
        one.goneAtMs = Infinity;
        return;
      case 'unreserve':
        one.slice = { ...slice, reservedFor: null, reservedSinceMs: null };
        return;
      case 'mark-unneeded':
        one.slice = { ...slice, idleSinceMs: atMs };
        return;
      case 'mark-needed':
        one.slice = { ...slice, idleSinceMs: null };
        return;
      default:
        unreachable(step);
    }
  }

  #send(one: ModelSlice, { atMs, groups }: At): void {
    const { group: name, reservedFor } = one.slice;
    const group = must(groups.get(name), 'a known group');
    const isCounted = this.#sent.some(
      ({ atMs: sentMs, gang }) => gang !== null && gang === reservedFor && sentMs === atMs,
    );
    if (!isCounted) this.#sent.push({ atMs, gang: reservedFor });
    this.#move(one, 'requesting', atMs);
    one.slice = { ...one.slice, requestedAtMs: atMs };
    one.isRefused = isRefused(this.#times, group, atMs);
    if (one.isRefused) return;
    const { machinesMs, readyMs } = this.#clock.launch(name);
    one.machinesAtMs = atMs + machinesMs;
    one.readyAtMs = atMs + readyMs;
  }
}
