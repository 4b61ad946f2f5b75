import { readGangProblem } from './gang-problems.ts';
import { runReplays } from './replay.ts';
import { bellows, firstFit, policiesDefaults } from './replay-policies.ts';

// npm run bench -- gang [--data DIR] [--json] [--shifted N]

/** Jobs last hours to days: an idle host is kept for a minute, and no room is held ahead. */
const gangPolicies = {
  ...policiesDefaults,
  headroom: { ...policiesDefaults.headroom, arrivalShare: 0, arrivalCountMin: 0 },
  idleTime: { ...policiesDefaults.idleTime, minMs: 60_000, maxMs: 60_000 },
};

/** All-or-nothing gangs on slices, and small jobs beside them. */
export async function benchGang(args: readonly string[]): Promise<void> {
  await runReplays(
    {
      name: 'gang',
      files: /^gang-.*\.json$/,
      read: readGangProblem,
      policies: [
        { name: 'first fit', make: firstFit },
        { name: 'bellows', make: bellows(gangPolicies) },
      ],
      shiftMaxMs: 600_000,
    },
    args,
  );
}
