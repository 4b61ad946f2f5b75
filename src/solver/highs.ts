import type { Highs, ModelData } from 'highs';
import type { LinearProgram } from '../model/linear-program.ts';
import type { Solver, SolverOutcome } from '../ports/solver.ts';

/**
 * HiGHS, compiled to WebAssembly. The module (about 140 ms to load) is fetched with the first
 * program and kept. Solving runs on the calling thread: a program of tick size takes up to a few
 * seconds, so call it beside the loop.
 */
export function createHighsSolver(): Solver {
  let loading: Promise<Highs> | null = null;
  return {
    async minimize(program) {
      try {
        loading ??= load();
        return solve(await loading, program);
      } catch (error) {
        // HiGHS throws on bad data and when WebAssembly runs out of memory. After the latter the
        // runtime may be unusable, so the next program starts with a fresh one.
        loading = null;
        return { kind: 'failed', detail: error instanceof Error ? error.message : String(error) };
      }
    },
  };
}

async function load(): Promise<Highs> {
  const module = await import('highs');
  // The package's types describe its CommonJS build, one `default` deeper; what Node imports is the
  // ES build, whose default export is the loader itself. Hence the cast.
  const loadHighs = module.default as unknown as typeof module.default.default;
  return loadHighs();
}

/** Variables from which on the interior point method is faster: at 50,000, 5 s instead of 18 s. */
const INTERIOR_MIN = 10_000;

function solve(highs: Highs, program: LinearProgram): SolverOutcome {
  // HiGHS calls a program without variables "empty" and without rows "optimal"; ours is one answer.
  if (program.cost.length === 0) return solveWithoutVariables(program);
  return highs.withModel((model): SolverOutcome => {
    const solver = program.cost.length < INTERIOR_MIN ? 'choose' : 'ipm';
    model.options.set({ output_flag: false, solver });
    model.passModel(toModelData(program));
    const { modelStatus } = model.run();
    const statuses = highs.constants.modelStatus;
    switch (modelStatus) {
      case statuses.optimal: {
        const { colValue, rowDual } = model.getSolution();
        const objective = model.getObjectiveValue();
        return { kind: 'optimal', objective, values: colValue, rowDuals: rowDual };
      }
      case statuses.infeasible:
        return { kind: 'infeasible' };
      case statuses.unbounded:
      // Presolve cannot always tell the two apart. Every program of ours that is feasible is
      // bounded (costs and variables are at least 0), but the port serves any program, so ask.
      case statuses.unboundedOrInfeasible:
        return isFeasible(highs, program) ? { kind: 'unbounded' } : { kind: 'infeasible' };
      default:
        return { kind: 'failed', detail: `HiGHS ended with model status ${modelStatus}` };
    }
  });
}

function isFeasible(highs: Highs, program: LinearProgram): boolean {
  const withoutCost = { ...program, cost: new Float64Array(program.cost.length) };
  return highs.withModel((model) => {
    model.options.set({ output_flag: false });
    model.passModel(toModelData(withoutCost));
    return model.run().modelStatus === highs.constants.modelStatus.optimal;
  });
}

function solveWithoutVariables(program: LinearProgram): SolverOutcome {
  const holds = program.rowMin.every((min, row) => min <= 0 && (program.rowMax[row] ?? 0) >= 0);
  if (!holds) return { kind: 'infeasible' };
  const rowDuals = new Float64Array(program.rowMin.length);
  return { kind: 'optimal', objective: 0, values: new Float64Array(0), rowDuals };
}

function toModelData(program: LinearProgram): ModelData {
  const numCols = program.cost.length;
  const numRows = program.rowMin.length;
  return {
    numCols,
    numRows,
    colCost: program.cost,
    colLower: program.variableMin,
    colUpper: program.variableMax,
    rowLower: program.rowMin,
    rowUpper: program.rowMax,
    matrix: {
      format: 'csr',
      numRows,
      numCols,
      starts: program.matrix.starts,
      indices: program.matrix.variables,
      values: program.matrix.coefficients,
    },
  };
}
