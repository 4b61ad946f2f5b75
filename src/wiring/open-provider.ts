import { dirname, join, resolve } from 'node:path';
import type { Settings } from '../config/schema.ts';
import { groupName } from '../model/ids.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import { type Provider, ProviderError } from '../ports/provider.ts';
import { openExternalProvider } from '../providers/external/provider.ts';
import { openLocalProvider } from '../providers/local/provider.ts';
import { createSimulatedCloud } from '../providers/simulated/cloud.ts';
import type { FleetSource } from '../service/service.ts';
import { StartError } from './start-error.ts';

export interface ProviderSurroundings {
  readonly dataDir: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Where hosts find this controller. */
  readonly serverUrl: () => string;
  readonly env: NodeJS.ProcessEnv;
}

/** Hosts of a local provider that has no section. */
const LOCAL_HOSTS_MAX = 64;

/** As `choose`, with a sentence for what keeps a provider from opening. */
export function openProvider(
  name: string,
  fleet: FleetSource,
  around: ProviderSurroundings,
): Provider {
  try {
    return choose(name, fleet, around);
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    throw new StartError(`the provider ${name} cannot be opened: ${error.message}`, {
      cause: error,
    });
  }
}

/** The provider that groups call `name`: a section of the configuration, or a type by its name. */
function choose(
  name: string,
  { config, source }: FleetSource,
  around: ProviderSurroundings,
): Provider {
  const { settings } = config;
  const section = settings.providers[name];
  const { dataDir, clock, log, env } = around;
  const fleet = settings.fleet;
  const secretOf = (secret: string): string | undefined => env[secret];
  checkSecrets(name, settings, env);
  switch (section?.type ?? name) {
    case 'local': {
      const own = section?.type === 'local' ? section : null;
      return openLocalProvider({
        fleet,
        dataDir: resolve(own?.dataDir ?? join(dataDir, 'hosts')),
        hostsMax: own?.hostsMax ?? LOCAL_HOSTS_MAX,
        env: { BELLOWS_SERVER: around.serverUrl() },
        secretOf,
        log,
      });
    }
    case 'external': {
      if (section?.type !== 'external') break;
      return openExternalProvider({
        name,
        fleet,
        command: section.command,
        cwd: source.kind === 'file' ? dirname(resolve(source.path)) : process.cwd(),
        outputMaxBytes: section.outputMax,
        listLagMs: section.listLag,
        env: { BELLOWS_SERVER: around.serverUrl() },
        secretOf,
        log,
      });
    }
    case 'simulated':
      return openSimulated(name, settings, clock);
    default:
      break;
  }
  throw new StartError(
    `the provider ${name} is of type ${section?.type ?? name}, which this version cannot run; ` +
      'use local, external or simulated',
  );
}

/** A simulated cloud in this process: it begins empty with every start. */
function openSimulated(name: string, settings: Settings, clock: Clock): Provider {
  const section = settings.providers[name];
  const own = section?.type === 'simulated' ? section : null;
  if ((own?.preemptionsPerHour ?? 0) > 0) {
    throw new StartError(
      `providers.${name}.preemptionsPerHour: \`bellows up\` takes nothing back by chance; ` +
        'set it to 0, or use `bellows sim`',
    );
  }
  const bootMs = own?.bootTime ?? 60_000;
  const half = { fromMs: bootMs / 4, toMs: bootMs / 2 };
  const { provider } = createSimulatedCloud({
    clock,
    seed: own?.seed ?? 1,
    fleet: settings.fleet,
    offers: settings.groups
      .filter((group) => group.provider === name)
      .map((group) => ({
        group: groupName(group.name),
        start: half,
        bootstrap: half,
        stockoutRatio: own?.stockoutRatio ?? 0,
      })),
    foreignCount: 0,
  });
  return provider;
}

/** A join token that is not there would fail every host, one after the other. */
function checkSecrets(name: string, settings: Settings, env: NodeJS.ProcessEnv): void {
  for (const group of settings.groups) {
    if (group.provider !== name || group.bootstrap === 'none') continue;
    const { joinToken } = group.bootstrap;
    if (joinToken === undefined || (env[joinToken] ?? '') !== '') continue;
    throw new StartError(
      `group ${group.name} names the join token ${joinToken}, and there is no environment ` +
        `variable ${joinToken}; set it where \`bellows up\` starts, or drop joinToken`,
    );
  }
}
