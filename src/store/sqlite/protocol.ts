import type {
  Commit,
  Document,
  EventRow,
  LeaseAnswer,
  LeaseAsk,
  StoreErrorKind,
  TickAsk,
  TickRow,
} from '../../ports/store.ts';
import type { JournalCaps } from '../journal.ts';

// What the store and its threads say to each other. SQLite blocks its caller, for milliseconds on a
// good day: only threads of ours call it, never the thread of the controller.

/** How a thread begins. */
export type WorkerStart =
  | (JournalCaps & {
      readonly role: 'writer';
      readonly path: string;
      readonly holder: string;
      readonly fleet: string;
    })
  | { readonly role: 'reader'; readonly path: string };

/** What can be asked, and what is answered. */
export interface Calls {
  readonly lease: { readonly ask: LeaseAsk; readonly answer: LeaseAnswer };
  readonly release: { readonly ask: number; readonly answer: void };
  readonly commit: { readonly ask: Commit; readonly answer: void };
  readonly load: { readonly ask: null; readonly answer: readonly Document[] };
  readonly fleet: { readonly ask: null; readonly answer: string | null };
  readonly ticks: { readonly ask: TickAsk; readonly answer: readonly TickRow[] };
  readonly parts: {
    readonly ask: readonly string[];
    readonly answer: ReadonlyMap<string, string>;
  };
  readonly events: { readonly ask: TickAsk; readonly answer: readonly EventRow[] };
  readonly close: { readonly ask: null; readonly answer: void };
}
export type CallKind = keyof Calls;

/** One call, with its number. */
export type Request = {
  readonly [Kind in CallKind]: {
    readonly id: number;
    readonly kind: Kind;
    readonly ask: Calls[Kind]['ask'];
  };
}[CallKind];

/** Calls that change the file: those that wait together are written together. */
export type WriteRequest = Extract<Request, { readonly kind: 'lease' | 'release' | 'commit' }>;

export const isWrite = (request: Request): request is WriteRequest =>
  request.kind === 'lease' || request.kind === 'release' || request.kind === 'commit';

/** The number of the first reply, which says that the file is open, or why not. */
export const OPENED = 0;

export type Reply =
  | { readonly id: number; readonly kind: 'done'; readonly answer: unknown }
  | { readonly id: number; readonly kind: 'failed'; readonly failure: Failure };

/** A StoreError as plain data: an error's class does not survive the way between threads. */
export interface Failure {
  readonly kind: StoreErrorKind;
  readonly message: string;
  readonly cause: string;
}
