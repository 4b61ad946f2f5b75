import type { Bootstrap } from '../../model/bootstrap.ts';
import type { Refusal } from '../../model/refusal.ts';
import type { LaunchRequest } from '../../ports/provider.ts';
import { isSafeName } from './layout.ts';
import { readBootId } from './processes.ts';

/** Why a launch can never succeed as it is asked for; null when it may. */
export function findMistake({ sliceId, hostCount }: LaunchRequest): Refusal | null {
  if (process.platform !== 'linux' || readBootId() === null) {
    return permanent(
      `local hosts need Linux with /proc mounted, and this is ${process.platform}; ` +
        'run Bellows on Linux, or give the group another provider',
    );
  }
  if (!isSafeName(sliceId)) {
    const shown = JSON.stringify(sliceId.slice(0, 60));
    return permanent(
      `slice id ${shown} cannot name a folder; use letters, digits, "-", "_" and ".", at most 150`,
    );
  }
  if (!Number.isInteger(hostCount) || hostCount < 1) {
    return permanent(`hostCount ${hostCount} is not a whole number from 1 on; ask for 1 or more`);
  }
  return null;
}

/** Why the bootstrap cannot be given what it is to join with; null when it can, or needs nothing. */
export function findMissingSecret(
  bootstrap: Bootstrap | null,
  secretOf: (name: string) => string | undefined,
): Refusal | null {
  const name = bootstrap?.joinToken ?? null;
  if (name === null) return null;
  const secret = secretOf(name);
  if (secret === undefined || secret === '') {
    return permanent(
      `bootstrap.joinToken is ${name}, and there is no such secret; ` +
        `set the environment variable ${name} where Bellows runs, or remove joinToken`,
    );
  }
  // Nothing of the secret itself is said.
  return secret.includes('\0')
    ? permanent(`the secret ${name} holds a zero byte; set it to plain text`)
    : null;
}

const permanent = (detail: string): Refusal => ({ kind: 'permanent', detail });
