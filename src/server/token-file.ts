import { randomBytes } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { roles } from './caller.ts';
import { isErrno } from './file-lock.ts';

/** More than anybody keeps track of. */
export const TOKENS_MAX = 1_000;
const FILE_BYTES_MAX = 1_048_576;

const instant = z.iso.datetime();
const token = z.strictObject({
  id: z.string().regex(/^[\da-f]{8}$/),
  name: z.string().min(1).max(63),
  role: z.enum(roles),
  /** SHA-256 of the secret, in hex. The secret itself is kept nowhere. */
  hash: z.string().regex(/^[\da-f]{64}$/),
  createdAt: instant,
  expiresAt: instant.nullable(),
});
const document = z.strictObject({
  format: z.literal('bellows-tokens/1'),
  tokens: z.array(token).max(TOKENS_MAX),
});

export type StoredToken = Readonly<z.infer<typeof token>>;

/** What was read, and by what a change is known. */
export interface TokenFile {
  readonly tokens: readonly StoredToken[];
  readonly version: string;
}

/** A file that is not there is an empty book. Throws a sentence for one that is no good. */
export function readTokenFile(path: string): TokenFile {
  const version = versionOf(path);
  if (version === 'none') return { tokens: [], version };
  const found = statSync(path);
  if (!found.isFile()) throw new Error(`${path} is no file; tokens are kept in one`);
  if ((found.mode & 0o022) !== 0) {
    throw new Error(`${path} can be written by other users; run chmod 600 ${path}`);
  }
  if (found.size > FILE_BYTES_MAX) {
    throw new Error(`${path} has ${found.size} bytes, more than a book of tokens may (1 MiB)`);
  }
  return { tokens: parse(readFileSync(path, 'utf8'), path), version };
}

/** Cheap: asked at most once a second, for every call. */
export function versionOf(path: string): string {
  try {
    const { ino, size, mtimeMs, ctimeMs } = statSync(path);
    return `${ino} ${size} ${mtimeMs} ${ctimeMs}`;
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return 'none';
    throw error;
  }
}

function parse(text: string, path: string): readonly StoredToken[] {
  const remedy = `put a copy back, or remove it and create the tokens again`;
  let raw: unknown;
  try {
    raw = JSON.parse(text);
  } catch (error) {
    throw new Error(`${path} is no JSON; ${remedy}`, { cause: error });
  }
  const parsed = document.safeParse(raw);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const where = issue?.path.map(String).join('.') ?? '';
    const what = `${where === '' ? '' : `${where}: `}${issue?.message ?? 'no book of tokens'}`;
    throw new Error(`${path}: ${what}; ${remedy}`);
  }
  return parsed.data.tokens;
}

/** All of it or nothing, also when the machine stops: written aside, synced, renamed into place. */
export async function writeTokenFile(path: string, tokens: readonly StoredToken[]): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${randomBytes(6).toString('hex')}.new`;
  try {
    const file = await open(draft, 'wx', 0o600);
    try {
      await file.writeFile(`${JSON.stringify({ format: 'bellows-tokens/1', tokens }, null, 2)}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  const folder = await open(dirname(path), 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
