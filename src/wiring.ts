import type { CopyReport } from './store/sqlite/backup.ts';
import type { Scenario } from './config/scenario.ts';
import type { Solver } from './ports/solver.ts';
import type { JournalReader } from './store/sqlite/store.ts';
import type { SimulationReport } from './sim/report.ts';
import type { Progress, RecordedJournal } from './sim/run-scenario.ts';
import { createHighsSolver } from './solver/highs.ts';

/** The solver for bounds. Nothing is loaded before it is first asked. */
export const openSolver = (): Solver => createHighsSolver();

export type { Happening } from './sim/incidents.ts';
export type { Sample, SimulationReport } from './sim/report.ts';
export type { Progress, RecordedJournal } from './sim/run-scenario.ts';

/** Loaded when it is asked for: a plan needs no controller and no cloud. */
export async function simulate(
  scenario: Scenario,
  options: {
    readonly signal: AbortSignal;
    readonly onProgress: (progress: Progress) => void;
    readonly onRecorded?: (journal: RecordedJournal) => Promise<void>;
  },
): Promise<SimulationReport> {
  const { runScenario } = await import('./sim/run-scenario.ts');
  return runScenario(scenario, { ...options, solver: openSolver() });
}

/** A controller's database for reading, without its lock. */
export async function openJournalDatabase(path: string): Promise<JournalReader> {
  const { openSqliteReader } = await import('./store/sqlite/store.ts');
  return openSqliteReader(path);
}

export type { CopyReport } from './store/sqlite/backup.ts';

/** Copies a controller's database, also while it is in use. */
export async function backupDatabase(path: string, target: string): Promise<CopyReport> {
  const { backupDatabase: backup } = await import('./store/sqlite/backup.ts');
  return backup(path, target);
}

/** Puts a backup in the place of a database that no controller uses. */
export async function restoreDatabase(
  source: string,
  target: string,
  at: { readonly nowMs: number; readonly holder: string },
): Promise<CopyReport & { readonly replaced: string | null }> {
  const { restoreDatabase: restore } = await import('./store/sqlite/backup.ts');
  return restore(source, target, at);
}
