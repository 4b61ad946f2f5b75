import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config/config-file.ts';
import { defaultConfigText } from '../config/default-config.ts';
import { fileProblem, type Problem } from '../config/problem.ts';
import type { Settings } from '../config/schema.ts';
import type { Control } from '../model/control.ts';
import type { Log } from '../ports/log.ts';
import type { Store } from '../ports/store.ts';
import { openAuditLog } from '../server/audit.ts';
import { createRoutes } from '../server/routes.ts';
import { openServer } from '../server/server.ts';
import { type ConfigSource, readConfig } from '../service/config-source.ts';
import { type FleetSource, openService, type Service } from '../service/service.ts';
import { createThreadedSolver } from '../solver/threaded.ts';
import { createMemoryStore } from '../store/memory/store.ts';
import { openSqliteStore } from '../store/sqlite/store.ts';
import { unreachable } from '../support/assert.ts';
import { VERSION } from '../support/version.ts';
import { makeDataDir } from './data-dir.ts';
import { createLineLog } from './line-log.ts';
import { openProvider } from './open-provider.ts';
import { StartError } from './start-error.ts';
import { systemClock } from './system-clock.ts';
import { openTokens } from './tokens.ts';

export interface UpOptions {
  readonly fleets: readonly FleetSource[];
  readonly dataDir: string;
  /** Instead of what the first configuration says. */
  readonly listen: string | null;
  readonly mode: Control['mode'];
  /** Names this process to whoever finds its files in use. */
  readonly holder: string;
  readonly isTerminal: boolean;
}

export type FleetsRead =
  | { readonly kind: 'ok'; readonly fleets: readonly FleetSource[] }
  | { readonly kind: 'bad'; readonly problems: readonly Problem[] };

/** One fleet per file; without a file, the one that is built in. */
export function readFleets(files: readonly string[]): FleetsRead {
  const sources: readonly ConfigSource[] =
    files.length === 0
      ? [{ kind: 'built-in', text: defaultConfigText }]
      : files.map((path) => ({ kind: 'file', path }));
  const fleets: FleetSource[] = [];
  const problems: Problem[] = [];
  for (const source of sources) {
    const read = readConfig(source);
    if (read.kind === 'bad') problems.push(...read.problems);
    else fleets.push({ source, config: read.config });
  }
  problems.push(...findClashes(fleets));
  return problems.length > 0 ? { kind: 'bad', problems } : { kind: 'ok', fleets };
}

/** One process: one server, and every fleet with a name and a file of its own. */
function findClashes(fleets: readonly FleetSource[]): readonly Problem[] {
  return fleets.flatMap(({ source, config }, index) => {
    const file = source.kind === 'file' ? source.path : 'the built-in configuration';
    const earlier = fleets.slice(0, index);
    const [first] = earlier;
    const problem = (path: string, message: string, remedy: string): Problem => {
      return { ...fileProblem(file, message, remedy), path };
    };
    const problems: Problem[] = [];
    const { fleet, server, store } = config.settings;
    if (earlier.some((other) => other.config.settings.fleet === fleet)) {
      problems.push(problem('fleet', `${fleet} is the name of two fleets`, 'give one another'));
    }
    const { server: known } = first?.config.settings ?? { server };
    if (JSON.stringify(server) !== JSON.stringify(known)) {
      const message = 'differs from that of the first file, and one process has one server';
      problems.push(problem('server', message, 'make both equal, or leave it out of this one'));
    }
    const isShared = earlier.some(
      (other) =>
        store.type === 'sqlite' && pathOf(other.config.settings) === pathOf(config.settings),
    );
    if (isShared && pathOf(config.settings) !== null) {
      problems.push(problem('store.path', 'is the file of two fleets', 'give each its own'));
    }
    return problems;
  });
}

const pathOf = ({ store }: Settings): string | null =>
  store.type === 'sqlite' ? (store.path ?? null) : null;

/** Everything real: files, sockets, processes, time. Rejects with a StartError or a StoreError. */
export async function openRunningService(options: UpOptions): Promise<Service> {
  const { dataDir, fleets, mode, holder } = options;
  makeDataDir(dataDir);
  const log = createLineLog({
    isTerminal: options.isTerminal,
    write: (line) => void process.stderr.write(line),
  });
  const settings = fleets[0]?.config.settings;
  if (settings === undefined) throw new StartError('there is no fleet to run');
  const listen = options.listen ?? settings.server.listen;
  const around = {
    dataDir,
    clock: systemClock,
    log,
    serverUrl: () => urlOf(settings.server, listen),
    env: process.env,
  };
  return openService({
    fleets,
    mode,
    holder,
    parts: {
      clock: systemClock,
      log,
      solver: createThreadedSolver(),
      openStore: (config) => openStore(config, options),
      openProvider: (name, fleet) => openProvider(name, fleet, around),
      openServer: (served) => {
        const routes = createRoutes(served, { version: VERSION, clock: systemClock });
        return openFrontDoor({ settings: settings.server, listen, dataDir, log, routes });
      },
    },
  });
}

async function openStore({ settings }: Config, options: UpOptions): Promise<Store> {
  const { store, fleet } = settings;
  const { holder, dataDir } = options;
  const caps = { journalSizeMax: store.journalSizeMax, journalAgeMaxMs: store.journalAgeMax };
  switch (store.type) {
    case 'memory':
      return createMemoryStore(caps);
    case 'sqlite':
      return openSqliteStore({ path: databaseOf(settings, dataDir), holder, fleet, ...caps });
    case 'postgres':
      throw new StartError(
        'store.type postgres is not in this version; use sqlite, one process per fleet',
      );
    default:
      return unreachable(store);
  }
}

/** Where a fleet's database is. */
const databaseOf = ({ store, fleet }: Settings, dataDir: string): string =>
  (store.type === 'sqlite' ? store.path : undefined) ?? join(dataDir, `${fleet}.db`);

async function openFrontDoor(options: {
  readonly settings: Settings['server'];
  readonly listen: string;
  readonly dataDir: string;
  readonly log: Log;
  readonly routes: ReturnType<typeof createRoutes>;
}): Promise<{ readonly url: string; close(graceMs: number): Promise<void> }> {
  const { settings, listen, dataDir, log, routes } = options;
  const clock = systemClock;
  try {
    const tokens = openTokens(dataDir, log);
    const audit = await openAuditLog(join(dataDir, 'audit.log'), { log, clock });
    const server = await openServer({
      listen,
      tls: settings.tls === undefined ? null : readTls(settings.tls),
      allowedHosts: settings.allowedHosts,
      requireTokens: settings.requireTokens,
      bodyMaxBytes: settings.bodyMax,
      requestsPerSecond: settings.requestsPerSecond,
      streamsMax: settings.streamsMax,
      tokens,
      audit,
      clock,
      routes,
      log,
    });
    return {
      url: server.url,
      async close(graceMs) {
        await server.close(graceMs);
        await audit.close();
      },
    };
  } catch (cause) {
    // What keeps a server from opening is said in a sentence; anything else is a bug and stays one.
    if (!(cause instanceof Error) || cause.name !== 'Error') throw cause;
    throw new StartError(cause.message, { cause });
  }
}

function readTls(files: NonNullable<Settings['server']['tls']>): { cert: string; key: string } {
  const read = (field: string, path: string): string => {
    try {
      return readFileSync(path, 'utf8');
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new StartError(`server.tls.${field}: ${path} cannot be read (${why})`, { cause });
    }
  };
  return { cert: read('certFile', files.certFile), key: read('keyFile', files.keyFile) };
}

const urlOf = (server: Settings['server'], listen: string): string =>
  `${server.tls === undefined ? 'http' : 'https'}://${listen}`;
