import type { LinearProgram } from '../model/linear-program.ts';

/**
 * Solves linear programs to optimality. Used beside the tick, for bounds and for checks; no
 * decision waits for it.
 */
export interface Solver {
  /** Never rejects for what the program says; a solver that breaks is `failed`, with its words. */
  minimize(program: LinearProgram): Promise<SolverOutcome>;
}

export type SolverOutcome =
  | {
      readonly kind: 'optimal';
      readonly objective: number;
      /** One per variable. */
      readonly values: Float64Array;
      /** What one more unit of each row's bound would add to the objective. */
      readonly rowDuals: Float64Array;
    }
  | { readonly kind: 'infeasible' }
  | { readonly kind: 'unbounded' }
  | { readonly kind: 'failed'; readonly detail: string };
