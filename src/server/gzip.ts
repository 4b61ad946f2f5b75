import { Code, ConnectError } from '@connectrpc/connect';
import { compressionGzip } from '@connectrpc/connect-node';
import { formatQuantity } from '../api/format.ts';

/**
 * Packed requests and answers. What cannot be unpacked is the sender's fault, which the stock one
 * takes on itself in some cases; what would unpack to too much is stopped on the way.
 */
export const gzip: typeof compressionGzip = {
  name: compressionGzip.name,
  compress: (bytes) => compressionGzip.compress(bytes),
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
