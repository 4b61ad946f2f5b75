import { isUtf8 } from 'node:buffer';
import { statSync } from 'node:fs';
import type { SliceId } from '../../model/ids.ts';
import type { Machine } from '../../model/machine.ts';
import type { Log } from '../../ports/log.ts';
import type { LaunchOutcome, LaunchRequest, Provider } from '../../ports/provider.ts';
import { unreachable } from '../../support/assert.ts';
import { isObject, showValue } from './answer.ts';
import { ErrorLines } from './error-lines.ts';
import {
  answerError,
  type CallPlace,
  closedError,
  deadlineError,
  exitError,
  startError,
  tooLongError,
} from './errors.ts';
import { type Reading, readMachines, readOutcomes } from './mapping.ts';
import { KILL_AFTER_MS, Program, type ProgramEnd } from './program.ts';
import { type Call, toInput, toWireRequest, type WireRequest } from './protocol.ts';
import { Secrets } from './secrets.ts';

/** For a program that asks a cloud: most show a new machine within seconds. */
const LIST_LAG_MS = 10_000;
/** Longest wait for programs that were told to end. */
const CLOSE_MAX_MS = KILL_AFTER_MS + 1_000;

export interface ExternalProviderOptions {
  /** The provider's name in the configuration, for messages. */
  readonly name: string;
  /** Told to the program: its machines carry this tag. */
  readonly fleet: string;
  /** Program and arguments, no shell. */
  readonly command: readonly string[];
  /** Where it runs: the folder of the configuration file. */
  readonly cwd: string;
  readonly outputMaxBytes: number;
  /** Added to the process's own environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly secretOf: (name: string) => string | undefined;
  readonly log: Log;
  /** How far the program's list may lag behind the truth (10 s). */
  readonly listLagMs?: number;
}

/** Machines by a program of the operator's: one process per call, JSON in and out. */
export function openExternalProvider(options: ExternalProviderOptions): Provider {
  return new ExternalProvider(options);
}

/** What a program answered: the document, and its text without secrets, for messages. */
interface Answer {
  readonly place: CallPlace;
  readonly document: unknown;
  readonly text: () => string;
}

class ExternalProvider implements Provider {
  readonly listLagMs: number;
  readonly #options: ExternalProviderOptions;
  readonly #secrets = new Secrets();
  readonly #running = new Set<Program>();
  #isClosed = false;

  constructor(options: ExternalProviderOptions) {
    this.#options = options;
    this.listLagMs = options.listLagMs ?? LIST_LAG_MS;
  }

  async list(signal: AbortSignal): Promise<readonly Machine[]> {
    const answer = await this.#ask({ call: 'list' }, signal);
    return this.#use(answer, readMachines(answer.document, this.#hide));
  }

  async launch(
    batch: readonly LaunchRequest[],
    signal: AbortSignal,
  ): Promise<readonly LaunchOutcome[]> {
    const lacking = new Map<SliceId, LaunchOutcome>();
    const requests: WireRequest[] = [];
    for (const request of batch) {
      const outcome = this.#prepare(request, requests);
      if (outcome !== null) lacking.set(request.sliceId, outcome);
    }
    if (requests.length === 0) {
      this.#expectOpen(this.#placeOf('launch'), signal);
      return [...lacking.values()];
    }
    const answer = await this.#ask({ call: 'launch', requests }, signal);
    const asked = batch.filter((request) => !lacking.has(request.sliceId));
    const outcomes = this.#use(answer, readOutcomes(answer.document, asked, this.#hide));
    const bySlice = new Map(outcomes.map((outcome) => [outcome.sliceId, outcome]));
    return batch.flatMap(({ sliceId }) => lacking.get(sliceId) ?? bySlice.get(sliceId) ?? []);
  }

  async terminate(sliceIds: readonly SliceId[], signal: AbortSignal): Promise<void> {
    if (sliceIds.length === 0) return this.#expectOpen(this.#placeOf('terminate'), signal);
    const { place, document, text } = await this.#ask({ call: 'terminate', sliceIds }, signal);
    if (isObject(document) && !Array.isArray(document)) return;
    const problem = `${showValue(document, this.#hide)} is not an object; the answer must be {}`;
    throw answerError(place, problem, text());
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const running = [...this.#running];
    for (const program of running) program.stop();
    // A program that cannot be ended (stuck in the kernel, another user's) must not hold us up.
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<void>((resolve) => {
      timer = setTimeout(() => resolve(), CLOSE_MAX_MS);
    });
    await Promise.race([Promise.all(running.map(({ gone }) => gone)), patience]);
    clearTimeout(timer);
  }

  readonly #hide = (text: string): string => this.#secrets.hide(text);

  /** Adds the request to those for the program, or says why it cannot be asked for. */
  #prepare(request: LaunchRequest, requests: WireRequest[]): LaunchOutcome | null {
    const name = request.bootstrap?.joinToken ?? null;
    const secret = name === null ? null : this.#options.secretOf(name);
    if (secret === undefined) {
      // Should an earlier life of this process have sent it, its machines are listed with the tag
      // of a slice that has ended, and are released.
      const detail = `bootstrap.joinToken of group ${request.group} names ${name}, which is not set; set that environment variable for Bellows and restart it`;
      const refusal = { kind: 'permanent', detail } as const;
      return { kind: 'refused', sliceId: request.sliceId, refusal };
    }
    if (secret !== null) this.#secrets.learn(secret);
    requests.push(toWireRequest(request, secret));
    return null;
  }

  #placeOf(call: Call['call']): CallPlace {
    const { name, command, cwd } = this.#options;
    return { provider: name, call, command, cwd, isFolder };
  }

  #expectOpen(place: CallPlace, signal: AbortSignal): void {
    if (this.#isClosed) throw closedError(place);
    if (signal.aborted) throw deadlineError(place);
  }

  /** Runs the program for one call. */
  async #ask(call: Call, signal: AbortSignal): Promise<Answer> {
    const place = this.#placeOf(call.call);
    this.#expectOpen(place, signal);
    const { name: provider, fleet, command, cwd, env, outputMaxBytes, log } = this.#options;
    const fields = { provider, call: call.call };
    const lines = new ErrorLines({
      hide: this.#hide,
      onLine: (line) => log.write('info', 'external-program-said', { ...fields, line }),
    });
    const program = new Program({
      command,
      cwd,
      env: { ...process.env, ...env },
      input: toInput(fleet, call),
      outputMaxBytes,
      onErrorChunk: (chunk) => lines.add(chunk),
    });
    this.#running.add(program);
    void program.gone.then(() => this.#running.delete(program));
    const stop = (): void => program.stop();
    signal.addEventListener('abort', stop, { once: true });
    const end = await program.ended;
    signal.removeEventListener('abort', stop);
    lines.end();
    const { unshownCount } = lines;
    if (unshownCount > 0) {
      log.write('warn', 'external-program-said-more', { ...fields, lines: unshownCount });
    }
    return this.#read(place, end, lines.last);
  }

  #read(place: CallPlace, end: ProgramEnd, lastLine: string): Answer {
    switch (end.kind) {
      case 'stopped':
        throw this.#isClosed ? closedError(place) : deadlineError(place);
      case 'too-long':
        throw tooLongError(place, this.#options.outputMaxBytes);
      case 'not-started':
        throw startError(place, end.error);
      case 'killed':
        throw exitError(place, end, lastLine);
      case 'exited':
        if (end.exitCode !== 0) throw exitError(place, end, lastLine);
        if (end.isHeldOpen) this.#warnHeldOpen(place);
        return this.#parse(place, end.output);
      default:
        return unreachable(end);
    }
  }

  #parse(place: CallPlace, output: Buffer): Answer {
    const remedy = 'print one JSON document on standard output, and all else on standard error';
    const decoded = output.toString('utf8').trim();
    const text = (): string => this.#hide(decoded);
    if (!isUtf8(output)) throw answerError(place, `the answer is not UTF-8; ${remedy}`, text());
    if (decoded === '') throw answerError(place, `the program printed nothing; ${remedy}`, '');
    try {
      const document: unknown = JSON.parse(decoded);
      return { place, document, text };
    } catch {
      // Not the parser's own words: they quote the text, secrets and all.
      throw answerError(place, `the answer is not JSON; ${remedy}`, text());
    }
  }

  /** The usable part of an answer; what had to be dropped is told. */
  #use<T>({ place, text }: Answer, reading: Reading<T>): readonly T[] {
    if (reading.kind === 'unusable') throw answerError(place, reading.problem, text());
    const { log } = this.#options;
    const { provider, call } = place;
    for (const problem of reading.problems) {
      log.write('warn', 'external-answer-problem', { provider, call, problem });
    }
    const { moreCount } = reading;
    if (moreCount > 0) {
      log.write('warn', 'external-answer-problems-more', { provider, call, problems: moreCount });
    }
    return reading.value;
  }

  #warnHeldOpen({ provider, call }: CallPlace): void {
    this.#options.log.write('warn', 'external-program-held-open', {
      provider,
      call,
      problem: 'the program exited, but something it started holds its standard output or error',
      remedy: 'start it with standard output and error of its own',
    });
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    // Not there, or not for us to see: in both cases nothing can run in it.
    return false;
  }
}
