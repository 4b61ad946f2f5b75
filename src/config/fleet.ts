import type { Fleet } from '../model/fleet.ts';
import type { Group } from '../model/group.ts';
import { groupName } from '../model/ids.ts';
import type { GroupSettings, Settings } from './schema.ts';

/** The part of the settings that policies look at. */
export function toFleet(settings: Settings): Fleet {
  const { limits } = settings;
  return {
    name: settings.fleet,
    strategy: settings.strategy,
    limits: {
      slicesMax: limits.maxSlices ?? null,
      spendMaxMicroUsdPerHour: limits.spendPerHour ?? null,
      createsPerMinute: limits.createsPerMinute,
      concurrentLaunches: limits.concurrentLaunches,
      upscalingSpeed: limits.upscalingSpeed,
    },
    registrationGraceMs: settings.timeouts.registrationGrace,
    groups: settings.groups.map(toGroup),
    quotaPools: Object.entries(settings.quotaPools).map(([name, units]) => {
      return { name, limits: units };
    }),
  };
}

function toGroup(group: GroupSettings): Group {
  const { provider, device, host, hostsPerSlice, min, spare, max } = group;
  const { priority, preemptible, attributes } = group;
  return {
    name: groupName(group.name),
    provider,
    device,
    host,
    hostsPerSlice,
    min,
    spare,
    max,
    priority,
    priceMicroUsdPerHour: group.pricePerHour ?? null,
    preemptible,
    attributes,
    quotaPool: group.quotaPool ?? null,
  };
}
