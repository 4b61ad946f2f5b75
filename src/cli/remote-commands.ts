import { type Command, Option } from 'commander';
import type { Output } from './output.ts';
import type { Surroundings } from './surroundings.ts';

// Commands that ask a running Bellows. They are imported when they run, so that `--help` stays quick.

/** As commander gives them. */
type Options = Record<string, unknown>;

/** What every action needs; made when it runs. */
type Open = () => Promise<Surroundings>;

/** Adds the commands over the wire: status, why, slices, events, demand, drain, protect, pause, resume, reload. */
export function addRemoteCommands(program: Command, out: Output): void {
  const open: Open = async () => {
    const { openSurroundings } = await import('./surroundings.ts');
    return openSurroundings(out);
  };
  addStatus(program, open);
  addWhy(program, open);
  addSlices(program, open);
  addEvents(program, open);
  addDemand(program, open);
  addDrain(program, open);
  addProtect(program, open);
  addPause(program, open);
  addResume(program, open);
  addReload(program, open);
}

/** The options that all of them share, after their own. */
function withServer(command: Command): Command {
  return command
    .option('--json', 'print one JSON document')
    .option('--server <address>', 'host:port or URL (BELLOWS_SERVER, or http://127.0.0.1:7070)')
    .option('--fleet <name>', 'which one, where several are served (BELLOWS_FLEET)')
    .option('--token-file <file>', 'a file that holds a token (or the token itself: BELLOWS_TOKEN)')
    .option('--ca <file>', 'certificates to trust for https, PEM (BELLOWS_CA)')
    .option('--insecure', 'send the token also over http to another machine')
    .option('--timeout <time>', 'wait so long for an answer (10s; 1m for demand push)')
    .addOption(
      new Option('--token <text>', 'refused: it would show in the list of processes').hideHelp(),
    );
}

const collect = (value: string, before: readonly string[] = []): readonly string[] => [
  ...before,
  value,
];

function addStatus(program: Command, open: Open): void {
  const command = program
    .command('status')
    .description('Show a fleet on one screen: slices, demand, what waits and why, money, failures.')
    .option('--watch', 'keep showing it; one line per change when the output is no terminal')
    .option('--all', 'leave nothing out');
  withServer(command)
    .addHelpText(
      'after',
      `
Examples:
  bellows status
  bellows status --watch
  bellows status --watch >> fleet.log
  bellows status --json | jq '.status.spend'
  bellows status --server https://bellows.example.com:7070 --token-file ~/.bellows-token`,
    )
    .action(async (options: Options) => {
      const { runStatus } = await import('./commands/status.ts');
      process.exitCode = await runStatus(options, await open());
    });
}

function addWhy(program: Command, open: Open): void {
  const command = program
    .command('why')
    .argument('<subject>', 'an entry, a task of a gang, a slice, a floor, or a group')
    .description('Say why something is as it is: reasons, alternatives, what would change it.');
  withServer(command)
    .addHelpText(
      'after',
      `
Examples:
  bellows why train-7          why it waits, or where it goes
  bellows why tokenize/12      one of many equal entries
  bellows why local-3f9a2c1b   why a slice stays or leaves
  bellows why h100             why a group launches nothing`,
    )
    .action(async (subject: string, options: Options) => {
      const { runWhy } = await import('./commands/why.ts');
      process.exitCode = await runWhy(subject, options, await open());
    });
}

function addSlices(program: Command, open: Open): void {
  const command = program
    .command('slices')
    .argument('[slice]', 'show all about this one, with its history')
    .description('List slices, or show one.')
    .option('--group <name>', 'only of this group')
    .option('--status <status>', 'only in this status; can be given several times', collect)
    .option('--history', 'with the steps of each')
    .option('--all', 'also those that ended lately');
  withServer(command)
    .addHelpText(
      'after',
      `
Examples:
  bellows slices
  bellows slices --group h100 --status booting --status initializing
  bellows slices --all --status failed
  bellows slices local-3f9a2c1b
  bellows slices --json | jq -r '.slices[] | select(.status == "ready") | .id'`,
    )
    .action(async (slice: string | undefined, options: Options) => {
      const { runSlices } = await import('./commands/slices.ts');
      process.exitCode = await runSlices(slice, options, await open());
    });
}

function addEvents(program: Command, open: Open): void {
  const command = program
    .command('events')
    .argument('[subject]', 'only about this slice or group')
    .description('Say what happened, oldest first.')
    .option('--since <time>', 'from then on: 2h for two hours ago, or 2026-11-15T06:00 (1h)')
    .option('--follow', 'go on with what happens; Ctrl-C ends it')
    .option('--kind <kind>', 'only of this kind; can be given several times', collect);
  withServer(command)
    .addHelpText(
      'after',
      `
With --follow, --json prints one line for each event. docs/events.md lists the kinds.

Examples:
  bellows events
  bellows events --since 1d --kind launch-refused --kind backoff-started
  bellows events h100 --follow
  bellows events --follow --json | jq -r .text`,
    )
    .action(async (subject: string | undefined, options: Options) => {
      const { runEvents } = await import('./commands/events.ts');
      process.exitCode = await runEvents(subject, options, await open());
    });
}

function addDemand(program: Command, open: Open): void {
  const demand = program
    .command('demand')
    .description('Tell of pending work, list who told of some, or take it back.');
  const push = demand
    .command('push')
    .argument('<file>', 'pending work: demand, tasks, floors (YAML or JSON); - is standard input')
    .description('Tell of all the pending work of a source, instead of what it told before.')
    .option('--source <name>', 'each source has a set of its own (cli)')
    .option('--for <time>', 'forgotten after this unless pushed again: 10s to 7d (1h)')
    .option('--generation <n>', 'must rise with every push (the time in ms)');
  withServer(push)
    .addHelpText(
      'after',
      `
The rows are those of snapshot files (docs/snapshot-files.md). A bare list of entries will do, too.

Examples:
  bellows demand push examples/demand.yaml
  my-scheduler dump | bellows demand push - --source my-scheduler --for 5m`,
    )
    .action(async (file: string, options: Options) => {
      const { runDemandPush } = await import('./commands/demand.ts');
      process.exitCode = await runDemandPush(file, options, await open());
    });
  const list = demand
    .command('list')
    .description('Say which sources told of work, and until when it holds.')
    .option('--source <name>', 'only this one');
  withServer(list)
    .addHelpText('after', '\nExample:\n  bellows demand list')
    .action(async (options: Options) => {
      const { runDemandList } = await import('./commands/demand.ts');
      process.exitCode = await runDemandList(options, await open());
    });
  const clear = demand
    .command('clear')
    .description('Say that nothing of a source is pending any more, or drop a floor.')
    .option('--source <name>', 'which one (cli)')
    .option('--generation <n>', 'must be above the last one (the time in ms)')
    .option('--floor <id>', 'drop this floor instead');
  withServer(clear)
    .addHelpText(
      'after',
      '\nExamples:\n  bellows demand clear\n  bellows demand clear --source my-scheduler\n  bellows demand clear --floor notebooks',
    )
    .action(async (options: Options) => {
      const { runDemandClear } = await import('./commands/demand.ts');
      process.exitCode = await runDemandClear(options, await open());
    });
}

function addDrain(program: Command, open: Open): void {
  const command = program
    .command('drain')
    .argument('<slice>', 'as `bellows slices` names it')
    .description('Let the work on a slice finish, then give the slice back.')
    .option('--reason <text>', 'for those who ask later; needed')
    .option('--deadline <time>', "work may run so long (its group's draining timeout)")
    .option('--wait', 'follow it until it has ended');
  withServer(command)
    .addHelpText(
      'after',
      `
Examples:
  bellows drain local-3f9a2c1b --reason 'bad disk'
  bellows drain local-3f9a2c1b --reason 'bad disk' --deadline 10m --wait`,
    )
    .action(async (slice: string, options: Options) => {
      const { runDrain } = await import('./commands/drain.ts');
      process.exitCode = await runDrain(slice, options, await open());
    });
}

function addProtect(program: Command, open: Open): void {
  const command = program
    .command('protect')
    .argument('<slice>', 'as `bellows slices` names it')
    .description('Keep scale-down from a slice, or allow it again.')
    .option('--undo', 'scale-down may touch it again');
  withServer(command)
    .addHelpText(
      'after',
      `
Examples:
  bellows protect local-3f9a2c1b
  bellows protect local-3f9a2c1b --undo`,
    )
    .action(async (slice: string, options: Options) => {
      const { runProtect } = await import('./commands/protect.ts');
      process.exitCode = await runProtect(slice, options, await open());
    });
}

function addPause(program: Command, open: Open): void {
  const command = program
    .command('pause')
    .description('Stop launches, terminations or both. Observing and reasons go on.')
    .option('--what <what>', 'launches, terminations or both (both)')
    .option('--group <name>', 'only in this group (the whole fleet)')
    .option('--for <time>', 'ends by itself after this (until `bellows resume`)')
    .option('--reason <text>', 'for those who ask later; needed');
  withServer(command)
    .addHelpText(
      'after',
      `
Examples:
  bellows pause --reason 'network maintenance' --for 2h
  bellows pause --what launches --group h100 --reason 'quota talks'`,
    )
    .action(async (options: Options) => {
      const { runPause } = await import('./commands/pause.ts');
      process.exitCode = await runPause(options, await open());
    });
}

function addResume(program: Command, open: Open): void {
  const command = program
    .command('resume')
    .argument('[pause]', 'as `bellows pause` and `bellows status` name it; left out: all')
    .description('End a pause, or all of them.');
  withServer(command)
    .addHelpText('after', '\nExamples:\n  bellows resume\n  bellows resume pause-1')
    .action(async (pause: string | undefined, options: Options) => {
      const { runResume } = await import('./commands/resume.ts');
      process.exitCode = await runResume(pause, options, await open());
    });
}

function addReload(program: Command, open: Open): void {
  const command = program
    .command('reload')
    .description('Read the configuration file again, and say what changes by it.')
    .option('--dry-run', 'only say what would change');
  withServer(command)
    .addHelpText(
      'after',
      `
A file with mistakes is refused, with all of them; the old configuration goes on.

Examples:
  bellows reload --dry-run
  bellows reload`,
    )
    .action(async (options: Options) => {
      const { runReload } = await import('./commands/reload.ts');
      process.exitCode = await runReload(options, await open());
    });
}
