import { type FillDraft, type FillTable, openDraft } from './fill-draft.ts';
import { toHostTable } from './fill-table.ts';
import { type Guidance, type Taste, valueShapes } from './guidance.ts';
import type { PackModel } from './pack-model.ts';
import { priceAlone } from './price-program.ts';

// Arrays are indexed by shapes and types below the model's counts, hence the `!`.

/** What the steps of one search share. Changed from round to round, by `startRound` alone. */
export interface Search {
  readonly model: PackModel;
  readonly guidance: Guidance;
  readonly draft: FillDraft;
  /** Copies to place on new hosts. */
  readonly count: Int32Array;
  /** Per shape: its worth in this round. */
  readonly worth: Float64Array;
  /** Shapes in the order in which they seed hosts in this round. */
  readonly order: Int32Array;
  readonly round: Round;
  /** Per shape: its types by price, once they were asked for. */
  readonly sortedTypes: (readonly number[] | undefined)[];
}

interface Round {
  index: number;
  taste: Taste;
  /** Per type: its table, once it was asked for, and the round it was valued for. */
  readonly tables: (FillTable | undefined)[];
  readonly valuedFor: Int32Array;
}

export function openSearch(model: PackModel, guidance: Guidance, count: Int32Array): Search {
  return {
    model,
    guidance,
    draft: openDraft(model.shapeCount, model.resourceCount),
    count,
    worth: new Float64Array(model.shapeCount),
    order: count.map((_, shape) => shape),
    round: {
      index: 0,
      taste: { dominantWeight: 0, sizeBonus: 0 },
      tables: Array.from({ length: model.typeCount }),
      valuedFor: new Int32Array(model.typeCount),
    },
    sortedTypes: Array.from({ length: model.shapeCount }),
  };
}

/** Sets the values and the order of a round: hardest shape first, both times as raised. */
export function startRound(search: Search, taste: Taste, raised: Float64Array): void {
  const { guidance, worth, order, round } = search;
  round.index++;
  round.taste = taste;
  for (let shape = 0; shape < worth.length; shape++) {
    worth[shape] = guidance.worth[shape]! * raised[shape]!;
  }
  const hardness = guidance.hardness.map((hard, shape) => hard * raised[shape]!);
  order.sort((a, b) => hardness[b]! - hardness[a]! || a - b);
}

/** The fill table of a type, with the values of this round. Most types are never asked for. */
export function tableOf(search: Search, type: number): FillTable {
  const { model, guidance, count, worth, round } = search;
  const table = (round.tables[type] ??= toHostTable(model, type, count));
  if (round.valuedFor[type] !== round.index) {
    valueShapes(table, guidance.hostWorth[type]!, worth, round.taste);
    round.valuedFor[type] = round.index;
  }
  return table;
}

/** Every type that admits the shape, the one where a copy is cheapest alone first. */
export function typesByPrice(search: Search, shape: number): readonly number[] {
  const { model, guidance, sortedTypes } = search;
  return (sortedTypes[shape] ??= [...guidance.typesOf[shape]!].sort((a, b) => {
    return priceAlone(model, shape, a) - priceAlone(model, shape, b) || a - b;
  }));
}
