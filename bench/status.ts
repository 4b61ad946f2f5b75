import { spawnSync } from 'node:child_process';
import { setImmediate } from 'node:timers/promises';
import { must } from '../src/support/assert.ts';
import { quantile, round, rssMiB } from './measure.ts';
import { type Asked, type Format, runClient, startClient } from './status-client.ts';
import { type Served, serve } from './status-scene.ts';
import { createScene } from './tick.ts';

// npm run bench -- status [--json] [--quick] [--only rpc|watchers]
// rpc:      GetAutoscalerStatus of the large fleet over loopback, first after a tick and repeated.
// watchers: processor time of a server with 50 watchers while it decides once a second.
// Each part runs in a process of its own, and so do the clients.

type Row = Readonly<Record<string, unknown>>;

const parts: Readonly<Record<string, (isQuick: boolean) => Promise<readonly Row[]>>> = {
  rpc: (isQuick) => measureRpc(isQuick ? 8 : 25),
  watchers: (isQuick) => measureWatchers(isQuick ? 8 : 20),
};

export async function benchStatus(args: readonly string[]): Promise<void> {
  const valueOf = (flag: string): string | null => {
    const at = args.indexOf(flag);
    return at < 0 ? null : (args[at + 1] ?? '');
  };
  const url = valueOf('--client');
  if (url !== null) return runClient(url);
  const only = valueOf('--only');
  if (only !== null && parts[only] === undefined) {
    console.error(`status: there is no "${only}"; there is ${Object.keys(parts).join(', ')}`);
    process.exitCode = 2;
    return;
  }
  const part = parts[only ?? ''];
  if (part !== undefined) {
    for (const row of await part(args.includes('--quick'))) {
      console.log(args.includes('--json') ? JSON.stringify(row) : describe(row));
    }
    return;
  }
  for (const name of Object.keys(parts)) {
    const child = [process.argv[1] ?? '', 'status', ...args, '--only', name];
    const { status } = spawnSync(process.execPath, child, { stdio: 'inherit' });
    if (status !== 0) process.exitCode = 1;
  }
}

const describe = (row: Row): string =>
  Object.entries(row)
    .map(([key, value]) => `${key} ${String(value)}`)
    .join(', ');

const REPEATED = 5;
const WARM_UP = 5;

async function measureRpc(ticks: number): Promise<readonly Row[]> {
  const { fleet: snapshot, entries } = createScene('cost');
  const served = await serve(snapshot.fleet, snapshot.slices, entries);
  const client = startClient(served.url);
  const rows: Row[] = [];
  for (const [format, gzip] of encodings) {
    const first: Times = { wallMs: [], cpuMs: [] };
    const repeated: Times = { wallMs: [], cpuMs: [] };
    let bytes = 0;
    for (let n = 0; n < WARM_UP + ticks; n++) {
      await served.tick();
      await setImmediate(); // the pass that decided ends
      for (const [times, count] of [
        [first, 1],
        [repeated, REPEATED],
      ] as const) {
        const before = process.cpuUsage();
        const asked = await client.order<Asked>({ kind: 'ask', format, gzip, count });
        const { user, system } = process.cpuUsage(before);
        if (n < WARM_UP) continue;
        times.wallMs.push(...asked.ms);
        times.cpuMs.push((user + system) / 1_000 / count);
        ({ bytes } = asked);
      }
    }
    rows.push({
      part: 'rpc',
      format,
      gzip,
      ...summarize('first', first),
      ...summarize('repeated', repeated),
      KiB: round(bytes / 1_024, 0),
      ...sizeOf(served),
    });
  }
  client.close();
  await served.close();
  return rows;
}

const encodings = [
  ['binary', false],
  ['json', false],
  ['binary', true],
] as const satisfies readonly (readonly [Format, boolean])[];

interface Times {
  /** As the client sees it, over loopback. */
  readonly wallMs: number[];
  /** Of the server alone, all its threads: what others on the machine do moves it less. */
  readonly cpuMs: number[];
}

const summarize = (name: string, { wallMs, cpuMs }: Times): Row => {
  return {
    [`${name}P50Ms`]: round(quantile(wallMs, 0.5), 1),
    [`${name}P95Ms`]: round(quantile(wallMs, 0.95), 1),
    [`${name}MinMs`]: round(quantile(wallMs, 0), 1),
    [`${name}CpuP50Ms`]: round(quantile(cpuMs, 0.5), 1),
  };
};

function sizeOf({ controller }: Served): Row {
  const { input, output } = must(controller.last, 'it has decided');
  return {
    slices: input.slices.length,
    groups: input.control.fleet.groups.length,
    tasks: input.demand.reduce((sum, { count }) => sum + count, 0),
    classes: input.demand.length,
    unmetClasses: output.decision.classes.filter(({ unmet }) => unmet !== null).length,
    rssMiB: rssMiB(),
  };
}

const WATCHERS = 50;
/** Streams live for hours: what is measured is not their first seconds. */
const WATCHING_WARM_UP = 15;

async function measureWatchers(seconds: number): Promise<readonly Row[]> {
  const { fleet: snapshot, entries } = createScene('cost');
  const groups = snapshot.fleet.groups.slice(0, 10);
  const names = new Set(groups.map(({ name }) => name));
  const slices = snapshot.slices.filter(({ group }) => names.has(group)).slice(0, 100);
  const asked = new Set(entries.slice(0, 50).map(({ form }) => form));
  const some = entries.filter(({ form }) => asked.has(form)).slice(0, 1_000);
  const served = await serve({ ...snapshot.fleet, groups }, slices, some);
  const client = startClient(served.url);
  for (let n = 0; n < WATCHING_WARM_UP; n++) await served.tick();
  const alone = await measureShare(served, seconds);
  const rows: Row[] = [];
  for (const [format, gzip] of encodings) {
    await client.order({ kind: 'watch', format, gzip, count: WATCHERS });
    for (let n = 0; n < WATCHING_WARM_UP; n++) await served.tick();
    const share = await measureShare(served, seconds);
    const { count } = await client.order<{ count: number }>({ kind: 'stop' });
    rows.push({
      part: 'watchers',
      watchers: WATCHERS,
      format,
      gzip,
      corePercent: round(share * 100, 1),
      corePercentWithoutWatchers: round(alone * 100, 1),
      statusesSent: count,
      ...sizeOf(served),
    });
  }
  client.close();
  await served.close();
  return rows;
}

/** Processor time of this process over elapsed time, while it decides once a second. */
async function measureShare(served: Served, ticks: number): Promise<number> {
  const before = process.cpuUsage();
  const startedMs = performance.now();
  for (let n = 0; n < ticks; n++) await served.tick();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000 / (performance.now() - startedMs);
}
