import { existsSync, readdirSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { formatQuantity } from '../../api/format.ts';
import { StoreError } from '../../ports/store.ts';
import { nearestName } from '../../support/nearest.ts';
import { backupDatabase, type CopyReport, restoreDatabase } from '../../wiring.ts';
import { exitCodes, type Output } from '../output.ts';

export interface DatabaseChoice {
  /** The data directory. */
  readonly dataDir: string;
  readonly fleet?: unknown;
  /** A database by its path, wherever it is. */
  readonly db?: unknown;
  readonly json?: unknown;
}

/** `bellows backup FILE`: 0 when it was made, 1 when it could not be, 2 on bad input. */
export async function runBackup(file: string, choice: DatabaseChoice, out: Output) {
  return guarded(out, async () => {
    const path = findDatabase(choice);
    if (path.kind === 'bad') return refuse(path.message, out);
    const report = await backupDatabase(path.path, file);
    print(report, choice, out, [
      `Backed up the fleet ${report.fleet} to ${report.path}: ${describe(report)}.`,
    ]);
    return exitCodes.ok;
  });
}

/** `bellows restore FILE`: the database it replaces is kept beside the new one. */
export async function runRestore(file: string, choice: DatabaseChoice, out: Output) {
  return guarded(out, async () => {
    const path = findDatabase(choice, 'new');
    if (path.kind === 'bad') return refuse(path.message, out);
    const holder = `bellows restore (${hostname()}, process ${process.pid})`;
    const report = await restoreDatabase(file, path.path, { nowMs: Date.now(), holder });
    print(report, choice, out, [
      `Restored the fleet ${report.fleet} to ${report.path}: ${describe(report)}.`,
      ...(report.replaced === null ? [] : [`What was there before is kept: ${report.replaced}`]),
      'Machines launched since the backup are found by their tag and adopted at the next start.',
    ]);
    return exitCodes.ok;
  });
}

const describe = ({ bytes, sliceCount, tickCount }: CopyReport): string =>
  `${formatQuantity('memory', bytes)}, ${sliceCount} slices, ${tickCount} recorded ticks`;

function print(
  report: CopyReport,
  { json }: DatabaseChoice,
  out: Output,
  lines: readonly string[],
): void {
  if (json === true) out.stdout(`${JSON.stringify(report, null, 2)}\n`);
  else out.stdout(`${lines.join('\n')}\n`);
}

function refuse(message: string, out: Output): number {
  out.stderr(`bellows: ${message}\n`);
  return exitCodes.badInput;
}

async function guarded(out: Output, run: () => Promise<number>): Promise<number> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    out.stderr(`bellows: ${error.message}\n`);
    return exitCodes.failed;
  }
}

type Found =
  | { readonly kind: 'ok'; readonly path: string }
  | { readonly kind: 'bad'; readonly message: string };

/** By its path, by its fleet, or the only one of the data directory. */
function findDatabase({ dataDir, fleet, db }: DatabaseChoice, missing?: 'new'): Found {
  if (typeof db === 'string') return { kind: 'ok', path: db };
  const names = existsSync(dataDir)
    ? readdirSync(dataDir).flatMap((file) => (file.endsWith('.db') ? [file.slice(0, -3)] : []))
    : [];
  if (typeof fleet === 'string') {
    if (names.includes(fleet) || missing === 'new') {
      return { kind: 'ok', path: join(dataDir, `${fleet}.db`) };
    }
    const near = nearestName(fleet, names);
    const hint = near === null ? `there is ${listOf(names)}` : `did you mean ${near}?`;
    return { kind: 'bad', message: `${dataDir} has no database of the fleet ${fleet}; ${hint}` };
  }
  const [only] = names;
  if (names.length === 1 && only !== undefined) {
    return { kind: 'ok', path: join(dataDir, `${only}.db`) };
  }
  const message =
    names.length === 0
      ? `${dataDir} has no database; name one with --db FILE, or its directory with --data DIR`
      : `${dataDir} has the fleets ${listOf(names)}; choose one with --fleet`;
  return { kind: 'bad', message };
}

const listOf = (names: readonly string[]): string =>
  names.length === 0 ? 'none' : [...names].sort().join(', ');
