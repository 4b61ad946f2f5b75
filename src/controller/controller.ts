import type { Control } from '../model/control.ts';
import type { FleetEvent, TimedEvent } from '../model/event.ts';
import type { HostReport } from '../model/host-report.ts';
import { type EpochMs, epochMs } from '../model/ids.ts';
import type { SliceRecord } from '../model/slice-record.ts';
import type { TickInput, TickOutput } from '../model/tick.ts';
import { StoreError, type TickWrite } from '../ports/store.ts';
import { must } from '../support/assert.ts';
import { runInTurns, type Turns } from '../support/turns.ts';
import { Actuator } from './act.ts';
import { carryOut, type CarryingOut } from './carry-out.ts';
import { changeControl, type Command, type CommandAnswer, obey } from './commands.ts';
import { type ControllerOptions, readingStore, type Standing } from './controller-options.ts';
import { decideInTurns, decideTick, type Tick } from './decide-tick.ts';
import type { takePush } from './demand-push.ts';
import { toFields, toRows } from './event-fields.ts';
import { FirstLook } from './first-look.ts';
import { type ReportAnswer, takeReports } from './host-reports.ts';
import { closed, Inbox } from './inbox.ts';
import { Journal } from './journal.ts';
import { finishCalls, openReaches, type Reach } from './lanes.ts';
import { Leadership } from './leadership.ts';
import { type Held, Memory } from './memory.ts';
import { type GroupIndex, indexGroups, observe } from './observe.ts';
import { Pace } from './pace.ts';
import { PushAhead } from './push-ahead.ts';
import { withoutEmptied } from './retire.ts';
import { Sights } from './sights.ts';
import { TickInputs } from './tick-input.ts';
import { SteadyTime } from './time.ts';
import { nextTurnMs } from './turn.ts';
import { createMovingCheck, Watch } from './watch.ts';

/** Events are looked at together. */
const BATCH_MS = 100;
const LEASE_TTL_MS = 120_000;
/** With so many slices and classes a tick is made in stretches, so that nobody waits for it. */
const LARGE_COUNT = 400;
/** A store that fails is asked again after this. */
const STORE_RETRY_MS = 1_000;

/**
 * The loop: observe, decide, plan, record, act. One pass at a time; calls run beside it, and what
 * comes of them is seen by the next pass. Nothing is called before what asks for it is recorded.
 */
export class Controller {
  readonly #options: ControllerOptions;
  readonly #leadership: Leadership;
  readonly #actuator = new Actuator();
  readonly #reaches: ReadonlyMap<string, Reach>;
  readonly #watch: Watch;
  readonly #pace: Pace;
  readonly #inputs = new TickInputs();
  readonly #ahead = new PushAhead(this.#inputs);
  readonly #inbox = new Inbox();
  #memory = new Memory();
  #sights: Sights;
  #time: SteadyTime;
  #groups: GroupIndex;
  #adopted: Control | null = null;
  /** What this process was last told: another term of ours begins with it, not with an older one. */
  #configured: Control;
  readonly #firstLook = new FirstLook();
  /** When something ends by itself that the last decision counted with. */
  #turnMs = Infinity;
  #journal = new Journal();
  #last: { readonly input: TickInput; readonly output: TickOutput } | null = null;
  #timer: { cancel(): void } | null = null;
  #timerMs = Infinity;
  #pass: Promise<void> | null = null;
  #isStopped = true;
  /** A commit may or may not have happened: what is in memory may not be the truth. */
  #isDoubtful = false;

  constructor(options: ControllerOptions) {
    const { clock, control } = options;
    this.#options = options;
    this.#configured = control;
    this.#leadership = new Leadership(options, {
      holder: options.holder,
      ttlMs: options.leaseTtlMs ?? LEASE_TTL_MS,
    });
    this.#time = new SteadyTime(clock, clock.wallMs());
    this.#sights = new Sights(this.#time.now());
    this.#pace = new Pace(control.evaluationIntervalMs, control.reconcileIntervalMs);
    this.#reaches = openReaches(options, control.providers);
    this.#groups = indexGroups(control);
    const inForce = (): Control => this.#adopted ?? control;
    this.#watch = new Watch({ clock, reaches: this.#reaches, control: inForce, log: options.log });
  }

  /** Starts the loop; it takes the lease as soon as it can be had. */
  start(): void {
    this.#isStopped = false;
    this.#wake(0);
  }

  /**
   * Finishes the pass, waits for calls in flight as long as `graceMs`, lets go of the lease. What they
   * did a later list shows.
   */
  async stop(graceMs = 0): Promise<void> {
    this.#isStopped = true;
    this.#timer?.cancel();
    this.#watch.stop();
    await this.#pass;
    await finishCalls(this.#reaches.values(), this.#options.clock, graceMs);
    this.#inbox.close();
    await this.#leadership.release();
  }

  /** Resolves once it is durable; rejects with a StoreError when it is not. */
  command(command: Command): Promise<CommandAnswer> {
    if (this.#isStopped) return Promise.reject(closed());
    this.#wake(0);
    return this.#inbox.put(command);
  }

  /** Takes reports in and says what their hosts shall do. */
  report(reports: readonly HostReport[]): ReportAnswer {
    const answer = takeReports(reports, { memory: this.#memory, sights: this.#sights });
    if (answer.isNews) {
      this.#pace.want();
      this.#wake(BATCH_MS);
    }
    return answer;
  }

  /** What the last tick saw and concluded; null before the first. */
  get last(): { readonly input: TickInput; readonly output: TickOutput } | null {
    return this.#last;
  }

  get epoch(): number | null {
    return this.#leadership.epoch;
  }

  get standing(): Standing {
    if (this.#leadership.isHeldByOther) return { kind: 'following' };
    if (this.#leadership.epoch === null || this.#isDoubtful) return readingStore;
    if (this.#last !== null) return { kind: 'leading' };
    const around = [this.#memory, this.#sights, this.#reaches.keys()] as const;
    return { kind: 'starting', awaited: this.#firstLook.awaited(this.now, ...around) };
  }

  /** The configuration in force; before the first decision, the one that will be. */
  get control(): Control {
    return this.#adopted ?? this.#configured;
  }

  /** What outsiders have asked for, as far as it is durable. */
  get held(): Held {
    return this.#memory.held;
  }

  /** The next decision comes then at the latest. */
  get nextDecisionMs(): EpochMs {
    return epochMs(Math.min(this.#pace.nextMs(), this.#turnMs));
  }

  get now(): EpochMs {
    return this.#time.now();
  }

  /** All that is remembered of slices, also of those that ended lately. */
  slices(): Iterable<SliceRecord> {
    return this.#memory.slices.values();
  }

  #wake(delayMs: number): void {
    if (this.#isStopped) return;
    const atMs = this.#options.clock.monotonicMs() + delayMs;
    if (this.#timer !== null && this.#timerMs <= atMs) return;
    this.#timer?.cancel();
    this.#timerMs = atMs;
    this.#timer = this.#options.clock.after(delayMs, () => {
      this.#timer = null;
      this.#timerMs = Infinity;
      if (this.#pass !== null) return; // it wakes the next one itself
      this.#pass = this.#run().finally(() => (this.#pass = null));
    });
  }

  async #run(): Promise<void> {
    try {
      if (!(await this.#lead())) return;
      await this.#inTurns(this.#ahead.prepare(this.#inbox.commands(), this.#memory));
      await this.#once();
      const dueMs = Math.min(this.#pace.nextMs(), this.#turnMs) - this.#time.now();
      const waitMs = Math.max(BATCH_MS, Math.min(dueMs, this.#leaseCheckMs()));
      this.#wake(this.#inbox.isEmpty ? waitMs : 0);
    } catch (error) {
      await this.#recover(error);
    }
  }

  #leaseCheckMs(): number {
    return Math.max(1_000, (this.#options.leaseTtlMs ?? LEASE_TTL_MS) / 4);
  }

  /** Holds the lease, or waits for it; true when we lead. */
  async #lead(): Promise<boolean> {
    const { epoch } = this.#leadership;
    if (epoch !== null && !this.#leadership.isDue && !this.#isDoubtful) return true;
    const standing = await this.#leadership.ask();
    if (standing.kind === 'following') {
      if (epoch !== null) this.#stepDown();
      this.#wake(Math.min(5_000, this.#leaseCheckMs()));
      return false;
    }
    if (standing.epoch !== epoch || this.#isDoubtful) await this.#takeOver(standing.epoch);
    return true;
  }

  /** Everything is read anew: what another controller did in between is the truth. */
  async #takeOver(epoch: number): Promise<void> {
    const { store, clock, holder, log } = this.#options;
    this.#isDoubtful = true; // until all of it is done
    this.#memory = Memory.from(await store.load());
    this.#time = new SteadyTime(clock, this.#memory.marks.atMs);
    this.#firstLook.begin(this.#time.now());
    this.#memory.startCounting(this.#time.now());
    this.#sights = new Sights(this.#time.now());
    this.#journal = new Journal();
    this.#pace.want();
    const events: TimedEvent[] = [];
    const tell = this.#teller(events);
    tell({ kind: 'controller-started', epoch, holder });
    changeControl(this.#configured, { memory: this.#memory, tell });
    await this.#commit(null, events);
    this.#adopt(must(this.#memory.control, 'set just now'));
    this.#watch.start({
      sights: this.#sights,
      recordOf: (id) => this.#memory.slices.get(id),
      now: () => this.#time.now(),
      isBusy: createMovingCheck(() => this.#memory.slices),
      onList: () => this.#wake(BATCH_MS),
    });
    this.#isDoubtful = false;
    log.write('info', 'leading', { epoch, slices: this.#memory.liveCount });
  }

  #stepDown(): void {
    this.#watch.stop();
    this.#memory.drop();
    this.#options.log.write('warn', 'not-leading', {});
  }

  #adopt(control: Control): void {
    // Most passes come with the configuration that is in force already.
    if (control === this.#adopted) return;
    this.#adopted = control;
    this.#groups = indexGroups(control);
    this.#pace.set(control.evaluationIntervalMs, control.reconcileIntervalMs);
  }

  #teller(events: TimedEvent[]): (event: FleetEvent) => void {
    return (event) => events.push({ atMs: this.#time.now(), event });
  }

  /** One pass. Either all of it is kept, or nothing of it happened. */
  async #once(): Promise<void> {
    const nowMs = this.#time.now();
    const memory = this.#memory;
    const events: TimedEvent[] = [];
    const tell = this.#teller(events);
    const jumpMs = this.#time.takeJump();
    if (jumpMs !== 0) tell({ kind: 'clock-jumped', byMs: jumpMs });
    for (const event of [...this.#watch.takeEvents(), ...this.#actuator.takeEvents()]) tell(event);
    const out: CarryingOut = { memory, groups: this.#groups, nowMs, tell };
    const commands = this.#inbox.take();
    try {
      const take: typeof takePush = (before, push) => this.#ahead.take(before, push);
      const answers = commands.map(({ command }) => obey(command, out, take));
      for (const { command } of commands) this.#firstLook.hear(command);
      const control = withoutEmptied(
        must(memory.control, 'set when taking over'),
        memory.slices.values(),
      );
      if (control !== memory.control) memory.control = control;
      const groups = control === this.#last?.input.control ? this.#groups : indexGroups(control);
      const around = { memory, sights: this.#sights, control, groups, nowMs, tell };
      const wasRefused = observe({ ...around, listLagMs: this.#watch.lags });
      if (memory.isChanged || commands.length > 0 || nowMs >= this.#turnMs) this.#pace.want();
      let tick: Tick | null = null;
      const hasLooked = this.#firstLook.isDone(nowMs, memory, this.#sights, this.#reaches.keys());
      if (hasLooked && this.#pace.isDue(nowMs, wasRefused)) {
        tick = await this.#inTurns(this.#decide({ ...out, groups }, control, wasRefused));
      }
      // What happened is told also when it changed nothing.
      const isNews = tick !== null || memory.isChanged || events.length > 0;
      if (isNews) await this.#commit(tick?.write ?? null, events);
      if (tick !== null) this.#finishTick(tick);
      this.#adopt(control);
      for (const { command } of commands) {
        if (command.kind === 'change-control') this.#configured = command.control;
      }
      commands.forEach(({ resolve }, index) => resolve(must(answers[index], 'one per command')));
    } catch (error) {
      memory.drop();
      for (const { reject } of commands) reject(error);
      throw error;
    }
    this.#act();
  }

  /**
   * Lets others have a turn. A pass is alone with what is remembered; what is seen meanwhile, in
   * lists, reports and answers, is for the next one.
   */
  #inTurns<T>(turns: Turns<T>): Promise<T> {
    const { clock } = this.#options;
    const pause = (): Promise<void> => new Promise((resolve) => void clock.after(0, resolve));
    return runInTurns(turns, pause);
  }

  *#decide(out: CarryingOut, control: Control, wasRefused: boolean): Turns<Tick> {
    const { memory, nowMs } = out;
    const seq = memory.marks.seq + 1;
    const epoch = must(this.#leadership.epoch, 'only a leader decides');
    const input = this.#inputs.freeze(memory, this.#sights, { atMs: nowMs, epoch, seq, control });
    // Before the first stop: a report that comes then asks for another decision.
    this.#pace.decided(nowMs, wasRefused);
    const isLarge = input.slices.length + input.demand.length >= LARGE_COUNT;
    if (isLarge) yield;
    const output = isLarge ? yield* decideInTurns(input) : decideTick(input);
    if (isLarge) yield;
    const write = yield* this.#journal.writeInTurns(input, output);
    if (isLarge) yield;
    if (control.mode === 'active') carryOut(output.steps, out);
    memory.marks = { ...memory.marks, seq, atMs: nowMs };
    return { input, output, write };
  }

  #finishTick({ input, output, write }: Tick): void {
    this.#journal.written(write);
    this.#last = { input, output };
    this.#turnMs = nextTurnMs(input);
    this.#options.onTick?.(input, output);
  }

  async #commit(tick: TickWrite | null, events: readonly TimedEvent[]): Promise<void> {
    const { store, log } = this.#options;
    const first = this.#memory.marks.events;
    if (events.length > 0) {
      const marks = { ...this.#memory.marks, events: first + events.length };
      this.#memory.marks = marks;
    }
    const documents = await this.#inTurns(this.#memory.documentsInTurns());
    await store.commit({
      epoch: must(this.#leadership.epoch, 'only a leader writes'),
      documents,
      tick,
      events: toRows(events, first),
    });
    this.#memory.keep();
    if (events.length > 0) this.#options.onEvents?.(events, first);
    for (const { event } of events) log.write('info', event.kind, toFields(event));
  }

  #act(): void {
    if (this.#memory.control?.mode !== 'active') return;
    const deadlineMs = Math.max(...this.#options.control.providers.map((one) => one.callTimeoutMs));
    this.#actuator.act({
      memory: this.#memory,
      sights: this.#sights,
      groups: this.#groups,
      reaches: this.#reaches,
      nowMs: this.#time.now(),
      now: () => this.#time.now(),
      mayCall: () => !this.#isStopped && this.#leadership.remainingMs() > deadlineMs,
      wake: () => this.#wake(BATCH_MS),
    });
  }

  /** A store that fails for a while is asked again; what it may have done is read anew. */
  async #recover(error: unknown): Promise<void> {
    this.#memory.drop();
    const { log, onCrash } = this.#options;
    if (!(error instanceof StoreError) || error.kind === 'corrupt') {
      this.#isStopped = true;
      this.#watch.stop();
      onCrash(error);
      return;
    }
    log.write('error', 'store-failed', { kind: error.kind, message: error.message });
    // Who asked is told now: nobody knows when it could be kept.
    for (const { reject } of this.#inbox.take()) reject(error);
    if (error.kind === 'unknown-outcome') this.#isDoubtful = true;
    if (error.kind === 'fenced') {
      this.#stepDown();
      this.#leadership.lose();
    }
    this.#wake(STORE_RETRY_MS);
  }
}
