import type { GroupName } from '../model/ids.ts';
import {
  type LaunchTime,
  launchTimeDefault,
  RELEASE_MS_DEFAULT,
  type WorldTimes,
} from './times.ts';

/**
 * How long things take in a model: the n-th launch of a group as long as the n-th that was recorded,
 * from the first again when there are more. So the spread is that of the record, without chance.
 */
export class WorldClock {
  readonly #times: WorldTimes;
  readonly #launched = new Map<GroupName, number>();
  readonly #released = new Map<GroupName, number>();

  constructor(times: WorldTimes) {
    this.#times = times;
  }

  /** Of the group's next launch; of a group never launched, as launches of all groups went. */
  launch(group: GroupName): LaunchTime {
    const own = this.#times.launches.get(group) ?? this.#times.launchesOfAll;
    return own[count(this.#launched, group) % own.length] ?? launchTimeDefault;
  }

  releaseMs(group: GroupName): number {
    const own = this.#times.releases.get(group) ?? this.#times.releasesOfAll;
    return own[count(this.#released, group) % own.length] ?? RELEASE_MS_DEFAULT;
  }
}

/** 0 at first, then one more each time. */
function count(counts: Map<GroupName, number>, group: GroupName): number {
  const before = counts.get(group) ?? 0;
  counts.set(group, before + 1);
  return before;
}
