import type { FillTable } from './fill-draft.ts';
import type { PackModel } from './pack-model.ts';

// Arrays are indexed by shapes, types and resources below the model's counts, hence the `!`.

/** The table for new hosts of a type, with the shapes that have copies. */
export function toHostTable(model: PackModel, type: number, count: Int32Array): FillTable {
  return buildTable(model, model.hosts[type]!, admittedShapes(model, model.allowed, type, count));
}

/** The table for rooms of a type; `largest` is the most that any of them has free. */
export function toRoomTable(
  model: PackModel,
  type: number,
  count: Int32Array,
  largest: Float64Array,
): FillTable {
  const { resourceCount, need, allowedInRoom } = model;
  const admitted = admittedShapes(model, allowedInRoom, type, count).filter((shape) => {
    for (let k = 0; k < resourceCount; k++) {
      if (need[shape * resourceCount + k]! > largest[k]!) return false;
    }
    return true;
  });
  return buildTable(model, largest, admitted);
}

function admittedShapes(
  model: PackModel,
  allowed: Uint8Array,
  type: number,
  count: Int32Array,
): Int32Array {
  const shapes: number[] = [];
  for (let shape = 0; shape < model.shapeCount; shape++) {
    if (count[shape]! > 0 && allowed[shape * model.typeCount + type] === 1) shapes.push(shape);
  }
  return Int32Array.from(shapes);
}

function buildTable(model: PackModel, capacity: Float64Array, shapes: Int32Array): FillTable {
  const { resourceCount, shapeCount } = model;
  const positionOf = new Int32Array(shapeCount).fill(-1);
  const need = new Float64Array(shapes.length * resourceCount);
  const share = new Float64Array(shapes.length * resourceCount);
  const dominant = new Float64Array(shapes.length);
  for (let at = 0; at < shapes.length; at++) {
    const shape = shapes[at]!;
    positionOf[shape] = at;
    for (let k = 0; k < resourceCount; k++) {
      const needed = model.need[shape * resourceCount + k]!;
      // Every shape of the table fits, so a capacity of 0 is one that nothing is needed of.
      const part = needed > 0 ? needed / capacity[k]! : 0;
      need[at * resourceCount + k] = needed;
      share[at * resourceCount + k] = part;
      dominant[at] = Math.max(dominant[at]!, part);
    }
  }
  const value = new Float64Array(shapes.length);
  const byValue = shapes.map((_, at) => at);
  return { resourceCount, capacity, shapes, positionOf, need, share, dominant, value, byValue };
}
