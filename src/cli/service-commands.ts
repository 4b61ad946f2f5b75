import type { Command } from 'commander';
import { type EpochMs, epochMs } from '../model/ids.ts';
import type { TokenBook } from '../wiring/tokens.ts';
import { exitCodes, type Output } from './output.ts';

// Commands that run the service, or work on its files. Imported when they run.

const DATA = [
  '--data <dir>',
  'where Bellows keeps its data (BELLOWS_DATA, or ~/.local/state/bellows)',
] as const;

type Options = Readonly<Record<string, unknown>>;

const dataDir = async (options: Options): Promise<string> => {
  const { dataDirOf } = await import('../wiring/data-dir.ts');
  return dataDirOf(options['data'], process.env);
};

export function addServiceCommands(program: Command, out: Output): void {
  addUp(program, out);
  addToken(program, out);
  addBackup(program, out);
  addRestore(program, out);
}

function addUp(program: Command, out: Output): void {
  const collect = (file: string, files: readonly string[] = []): readonly string[] => [
    ...files,
    file,
  ];
  program
    .command('up')
    .description('Run Bellows: the controller, its store and its server, until it is stopped.')
    .option('-c, --config <file>', 'bellows.yaml; again for further fleets', collect)
    .option(...DATA)
    .option('--listen <address>', 'host:port, instead of what the configuration says')
    .option('--dry-run', 'decide, record and explain, but launch and end nothing')
    .addHelpText(
      'after',
      `
Without a file it runs a small fleet of processes on this machine. SIGTERM finishes calls in flight
and exits 0; hosts run on and are found again. SIGHUP, or a change of the file, reloads it.

Examples:
  bellows up
  bellows up -c bellows.yaml
  bellows up -c research.yaml -c inference.yaml --data /var/lib/bellows
  bellows up -c bellows.yaml --dry-run`,
    )
    .action(async (options: Options) => {
      const { runUp } = await import('./commands/up.ts');
      process.exitCode = await runUp(options, await dataDir(options), out);
    });
}

function addToken(program: Command, out: Output): void {
  const token = program
    .command('token')
    .description('Who may call, where tokens are asked for. Works on the data directory itself.');
  token
    .command('create')
    .description('Make a token and print its secret, once.')
    .requiredOption('--role <role>', 'viewer, worker, scheduler, operator or admin')
    .option('--name <name>', 'what audit lines call it; by itself, the role')
    .option('--expires <time>', 'when it ends by itself: 30d, 12h (never)')
    .option(...DATA)
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      '\nExamples:\n  bellows token create --role admin\n  TOKEN=$(bellows token create --role scheduler --name slurm --expires 90d)',
    )
    .action(async (options: Options & { readonly role: string }) => {
      const { runTokenCreate } = await import('./commands/token.ts');
      await withBook(options, out, (book) => runTokenCreate(options, book, out, nowMs()));
    });
  token
    .command('list')
    .description('Names, roles and expiry; secrets are not kept.')
    .option(...DATA)
    .option('--json', 'print one JSON document')
    .addHelpText('after', '\nExample:\n  bellows token list')
    .action(async (options: Options) => {
      const { runTokenList } = await import('./commands/token.ts');
      await withBook(options, out, (book) => runTokenList(options, book, out, nowMs()));
    });
  token
    .command('revoke')
    .argument('<token>', 'its id or name')
    .description('End a token. A server that runs takes notice within a second.')
    .option(...DATA)
    .option('--json', 'print one JSON document')
    .addHelpText('after', '\nExample:\n  bellows token revoke slurm')
    .action(async (name: string, options: Options) => {
      const { runTokenRevoke } = await import('./commands/token.ts');
      await withBook(options, out, (book) =>
        runTokenRevoke({ ...options, token: name }, book, out),
      );
    });
}

const nowMs = (): EpochMs => epochMs(Date.now());

/** Opens the book of the data directory; a file that is no good is said in a sentence. */
async function withBook(
  options: Options,
  out: Output,
  run: (book: TokenBook) => Promise<number> | number,
): Promise<void> {
  const { openTokens } = await import('../wiring/tokens.ts');
  const { StartError } = await import('../wiring/start-error.ts');
  try {
    process.exitCode = await run(openTokens(await dataDir(options)));
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    out.stderr(`bellows: ${error.message}\n`);
    process.exitCode = exitCodes.failed;
  }
}

function addBackup(program: Command, out: Output): void {
  program
    .command('backup')
    .argument('<file>', 'the new file')
    .description("Copy a fleet's database, also while it runs, into one whole file.")
    .option(...DATA)
    .option('--fleet <name>', 'which fleet, where the data directory has several')
    .option('--db <file>', 'the database itself, where store.path puts it elsewhere')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      '\nExamples:\n  bellows backup before-upgrade.db\n  bellows backup /mnt/backup/research-$(date +%F).db --fleet research',
    )
    .action(async (file: string, options: Options) => {
      const { runBackup } = await import('./commands/backup.ts');
      const choice = { ...options, dataDir: await dataDir(options) };
      process.exitCode = await runBackup(file, choice, out);
    });
}

function addRestore(program: Command, out: Output): void {
  program
    .command('restore')
    .argument('<file>', 'a backup')
    .description("Put a backup in the place of a fleet's database. The fleet must be stopped.")
    .option(...DATA)
    .option('--fleet <name>', 'which fleet, where the data directory has several')
    .option('--db <file>', 'the database itself, where store.path puts it elsewhere')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
The database that was there is kept beside the new one. Machines launched since the backup are found
by their tag and adopted; what was pushed since is pushed again by its scheduler.

Example:
  bellows restore before-upgrade.db --fleet research`,
    )
    .action(async (file: string, options: Options) => {
      const { runRestore } = await import('./commands/backup.ts');
      const choice = { ...options, dataDir: await dataDir(options) };
      process.exitCode = await runRestore(file, choice, out);
    });
}
