import { Code, ConnectError } from '@connectrpc/connect';
import { formatDuration } from '../api/format.ts';
import { assert, unreachable } from '../support/assert.ts';
import type { Remote } from './client.ts';
import { CommandError } from './option-values.ts';
import { exitCodes } from './output.ts';
import { oneLine } from './render/words.ts';

type Asked = Pick<Remote, 'address' | 'hasToken' | 'timeoutMs'>;

/** A failed call as a sentence with a remedy; null for what is no failed call. */
export function explainFailure(error: unknown, remote: Asked | null): CommandError | null {
  if (!(error instanceof ConnectError)) return null;
  assert(remote !== null, 'a call is made of a remote');
  const network = explainNetwork(error, remote);
  if (network !== null) return new CommandError(network, exitCodes.failed);
  const exit = error.code === Code.InvalidArgument ? exitCodes.badInput : exitCodes.failed;
  return new CommandError(explainAnswer(error, remote), exit);
}

/** True when the same call may well be answered later: nothing there, restarting, too slow. */
export function isPassing(error: unknown): error is ConnectError {
  if (!(error instanceof ConnectError)) return false;
  const passing = [Code.Unavailable, Code.DeadlineExceeded, Code.Aborted];
  return passing.includes(error.code) || networkCode(error) !== null;
}

/** What the system says when no call comes through. */
function explainNetwork(error: ConnectError, { address }: Asked): string | null {
  const code = networkCode(error);
  const { url } = address;
  switch (code) {
    case null:
      return null;
    case 'ECONNREFUSED':
      return `nothing listens on ${url}; start it with \`bellows up\`, or set --server`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `the name in ${url} is not known; check --server`;
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'ETIMEDOUT':
      return `${url} cannot be reached; check --server and the network`;
    case 'ECONNRESET':
    case 'EPIPE':
    case 'ERR_STREAM_DESTROYED':
    case 'ERR_STREAM_PREMATURE_CLOSE':
      return address.isSecure
        ? `${url} hung up; is it still running?`
        : `${url} hung up; is it still running, and does it speak http, not https?`;
    case 'EPROTO':
    case 'ERR_SSL_WRONG_VERSION_NUMBER':
    case 'ERR_SSL_PACKET_LENGTH_TOO_LONG':
      return `${url} does not speak https; use http://, or give it a certificate`;
    case 'CERT_HAS_EXPIRED':
      return `the certificate of ${url} has expired; renew it`;
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return `the certificate of ${url} is for another name; use the name it is for`;
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'UNABLE_TO_GET_ISSUER_CERT':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
      return `the certificate of ${url} is not trusted; give its authority with --ca FILE`;
    default:
      return code.startsWith('HPE_')
        ? `${url} does not answer in HTTP; is it https, or something else?`
        : `${url} cannot be reached (${code}); check --server`;
  }
}

/** The system's code for why there was no answer; null when there was one, or none in time. */
function networkCode(error: ConnectError): string | null {
  // We hung up ourselves.
  if (error.code === Code.DeadlineExceeded || error.code === Code.Canceled) return null;
  let cause: unknown = error.cause;
  for (let depth = 0; depth < 5 && cause instanceof Error; depth++) {
    if ('code' in cause && typeof cause.code === 'string') return cause.code;
    cause = cause.cause;
  }
  return null;
}

/** What the server answered; its own words name what is wrong and mostly what to do. */
function explainAnswer(error: ConnectError, { address, hasToken, timeoutMs }: Asked): string {
  const { url } = address;
  // A refused configuration has a line for each problem.
  const lines = error.rawMessage.split('\n').map(oneLine);
  const said = lines.filter((line) => line !== '').join('\n');
  switch (error.code) {
    case Code.Unauthenticated:
      return hasToken
        ? `${url} does not accept the token: ${said}; check it, or create one with \`bellows token create\``
        : `${url} asks who you are: ${said}; give a token with --token-file FILE or BELLOWS_TOKEN`;
    case Code.PermissionDenied:
      return `not allowed: ${said}`;
    case Code.NotFound:
    case Code.InvalidArgument:
    case Code.FailedPrecondition:
    case Code.AlreadyExists:
    case Code.OutOfRange:
      return said;
    case Code.DeadlineExceeded:
      return `${url} gave no answer within ${formatDuration(timeoutMs)}; --timeout 1m waits longer`;
    case Code.Unavailable:
      return `${url} cannot answer now: ${said}; try again in a moment`;
    case Code.ResourceExhausted:
      return `too much: ${said}`;
    case Code.Aborted:
      return `${url} broke off: ${said}; try again`;
    case Code.Canceled:
      return 'interrupted';
    case Code.Unimplemented:
      return `${url} does not know this call (${said}); it is an older Bellows, or something else: check --server`;
    case Code.Unknown:
    case Code.Internal:
    case Code.DataLoss:
      return `${url} failed: ${said}; see its log, or check --server if it is not Bellows`;
    default:
      return unreachable(error.code);
  }
}
