import { Code, ConnectError } from '@connectrpc/connect';
import { z } from 'zod';

const PAGE_MAX = 1_000;
const PAGE_DEFAULT = 100;
const TOKEN_LENGTH_MAX = 8_192;

/** What a caller got wrong: names the field, the value and the remedy. */
export const invalid = (message: string): ConnectError =>
  new ConnectError(message, Code.InvalidArgument);

export function pageSizeOf(asked: number): number {
  if (asked > PAGE_MAX) throw invalid(`page_size is ${asked}; it may be ${PAGE_MAX} at most`);
  return asked === 0 ? PAGE_DEFAULT : asked;
}

/** A place in a list, as text that nobody needs to understand. */
export const toToken = (place: unknown): string =>
  Buffer.from(JSON.stringify(place)).toString('base64url');

/** The place that a token stands for; null for the empty one, which is the start. */
export function fromToken<Place>(token: string, schema: z.ZodType<Place>): Place | null {
  if (token === '') return null;
  const parsed = token.length > TOKEN_LENGTH_MAX ? null : schema.safeParse(readJson(token));
  if (parsed?.success === true) return parsed.data;
  const shown = token.length > 40 ? `${token.slice(0, 40)}...` : token;
  throw invalid(
    `page_token ${JSON.stringify(shown)} is none that was given here; leave it out to begin again`,
  );
}

function readJson(token: string): unknown {
  try {
    return JSON.parse(Buffer.from(token, 'base64url').toString());
  } catch {
    return undefined; // no place has such a text: the schema refuses it
  }
}
