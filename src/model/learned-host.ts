import type { GroupName } from './ids.ts';
import type { Resources } from './resources.ts';

/**
 * What an empty host of a group turned out to offer, where that is less than the configuration says.
 * Without it, work that fits the promise and not the machine would have machines bought for it for ever.
 */
export interface LearnedHost {
  readonly group: GroupName;
  /** The group's fingerprint then: another shape is another promise. */
  readonly shape: string;
  readonly host: Resources;
}
