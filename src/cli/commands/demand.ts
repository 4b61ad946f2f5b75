import { create } from '@bufbuild/protobuf';
import { toWireAsk, toWireEntry } from '../../api/demand-wire.ts';
import {
  type Entry as WireEntry,
  type PushDemandResponse,
  PushDemandResponseSchema,
  type RequestResourcesResponse,
  RequestResourcesResponseSchema,
} from '../../api/gen/bellows/v1/demand_pb.ts';
import { FloorStatusSchema, SourceStatusSchema } from '../../api/gen/bellows/v1/status_pb.ts';
import { type DemandFile, parseDemandFile } from '../../config/demand-file.ts';
import { renderProblem } from '../../config/problem.ts';
import { INPUT_SIZE_MAX, readInput } from '../../config/read-file.ts';
import type { Entry, Floor } from '../../model/demand.ts';
import { epochMs } from '../../model/ids.ts';
import { type Remote, type ServerOptions, runRemote } from '../client.ts';
import { jsonDocument, toJsonValue } from '../json.ts';
import { CommandError, durationOf, textOf, toWireDuration } from '../option-values.ts';
import { exitCodes } from '../output.ts';
import { renderFloors } from '../render/status-demand.ts';
import { noLimits } from '../render/status-view.ts';
import { renderTable } from '../render/table.ts';
import { formatCount, oneLine, plural } from '../render/words.ts';
import type { Surroundings } from '../surroundings.ts';
import { createView } from '../view.ts';

interface DemandOptions extends ServerOptions {
  readonly source?: unknown;
  readonly for?: unknown;
  readonly generation?: unknown;
  readonly floor?: unknown;
}

/** Entries in one message; the server takes no more. */
const PAGE_ENTRIES = 2_000;
const DEFAULT_SOURCE = 'cli';
/** The last page is answered when all of them are durable: 100,000 entries take their time. */
const PUSH_TIMEOUT = '1m';
/** A person does not come back every five minutes as a scheduler does. */
const DEFAULT_TTL_MS = 3_600_000;
const TTLS = { minMs: 10_000, maxMs: 7 * 86_400_000 };

/** `bellows demand push FILE`: all the pending work of a source, instead of what it pushed before. */
export function runDemandPush(
  path: string,
  options: DemandOptions,
  around: Surroundings,
): Promise<number> {
  const patient = { ...options, timeout: options.timeout ?? PUSH_TIMEOUT };
  return runRemote(patient, around, async (remote) => {
    const source = textOf(options.source) ?? DEFAULT_SOURCE;
    const generation = generationOf(options.generation, around.nowMs());
    const ttlMs = durationOf('--for', options.for, TTLS) ?? DEFAULT_TTL_MS;
    const demand = readDemand(path, around.nowMs());
    const { entries } = demand;
    const push =
      entries === null
        ? null
        : await pushEntries(remote, toWireEntries(demand), { source, generation, ttlMs });
    const floors: HeldFloor[] = [];
    for (const floor of demand.floors) floors.push(await holdFloor(remote, floor, ttlMs));
    around.out.stdout(
      options.json === true
        ? jsonDocument(toPushJson(push, floors))
        : renderPush(push, { source, floors, first: entries?.[0] ?? null, around }),
    );
    return exitCodes.ok;
  });
}

/** `bellows demand clear`: nothing of the source is pending any more; or a floor is dropped. */
export function runDemandClear(options: DemandOptions, around: Surroundings): Promise<number> {
  return runRemote(options, around, async (remote) => {
    const { out } = around;
    const floor = textOf(options.floor);
    if (floor !== null) {
      const { client, fleet } = remote;
      const answer = await client.requestResources({ fleet, id: floor, count: 0 });
      const json = (): string => jsonDocument(toJsonValue(RequestResourcesResponseSchema, answer));
      out.stdout(options.json === true ? json() : `floor ${oneLine(floor)} is dropped\n`);
      return exitCodes.ok;
    }
    const source = textOf(options.source) ?? DEFAULT_SOURCE;
    const generation = generationOf(options.generation, around.nowMs());
    const answer = await pushEntries(remote, [], { source, generation, ttlMs: DEFAULT_TTL_MS });
    const json = (): string => jsonDocument(toJsonValue(PushDemandResponseSchema, answer));
    const text = `nothing of source ${oneLine(source)} is pending any more; slices without work go after their idle timeout\n`;
    out.stdout(options.json === true ? json() : text);
    return exitCodes.ok;
  });
}

/** `bellows demand list`: who has pushed what, and until when it holds. */
export function runDemandList(options: DemandOptions, around: Surroundings): Promise<number> {
  return runRemote(options, around, async ({ client, fleet }) => {
    const { status } = await client.getAutoscalerStatus({ fleet });
    const wanted = textOf(options.source);
    const sources = (status?.sources ?? []).filter(
      (one) => wanted === null || one.source === wanted,
    );
    const floors = wanted === null ? (status?.floors ?? []) : [];
    const view = { ...createView(around), limits: noLimits };
    if (options.json === true) {
      const document = {
        sources: sources.map((one) => toJsonValue(SourceStatusSchema, one)),
        floors: floors.map((one) => toJsonValue(FloorStatusSchema, one)),
      };
      around.out.stdout(jsonDocument(document));
      return exitCodes.ok;
    }
    if (sources.length === 0 && floors.length === 0) {
      const of = wanted === null ? '' : ` of source ${oneLine(wanted)}`;
      around.out.stdout(`no demand${of}; bellows demand push FILE tells of some\n`);
      return exitCodes.ok;
    }
    const columns = [
      { title: 'source' },
      { title: 'entries', align: 'right' as const },
      { title: 'generation', align: 'right' as const },
      { title: 'forgotten unless refreshed' },
    ];
    const rows = sources.map(({ source, entryCount, generation, expiresAt }) => [
      oneLine(source),
      formatCount(entryCount),
      String(generation),
      view.moments.full(expiresAt),
    ]);
    const table = rows.length === 0 ? '' : renderTable(columns, rows, view.style.dim);
    const held = renderFloors(floors, view);
    around.out.stdout([table, held].filter((part) => part !== '').join('\n'));
    return exitCodes.ok;
  });
}

function readDemand(path: string, nowMs: number): DemandFile {
  const read = readInput(path, { sizeMax: INPUT_SIZE_MAX });
  if (read.kind === 'bad') throw new CommandError(renderProblem(read.problem));
  const parsed = parseDemandFile(read.text, read.file, epochMs(nowMs));
  if (parsed.kind === 'ok') return parsed.demand;
  throw new CommandError(parsed.problems.map(renderProblem).join('\n'));
}

/** Rises by itself with the clock. */
function generationOf(value: unknown, nowMs: number): bigint {
  const text = textOf(value);
  if (text === null) return BigInt(Math.floor(nowMs));
  // The largest number that JSON readers keep exact.
  if (/^\d{1,16}$/.test(text) && Number.isSafeInteger(Number(text))) return BigInt(text);
  const remedy = `write a whole number from 0 to ${Number.MAX_SAFE_INTEGER}, above the last one`;
  throw new CommandError(`--generation: ${JSON.stringify(text)} is none; ${remedy}`);
}

function toWireEntries({ entries, atMs }: DemandFile): readonly WireEntry[] {
  return (entries ?? []).map((entry) => {
    const wire = toWireEntry(entry);
    // Without an age in the file, the first push of this id tells how old it is.
    if (entry.submittedAtMs === atMs) delete wire.submittedAt;
    return wire;
  });
}

/** Page after page; the answer to the last one says that all of it is durable. */
async function pushEntries(
  { client, fleet }: Remote,
  entries: readonly WireEntry[],
  { source, generation, ttlMs }: { source: string; generation: bigint; ttlMs: number },
): Promise<PushDemandResponse> {
  const pages = Math.max(1, Math.ceil(entries.length / PAGE_ENTRIES));
  let answer = create(PushDemandResponseSchema);
  for (let page = 0; page < pages; page++) {
    answer = await client.pushDemand({
      fleet,
      source,
      generation,
      entries: entries.slice(page * PAGE_ENTRIES, (page + 1) * PAGE_ENTRIES),
      page,
      more: page < pages - 1,
      ttl: toWireDuration(ttlMs),
    });
  }
  if (answer.durable) return answer;
  const remedy = 'push again';
  throw new CommandError(
    `the server did not say that the demand is durable; ${remedy}`,
    exitCodes.failed,
  );
}

interface HeldFloor {
  readonly floor: Floor;
  readonly answer: RequestResourcesResponse;
}

async function holdFloor(
  { client, fleet }: Remote,
  floor: Floor,
  ttlMs: number,
): Promise<HeldFloor> {
  const { id, ask, count } = floor;
  const wire = { fleet, id, ask: toWireAsk(ask), count, ttl: toWireDuration(ttlMs) };
  return { floor, answer: await client.requestResources(wire) };
}

function toPushJson(push: PushDemandResponse | null, floors: readonly HeldFloor[]): unknown {
  return {
    push: push === null ? null : toJsonValue(PushDemandResponseSchema, push),
    floors: floors.map(({ floor, answer }) => ({
      id: floor.id,
      answer: toJsonValue(RequestResourcesResponseSchema, answer),
    })),
  };
}

interface Pushed {
  readonly source: string;
  readonly floors: readonly HeldFloor[];
  readonly first: Entry | null;
  readonly around: Surroundings;
}

function renderPush(push: PushDemandResponse | null, { source, floors, first, around }: Pushed) {
  const { moments } = createView(around);
  const lines: string[] = [];
  if (push !== null) {
    const count = plural(push.entryCount, 'entry is', 'entries are');
    lines.push(
      `acknowledged: ${count} pending from source ${oneLine(source)} (generation ${push.generation})`,
      `forgotten at ${moments.full(push.expiresAt)} unless pushed again; --for sets how long`,
    );
  }
  for (const { floor, answer } of floors) {
    const copies = plural(floor.count, 'copy', 'copies');
    lines.push(`floor ${floor.id}: ${copies} held ${moments.until(answer.expiresAt)}`);
  }
  const name = first === null ? null : first.count > 1 ? `${first.id}/0` : first.id;
  lines.push(`next: bellows status${name === null ? '' : `, or bellows why ${name}`}`);
  return lines.map((line) => `${line}\n`).join('');
}
