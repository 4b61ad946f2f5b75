import { describe, expect, test } from 'vitest';
import { StoreError } from '../../ports/store.ts';
import { toCommitError, toStoreError } from './errors.ts';

const sqlite = (rawCode: number): Error => Object.assign(new Error('as SQLite says'), { rawCode });
const system = (code: string): Error => Object.assign(new Error('as the system says'), { code });

describe('a failure becomes a kind of ours', () => {
  test.each([
    ['busy', sqlite(5), 'locked', 'locked'],
    ['busy, while another recovers', sqlite(261), 'locked', 'locked'],
    ['read-only', sqlite(8), 'read-only', 'unknown-outcome'],
    ['read-only folder', sqlite(1_544), 'read-only', 'unknown-outcome'],
    ['input or output', sqlite(10), 'unavailable', 'unknown-outcome'],
    ['sync of the disk', sqlite(1_034), 'unavailable', 'unknown-outcome'],
    ['malformed', sqlite(11), 'corrupt', 'unknown-outcome'],
    ['malformed index', sqlite(779), 'corrupt', 'unknown-outcome'],
    ['full', sqlite(13), 'full', 'full'],
    ['cannot open', sqlite(14), 'unavailable', 'unknown-outcome'],
    ['not a database', sqlite(26), 'corrupt', 'unknown-outcome'],
    ['a code we do not know', sqlite(99), 'unavailable', 'unknown-outcome'],
    ['no permission', system('EACCES'), 'read-only', 'unknown-outcome'],
    ['a read-only mount', system('EROFS'), 'read-only', 'unknown-outcome'],
    ['no space', system('ENOSPC'), 'full', 'full'],
    ['over quota', system('EDQUOT'), 'full', 'full'],
    ['anything else', 'thrown text', 'unavailable', 'unknown-outcome'],
  ] as const)('%s', (_name, error, kind, atCommit) => {
    const known = toStoreError(error, '/data/b.db');
    expect(known).toMatchObject({ kind, cause: error });
    expect(known.message).toMatch(/^[^\n]*\/data\/b\.db[^\n]*; [^\n]+$/);
    const commit = toCommitError(error, '/data/b.db');
    expect(commit).toMatchObject({ kind: atCommit, cause: error });
    expect(commit.message).toMatch(/\/data\/b\.db.*; /);
  });

  test('one that is ours already stays', () => {
    const ours = new StoreError('fenced', 'of epoch 3');
    expect(toStoreError(ours, '/data/b.db')).toBe(ours);
  });
});
