import { describeValue } from '../../config/problem.ts';
import { parseDuration } from '../../config/quantity.ts';
import { type EpochMs, epochMs } from '../../model/ids.ts';
import { nearestName } from '../../support/nearest.ts';
import { exitCodes, type Output } from '../output.ts';
import { createStyle } from '../render/style.ts';
import { renderTable } from '../render/table.ts';

const roles = ['viewer', 'worker', 'scheduler', 'operator', 'admin'] as const;
type Role = (typeof roles)[number];

interface Token {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  readonly createdAtMs: EpochMs;
  readonly expiresAtMs: EpochMs | null;
}

/** The book of tokens of a data directory, opened; no server is asked. */
export interface Tokens {
  list(): readonly Token[];
  create(
    wish: { readonly name: string; readonly role: Role; readonly expiresAtMs: EpochMs | null },
    nowMs: EpochMs,
  ): Promise<
    | { readonly kind: 'created'; readonly token: Token; readonly secret: string }
    | { readonly kind: 'refused'; readonly message: string }
  >;
  revoke(
    idOrName: string,
  ): Promise<
    | { readonly kind: 'revoked'; readonly token: Token }
    | { readonly kind: 'unknown'; readonly message: string }
  >;
}

export interface CreateArgs {
  /** Left out: the role, with a number where that is taken. */
  readonly name?: string | undefined;
  readonly role: string;
  /** A duration; left out: never. */
  readonly expires?: string | undefined;
  readonly json?: unknown;
}

/**
 * `bellows token create --role R [--name N] [--expires 90d]`: the secret alone on standard output, so
 * that `TOKEN=$(bellows token create ...)` has it; all else on standard error. 0, 1 when the name is
 * taken or the book cannot be written, 2 on bad input.
 */
export async function runTokenCreate(
  args: CreateArgs,
  book: Tokens,
  out: Output,
  nowMs: EpochMs,
): Promise<number> {
  const role = roles.find((known) => known === args.role);
  if (role === undefined) return badInput(out, describeRole(args.role));
  const expiry = readExpiry(args.expires, nowMs);
  if (expiry.kind === 'bad') return badInput(out, `--expires: ${expiry.message}`);
  return guarded(out, async () => {
    const name = args.name ?? freeName(role, book);
    const outcome = await book.create({ name, role, expiresAtMs: expiry.atMs }, nowMs);
    if (outcome.kind === 'refused') {
      out.stderr(`bellows: ${outcome.message}\n`);
      return book.list().some((token) => token.name === name)
        ? exitCodes.failed
        : exitCodes.badInput;
    }
    const { token, secret } = outcome;
    if (args.json === true) {
      out.stdout(`${JSON.stringify({ ...toJson(token), secret })}\n`);
      return exitCodes.ok;
    }
    const until =
      token.expiresAtMs === null ? 'until it is revoked' : `until ${iso(token.expiresAtMs)}`;
    out.stderr(
      `Token ${token.name} (id ${token.id}) with the role ${token.role}, valid ${until}. Its secret follows,\n` +
        `and is shown this once: put it in BELLOWS_TOKEN, or send it as "Authorization: Bearer SECRET".\n`,
    );
    out.stdout(`${secret}\n`);
    return exitCodes.ok;
  });
}

/** `bellows token list`: who may call, without any secret. `--json` prints `{"tokens": [...]}`. */
export async function runTokenList(
  args: { readonly json?: unknown },
  book: Tokens,
  out: Output,
  nowMs: EpochMs,
): Promise<number> {
  return guarded(out, async () => {
    const tokens = book.list();
    if (args.json === true) {
      const rows = tokens.map((token) => ({
        ...toJson(token),
        isExpired: isExpired(token, nowMs),
      }));
      out.stdout(`${JSON.stringify({ tokens: rows })}\n`);
      return exitCodes.ok;
    }
    if (tokens.length === 0) {
      out.stdout('No tokens. `bellows token create --role admin` makes one.\n');
      return exitCodes.ok;
    }
    const columns = ['name', 'id', 'role', 'created', 'expires'].map((title) => ({ title }));
    const rows = tokens.map((token) => [
      token.name,
      token.id,
      token.role,
      iso(token.createdAtMs),
      token.expiresAtMs === null
        ? 'never'
        : `${iso(token.expiresAtMs)}${isExpired(token, nowMs) ? ' (expired)' : ''}`,
    ]);
    out.stdout(renderTable(columns, rows, createStyle(out.hasColour).bold));
    return exitCodes.ok;
  });
}

/** `bellows token revoke ID|NAME`: a server that runs takes notice within a second. */
export async function runTokenRevoke(
  args: { readonly token: string; readonly json?: unknown },
  book: Tokens,
  out: Output,
): Promise<number> {
  return guarded(out, async () => {
    const outcome = await book.revoke(args.token);
    if (outcome.kind === 'unknown') {
      out.stderr(`bellows: ${outcome.message}\n`);
      return exitCodes.failed;
    }
    const { token } = outcome;
    if (args.json === true) out.stdout(`${JSON.stringify({ revoked: toJson(token) })}\n`);
    else out.stdout(`Revoked ${token.name} (id ${token.id}, role ${token.role}).\n`);
    return exitCodes.ok;
  });
}

function badInput(out: Output, message: string): number {
  out.stderr(`bellows: ${message}\n`);
  return exitCodes.badInput;
}

/** A file that cannot be read, written or locked is told as a sentence. */
async function guarded(out: Output, work: () => Promise<number>): Promise<number> {
  try {
    return await work();
  } catch (error) {
    out.stderr(`bellows: ${error instanceof Error ? error.message : String(error)}\n`);
    return exitCodes.failed;
  }
}

function describeRole(role: string): string {
  const near = nearestName(role, roles);
  const hint = near === null ? '' : `; did you mean ${near}?`;
  return `--role: ${describeValue(role)} is no role; the roles are ${roles.join(', ')}${hint}`;
}

type Expiry =
  | { readonly kind: 'ok'; readonly atMs: EpochMs | null }
  | { readonly kind: 'bad'; readonly message: string };

function readExpiry(text: string | undefined, nowMs: EpochMs): Expiry {
  if (text === undefined) return { kind: 'ok', atMs: null };
  const parsed = parseDuration(text);
  if (parsed.kind === 'bad') return { kind: 'bad', message: `${parsed.message}; ${parsed.remedy}` };
  if (parsed.value === 0) {
    return {
      kind: 'bad',
      message: `${describeValue(text)} is over at once; write for example 90d, or leave it out`,
    };
  }
  return { kind: 'ok', atMs: epochMs(nowMs + parsed.value) };
}

function freeName(role: Role, book: Tokens): string {
  const taken = new Set(book.list().map((token) => token.name));
  let name: string = role;
  for (let n = 2; taken.has(name); n++) name = `${role}-${n}`;
  return name;
}

const iso = (atMs: EpochMs): string => new Date(atMs).toISOString().replace(/\.\d+Z$/, 'Z');

const isExpired = (token: Token, nowMs: EpochMs): boolean =>
  token.expiresAtMs !== null && nowMs >= token.expiresAtMs;

const toJson = ({ id, name, role, createdAtMs, expiresAtMs }: Token) => ({
  id,
  name,
  role,
  createdAt: new Date(createdAtMs).toISOString(),
  expiresAt: expiresAtMs === null ? null : new Date(expiresAtMs).toISOString(),
});
