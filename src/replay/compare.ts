import type { Control } from '../model/control.ts';
import type { EpochMs, GroupName } from '../model/ids.ts';
import type { TickOutput } from '../model/tick.ts';
import { StoreError } from '../ports/store.ts';
import { ModelFleet } from './model.ts';
import { createRunTimes, ModelWork } from './model-work.ts';
import type { Piece } from './queue.ts';
import { type JournalSource, type TickRange, toReadTick } from './source.ts';
import { type Tally, Tallier, toWaiting, type Waiting } from './tally.ts';
import { TimesReader, type WorldTimes } from './times.ts';
import { WorkReader } from './work.ts';

/** One course of things. */
export interface Course extends Tally {
  readonly waiting: Waiting;
}

/** Recorded ticks under another configuration. */
export interface Comparison {
  readonly ticks: number;
  /** Ticks left out: parts of them are gone. */
  readonly missing: number;
  readonly firstMs: EpochMs;
  readonly lastMs: EpochMs;
  /** Ticks at which the controller only watched: what it decided was not carried out. */
  readonly advisory: number;
  readonly recorded: Course;
  /** The model under the recorded configuration: beside `recorded` it shows how far to trust it. */
  readonly model: Course;
  /** The model under the other configuration. */
  readonly other: Course;
  readonly work: WorkCounts;
  /** Groups of the other configuration that the record launched nothing in. */
  readonly untried: readonly GroupName[];
}

/** What the work of the model is made of. */
export interface WorkCounts {
  /** Waited in a tick, or took room without having been seen to wait. */
  readonly pieces: number;
  readonly unseen: number;
  /** Ran before the first tick. */
  readonly there: number;
  /** Left the queue, and no room was taken for it. */
  readonly withdrawn: number;
  /** Runs at the last tick. */
  readonly open: number;
}

interface Learned {
  readonly pieces: readonly Piece[];
  readonly times: WorldTimes;
  readonly recorded: Course;
  readonly ticks: number;
  readonly missing: number;
  readonly advisory: number;
  readonly firstMs: EpochMs;
  readonly lastMs: EpochMs;
}

type OnTick = (ticks: number, atMs: EpochMs) => void;

/** Reads the journal twice: to learn what the work and the world were like, then to model both. */
export async function compareWith(
  control: Control,
  { source, range, onTick }: { source: JournalSource; range: TickRange; onTick: OnTick },
): Promise<Comparison | null> {
  const learned = await learn(source, range, onTick);
  if (learned === null) return null;
  const { pieces, times, firstMs, lastMs } = learned;
  const runMs = createRunTimes(pieces);
  const open = (given: Control | null): Side => {
    const work = new ModelWork(pieces, runMs);
    return { work, fleet: new ModelFleet({ work, times, control: given }), tally: new Tallier() };
  };
  const [model, other] = [open(null), open(control)];
  let ticks = learned.ticks;
  for await (const raw of source.ticks({ sinceMs: firstMs, untilMs: lastMs })) {
    const read = toReadTick(raw);
    onTick(++ticks, raw.atMs);
    if (read.kind === 'missing') continue;
    for (const side of [model, other]) {
      const { input, output } = side.fleet.tick(read.input);
      side.tally.add(input, output);
    }
  }
  const toCourse = ({ work, tally }: Side): Course => {
    return { ...tally.finish(), waiting: work.waiting(lastMs) };
  };
  return {
    ...learned,
    model: toCourse(model),
    other: toCourse(other),
    work: countWork(pieces),
    untried: control.fleet.groups.flatMap(({ name }) => (times.launches.has(name) ? [] : [name])),
  };
}

interface Side {
  readonly work: ModelWork;
  readonly fleet: ModelFleet;
  readonly tally: Tallier;
}

async function learn(
  source: JournalSource,
  range: TickRange,
  onTick: OnTick,
): Promise<Learned | null> {
  const work = new WorkReader();
  const times = new TimesReader();
  const tally = new Tallier();
  let [ticks, missing, advisory] = [0, 0, 0];
  let firstMs: EpochMs | null = null;
  let lastMs: EpochMs | null = null;
  for await (const raw of source.ticks(range)) {
    ticks++;
    onTick(ticks, raw.atMs);
    const read = toReadTick(raw);
    if (read.kind === 'missing') {
      missing++;
      continue;
    }
    const { input } = read;
    firstMs ??= input.atMs;
    lastMs = input.atMs;
    if (input.control.mode === 'advisory') advisory++;
    work.feed(input);
    times.feed(input);
    tally.add(input, readOutput(read.outputText, raw.seq));
  }
  if (firstMs === null || lastMs === null) return null;
  const pieces = work.finish();
  const recorded = { ...tally.finish(), waiting: waitingOf(pieces, lastMs) };
  return { pieces, times: times.finish(), recorded, ticks, missing, advisory, firstMs, lastMs };
}

function readOutput(text: string, seq: number): TickOutput {
  try {
    // The cast: the hash is right, so it is what a controller wrote.
    return JSON.parse(text) as TickOutput;
  } catch (cause) {
    throw new StoreError('corrupt', `what tick ${seq} concluded is not JSON`, { cause });
  }
}

/** As recorded; work that ran before the first tick has no wait that we know of. */
function waitingOf(pieces: readonly Piece[], lastMs: EpochMs): Waiting {
  const counted = pieces.filter(({ origin }) => origin !== 'there');
  const waits = counted.map(({ leftMs, submittedAtMs }) => (leftMs ?? lastMs) - submittedAtMs);
  return toWaiting(waits, counted.filter(({ leftMs }) => leftMs === null).length);
}

function countWork(pieces: readonly Piece[]): WorkCounts {
  const count = (is: (piece: Piece) => boolean): number => pieces.filter(is).length;
  return {
    pieces: count(({ origin }) => origin !== 'there'),
    unseen: count(({ origin }) => origin === 'unseen'),
    there: count(({ origin }) => origin === 'there'),
    withdrawn: count(({ isWithdrawn }) => isWithdrawn),
    open: count(({ leftMs, endedMs, isWithdrawn }) => {
      return leftMs !== null && endedMs === null && !isWithdrawn;
    }),
  };
}
