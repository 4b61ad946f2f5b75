import { Code, ConnectError } from '@connectrpc/connect';
import { compressionGzip } from '@connectrpc/connect-node';
import { formatQuantity } from '../api/format.ts';

/** Answers that were packed last, by content. */
interface Packed {
  readonly bytes: Uint8Array;
  readonly packed: ReturnType<typeof compressionGzip.compress>;
}

const LAST_COUNT = 4;
const LAST_BYTES_MAX = 4 * 2 ** 20;
const last: Packed[] = [];

/** Those who watch get the same answer at the same time: it is packed once for all of them. */
function compress(bytes: Uint8Array): Packed['packed'] {
  const before = last.find((one) => isSame(one.bytes, bytes));
  if (before !== undefined) return before.packed;
  const packed = compressionGzip.compress(bytes);
  if (bytes.length > LAST_BYTES_MAX) return packed;
  const one = { bytes, packed };
  last.unshift(one);
  last.length = Math.min(last.length, LAST_COUNT);
  // What failed is tried again by the next.
  packed.catch(() => last.splice(last.indexOf(one), last.includes(one) ? 1 : 0));
  return packed;
}

const isSame = (a: Uint8Array, b: Uint8Array): boolean =>
  a === b || (a.length === b.length && Buffer.compare(a, b) === 0);

/**
 * Packed requests and answers. What cannot be unpacked is the sender's fault, which the stock one
 * takes on itself in some cases; what would unpack to too much is stopped on the way.
 */
export const gzip: typeof compressionGzip = {
  name: compressionGzip.name,
  compress,
  async decompress(bytes, readMaxBytes) {
    try {
      return await compressionGzip.decompress(bytes, readMaxBytes);
    } catch (error) {
      if (ConnectError.from(error).code === Code.ResourceExhausted) {
        const most = formatQuantity('memory', readMaxBytes);
        throw new ConnectError(
          `the request unpacks to more than ${most}, the most this server reads (server.bodyMax)`,
          Code.ResourceExhausted,
        );
      }
      throw new ConnectError('the request is no valid gzip', Code.InvalidArgument);
    }
  },
};
