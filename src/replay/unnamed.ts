import type { EntryForm } from '../model/demand.ts';
import type { Group } from '../model/group.ts';
import { entryId, type EpochMs, type SliceId } from '../model/ids.ts';
import type { Resources } from '../model/resources.ts';
import { positive } from './amounts.ts';
import type { Piece } from './queue.ts';

interface Place {
  readonly sliceId: SliceId;
  readonly hostIndex: number;
  readonly group: Group;
}

/** Work that no tick names: all that is known of it is the room that it takes. */
export class UnnamedWork {
  readonly pieces: Piece[] = [];
  readonly #forms = new Map<string, EntryForm>();

  add(
    { sliceId, hostIndex, group }: Place,
    took: Resources,
    origin: { readonly kind: 'unseen' | 'there'; readonly atMs: EpochMs },
  ): Piece {
    const piece: Piece = {
      id: entryId(`unseen-${this.pieces.length}`),
      origin: origin.kind,
      form: this.#formOf(group, took),
      priority: 0,
      invalid: null,
      owner: null,
      taskIds: [],
      submittedAtMs: origin.atMs,
      arrivedMs: origin.atMs,
      leftMs: origin.atMs,
      isWithdrawn: false,
      endedMs: null,
      home: origin.kind === 'there' ? { sliceId, hostIndex } : null,
    };
    this.pieces.push(piece);
    return piece;
  }

  /** It was two pieces all the time: one has ended, the other goes on. */
  split(
    piece: Piece,
    into: {
      readonly group: Group;
      readonly ended: Resources;
      readonly left: Resources;
      readonly atMs: EpochMs;
    },
  ): void {
    const { group, ended, left, atMs } = into;
    const id = entryId(`unseen-${this.pieces.length}`);
    this.pieces.push({ ...piece, id, form: this.#formOf(group, ended), endedMs: atMs });
    piece.form = this.#formOf(group, left);
  }

  /**
   * What it asks for: the room that it was seen to take. The device counts if it took some of it: work
   * without need of one may have landed there, and must not be taken for work that has.
   */
  #formOf({ device, host }: Group, took: Resources): EntryForm {
    const { type, variant } = device;
    const isUsed = type !== 'cpu' && (host[type] === undefined || (took[type] ?? 0) > 0);
    const ask = {
      device: isUsed ? { type, variants: variant === null ? null : [variant] } : null,
      preemptible: null,
      constraints: [],
      resources: positive(took),
    };
    const key = JSON.stringify(ask);
    const form = this.#forms.get(key) ?? { kind: 'single', ask };
    this.#forms.set(key, form);
    return form;
  }
}

/** Unnamed work on one host may be several pieces that began together. */
export const isSplittable = ({ origin, form }: Piece): boolean =>
  origin !== 'queue' && form.kind === 'single';

export const toGang = (form: EntryForm, taskCount: number): EntryForm =>
  form.kind === 'single' ? { kind: 'gang', ask: form.ask, taskCount } : form;
