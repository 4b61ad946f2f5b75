import type { AllocateDemand } from '../allocation.ts';
import { allocateByLevels } from '../levels.ts';
import { placeSinglesByCost } from './singles.ts';
import { placeTogetherByCost } from './together.ts';

/**
 * Least money per hour for everything that can be placed. Room that is paid for comes first; then
 * gangs and bundles, which are hard to place, take the group that is cheapest for them; then single
 * tasks are packed together by search.
 */
export const allocateByCost: AllocateDemand = (problem) =>
  allocateByLevels(problem, function* (allocation, wants) {
    placeTogetherByCost(problem, allocation, wants);
    yield* placeSinglesByCost(problem, allocation, wants);
  });
