import { Controller } from '../src/controller/controller.ts';
import type { Command, CommandAnswer } from '../src/controller/commands.ts';
import type { Entry } from '../src/model/demand.ts';
import { epochMs, type SliceId } from '../src/model/ids.ts';
import { createSimulatedCloud, type SimulatedCloud } from '../src/providers/simulated/cloud.ts';
import { FleetFeed } from '../src/server/fleet-feed.ts';
import type { ServedFleet } from '../src/server/served-fleet.ts';
import { VirtualClock } from '../src/sim/virtual-clock.ts';
import { createMemoryStore } from '../src/store/memory/store.ts';
import { control } from './scenarios/sketch.ts';

/** A fleet as the routes see it: the production controller on virtual time, over a simulated cloud. */
export class ServedStage implements ServedFleet {
  readonly clock = new VirtualClock();
  readonly feed = new FleetFeed();
  readonly cloud: SimulatedCloud;
  readonly controller: Controller;
  readonly store: ServedFleet['store'];
  readonly name: string;
  #generation = 0;

  constructor(config: string, name = 'fleet') {
    const known = control(config);
    this.name = name;
    this.cloud = createSimulatedCloud({
      clock: this.clock,
      seed: 1,
      offers: known.fleet.groups.map((group) => ({ group: group.name })),
    });
    const store = createMemoryStore();
    this.store = store.connect();
    this.controller = new Controller({
      store: store.connect(),
      providers: new Map([['simulated', this.cloud.connect()]]),
      clock: this.clock,
      log: { write: () => {} },
      control: known,
      holder: 'test',
      onCrash: (error) => {
        throw error;
      },
      onTick: () => this.feed.ticked(),
      onEvents: (events, firstSeq) => this.feed.happened(events, firstSeq),
    });
  }

  /** Starts, and lets it decide for the first time. */
  static async open(config: string, name?: string): Promise<ServedStage> {
    const stage = new ServedStage(config, name);
    stage.controller.start();
    for (let n = 0; n < 60 && stage.controller.last === null; n++) await stage.run(1_000);
    return stage;
  }

  run(forMs: number): Promise<void> {
    return this.clock.advance(forMs);
  }

  /** Says what is pending, all of it, and lets that be decided. */
  async push(entries: readonly Entry[], source = 'batch'): Promise<void> {
    const expiresAtMs = epochMs(this.controller.now + 3_600_000);
    const generation = ++this.#generation;
    await this.tell({ kind: 'push-demand', push: { source, generation, entries, expiresAtMs } });
  }

  /** Gives a command, and the time to keep and decide it. */
  async tell(command: Command): Promise<CommandAnswer> {
    const answer = this.controller.command(command);
    await this.run(11_000);
    return answer;
  }

  /** Every host of a slice, as its scheduler would report it. */
  report(sliceId: SliceId, { isBusy, free }: { isBusy: boolean; free: Record<string, number> }) {
    const atMs = this.controller.now;
    this.controller.report([{ sliceId, hostIndex: 0, free, isBusy, drain: 'none', atMs }]);
  }

  async reload(): Promise<never> {
    throw new Error('a stage has no file to read again');
  }

  async close(): Promise<void> {
    void this.controller.stop();
    await this.run(0);
    this.cloud.stop();
  }
}
