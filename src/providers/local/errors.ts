import { ProviderError } from '../../ports/provider.ts';
import type { Refusal } from '../../model/refusal.ts';

/** What a failure of the system means, and what a person can do about it. */
interface Meaning {
  /** Whether asking again will not help before somebody has changed something. */
  readonly kind: 'permanent' | 'unknown';
  readonly text: string;
}

const meanings: Readonly<Record<string, Meaning>> = {
  EAGAIN: {
    kind: 'unknown',
    text: 'no more processes are allowed; raise the limit (ulimit -u, TasksMax) or lower hostsMax',
  },
  ENOMEM: { kind: 'unknown', text: 'out of memory; lower hostsMax' },
  EMFILE: { kind: 'unknown', text: 'too many open files; raise the limit (ulimit -n)' },
  ENFILE: { kind: 'unknown', text: 'the system has too many open files' },
  ENOSPC: { kind: 'unknown', text: 'the disk is full; make room in dataDir' },
  EDQUOT: { kind: 'unknown', text: 'the disk quota is used up; make room in dataDir' },
  EIO: { kind: 'unknown', text: 'the disk fails' },
  ENOENT: { kind: 'unknown', text: 'a file is gone; was something removed from dataDir?' },
  EACCES: {
    kind: 'permanent',
    text: 'permission denied; make dataDir writable, or choose another',
  },
  EPERM: {
    kind: 'permanent',
    text: 'not permitted; dataDir must lie on a disk of this machine that knows hard links',
  },
  EROFS: { kind: 'permanent', text: 'the disk is read-only; choose another dataDir' },
  ENOTDIR: { kind: 'permanent', text: 'a file is in the way of a folder; choose another dataDir' },
  ELOOP: { kind: 'permanent', text: 'links go in a circle; choose another dataDir' },
  ENAMETOOLONG: { kind: 'permanent', text: 'a path is too long; choose a shorter dataDir' },
  E2BIG: { kind: 'permanent', text: 'the environment of the host is too large; shorten it' },
};

export function codeOf(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string'
    ? error.code
    : null;
}

/** Nothing is there for the given name. */
export const isMissing = (error: unknown): boolean => {
  const code = codeOf(error);
  return code === 'ENOENT' || code === 'ENOTDIR';
};

function meaningOf(error: unknown): Meaning {
  const code = codeOf(error);
  const known = code === null ? undefined : meanings[code];
  // Never the message of an error that we do not know: it may quote the environment.
  return known ?? { kind: 'unknown', text: code ?? 'it failed for a reason without a code' };
}

/** For a launch that has left nothing. `doing` says what was tried: `cannot start host 1`. */
export function toRefusal(error: unknown, doing: string): Refusal {
  const { kind, text } = meaningOf(error);
  return { kind, detail: `${doing}: ${text} (${codeOf(error) ?? 'no code'})` };
}

/** For a call of which nobody knows what it did. */
export function toProviderError(error: unknown, doing: string): ProviderError {
  if (error instanceof ProviderError) return error;
  const { kind, text } = meaningOf(error);
  return new ProviderError(kind === 'permanent' ? 'denied' : 'unreachable', `${doing}: ${text}`, {
    cause: error,
  });
}
