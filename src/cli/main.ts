#!/usr/bin/env node
import { Command } from 'commander';
import { InvariantError } from '../support/assert.ts';
import { VERSION } from '../support/version.ts';
import { exitCodes, openOutput } from './output.ts';
import { addRemoteCommands } from './remote-commands.ts';
import { addServiceCommands } from './service-commands.ts';

// Commands are imported when they run, so that `--help` stays quick.

const out = openOutput();

function createProgram(): Command {
  const program = new Command('bellows')
    .description(
      'An autoscaler for AI compute: gets machines for pending work, gives them back, and says why.',
    )
    .version(VERSION)
    .showHelpAfterError('(bellows --help shows what there is)')
    .addHelpText(
      'after',
      `
Examples:
  bellows up                              run it, on this machine
  bellows status                          what it does, on one screen
  bellows why job-7                       why a piece of work, a slice or a group is as it is
  bellows plan fleet.yaml                 what to launch for pending work, and why
  bellows plan fleet.yaml --explain job-7 all about one entry
  bellows sim day.yaml                    a day of a fleet in seconds: cost, waits, reasons
  bellows test scaling-rules.yaml         check scaling rules in CI
  bellows replay bellows.db               prove that recorded decisions come out the same
  bellows config check bellows.yaml       everything wrong with a configuration`,
    )
    .configureOutput({ writeOut: out.stdout, writeErr: out.stderr })
    .exitOverride();
  addServiceCommands(program, out);
  addRemoteCommands(program, out);
  addPlan(program);
  addSim(program);
  addTest(program);
  addReplay(program);
  addConfig(program);
  return program;
}

function addPlan(program: Command): void {
  program
    .command('plan')
    .argument(
      '<files...>',
      'snapshot files (config, slices, demand) or bellows.yaml; - is standard input',
    )
    .description('Say which slices to launch for the pending work of a snapshot, and why.')
    .option('--strategy <name>', 'priority, utilization or cost, instead of what the config says')
    .option(
      '--explain <entry>',
      'say all about one entry: every group, the reasons, the alternatives',
    )
    .option('--against <file>', 'compare with another snapshot or config: launches and money')
    .option('--all', 'list every class of work, not only the twenty largest')
    .option('--no-bound', 'skip the lower bound on cost (saves about a quarter of a second)')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
Examples:
  bellows plan examples/research.yaml
  bellows plan fleet.yaml --explain train-7
  bellows plan fleet.yaml --against bellows-new.yaml
  my-scheduler dump | bellows plan - --json | jq .launches`,
    )
    .action(async (files: string[], options: Record<string, unknown>) => {
      const { runPlan } = await import('./commands/plan.ts');
      process.exitCode = await runPlan(files, options, out);
    });
}

function addSim(program: Command): void {
  program
    .command('sim')
    .argument('<scenario>', 'a scenario (bellows-scenario/1, YAML or JSON); - is standard input')
    .description('Run the controller on virtual time over simulated clouds, and say what happened.')
    .option('--seed <n>', 'all chance comes from it, instead of what the scenario says')
    .option('--hours <h>', 'how long to run, simulated, instead of what the scenario says')
    .option('--record <file>', 'keep the ticks in a new file for `bellows replay`; .gz packs it')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
The same scenario and seed give the same run. Ctrl-C ends it with a report of what was done.

Examples:
  bellows sim examples/sim-research-day.yaml
  bellows sim examples/sim-research-day.yaml --seed 7 --hours 6
  bellows sim incident.yaml --json | jq '.cost.usd, .waits.p95Ms'
  bellows sim day.yaml --record day.journal.gz && bellows replay day.journal.gz`,
    )
    .action(async (scenario: string, options: Record<string, unknown>) => {
      const { runSim } = await import('./commands/sim.ts');
      process.exitCode = await runSim(scenario, options, out);
    });
}

function addTest(program: Command): void {
  program
    .command('test')
    .argument('<files...>', 'files of cases (bellows-cases/1, JSON or YAML); - is standard input')
    .description('Run policy cases and say which hold.')
    .option('--json', 'print one line per case: {"id","policy","ok","result","ms"}')
    .addHelpText(
      'after',
      `
A case holds when every key of its "expect" equals the result's. Exit code 1 when one fails.

Examples:
  bellows test scaling-rules.yaml
  bellows test cases/*.json --json`,
    )
    .action(async (files: string[], options: Record<string, unknown>) => {
      const { runTest } = await import('./commands/test.ts');
      process.exitCode = await runTest(files, options, out);
    });
}

function addReplay(program: Command): void {
  program
    .command('replay')
    .argument('<journal>', "a controller's database, also while it runs, or an exported journal")
    .description('Run recorded ticks again: prove them identical, or see what would have changed.')
    .option('--since <time>', 'from then on: 2026-11-15T06:00Z, a date, or 2h for two hours ago')
    .option('--until <time>', 'up to then')
    .option('--with <config>', 'model the recorded work under another configuration')
    .option('--export <file>', 'write the ticks to a new file, packed if it ends in .gz')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
Exit code 0 when every tick came out as recorded, 1 when one did not, 2 on bad input.

Examples:
  bellows replay bellows.db
  bellows replay bellows.db --since 2h
  bellows replay bellows.db --with cheaper.yaml
  bellows replay bellows.db --since 2026-11-15 --export incident.jsonl.gz`,
    )
    .action(async (journal: string, options: Record<string, unknown>) => {
      const { runReplay } = await import('./commands/replay.ts');
      process.exitCode = await runReplay(journal, options, out);
    });
}

function addConfig(program: Command): void {
  const config = program
    .command('config')
    .description('Check a configuration, or describe its form.');
  config
    .command('check')
    .argument('<files...>', 'bellows.yaml files; - is standard input')
    .description('Say everything that is wrong with a configuration, with line and column.')
    .option('--json', 'print one JSON document per file')
    .addHelpText('after', '\nExample:\n  bellows config check bellows.yaml')
    .action(async (files: string[], options: Record<string, unknown>) => {
      const { checkConfig } = await import('./commands/config.ts');
      process.exitCode = await checkConfig(files, { json: options['json'] === true }, out);
    });
  config
    .command('default')
    .description('Print the configuration that `bellows up` runs without a file, to start from.')
    .addHelpText('after', '\nExample:\n  bellows config default > bellows.yaml')
    .action(async () => {
      const { defaultConfigText } = await import('../config/default-config.ts');
      out.stdout(defaultConfigText);
    });
  config
    .command('schema')
    .description('Print the JSON Schema of bellows.yaml, for editors.')
    .option('--snapshot', 'the schema of snapshot files instead')
    .option('--scenario', 'the schema of scenarios for `bellows sim` instead')
    .addHelpText(
      'after',
      '\nExample:\n  bellows config schema > bellows.schema.json\n  # yaml-language-server: $schema=bellows.schema.json',
    )
    .action(async (options: Record<string, unknown>) => {
      const { printConfigSchema } = await import('./commands/config.ts');
      process.exitCode = await printConfigSchema(options, out);
    });
}

try {
  await createProgram().parseAsync();
} catch (error) {
  process.exitCode = report(error);
}

/** Usage errors come from commander, which has printed them; anything else is a bug of ours. */
function report(error: unknown): number {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined;
  if (typeof code === 'string' && code.startsWith('commander.')) {
    const isHelp = code === 'commander.helpDisplayed' || code === 'commander.version';
    return isHelp || code === 'commander.help' ? exitCodes.ok : exitCodes.badInput;
  }
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const what = error instanceof InvariantError ? 'a rule of its own was broken' : 'it failed';
  out.stderr(`bellows: this is a bug in Bellows, ${what}. Please report it with:\n${detail}\n`);
  return 70;
}
