import type { Blob, Value } from './connection.ts';

/** A text column as it comes back. */
export type StoredText = string | Blob;

/** libsql ends a text at its first NUL: a text that has one is stored as bytes. JSON has none. */
export const toText = (text: string): Value => (text.includes('\0') ? Buffer.from(text) : text);

export const fromText = (stored: StoredText): string =>
  typeof stored === 'string' ? stored : Buffer.from(stored).toString();
