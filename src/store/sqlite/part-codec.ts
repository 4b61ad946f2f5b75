import { createHash } from 'node:crypto';
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import { StoreError } from '../../ports/store.ts';
import type { Blob } from './connection.ts';

export interface StoredPart {
  readonly encoding: 'plain' | 'brotli';
  readonly data: Uint8Array;
}

/** Smaller texts fit into a page with others: packing them saves little. */
const PACK_MIN_BYTES = 1_024;
/**
 * A commit waits for it before anything is launched. On 4 MB of a tick's JSON: 10 ms and 631 kB;
 * the fastest level of deflate takes 18 ms and leaves 686 kB.
 */
const QUALITY = 1;

/** Always bytes, never SQL text, which would end at the first NUL. */
export function packPart(text: string): StoredPart {
  const plain = Buffer.from(text);
  if (plain.length < PACK_MIN_BYTES) return { encoding: 'plain', data: plain };
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: QUALITY,
    [constants.BROTLI_PARAM_SIZE_HINT]: plain.length,
  };
  const packed = brotliCompressSync(plain, { params });
  if (packed.length >= plain.length) return { encoding: 'plain', data: plain };
  return { encoding: 'brotli', data: packed };
}

/** The text, once it has the hash it is known by: SQLite does not notice a flipped bit. */
export function unpackPart(
  stored: { readonly encoding: string; readonly data: Blob },
  source: { readonly hash: string; readonly path: string },
): string {
  try {
    const bytes = Buffer.from(stored.data);
    const plain = stored.encoding === 'brotli' ? brotliDecompressSync(bytes) : bytes;
    if (createHash('sha256').update(plain).digest('hex') === source.hash) return plain.toString();
  } catch (error) {
    throw damaged(source, error);
  }
  throw damaged(source, null);
}

const damaged = (source: { hash: string; path: string }, cause: unknown): StoreError =>
  new StoreError(
    'corrupt',
    `${source.path} is damaged in the journal's part ${source.hash}; ` +
      'ticks that refer to it cannot be replayed, all else can be used',
    { cause },
  );
