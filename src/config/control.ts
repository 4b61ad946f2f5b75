import type { Bootstrap } from '../model/bootstrap.ts';
import type {
  CalendarEntry,
  Control,
  GroupControl,
  ProviderControl,
  Timeouts,
} from '../model/control.ts';
import { groupName } from '../model/ids.ts';
import { fingerprint } from '../support/fingerprint.ts';
import { byText } from '../support/order.ts';
import { callDefaults } from './backend-schema.ts';
import { toFleet } from './fleet.ts';
import type { GroupSettings, Settings } from './schema.ts';

type CalendarSettings = Settings['calendars'][number];

/** The part of the settings that the controller looks at. */
export function toControl(settings: Settings, mode: Control['mode']): Control {
  const { limits, loop } = settings;
  const { drainingPercent } = limits;
  return {
    fleet: toFleet(settings),
    groups: settings.groups.map((group) => toGroupControl(group, settings.timeouts)),
    providers: toProviders(settings),
    // One file knows of no earlier one: whoever replaces a configuration fills this in.
    retired: [],
    calendars: settings.calendars.flatMap(toCalendarEntries),
    blastRadius: {
      terminationsPerMinute: limits.terminationsPerMinute,
      drainingRatio: drainingPercent === null ? null : drainingPercent / 100,
    },
    evaluationIntervalMs: loop.evaluationInterval,
    reconcileIntervalMs: loop.reconcileInterval,
    mode,
  };
}

/** The entries of one calendar, each with the calendar's name and zone. */
export function toCalendarEntries(calendar: CalendarSettings): readonly CalendarEntry[] {
  return calendar.entries.map((entry) => ({
    calendar: calendar.name,
    timeZone: calendar.timeZone,
    group: groupName(entry.group),
    days: dayNames.flatMap((name, day) => (entry.days.includes(name) ? [day] : [])),
    fromMinute: toMinute(entry.from),
    toMinute: toMinute(entry.to),
    min: entry.min ?? null,
    spare: entry.spare ?? null,
  }));
}

const dayNames = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;

/** `09:30` in minutes; the schema admits no other form. */
const toMinute = (clockTime: string): number =>
  Number(clockTime.slice(0, 2)) * 60 + Number(clockTime.slice(3));

function toGroupControl(group: GroupSettings, timeouts: Settings['timeouts']): GroupControl {
  return {
    group: groupName(group.name),
    idleTimeoutMs: group.idleTimeout,
    timeouts: toTimeouts(group.timeouts, timeouts),
    onChange: group.onChange,
    unreported: group.unreported,
    concurrentLaunchesMax: group.concurrentLaunches ?? null,
    shape: toShape(group),
    launch: group.launch,
    bootstrap: toBootstrap(group.bootstrap),
  };
}

function toBootstrap(bootstrap: GroupSettings['bootstrap']): Bootstrap | null {
  if (bootstrap === 'none') return null;
  const { script, joinToken = null, attempts, timeout } = bootstrap;
  return { script, joinToken, attemptsMax: attempts, timeoutMs: timeout };
}

function toTimeouts(own: GroupSettings['timeouts'], fleet: Settings['timeouts']): Timeouts {
  return {
    requestingMs: own.requesting ?? fleet.requesting,
    bootingMs: own.booting ?? fleet.booting,
    initializingMs: own.initializing ?? fleet.initializing,
    drainingMs: own.draining ?? fleet.draining,
    gangAssemblyMs: own.gangAssembly ?? fleet.gangAssembly,
    registrationGraceMs: own.registrationGrace ?? fleet.registrationGrace,
  };
}

/**
 * Just what a slice is made of: it must not change with what may change under a running slice
 * (min, max, price, priority, timeouts), or a new price would roll the group.
 */
function toShape(group: GroupSettings): string {
  const { provider, device, host, hostsPerSlice, preemptible } = group;
  const { bootstrap, launch, attributes } = group;
  return fingerprint({
    provider,
    device,
    host,
    hostsPerSlice,
    preemptible,
    bootstrap,
    launch,
    attributes,
  });
}

/** All that have a section or a group, by name: one without groups may still hold machines. */
function toProviders({ groups, providers }: Settings): readonly ProviderControl[] {
  const named = [...Object.keys(providers), ...groups.map(({ provider }) => provider)];
  return [...new Set(named)].sort(byText).map((name) => {
    const { callTimeout, concurrentCalls } = providers[name] ?? callDefaults;
    return { name, callTimeoutMs: callTimeout, concurrentCalls };
  });
}
