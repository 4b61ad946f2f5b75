import type { Config } from '../config/config-file.ts';
import { fileProblem, type Problem } from '../config/problem.ts';
import type { Settings } from '../config/schema.ts';
import { Controller } from '../controller/controller.ts';
import type { Control } from '../model/control.ts';
import type { FleetEvent } from '../model/event.ts';
import { epochMs } from '../model/ids.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { Provider } from '../ports/provider.ts';
import type { Solver } from '../ports/solver.ts';
import type { EventRow, Store } from '../ports/store.ts';
import { FleetFeed } from '../server/fleet-feed.ts';
import type { ConfigChange, ReloadOutcome, ServedFleet } from '../server/served-fleet.ts';
import { formatUsdRounded } from '../api/format.ts';
import { BoundKeeper } from './bound-keeper.ts';
import { findConfigChange } from './config-change.ts';
import { type ConfigSource, readConfig, watchConfig } from './config-source.ts';

export interface FleetOptions {
  readonly source: ConfigSource;
  readonly config: Config;
  readonly mode: Control['mode'];
  readonly store: Store;
  readonly providers: ReadonlyMap<string, Provider>;
  readonly clock: Clock;
  readonly log: Log;
  readonly solver: Solver;
  readonly holder: string;
  readonly onCrash: (error: unknown) => void;
}

/** Calls in flight are waited for at most this long when a fleet is stopped. */
const STOP_GRACE_MAX_MS = 60_000;
/** Events of the past that a new process shows: those of the last hour, as far as they are few. */
const RECALL_MS = 3_600_000;
const RECALL_PAGES_MAX = 20;
const RECALL_PAGE = 1_000;

/** A fleet with its store, its providers and its loop, for as long as the process runs it. */
export class RunningFleet implements ServedFleet {
  readonly name: string;
  readonly controller: Controller;
  readonly store: Store;
  readonly feed = new FleetFeed();
  readonly #options: FleetOptions;
  readonly #bound: BoundKeeper;
  #config: Config;
  #unwatch: () => void = () => undefined;
  #reloading: Promise<unknown> = Promise.resolve();

  constructor(options: FleetOptions) {
    const { config, store, clock, solver } = options;
    this.name = config.fleet.name;
    this.store = store;
    this.#options = options;
    this.#config = config;
    this.#bound = new BoundKeeper({ solver, clock, feed: this.feed });
    this.controller = new Controller({
      store,
      clock,
      providers: options.providers,
      log: options.log,
      control: this.#controlOf(config),
      holder: options.holder,
      onCrash: options.onCrash,
      onTick: (input, output) => {
        this.feed.ticked();
        this.#bound.ticked(input, output);
      },
      onEvents: (events, firstSeq) => this.feed.happened(events, firstSeq),
    });
  }

  start(): void {
    const { source, clock, log } = this.#options;
    this.controller.start();
    void this.#recall();
    if (source.kind !== 'file') return;
    this.#unwatch = watchConfig(source.path, clock, () => {
      log.write('info', 'config-file-changed', { fleet: this.name, file: source.path });
      void this.reloadAsTold();
    });
  }

  /** By a signal or a changed file: nobody waits for the answer, so the log has it. */
  async reloadAsTold(): Promise<void> {
    try {
      await this.reload({ isDryRun: false });
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      this.#options.log.write('error', 'config-not-reloaded', { fleet: this.name, message });
    }
  }

  /** Finishes calls in flight; then nothing of the fleet is held any more. What runs, runs on. */
  async stop(): Promise<void> {
    this.#unwatch();
    const timeouts = this.#config.control.providers.map(({ callTimeoutMs }) => callTimeoutMs);
    await this.controller.stop(Math.min(STOP_GRACE_MAX_MS, Math.max(0, ...timeouts)));
    await Promise.all([...this.#options.providers.values()].map((provider) => provider.close()));
    await this.store.close();
  }

  /** One at a time: each is judged against what the one before left in force. */
  reload(ask: { readonly isDryRun: boolean }): Promise<ReloadOutcome> {
    const outcome = this.#reloading.then(() => this.#reload(ask));
    this.#reloading = outcome.catch(() => undefined);
    return outcome;
  }

  async #reload({ isDryRun }: { readonly isDryRun: boolean }): Promise<ReloadOutcome> {
    const { source, log } = this.#options;
    const refuse = (problems: readonly Problem[]): ReloadOutcome => {
      for (const { line, path, message, remedy } of problems) {
        log.write('error', 'config-refused', { fleet: this.name, line, path, message, remedy });
      }
      return { kind: 'refused', problems };
    };
    const read = readConfig(source);
    if (read.kind === 'bad') return refuse(read.problems);
    const fixed = findFixedSections(this.#config.settings, read.config.settings);
    if (fixed.length > 0) return refuse(fixed.map((section) => restartProblem(source, section)));
    const next = this.#controlOf(read.config);
    const records = [...this.controller.slices()];
    const { last } = this.controller;
    const control = last?.input.control ?? this.#controlOf(this.#config);
    const change = findConfigChange({ control, last, records }, next);
    if (!isDryRun) {
      // Said before it is done, so that whoever reads the log sees the cause before the effects.
      this.#logChange(change);
      await this.controller.command({ kind: 'change-control', control: next });
      this.#config = read.config;
    }
    return { kind: 'changed', change };
  }

  #controlOf({ control }: Config): Control {
    return { ...control, mode: this.#options.mode };
  }

  #logChange({ lines, launches, releases, microUsdPerHour }: ConfigChange): void {
    const { log } = this.#options;
    for (const what of lines) log.write('info', 'config-change', { fleet: this.name, what });
    log.write('info', 'config-reloaded', {
      fleet: this.name,
      changes: lines.length,
      launches: `${launches.before} -> ${launches.after}`,
      releases: `${releases.before} -> ${releases.after}`,
      perHour: `${formatUsdRounded(microUsdPerHour.before)} -> ${formatUsdRounded(microUsdPerHour.after)}`,
    });
  }

  /** A status of a new process shows what happened before it. */
  async #recall(): Promise<void> {
    const { clock, log } = this.#options;
    try {
      const sinceMs = epochMs(Math.max(0, clock.wallMs() - RECALL_MS));
      let afterSeq = -1;
      let rows: readonly EventRow[] = [];
      for (let page = 0; page < RECALL_PAGES_MAX; page++) {
        const next = await this.store.readEvents({ sinceMs, afterSeq, limit: RECALL_PAGE });
        rows = [...rows, ...next].slice(-RECALL_PAGE);
        if (next.length < RECALL_PAGE) break;
        afterSeq = next.at(-1)?.seq ?? afterSeq;
      }
      const known = new Set(this.feed.recentEvents.map(({ seq }) => seq));
      const before = rows.filter(({ seq }) => !known.has(seq));
      this.feed.recall(
        // The cast: the store gives back what the controller wrote.
        before.map(({ seq, atMs, text }) => ({ seq, atMs, event: JSON.parse(text) as FleetEvent })),
      );
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      log.write('warn', 'events-not-read', { fleet: this.name, message });
    }
  }
}

/** Sections that are read once, at the start. */
function findFixedSections(was: Settings, next: Settings): readonly string[] {
  const namesOf = ({ groups }: Settings): string =>
    [...new Set(groups.map(({ provider }) => provider))].sort().join(' ');
  const known = new Set(namesOf(was).split(' '));
  const isNewProvider = namesOf(next)
    .split(' ')
    .some((name) => !known.has(name) && was.providers[name] === undefined);
  const sections = (['fleet', 'store', 'server', 'providers'] as const).filter(
    (section) => JSON.stringify(was[section]) !== JSON.stringify(next[section]),
  );
  return isNewProvider && !sections.includes('providers') ? [...sections, 'providers'] : sections;
}

function restartProblem(source: ConfigSource, section: string): Problem {
  const file = source.kind === 'file' ? source.path : 'the built-in configuration';
  const message = `${section} is read at the start only; the old configuration keeps running`;
  return { ...fileProblem(file, message, 'restart to change it'), path: section };
}
