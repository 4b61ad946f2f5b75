import type { Solver } from './ports/solver.ts';
import { createHighsSolver } from './solver/highs.ts';

/** The solver for bounds. Nothing is loaded before it is first asked. */
export const openSolver = (): Solver => createHighsSolver();
