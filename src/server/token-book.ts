import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type EpochMs, epochMs } from '../model/ids.ts';
import type { Log } from '../ports/log.ts';
import { nearestName } from '../support/nearest.ts';
import type { Role } from './caller.ts';
import { type LockTimes, withFileLock } from './file-lock.ts';
import {
  readTokenFile,
  type StoredToken,
  TOKENS_MAX,
  type TokenFile,
  versionOf,
  writeTokenFile,
} from './token-file.ts';

/** A token as anybody may see it. */
export interface TokenInfo {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  readonly createdAtMs: EpochMs;
  /** Null: never. */
  readonly expiresAtMs: EpochMs | null;
}

export interface TokenWish {
  readonly name: string;
  readonly role: Role;
  readonly expiresAtMs: EpochMs | null;
}

export type CreateOutcome =
  /** The secret is not kept and cannot be had again. */
  | { readonly kind: 'created'; readonly token: TokenInfo; readonly secret: string }
  | { readonly kind: 'refused'; readonly message: string };

export type RevokeOutcome =
  | { readonly kind: 'revoked'; readonly token: TokenInfo }
  | { readonly kind: 'unknown'; readonly message: string };

export type TokenCheck =
  | { readonly kind: 'valid'; readonly token: TokenInfo }
  /** The secret was right, so that whoever has it may know. */
  | { readonly kind: 'expired'; readonly token: TokenInfo }
  | { readonly kind: 'unknown' };

/** Who may call from where tokens are asked for. Secrets are random and only their hashes are kept. */
export interface TokenBook {
  /** By name. */
  list(): readonly TokenInfo[];
  create(wish: TokenWish, nowMs: EpochMs): Promise<CreateOutcome>;
  /** By id or name. A server that runs takes notice within a second. */
  revoke(idOrName: string): Promise<RevokeOutcome>;
  check(secret: string, nowMs: EpochMs): TokenCheck;
  /** Still there and not expired: for streams that outlive the check at their start. */
  isValid(id: string, nowMs: EpochMs): boolean;
}

export interface TokenBookOptions {
  /** Told about a file that is no good any more. */
  readonly log?: Log;
  readonly lock?: LockTimes;
}

const secretPattern = /^blw_[\w-]{43}$/;
const namePattern = /^[A-Za-z\d][A-Za-z\d._-]{0,62}$/;
/** What audit lines call those who have no token. */
const reservedNames = new Set(['local', 'nobody']);
/** How long a change of the file may go unseen. */
const LOOK_EVERY_MS = 1_000;

/** Throws a sentence when the file is there and no good. */
export function openTokenBook(path: string, options: TokenBookOptions = {}): TokenBook {
  return new FileTokenBook(path, options);
}

class FileTokenBook implements TokenBook {
  readonly #path: string;
  readonly #options: TokenBookOptions;
  #file: TokenFile;
  #hashes: readonly Buffer[];
  #lookedMs = performance.now();
  /** The version last complained about, so that each is complained about once. */
  #badVersion: string | null = null;

  constructor(path: string, options: TokenBookOptions) {
    this.#path = path;
    this.#options = options;
    this.#file = readTokenFile(path);
    this.#hashes = hashesOf(this.#file);
  }

  list(): readonly TokenInfo[] {
    this.#look();
    return this.#file.tokens.map(toInfo).sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  check(secret: string, nowMs: EpochMs): TokenCheck {
    this.#look();
    if (!secretPattern.test(secret)) return { kind: 'unknown' };
    const hash = hashOf(secret);
    let found: StoredToken | null = null;
    // All are compared, each in constant time: how long it takes says nothing about any of them.
    this.#hashes.forEach((known, index) => {
      if (timingSafeEqual(known, hash)) found = this.#file.tokens[index] ?? null;
    });
    if (found === null) return { kind: 'unknown' };
    const token = toInfo(found);
    return { kind: isExpired(token, nowMs) ? 'expired' : 'valid', token };
  }

  isValid(id: string, nowMs: EpochMs): boolean {
    this.#look();
    const token = this.#file.tokens.find((candidate) => candidate.id === id);
    return token !== undefined && !isExpired(toInfo(token), nowMs);
  }

  async create(wish: TokenWish, nowMs: EpochMs): Promise<CreateOutcome> {
    const { name, role, expiresAtMs } = wish;
    if (!namePattern.test(name) || reservedNames.has(name)) {
      return refuse(
        `${JSON.stringify(name.slice(0, 80))} cannot be the name of a token; use up to 63 letters, ` +
          `digits, dots, dashes and underscores, beginning with a letter or digit, and not local or nobody`,
      );
    }
    const secret = `blw_${randomBytes(32).toString('base64url')}`;
    return this.#change((tokens) => {
      if (tokens.some((token) => token.name === name || token.id === name)) {
        return [
          tokens,
          refuse(`there is a token ${name} already; revoke it, or take another name`),
        ];
      }
      if (tokens.length >= TOKENS_MAX) {
        return [tokens, refuse(`there are ${TOKENS_MAX} tokens, the most; revoke some`)];
      }
      const stored: StoredToken = {
        id: freshId(tokens),
        name,
        role,
        hash: hashOf(secret).toString('hex'),
        createdAt: new Date(nowMs).toISOString(),
        expiresAt: expiresAtMs === null ? null : new Date(expiresAtMs).toISOString(),
      };
      return [[...tokens, stored], { kind: 'created', token: toInfo(stored), secret }];
    });
  }

  async revoke(idOrName: string): Promise<RevokeOutcome> {
    return this.#change<RevokeOutcome>((tokens) => {
      const found =
        tokens.find((token) => token.id === idOrName) ??
        tokens.find((token) => token.name === idOrName);
      if (found !== undefined) {
        const rest = tokens.filter((token) => token !== found);
        return [rest, { kind: 'revoked', token: toInfo(found) }];
      }
      return [tokens, { kind: 'unknown', message: describeMissing(idOrName, tokens) }];
    });
  }

  /** Reads what is there now, not what we remember: others write too. */
  async #change<T>(
    change: (tokens: readonly StoredToken[]) => readonly [readonly StoredToken[], T],
  ): Promise<T> {
    await mkdir(dirname(this.#path), { recursive: true, mode: 0o700 });
    const work = async (): Promise<T> => {
      const { tokens } = readTokenFile(this.#path);
      const [after, outcome] = change(tokens);
      if (after !== tokens) await writeTokenFile(this.#path, after);
      this.#take(readTokenFile(this.#path));
      return outcome;
    };
    return withFileLock(`${this.#path}.lock`, work, this.#options.lock);
  }

  #take(file: TokenFile): void {
    this.#file = file;
    this.#hashes = hashesOf(file);
  }

  /** A file that has become unreadable takes nobody's right away, and gives nobody any. */
  #look(): void {
    const nowMs = performance.now();
    if (nowMs - this.#lookedMs < LOOK_EVERY_MS) return;
    this.#lookedMs = nowMs;
    let version = 'unreadable';
    try {
      version = versionOf(this.#path);
      if (version !== this.#file.version) this.#take(readTokenFile(this.#path));
      this.#badVersion = null;
    } catch (error) {
      if (this.#badVersion === version) return;
      this.#badVersion = version;
      const message = error instanceof Error ? error.message : String(error);
      this.#options.log?.write('error', 'tokens-unreadable', {
        message,
        kept: this.#file.tokens.length,
      });
    }
  }
}

const refuse = (message: string): CreateOutcome => ({ kind: 'refused', message });

const hashOf = (secret: string): Buffer => createHash('sha256').update(secret).digest();

const hashesOf = (file: TokenFile): readonly Buffer[] =>
  file.tokens.map((token) => Buffer.from(token.hash, 'hex'));

function freshId(tokens: readonly StoredToken[]): string {
  for (;;) {
    const id = randomBytes(4).toString('hex');
    if (tokens.every((token) => token.id !== id && token.name !== id)) return id;
  }
}

const toInfo = (token: StoredToken): TokenInfo => ({
  id: token.id,
  name: token.name,
  role: token.role,
  createdAtMs: epochMs(Date.parse(token.createdAt)),
  expiresAtMs: token.expiresAt === null ? null : epochMs(Date.parse(token.expiresAt)),
});

const isExpired = (token: TokenInfo, nowMs: EpochMs): boolean =>
  token.expiresAtMs !== null && nowMs >= token.expiresAtMs;

function describeMissing(idOrName: string, tokens: readonly StoredToken[]): string {
  const names = tokens.map((token) => token.name);
  const near = nearestName(idOrName, [...names, ...tokens.map((token) => token.id)]);
  const remedy =
    near !== null
      ? `did you mean ${near}?`
      : names.length === 0
        ? 'there are none'
        : '`bellows token list` shows those there are';
  return `no token ${JSON.stringify(idOrName.slice(0, 80))}; ${remedy}`;
}
