import { Worker } from 'node:worker_threads';
import { StoreError } from '../../ports/store.ts';
import { findProgramFile } from '../../programs/program-file.ts';
import { closed } from '../journal.ts';
import {
  type CallKind,
  type Calls,
  type Failure,
  OPENED,
  type Reply,
  type WorkerStart,
} from './protocol.ts';

/** A thread that serves one file. */
export interface WorkerClient {
  /** Calls are served in the order they are made. */
  call<Kind extends CallKind>(kind: Kind, ask: Calls[Kind]['ask']): Promise<Calls[Kind]['answer']>;
  /** After all calls made before; later ones are refused. Resolves when the thread has ended. */
  close(): Promise<void>;
}

/** Calls that may wait. A controller has a few; more than this is a disk that does not keep up. */
const WAITING_MAX = 10_000;

interface Waiting {
  readonly kind: CallKind | 'open';
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: StoreError) => void;
}

/** Starts the thread; resolves once its file is open, rejects with why it is not. */
export async function startWorker(start: WorkerStart): Promise<WorkerClient> {
  const file = await findProgramFile('store/sqlite/worker.ts');
  return openClient(new Worker(file, { workerData: start }), start.path);
}

/** Speaks with a thread that is starting. */
export async function openClient(worker: Worker, path: string): Promise<WorkerClient> {
  const client = new Client(worker, path);
  await client.opened;
  return client;
}

class Client implements WorkerClient {
  readonly opened: Promise<unknown>;
  readonly #worker: Worker;
  readonly #path: string;
  readonly #exited: Promise<void>;
  readonly #waiting = new Map<number, Waiting>();
  #lastId = OPENED;
  #closing: Promise<void> | null = null;
  #crash: unknown = null;

  constructor(worker: Worker, path: string) {
    this.#worker = worker;
    this.#path = path;
    this.opened = new Promise((resolve, reject) => {
      this.#waiting.set(OPENED, { kind: 'open', resolve, reject });
    });
    this.#exited = new Promise((resolve) => {
      worker.on('exit', () => {
        this.#abandon();
        resolve();
      });
    });
    worker.on('message', (reply: Reply) => this.#settle(reply));
    worker.on('error', (error) => {
      this.#crash = error;
    });
  }

  call<Kind extends CallKind>(kind: Kind, ask: Calls[Kind]['ask']): Promise<Calls[Kind]['answer']> {
    return this.#closing === null ? this.#post(kind, ask) : Promise.reject(closed());
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#post('close', null);
    await this.#exited;
  }

  async #post<Kind extends CallKind>(
    kind: Kind,
    ask: Calls[Kind]['ask'],
  ): Promise<Calls[Kind]['answer']> {
    if (this.#crash !== null) throw crashed(kind, this.#path, this.#crash);
    if (this.#waiting.size >= WAITING_MAX) throw tooMany(this.#path);
    const id = ++this.#lastId;
    // A process must not end with calls under way, nor stay for a store that nobody calls.
    this.#worker.ref();
    this.#worker.postMessage({ id, kind, ask }, []);
    const answer = new Promise<unknown>((resolve, reject) => {
      this.#waiting.set(id, { kind, resolve, reject });
    });
    // The cast: a call of this kind has an answer of this kind; see `Calls`.
    return (await answer) as Calls[Kind]['answer'];
  }

  #settle(reply: Reply): void {
    const waiting = this.#waiting.get(reply.id);
    this.#waiting.delete(reply.id);
    // One that closes is waited for until its thread has ended.
    if (this.#waiting.size === 0 && this.#closing === null) this.#worker.unref();
    if (reply.kind === 'done') waiting?.resolve(reply.answer);
    else waiting?.reject(toError(reply.failure));
  }

  /** The thread is gone; whoever still waits learns it now, and later callers at once. */
  #abandon(): void {
    this.#crash ??= 'the thread has ended';
    for (const { kind, reject } of this.#waiting.values()) {
      reject(crashed(kind, this.#path, this.#crash));
    }
    this.#waiting.clear();
  }
}

const toError = ({ kind, message, cause }: Failure): StoreError =>
  new StoreError(kind, message, cause === '' ? {} : { cause });

function crashed(kind: Waiting['kind'], path: string, cause: unknown): StoreError {
  const detail = cause instanceof Error ? cause.message : String(cause);
  const isWrite = kind === 'commit' || kind === 'lease' || kind === 'release';
  return new StoreError(
    isWrite ? 'unknown-outcome' : 'unavailable',
    `the thread that serves ${path} has failed (${detail}); start Bellows again`,
    { cause },
  );
}

const tooMany = (path: string): StoreError =>
  new StoreError(
    'unavailable',
    `${WAITING_MAX} calls wait for ${path}: its disk does not keep up; see what else uses it`,
  );
