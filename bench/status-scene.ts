import { Controller } from '../src/controller/controller.ts';
import type { Entry } from '../src/model/demand.ts';
import type { Fleet } from '../src/model/fleet.ts';
import { entryId, epochMs } from '../src/model/ids.ts';
import type { Slice } from '../src/model/slice.ts';
import { FleetFeed } from '../src/server/fleet-feed.ts';
import { createMemoryStore } from '../src/store/memory/store.ts';
import { must } from '../src/support/assert.ts';
import {
  createStillCloud,
  fillStore,
  toControl,
  toRecords,
  toReports,
} from './controller-scene.ts';
import { listen } from './front-door.ts';
import { systemClock } from '../src/wiring/system-clock.ts';

const INTERVAL_MS = 1_000;
/** Entries of a second scheduler, others every time: no two ticks are alike. */
const COMING_AND_GOING = 20;

/** A controller that decides whenever it is told to, behind a real port. */
export interface Served {
  readonly url: string;
  readonly controller: Controller;
  /** Changes some of the demand, and resolves once that is decided. */
  tick(): Promise<void>;
  close(): Promise<void>;
}

export async function serve(
  fleet: Fleet,
  slices: readonly Slice[],
  entries: readonly Entry[],
): Promise<Served> {
  const store = createMemoryStore();
  const records = toRecords(fleet, slices, systemClock.wallMs());
  await fillStore(store.connect(), records);
  const feed = new FleetFeed();
  let waiting: (() => void)[] = [];
  const controller = new Controller({
    store: store.connect(),
    providers: new Map([['simulated', createStillCloud(records)]]),
    clock: systemClock,
    log: { write: () => {} },
    // Were launches carried out, the fleet would grow.
    control: toControl(fleet, { mode: 'advisory', evaluationIntervalMs: INTERVAL_MS }),
    holder: 'bench',
    onCrash: (error) => {
      throw error;
    },
    onTick: () => {
      feed.ticked();
      const ready = waiting;
      waiting = [];
      for (const resolve of ready) resolve();
    },
    onEvents: (events, firstSeq) => feed.happened(events, firstSeq),
  });
  const ticked = (): Promise<void> => new Promise((resolve) => waiting.push(resolve));
  const first = ticked();
  controller.start();
  await first;
  const push = (source: string, generation: number, pushed: readonly Entry[]) => {
    const expiresAtMs = epochMs(controller.now + 3_600_000);
    const command = { source, generation, entries: pushed, expiresAtMs };
    return controller.command({ kind: 'push-demand', push: command });
  };
  controller.report(toReports(slices, controller.now));
  await push('a-many', 1, entries);
  let turn = 0;
  const server = await listen({
    name: fleet.name,
    controller,
    feed,
    store: store.connect(),
    reload: () => Promise.reject(new Error('nothing is read again here')),
  });
  return {
    url: server.url,
    controller,
    async tick() {
      turn++;
      const some = Array.from({ length: COMING_AND_GOING }, (_, n): Entry => {
        const like = must(entries[(turn * COMING_AND_GOING + n) % entries.length], 'an entry');
        return { ...like, id: entryId(`late-${turn}-${n}`), submittedAtMs: controller.now };
      });
      const decided = ticked();
      await push('b-few', turn, some);
      await decided;
    },
    async close() {
      await server.close();
      await controller.stop();
    },
  };
}
