import { expect } from 'vitest';
import type { Command, CommandAnswer } from '../../src/controller/commands.ts';
import type { Control } from '../../src/model/control.ts';
import { epochMs, type EpochMs, groupName, type SliceId } from '../../src/model/ids.ts';
import type { Machine } from '../../src/model/machine.ts';
import type { LaunchOutcome, LaunchRequest, Provider } from '../../src/ports/provider.ts';
import type { SimulatedCloud } from '../../src/providers/simulated/cloud.ts';
import { Checks } from '../../src/sim/checks.ts';
import { type FleetOptions, SimulatedFleet } from '../../src/sim/fleet.ts';
import { must } from '../../src/support/assert.ts';
import type { AgentHost } from '../../src/sim/first-fit.ts';
import { anEntry } from '../builders.ts';
import { control, seconds, type Sketch, toForm } from './sketch.ts';
import { type Call, View } from './view.ts';

/** Goes on with a call, or does not. */
type Passing<T> = (provider: string, pass: () => Promise<T>) => Promise<T>;
const passOn = <T>(_provider: string, pass: () => Promise<T>): Promise<T> => pass();

type StageOptions = Partial<Omit<FleetOptions, 'control' | 'between'>> & {
  readonly mode?: Control['mode'];
};

/** A simulated fleet with every promise watched, and words to say what shall happen and what did. */
export class Stage extends View {
  readonly checks = new Checks();
  readonly fleet: SimulatedFleet;
  /** What becomes of calls: a scenario puts its own trouble here. */
  onList: Passing<readonly Machine[]> = passOn;
  onLaunch: Passing<readonly LaunchOutcome[]> = passOn;
  onTerminate: Passing<void> = passOn;
  /** Whether the users' scheduler knows of a host that is up: the one that joins, uses and reports it. */
  hasJoined: (host: AgentHost) => boolean = () => true;

  constructor(text: string, { mode = 'active', ...options }: StageOptions = {}) {
    super();
    const watcher = options.watcher ?? this.checks;
    const between = (inner: Provider, name: string): Provider => this.#listenIn(inner, name);
    const known = { ...control(text), mode };
    this.fleet = new SimulatedFleet({ seed: 1, ...options, control: known, watcher, between });
    this.checks.attach(this.fleet);
    const { scheduler } = this.fleet;
    const join = scheduler.join.bind(scheduler);
    scheduler.join = (hosts) => join(hosts.filter((host) => this.hasJoined(host)));
  }

  /** Lets time pass, and looks at the world every quarter of a minute. */
  async run(forMs: number): Promise<void> {
    const endMs = this.atMs + forMs;
    while (this.atMs < endMs) {
      await this.fleet.run(Math.min(seconds(15), endMs - this.atMs));
      this.checks.look();
    }
  }

  /** Lets time pass until something is so; it must come to be within a bound. Says how long it took. */
  async until(isSo: () => boolean, withinMs: number): Promise<number> {
    const startMs = this.atMs;
    while (!isSo()) {
      expect(this.atMs - startMs, `within ${withinMs} ms: ${String(isSo)}`).toBeLessThan(withinMs);
      await this.fleet.run(seconds(1));
    }
    this.checks.look();
    return this.atMs - startMs;
  }

  /** Ends the simulation. Every promise was kept. */
  async end(): Promise<void> {
    this.checks.look();
    await this.fleet.stop();
    expect(this.checks.broken).toEqual([]);
    expect(this.checks.tickCount).toBeGreaterThan(0);
  }

  /** Since the start. */
  get atMs(): number {
    return this.fleet.clock.monotonicMs();
  }

  submit(id: string, sketch: Sketch, count = 1): void {
    const form = toForm(sketch);
    for (let n = 0; n < count; n++) {
      const name = count === 1 ? id : `${id}-${n}`;
      const entry = anEntry({ id: name, form, priority: sketch.priority ?? 0 });
      this.fleet.submit({
        entry: { ...entry, submittedAtMs: this.fleet.nowMs },
        runMs: sketch.runMs,
      });
    }
  }

  /** Gives a command, and the second it takes to be kept. */
  async tell(command: Command): Promise<CommandAnswer | null> {
    const answer = this.fleet.command(command);
    await this.fleet.run(seconds(1));
    return answer;
  }

  cloud(provider = 'simulated'): SimulatedCloud {
    return must(this.fleet.clouds.get(provider), `no cloud ${provider}`);
  }

  /** The cloud's own time, so far from now. */
  inCloud(afterMs: number, provider = 'simulated'): EpochMs {
    return epochMs(this.cloud(provider).nowMs() + afterMs);
  }

  /** Nothing of a group is to be had for a while. */
  stockout(group: string, forMs: number, provider = 'simulated'): void {
    this.cloud(provider).levers.stockout(groupName(group), this.inCloud(forMs, provider));
  }

  #listenIn(inner: Provider, provider: string): Provider {
    const note = (
      kind: Call['kind'],
      sliceIds: readonly SliceId[],
      groups: readonly string[],
    ): void => {
      this.calls.push({ kind, provider, atMs: this.atMs, sliceIds, groups });
    };
    return {
      ...inner,
      list: (signal) => {
        note('list', [], []);
        return this.onList(provider, () => inner.list(signal));
      },
      launch: (batch: readonly LaunchRequest[], signal) => {
        const ids = batch.map(({ sliceId }) => sliceId);
        const groups = batch.map(({ group }) => group);
        note('launch', ids, groups);
        return this.onLaunch(provider, () => inner.launch(batch, signal));
      },
      terminate: (ids, signal) => {
        note('terminate', ids, []);
        return this.onTerminate(provider, () => inner.terminate(ids, signal));
      },
    };
  }
}
