import { hostname } from 'node:os';
import { renderProblem } from '../../config/problem.ts';
import { StoreError } from '../../ports/store.ts';
import { StartError } from '../../wiring/start-error.ts';
import { openRunningService, readFleets, type UpOptions } from '../../wiring/up.ts';
import { exitCodes, type Output } from '../output.ts';

/** What the command line says. */
interface UpArgs {
  readonly config?: unknown;
  readonly listen?: unknown;
  readonly dryRun?: unknown;
}

/** Exit code of a process that must be started again: a bug, or a store that must not be used. */
const CRASHED = 70;

/**
 * `bellows up`: runs until it is told to stop. 0 after SIGTERM or Ctrl-C, 1 when something it needs
 * cannot be had, 2 when its input is no good, 70 when it cannot go on.
 */
export async function runUp(args: UpArgs, dataDir: string, out: Output): Promise<number> {
  const files = Array.isArray(args.config) ? args.config.map(String) : [];
  const read = readFleets(files);
  if (read.kind === 'bad') {
    for (const problem of read.problems) out.stderr(`${renderProblem(problem)}\n`);
    return exitCodes.badInput;
  }
  const options: UpOptions = {
    fleets: read.fleets,
    dataDir,
    listen: typeof args.listen === 'string' ? args.listen : null,
    mode: args.dryRun === true ? 'advisory' : 'active',
    holder: `bellows up (${hostname()}, process ${process.pid})`,
    isTerminal: out.hasProgress,
  };
  const signals = listenForSignals();
  try {
    const service = await openRunningService(options);
    out.stdout(greet(service.url, options));
    signals.onReload(() => void service.reload());
    const ended = await Promise.race([
      signals.stopped.then(() => 'stopped' as const),
      service.crashed,
    ]).catch((error: unknown) => ({ error }));
    if (ended !== 'stopped') {
      out.stderr(`bellows: it cannot go on: ${wordsOf(ended.error)}\n`);
      // At once: what is in memory may be wrong, and whoever starts it again waits for its end.
      process.exit(CRASHED);
    }
    out.stdout('Stopping: calls in flight are finished; hosts run on. Ctrl-C again ends it now.\n');
    await service.stop();
    return exitCodes.ok;
  } catch (error) {
    if (!(error instanceof StartError) && !(error instanceof StoreError)) throw error;
    out.stderr(`bellows: ${error.message}\n`);
    return exitCodes.failed;
  } finally {
    signals.close();
  }
}

const wordsOf = (error: unknown): string =>
  error instanceof StoreError ? error.message : error instanceof Error ? `${error.stack}` : 'error';

/** A few lines: what it listens on, where its data lies, what to try next. */
function greet(url: string, { fleets, dataDir, mode }: UpOptions): string {
  const isBuiltIn = fleets.every(({ source }) => source.kind === 'built-in');
  const names = fleets.map(({ config, source }) =>
    source.kind === 'file' ? `${config.fleet.name} (${source.path})` : config.fleet.name,
  );
  const flag = url === 'http://127.0.0.1:7070' ? '' : ` --server ${url}`;
  return [
    `Bellows runs ${names.length === 1 ? 'the fleet' : 'the fleets'} ${names.join(', ')}` +
      (mode === 'advisory' ? ', advising only: nothing is launched or ended.' : '.'),
    `  listens on  ${url}`,
    `  data in     ${dataDir}`,
    ...(isBuiltIn
      ? ['  settings    built in: `bellows config default` prints them, -c FILE brings your own']
      : []),
    `Try, in a second terminal:`,
    `  bellows demand push examples/demand.yaml${flag}`,
    `  bellows status${flag}`,
    '',
  ].join('\n');
}

/** SIGTERM and Ctrl-C stop, a second one ends at once; SIGHUP reloads. */
function listenForSignals() {
  let reload: () => void = () => undefined;
  let stop: () => void = () => undefined;
  const stopped = new Promise<void>((resolve) => {
    stop = resolve;
  });
  let count = 0;
  const onStop = (): void => {
    if (++count > 1) process.exit(exitCodes.interrupted);
    stop();
  };
  const onReload = (): void => reload();
  process.on('SIGTERM', onStop);
  process.on('SIGINT', onStop);
  process.on('SIGHUP', onReload);
  return {
    stopped,
    onReload(callback: () => void) {
      reload = callback;
    },
    close() {
      process.off('SIGTERM', onStop);
      process.off('SIGINT', onStop);
      process.off('SIGHUP', onReload);
    },
  };
}
