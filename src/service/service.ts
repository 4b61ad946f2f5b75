import type { Config } from '../config/config-file.ts';
import type { Control } from '../model/control.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { Provider } from '../ports/provider.ts';
import type { Solver } from '../ports/solver.ts';
import type { Store } from '../ports/store.ts';
import type { ServedFleet } from '../server/served-fleet.ts';
import type { ConfigSource } from './config-source.ts';
import { RunningFleet } from './running-fleet.ts';

/** A configuration that was read, and from where. */
export interface FleetSource {
  readonly source: ConfigSource;
  readonly config: Config;
}

/** What the outside has to provide; named in wiring. */
export interface ServiceParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly solver: Solver & { close(): Promise<void> };
  openStore(config: Config): Promise<Store>;
  openProvider(name: string, fleet: FleetSource): Provider;
  openServer(fleets: readonly ServedFleet[]): Promise<ListeningServer>;
}

export interface ListeningServer {
  readonly url: string;
  close(graceMs: number): Promise<void>;
}

export interface ServiceOptions {
  readonly fleets: readonly FleetSource[];
  readonly mode: Control['mode'];
  readonly holder: string;
  readonly parts: ServiceParts;
}

/** All that one process runs: its fleets, and the server in front of them. */
export interface Service {
  readonly url: string;
  readonly fleets: readonly RunningFleet[];
  /** Rejects when a fleet cannot go on: the process must end and be started again. */
  readonly crashed: Promise<never>;
  reload(): Promise<void>;
  stop(): Promise<void>;
}

/** Unary calls in flight get this long when the server closes. */
const CLOSE_GRACE_MS = 5_000;

/** Nothing is acted on before everything is open: what cannot be opened stops the start. */
export async function openService(options: ServiceOptions): Promise<Service> {
  const { parts } = options;
  const fleets: RunningFleet[] = [];
  let crash: (error: unknown) => void = () => undefined;
  const crashed = new Promise<never>((_, reject) => {
    crash = reject;
  });
  // Whoever runs the service awaits it; until then a crash is not an unhandled one.
  crashed.catch(() => undefined);
  try {
    for (const fleet of options.fleets) fleets.push(await openFleet(fleet, options, crash));
    const server = await parts.openServer(fleets);
    for (const fleet of fleets) fleet.start();
    return {
      url: server.url,
      fleets,
      crashed,
      async reload() {
        for (const fleet of fleets) await fleet.reloadAsTold();
      },
      async stop() {
        await server.close(CLOSE_GRACE_MS);
        await Promise.all(fleets.map((fleet) => fleet.stop()));
        await parts.solver.close();
      },
    };
  } catch (error) {
    await Promise.allSettled(fleets.map((fleet) => fleet.stop()));
    await parts.solver.close();
    throw error;
  }
}

async function openFleet(
  fleet: FleetSource,
  { parts, mode, holder }: ServiceOptions,
  onCrash: (error: unknown) => void,
): Promise<RunningFleet> {
  const { config, source } = fleet;
  const store = await parts.openStore(config);
  const opened = new Map<string, Provider>();
  try {
    for (const { name } of config.control.providers) {
      opened.set(name, parts.openProvider(name, fleet));
    }
    const { clock, log, solver } = parts;
    const running = { source, config, mode, store, providers: opened, clock, log, solver };
    return new RunningFleet({ ...running, holder, onCrash });
  } catch (error) {
    await Promise.allSettled([...opened.values()].map((provider) => provider.close()));
    await store.close();
    throw error;
  }
}
