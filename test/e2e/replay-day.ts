import { parseConfig } from '../../src/config/config-file.ts';
import type { Control } from '../../src/model/control.ts';
import type { EntryForm } from '../../src/model/demand.ts';
import { epochMs, groupName } from '../../src/model/ids.ts';
import type { Store } from '../../src/ports/store.ts';
import { type FleetOptions, SimulatedFleet } from '../../src/sim/fleet.ts';
import { must } from '../../src/support/assert.ts';
import { forkRandom } from '../../src/support/random.ts';
import { anAsk, anEntry } from '../builders.ts';

// A fleet's recorded time, to replay: the production controller on virtual time over a simulated
// cloud, with work that comes in waves.

const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;

interface ConfigOver {
  readonly max?: number;
  readonly idleTimeout?: string;
  readonly price?: number;
  readonly extra?: string;
}

/** Plain nodes and slices of four TPU hosts. */
export const dayConfig = (over: ConfigOver = {}): string => `fleet: research
strategy: cost
loop: { evaluationInterval: 10s, reconcileInterval: 15s }
groups:
  - name: node
    provider: simulated
    host: { cpu: 8, memory: 32GiB }
    max: ${over.max ?? 40}
    pricePerHour: ${over.price ?? 0.4}
    idleTimeout: ${over.idleTimeout ?? '10m'}
  - name: tpu
    provider: simulated
    device: { type: tpu }
    host: { cpu: 100, tpu: 4 }
    hostsPerSlice: 4
    max: 3
    pricePerHour: 19.2
    idleTimeout: ${over.idleTimeout ?? '10m'}
${over.extra ?? ''}`;

export function controlOf(text: string): Control {
  const parsed = parseConfig(text, 'bellows.yaml');
  if (parsed.kind === 'bad') throw new Error(JSON.stringify(parsed.problems));
  return parsed.config.control;
}

interface DayOptions {
  readonly forMs: number;
  readonly seed?: number;
  readonly control?: Control;
  /** From and to, since the start: when no nodes are to be had. */
  readonly stockout?: { readonly fromMs: number; readonly toMs: number };
  /** What else goes wrong. */
  readonly faults?: Pick<FleetOptions, 'faults' | 'processFaults'>;
}

/** Lets a fleet work, and gives it with its journal. */
export async function runDay({ forMs, seed = 7, ...options }: DayOptions): Promise<SimulatedFleet> {
  const control = options.control ?? controlOf(dayConfig());
  const { stockout } = options;
  const node = { group: groupName('node'), stockouts: stockout === undefined ? [] : [stockout] };
  const crashes: unknown[] = [];
  const fleet = new SimulatedFleet({
    seed,
    control,
    offers: [node],
    watcher: { onCrash: (error) => void crashes.push(error) },
    ...options.faults,
  });
  const random = forkRandom(seed, 'work');
  const single = (cpuMilli: number): EntryForm => {
    return { kind: 'single', ask: anAsk({ resources: { cpu: cpuMilli, memory: 2 ** 31 } }) };
  };
  const forms = [single(1_000), single(2_000), single(4_000)];
  const gang: EntryForm = {
    kind: 'gang',
    ask: anAsk({ device: { type: 'tpu', variants: null }, resources: { cpu: 50_000, tpu: 4_000 } }),
    taskCount: 4,
  };
  let count = 0;
  const submit = (form: EntryForm, runMs: number): void => {
    const entry = anEntry({ id: `job-${count++}`, form });
    fleet.submit({ entry: { ...entry, submittedAtMs: epochMs(fleet.nowMs) }, runMs });
  };
  for (let atMs = 0; atMs < forMs; atMs += 5 * MINUTE_MS) {
    const wave = 1 + Math.sin((2 * Math.PI * atMs) / (6 * HOUR_MS));
    const jobs = Math.floor(random() * 12 * wave);
    for (let n = 0; n < jobs; n++) {
      const form = must(forms[Math.floor(random() * forms.length)], 'one of three');
      submit(form, (2 + random() * 40) * MINUTE_MS);
    }
    if (random() < 0.05) submit({ ...gang }, (20 + random() * 60) * MINUTE_MS);
    await fleet.run(5 * MINUTE_MS);
    // A controller that broke has recorded nothing worth replaying.
    if (crashes.length > 0) throw crashes[0];
  }
  await fleet.stop();
  return fleet;
}

/** Copies a journal into another store, as a controller would have written it. */
export async function copyJournal(from: Store, to: Store): Promise<void> {
  const nowMs = epochMs(0);
  const lease = await to.acquireLease({ holder: 'copy', nowMs, ttlMs: 1e15, epoch: null });
  if (lease.kind !== 'granted') throw new Error('the lease is held');
  const all = { sinceMs: epochMs(0), afterSeq: -1, limit: 1e9 };
  for (const { seq, atMs, parts } of await from.readTicks(all)) {
    const texts = await from.readParts(parts.map(({ hash }) => hash));
    const tick = {
      seq,
      atMs,
      parts: parts.map((part) => ({ ...part, text: must(texts.get(part.hash), part.name) })),
    };
    await to.commit({ epoch: lease.epoch, documents: [], tick, events: [] });
  }
}
