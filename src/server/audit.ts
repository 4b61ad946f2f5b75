import { type FileHandle, open, rename } from 'node:fs/promises';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';

/** One call that changed something, or tried to. */
export interface AuditEntry {
  /** ISO 8601. */
  readonly at: string;
  /** Name of the token, `local`, or empty where nobody knows. */
  readonly who: string;
  readonly role: string;
  /** Address and port. */
  readonly from: string;
  /** As the proto names it. */
  readonly rpc: string;
  readonly fleet: string;
  /** What it was about, in a few fields; never the whole request. */
  readonly subject: Readonly<Record<string, string | number | boolean>>;
  /** `ok`, or the code of the refusal. */
  readonly outcome: string;
  /** Refusals before this one that were too many to write down. */
  readonly suppressed?: number;
}

/** Written in order, beside the work. */
export interface AuditLog {
  write(entry: AuditEntry): void;
  /** Writes what is left. */
  close(): Promise<void>;
}

export interface AuditOptions {
  readonly log: Log;
  readonly clock: Clock;
  /** A file that has grown beyond it becomes `PATH.1`, and the one before that goes. */
  readonly sizeMaxBytes?: number;
}

const SIZE_MAX_BYTES = 16 * 1_024 * 1_024;
/** Lines that wait for a slow disk; more are dropped and counted. */
const QUEUE_MAX = 10_000;
/** Lines of one write, and what a file may be too large by. */
const BATCH_MAX = 100;
const COMPLAIN_EVERY_MS = 60_000;

/** Appends to `path` (mode 0600). Throws a sentence when it cannot be opened. */
export async function openAuditLog(path: string, options: AuditOptions): Promise<AuditLog> {
  const log = new FileAuditLog(path, options);
  await log.open();
  return log;
}

class FileAuditLog implements AuditLog {
  readonly #path: string;
  readonly #options: AuditOptions;
  #file: FileHandle | null = null;
  #sizeBytes = 0;
  /** A line broke off: the next one starts on its own. */
  #isBroken = false;
  readonly #queue: AuditEntry[] = [];
  #dropped = 0;
  #writing: Promise<void> | null = null;
  #complainedMs = -Infinity;

  constructor(path: string, options: AuditOptions) {
    this.#path = path;
    this.#options = options;
  }

  async open(): Promise<void> {
    try {
      await this.#openFile();
    } catch (error) {
      const words = error instanceof Error ? error.message : String(error);
      throw new Error(`the audit log ${this.#path} cannot be written: ${words}`, { cause: error });
    }
  }

  write(entry: AuditEntry): void {
    if (this.#queue.length >= QUEUE_MAX) this.#dropped++;
    else this.#queue.push(entry);
    this.#writing ??= this.#writeAll();
  }

  async close(): Promise<void> {
    await this.#writing;
    await this.#file?.sync().catch((error: unknown) => this.#complain(error));
    await this.#file?.close();
    this.#file = null;
  }

  async #writeAll(): Promise<void> {
    // A turn later, so that what comes in one turn is one write.
    await Promise.resolve();
    while (this.#queue.length > 0) {
      const batch = this.#queue.splice(0, BATCH_MAX);
      try {
        await this.#append(batch);
      } catch (error) {
        this.#dropped += batch.length;
        this.#complain(error);
        // Opened anew for the next ones, which shows how much of these was written.
        await this.#file?.close().catch((closing: unknown) => this.#complain(closing));
        this.#file = null;
      }
    }
    // In the same turn as the last look at the queue: whoever writes next starts anew.
    this.#writing = null;
  }

  async #append(batch: readonly AuditEntry[]): Promise<void> {
    const sizeMaxBytes = this.#options.sizeMaxBytes ?? SIZE_MAX_BYTES;
    if (this.#sizeBytes >= sizeMaxBytes) await this.#turnOver();
    this.#file ??= await this.#openFile();
    const lost = this.#dropped;
    const lines = batch.map((entry) => `${JSON.stringify(entry)}\n`);
    if (lost > 0) lines.unshift(`${JSON.stringify({ at: batch[0]?.at, lost })}\n`);
    const text = `${this.#isBroken ? '\n' : ''}${lines.join('')}`;
    await this.#file.appendFile(text);
    this.#sizeBytes += Buffer.byteLength(text);
    this.#isBroken = false;
    this.#dropped -= lost;
  }

  async #turnOver(): Promise<void> {
    await this.#file?.close();
    this.#file = null;
    await rename(this.#path, `${this.#path}.1`);
    this.#file = await this.#openFile();
  }

  async #openFile(): Promise<FileHandle> {
    const file = await open(this.#path, 'a+', 0o600);
    const { size } = await file.stat();
    const last = Buffer.alloc(1, '\n');
    if (size > 0) await file.read(last, 0, 1, size - 1);
    this.#isBroken = last.toString() !== '\n';
    this.#sizeBytes = size;
    this.#file = file;
    return file;
  }

  /** The fleet goes on without its audit log, but not silently. */
  #complain(error: unknown): void {
    const nowMs = this.#options.clock.monotonicMs();
    if (nowMs - this.#complainedMs < COMPLAIN_EVERY_MS) return;
    this.#complainedMs = nowMs;
    const message = error instanceof Error ? error.message : String(error);
    this.#options.log.write('error', 'audit-failed', {
      path: this.#path,
      message,
      lost: this.#dropped,
    });
  }
}
