import type { Control } from '../model/control.ts';
import { epochMs } from '../model/ids.ts';
import { type Faults, hostileFaults } from '../providers/simulated/faults.ts';
import { forkRandom } from '../support/random.ts';
import { Checks } from './checks.ts';
import { SimulatedFleet } from './fleet.ts';
import type { ProcessFaults } from './lifeline.ts';
import { createDice, type Dice, drawControl, drawWork } from './random-fleet.ts';

const MINUTE_MS = 60_000;
const LOOK_MS = 30_000;

/** What one seed came to. */
export interface SeedReport {
  readonly seed: number;
  readonly broken: readonly string[];
  readonly tickCount: number;
  readonly faultCount: number;
  readonly simulatedMs: number;
  readonly faults: ReadonlyMap<string, number>;
}

/**
 * One random fleet through a bad hour and its end: faults of every kind while work comes and goes,
 * then quiet, in which everything must come right and then nothing more may happen.
 */
export async function runSeed(seed: number): Promise<SeedReport> {
  const dice = createDice(forkRandom(seed, 'story'));
  const control = drawControl(seed);
  const checks = new Checks();
  const fleet = new SimulatedFleet({
    seed,
    control,
    faults: drawFaults(dice),
    processFaults: drawProcessFaults(dice),
    controllers: dice.isTrue(0.3) ? 2 : 1,
    leaseTtlMs: 60_000,
    listLagMs: dice.pick([0, 10_000, 30_000]),
    watcher: checks,
  });
  checks.attach(fleet);
  await troubleTime(fleet, { control, dice, checks, minutes: dice.between(30, 60) });
  fleet.quiet();
  await settle(fleet, checks);
  await fleet.stop();
  const faults = new Map(fleet.faultCounts);
  for (const cloud of fleet.clouds.values()) {
    for (const [kind, count] of Object.entries(cloud.truth.faultCounts())) {
      if (count > 0) faults.set(kind, (faults.get(kind) ?? 0) + count);
    }
  }
  return {
    seed,
    broken: checks.broken,
    tickCount: checks.tickCount,
    faultCount: [...faults.values()].reduce((sum, count) => sum + count, 0),
    simulatedMs: fleet.clock.monotonicMs(),
    faults,
  };
}

/** Every seed has its own weather: some faults are off, so that others can be seen alone. */
function drawFaults(dice: Dice): Partial<Faults> {
  const entries = Object.entries(hostileFaults).filter(() => dice.isTrue(0.6));
  return Object.fromEntries(entries);
}

function drawProcessFaults(dice: Dice): ProcessFaults {
  return {
    crashRatio: dice.pick([0, 0.002, 0.02]),
    storeFailedRatio: dice.pick([0, 0.01, 0.05]),
    storeDoubtfulRatio: dice.pick([0, 0.01]),
    storeSlowRatio: dice.pick([0, 0.05]),
    storeSlowMs: 8_000,
  };
}

interface Story {
  readonly control: Control;
  readonly dice: Dice;
  readonly checks: Checks;
  readonly minutes: number;
}

async function troubleTime(fleet: SimulatedFleet, story: Story): Promise<void> {
  const { dice, checks } = story;
  let submitted = 0;
  for (let step = 0; step < story.minutes * 2; step++) {
    if (dice.isTrue(0.35)) {
      const burst = dice.isTrue(0.1) ? dice.between(3, 10) : dice.between(1, 2);
      for (let n = 0; n < burst; n++) {
        fleet.submit(drawWork(story.control, dice, `work-${submitted++}`));
      }
    }
    const { ids } = fleet.scheduler;
    if (dice.isTrue(0.04) && ids.length > 0) fleet.scheduler.cancel(dice.pick(ids));
    if (dice.isTrue(0.04)) mischief(fleet, story);
    await fleet.run(LOOK_MS);
    checks.look();
  }
}

/** Trouble that is not a matter of ratios: clocks, pauses, people, configurations. */
function mischief(fleet: SimulatedFleet, { dice, control }: Story): void {
  const untilMs = epochMs(fleet.nowMs + dice.between(1, 8) * MINUTE_MS);
  const cloud = dice.pick([...fleet.clouds.values()]);
  const group = dice.pick(control.fleet.groups);
  const slice = fleet.records().find(({ status }) => status === 'ready');
  const pause = { id: 'p', group: null, author: 'dst', reason: 'why not', sinceMs: fleet.nowMs };
  switch (dice.between(0, 9)) {
    case 0:
      fleet.clock.jumpWall(dice.pick([-3_600_000, -10_000, 10_000, 3_600_000]));
      fleet.count('clock-jump');
      break;
    case 1:
      cloud.levers.hang(untilMs);
      break;
    case 2:
      cloud.levers.throttle(untilMs);
      break;
    case 3:
      cloud.levers.stockout(group.name, untilMs);
      break;
    case 4:
      cloud.levers.failBoot(group.name, untilMs);
      break;
    case 5:
      fleet.freeze(0, dice.between(5, 300) * 1_000);
      break;
    case 6: {
      const what = dice.pick(['launches', 'terminations', 'both'] as const);
      void fleet.command({ kind: 'pause', pause: { ...pause, what, untilMs } });
      break;
    }
    case 7:
      fleet.changeControl(alter(control, dice));
      break;
    case 8:
      if (slice === undefined) break;
      void fleet.command({
        kind: 'drain-slice',
        sliceId: slice.id,
        author: 'dst',
        reason: 'maintenance',
        deadlineMs: null,
      });
      break;
    default:
      fleet.kill(0);
  }
}

/** Another configuration: a group gone, a lower max, another shape; or the first one again. */
function alter(control: Control, dice: Dice): Control {
  const index = dice.between(0, control.fleet.groups.length - 1);
  const { fleet } = control;
  const others = <T>(list: readonly T[]): readonly T[] => list.filter((_, at) => at !== index);
  switch (dice.between(0, 3)) {
    case 0:
      return {
        ...control,
        fleet: { ...fleet, groups: others(fleet.groups) },
        groups: others(control.groups),
      };
    case 1:
      return {
        ...control,
        fleet: {
          ...fleet,
          groups: fleet.groups.map((group, at) =>
            at === index ? { ...group, min: 0, spare: 0, max: 1 } : group,
          ),
        },
      };
    case 2:
      return {
        ...control,
        groups: control.groups.map((group, at) =>
          at === index ? { ...group, shape: `${group.shape}x` } : group,
        ),
      };
    default:
      return control;
  }
}

/** Long enough for any backlog on the smallest fleet; what is not settled then never will be. */
const SETTLE_MS = 24 * 60 * MINUTE_MS;
const QUIET_MS = 12 * MINUTE_MS;

async function settle(fleet: SimulatedFleet, checks: Checks): Promise<void> {
  const endMs = fleet.clock.monotonicMs() + SETTLE_MS;
  let workedMs = 0;
  // Most fleets are done long before: they are quiet for a while and have nothing left to do.
  while (fleet.clock.monotonicMs() < endMs) {
    await fleet.run(2 * LOOK_MS);
    checks.look();
    const nowMs = fleet.clock.monotonicMs();
    if (fleet.scheduler.runningCount > 0 || !fleet.isSettled) workedMs = nowMs;
    if (nowMs - Math.max(workedMs, checks.lastStepAtMs) > QUIET_MS) break;
  }
  checks.checkConverged();
  const quietSinceMs = fleet.clock.monotonicMs();
  await fleet.run(QUIET_MS);
  checks.look();
  checks.checkQuiet(quietSinceMs);
}
