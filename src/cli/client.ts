import { type Client, createClient, type Interceptor } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import { AutoscalerService } from '../api/gen/bellows/v1/autoscaler_pb.ts';
import { renderProblem } from '../config/problem.ts';
import { readInput } from '../config/read-file.ts';
import { type ServerAddress, parseServerAddress } from './server-address.ts';
import { explainFailure } from './call-failure.ts';
import { CommandError, durationOf, textOf } from './option-values.ts';
import type { Surroundings } from './surroundings.ts';

/** The options that every command over the wire has. */
export interface ServerOptions {
  readonly server?: unknown;
  readonly tokenFile?: unknown;
  /** Only to say that it is not taken. */
  readonly token?: unknown;
  readonly ca?: unknown;
  readonly fleet?: unknown;
  readonly timeout?: unknown;
  readonly insecure?: unknown;
  readonly json?: unknown;
}

/** A server that can be asked. */
export interface Remote {
  readonly client: Client<typeof AutoscalerService>;
  /** Empty: the only one. */
  readonly fleet: string;
  readonly address: ServerAddress;
  readonly hasToken: boolean;
  /** For one call. */
  readonly timeoutMs: number;
}

const DEFAULT_SERVER = '127.0.0.1:7070';
const DEFAULT_TIMEOUT_MS = 10_000;
const TIMEOUTS = { minMs: 100, maxMs: 3_600_000 };
/** A status of 100,000 shapes is a tenth of it. */
const ANSWER_BYTES_MAX = 256 * 1_024 * 1_024;
const TOKEN_FILE_BYTES_MAX = 16_384;
const CA_FILE_BYTES_MAX = 4 * 1_024 * 1_024;

/**
 * Runs the body of a command against the server that its options and the environment name. What goes
 * wrong becomes a sentence on standard error and an exit code; what is left is a bug.
 */
export async function runRemote(
  options: ServerOptions,
  around: Surroundings,
  body: (remote: Remote) => Promise<number>,
): Promise<number> {
  let remote: Remote | null = null;
  try {
    remote = openRemote(options, around.env);
    return await body(remote);
  } catch (error) {
    const failure = error instanceof CommandError ? error : explainFailure(error, remote);
    if (failure === null) throw error;
    around.out.stderr(`${failure.message}\n`);
    return failure.exit;
  }
}

/** Reads files, calls nobody. */
export function openRemote(options: ServerOptions, env: Surroundings['env']): Remote {
  const address = parseServerAddress(
    textOf(options.server) ?? textOf(env['BELLOWS_SERVER']) ?? DEFAULT_SERVER,
  );
  const token = readToken(options, env);
  if (token !== null && !address.isSecure && !address.isLoopback && options.insecure !== true) {
    throw new CommandError(
      `the token would travel in the clear to ${address.url}; use https://, or say --insecure if ` +
        'nobody else can listen on the way',
    );
  }
  const timeoutMs = durationOf('--timeout', options.timeout, TIMEOUTS) ?? DEFAULT_TIMEOUT_MS;
  const ca = readAuthority(options, env, address);
  const transport = createConnectTransport({
    baseUrl: address.url,
    httpVersion: '1.1',
    useBinaryFormat: true,
    interceptors: token === null ? [] : [bearer(token)],
    defaultTimeoutMs: timeoutMs,
    readMaxBytes: ANSWER_BYTES_MAX,
    nodeOptions: ca === null ? {} : { ca },
  });
  return {
    client: createClient(AutoscalerService, transport),
    fleet: textOf(options.fleet) ?? textOf(env['BELLOWS_FLEET']) ?? '',
    address,
    hasToken: token !== null,
    timeoutMs,
  };
}

const bearer =
  (token: string): Interceptor =>
  (next) =>
  (request) => {
    request.header.set('authorization', `Bearer ${token}`);
    return next(request);
  };

/** No message shows any part of it. */
function readToken(options: ServerOptions, env: Surroundings['env']): string | null {
  if (options.token !== undefined) {
    throw new CommandError(
      '--token is not taken: a token on the command line shows in the list of processes; put it ' +
        'in a file and use --token-file FILE, or set BELLOWS_TOKEN',
    );
  }
  const path = textOf(options.tokenFile);
  const raw = path === null ? textOf(env['BELLOWS_TOKEN']) : readText(path, TOKEN_FILE_BYTES_MAX);
  if (raw === null) return null;
  const token = raw.trim();
  if (/^[\x21-\x7E]+$/.test(token)) return token;
  const where = path === null ? 'BELLOWS_TOKEN' : `--token-file ${path}`;
  const what = token === '' ? 'is empty' : 'holds more than one word, or letters no token has';
  throw new CommandError(`${where} ${what}; it must hold a token of \`bellows token create\``);
}

/** Certificates that are trusted instead of the system's. */
function readAuthority(
  options: ServerOptions,
  env: Surroundings['env'],
  address: ServerAddress,
): string | null {
  const given = textOf(options.ca);
  if (given !== null && !address.isSecure) {
    throw new CommandError(`--ca: ${address.url} is not encrypted; use an https:// address`);
  }
  const path = given ?? textOf(env['BELLOWS_CA']);
  if (path === null || !address.isSecure) return null;
  const text = readText(path, CA_FILE_BYTES_MAX);
  if (text.includes('-----BEGIN CERTIFICATE-----')) return text;
  throw new CommandError(`${path}: holds no certificate; give one in PEM form`);
}

function readText(path: string, sizeMax: number): string {
  const read = readInput(path, { sizeMax });
  if (read.kind === 'bad') throw new CommandError(renderProblem(read.problem));
  return read.text;
}
