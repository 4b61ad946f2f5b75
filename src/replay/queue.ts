import type { DemandClass, EntryBatch, EntryForm } from '../model/demand.ts';
import type { EntryId, EpochMs, SliceId } from '../model/ids.ts';
import type { InvalidDemand } from '../model/reason.ts';

/** One piece of work of the recorded time, as far as the journal shows it. */
export interface Piece {
  /** Of its batch, where it came in one. */
  readonly id: EntryId;
  /**
   * `queue`: it waited, and ticks show it. `unseen`: room was taken for it, but no tick saw it wait.
   * `there`: it ran before the first tick.
   */
  readonly origin: 'queue' | 'unseen' | 'there';
  form: EntryForm;
  readonly priority: number;
  readonly invalid: InvalidDemand | null;
  readonly owner: string | null;
  readonly taskIds: readonly string[];
  readonly submittedAtMs: EpochMs;
  /** The first tick that knew of it. */
  readonly arrivedMs: EpochMs;
  /** The first tick that no longer shows it waiting; null when the last one still does. */
  leftMs: EpochMs | null;
  /** It left without room being taken anywhere: somebody withdrew it. */
  isWithdrawn: boolean;
  /** When its room came free; null when it never did, or it had none. */
  endedMs: EpochMs | null;
  /** Where it was before the first tick. */
  readonly home: { readonly sliceId: SliceId; readonly hostIndex: number } | null;
}

interface Line {
  readonly waiting: Piece[];
  isThere: boolean;
}

/** Follows the waiting work from tick to tick: what came, and what waits no longer. */
export class QueueReader {
  readonly #lines = new Map<string, Line>();
  readonly #forms = new Map<string, EntryForm>();
  readonly pieces: Piece[] = [];

  /** Takes the next tick's demand; answers with the pieces that no longer wait, oldest first. */
  feed(demand: readonly DemandClass[], atMs: EpochMs): readonly Piece[] {
    const left: Piece[] = [];
    const counts = new Map<string, number>();
    for (const one of demand) {
      const formKey = JSON.stringify(one.form);
      const form = this.#forms.get(formKey) ?? one.form;
      this.#forms.set(formKey, form);
      for (const batch of one.batches) {
        // Entries of two schedulers may share a name; with unlike forms they are surely not the same.
        const key = `${batch.id} ${one.priority} ${formKey}`;
        const count = (counts.get(key) ?? 0) + batch.count;
        counts.set(key, count);
        const line = this.#lines.get(key) ?? { waiting: [], isThere: true };
        this.#lines.set(key, line);
        line.isThere = true;
        while (line.waiting.length < count) {
          const piece = toPiece({ ...one, form }, batch, atMs);
          line.waiting.push(piece);
          this.pieces.push(piece);
        }
      }
    }
    for (const [key, line] of this.#lines) {
      const count = line.isThere ? (counts.get(key) ?? 0) : 0;
      for (const piece of line.waiting.splice(0, line.waiting.length - count)) {
        piece.leftMs = atMs;
        left.push(piece);
      }
      line.isThere = false;
      if (line.waiting.length === 0) this.#lines.delete(key);
    }
    return left;
  }
}

const toPiece = (one: DemandClass, batch: EntryBatch, atMs: EpochMs): Piece => ({
  id: batch.id,
  origin: 'queue',
  form: one.form,
  priority: one.priority,
  invalid: one.invalid,
  owner: batch.owner,
  taskIds: batch.taskIds,
  submittedAtMs: batch.submittedAtMs < atMs ? batch.submittedAtMs : atMs,
  arrivedMs: atMs,
  leftMs: null,
  isWithdrawn: false,
  endedMs: null,
  home: null,
});
