import { type ChildProcess, spawn } from 'node:child_process';

/** From the request to end (SIGTERM) to the end itself (SIGKILL). */
export const KILL_AFTER_MS = 2_000;
/**
 * A program that has exited has said all it had to say. What it left running may hold its standard
 * output open; nothing that comes later is waited for longer than this.
 */
export const HELD_OPEN_MS = 1_000;

export interface ProgramOptions {
  /** Program and arguments; no shell reads them. */
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly input: string;
  readonly outputMaxBytes: number;
  readonly onErrorChunk: (chunk: Buffer) => void;
}

export type ProgramEnd =
  | {
      readonly kind: 'exited';
      readonly exitCode: number;
      readonly output: Buffer;
      /** Something that it started still holds its standard output or standard error. */
      readonly isHeldOpen: boolean;
    }
  /** By somebody else: the kernel, an operator, a bug of its own. */
  | { readonly kind: 'killed'; readonly signal: string }
  | { readonly kind: 'too-long' }
  | { readonly kind: 'stopped' }
  | { readonly kind: 'not-started'; readonly error: Error };

/**
 * One run of a program, in a process group of its own. The group is ended when the run is stopped
 * or prints too much. After an exit it is left alone: what a program leaves behind may be a machine.
 */
export class Program {
  /** How it ended; never rejects. Stopped and too long are known before the process is gone. */
  readonly ended: Promise<ProgramEnd>;
  /** Resolves when the process is gone and nothing of ours waits for it. */
  readonly gone: Promise<void>;
  readonly #options: ProgramOptions;
  #child: ChildProcess | null = null;
  #isEnded = false;
  #isReaped = false;
  #output: Buffer[] = [];
  #outputBytes = 0;
  #killTimer: NodeJS.Timeout | null = null;
  // Replaced by the promises' own functions before the constructor ends.
  #settle: (end: ProgramEnd) => void = () => undefined;
  #leave: () => void = () => undefined;

  constructor(options: ProgramOptions) {
    this.#options = options;
    this.ended = new Promise((resolve) => {
      this.#settle = resolve;
    });
    this.gone = new Promise((resolve) => {
      this.#leave = resolve;
    });
    this.#start();
  }

  /** Ends the process group. `ended` says so at once; it may take until `gone`. */
  stop(): void {
    this.#endEarly({ kind: 'stopped' });
  }

  #start(): void {
    const { command, cwd, env, input } = this.#options;
    const [file = '', ...args] = command;
    try {
      // Detached: a group of its own, so that it can be ended with all that it has started.
      this.#child = spawn(file, args, { cwd, env, detached: true, stdio: 'pipe' });
    } catch (error) {
      this.#notStarted(error instanceof Error ? error : new Error(String(error)));
      return;
    }
    const child = this.#child;
    child.on('error', (error) => this.#notStarted(error));
    child.on('exit', () => this.#exited());
    child.on('close', () => this.#finish({ isHeldOpen: false }));
    child.stdout?.on('data', (chunk: Buffer) => this.#read(chunk));
    child.stderr?.on('data', this.#options.onErrorChunk);
    // It need not read its input: what it then answers, or fails with, says more than EPIPE does.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input);
  }

  #notStarted(error: Error): void {
    this.#end({ kind: 'not-started', error });
    this.#leave();
  }

  #read(chunk: Buffer): void {
    // Also once it has ended it is read, and the words dropped: a full pipe would hold it up.
    if (this.#isEnded) return;
    this.#outputBytes += chunk.length;
    this.#output.push(chunk);
    if (this.#outputBytes > this.#options.outputMaxBytes) this.#endEarly({ kind: 'too-long' });
  }

  #exited(): void {
    this.#isReaped = true;
    if (this.#killTimer === null) this.#waitForOutput();
    // Others of its group may need the harder signal still. The number of an empty group may be
    // anybody's soon.
    else if (!signalGroup(this.#child, 0)) this.#stopKilling();
  }

  /** Ends the wait for 'close'. */
  #waitForOutput(): void {
    // One turn more: after a pause of this process the timer comes before what is in the pipe.
    const finish = (): void => void setImmediate(() => this.#finish({ isHeldOpen: true }));
    const timer = setTimeout(finish, HELD_OPEN_MS);
    this.#child?.once('close', () => clearTimeout(timer));
  }

  #finish({ isHeldOpen }: { readonly isHeldOpen: boolean }): void {
    const { exitCode = null, signalCode = null } = this.#child ?? {};
    const output = Buffer.concat(this.#output);
    if (exitCode !== null) this.#end({ kind: 'exited', exitCode, output, isHeldOpen });
    else this.#end({ kind: 'killed', signal: signalCode ?? 'a signal' });
    this.#child?.stdout?.destroy();
    this.#child?.stderr?.destroy();
    if (this.#killTimer === null) this.#leave();
  }

  #end(end: ProgramEnd): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#output = [];
    this.#settle(end);
  }

  #endEarly(end: ProgramEnd): void {
    if (this.#isEnded) return;
    this.#end(end);
    // Once it is reaped, its number may be anybody's.
    if (this.#isReaped) return this.#finish({ isHeldOpen: true });
    if (!signalGroup(this.#child, 'SIGTERM')) return;
    this.#killTimer = setTimeout(() => {
      signalGroup(this.#child, 'SIGKILL');
      this.#stopKilling();
    }, KILL_AFTER_MS);
  }

  #stopKilling(): void {
    if (this.#killTimer !== null) clearTimeout(this.#killTimer);
    this.#killTimer = null;
    if (this.#isReaped) this.#finish({ isHeldOpen: false });
  }
}

/** Whether there was anybody in the program's group to get the signal. */
function signalGroup(child: ChildProcess | null, signal: NodeJS.Signals | 0): boolean {
  if (child?.pid === undefined) return false;
  try {
    return process.kill(-child.pid, signal);
  } catch {
    // ESRCH: nobody is left, which is what was wanted. EPERM: they run as another user now.
    return false;
  }
}
