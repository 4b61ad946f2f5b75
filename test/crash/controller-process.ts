import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
/** A start that takes longer has failed. */
const START_MAX_MS = 20_000;

export interface StartOptions {
  readonly config: string;
  readonly dataDir: string;
  readonly listen: string;
  /** Where all that it prints is kept. */
  readonly log: string;
}

/** A real `bellows up`. */
export class ControllerProcess {
  readonly #child: ChildProcess;
  readonly #listening: Promise<void>;

  constructor({ config, dataDir, listen, log }: StartOptions) {
    const args = [main, 'up', '-c', config, '--data', dataDir, '--listen', listen];
    this.#child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child.stderr?.on('data', (data: Buffer) => appendFileSync(log, data));
    this.#listening = new Promise((resolve, reject) => {
      let said = '';
      this.#child.stdout?.on('data', (data: Buffer) => {
        appendFileSync(log, data);
        said += data.toString();
        if (said.includes('listens on')) resolve();
      });
      this.#child.on('exit', (code, signal) => reject(new Error(`ended with ${code ?? signal}`)));
      setTimeout(() => reject(new Error('it does not listen')), START_MAX_MS).unref();
    });
    // Whoever kills it before it listens is not interested.
    this.#listening.catch(() => undefined);
  }

  listening(): Promise<void> {
    return this.#listening;
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  async kill(): Promise<void> {
    if (!this.isRunning) return;
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exited;
  }

  /** Asks it to stop, and says its exit code. */
  async stop(): Promise<number | null> {
    if (!this.isRunning) return this.#child.exitCode;
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    await exited;
    return this.#child.exitCode;
  }
}
