import { create } from '@bufbuild/protobuf';
import { ListSlicesResponseSchema } from '../../api/gen/bellows/v1/autoscaler_pb.ts';
import type { Slice } from '../../api/gen/bellows/v1/status_pb.ts';
import { sliceStatuses } from '../../model/slice.ts';
import { type Remote, type ServerOptions, runRemote } from '../client.ts';
import { jsonDocument, toJsonValue } from '../json.ts';
import { CommandError, textOf, textsOf, wordOf } from '../option-values.ts';
import { exitCodes } from '../output.ts';
import { renderHistory, renderSlice, renderSlices } from '../render/slices.ts';
import { oneLine, plural } from '../render/words.ts';
import type { Surroundings } from '../surroundings.ts';
import { createView } from '../view.ts';

interface SlicesOptions extends ServerOptions {
  readonly group?: unknown;
  readonly status?: unknown;
  readonly history?: unknown;
  readonly all?: unknown;
}

/** Rows fetched at most; more is for a filter, or for a program of one's own. */
const ROWS_MAX = 10_000;
const PAGE_SIZE = 1_000;
/** A server may give shorter pages than asked for. */
const PAGES_MAX = 1_000;

/** `bellows slices [ID]`: a table, or all about one. */
export function runSlices(
  id: string | undefined,
  options: SlicesOptions,
  around: Surroundings,
): Promise<number> {
  return runRemote(options, around, async (remote) => {
    const statuses = textsOf(options.status).map((one) => wordOf('--status', one, sliceStatuses));
    if (id !== undefined) return showOne(id, remote, options, around);
    const group = textOf(options.group) ?? '';
    const list = await listSlices(remote, {
      group,
      statuses: options.all === true && statuses.length === 0 ? sliceStatuses : statuses,
      withHistory: options.history === true,
    });
    const { out } = around;
    if (options.json === true) {
      const { slices, total: totalCount, nextPageToken } = list;
      const answer = create(ListSlicesResponseSchema, { slices, totalCount, nextPageToken });
      out.stdout(jsonDocument(toJsonValue(ListSlicesResponseSchema, answer)));
    } else {
      out.stdout(renderList(list.slices, options, around));
    }
    if (list.nextPageToken !== '') {
      const shown = plural(list.slices.length, 'slice');
      out.stderr(`${shown} of ${list.total} shown; --group and --status narrow it down\n`);
    }
    return exitCodes.ok;
  });
}

function renderList(
  slices: readonly Slice[],
  options: SlicesOptions,
  around: Surroundings,
): string {
  if (slices.length === 0) {
    const isNarrow = textOf(options.group) !== null || textsOf(options.status).length > 0;
    if (isNarrow) return 'no such slices\n';
    return options.all === true
      ? 'no slices\n'
      : 'no slices; --all shows those that ended lately\n';
  }
  const view = createView(around);
  if (options.history !== true) return renderSlices(slices, view);
  return slices
    .map((slice) => renderSlices([slice], view) + renderHistory(slice.history, view))
    .join('\n');
}

async function showOne(
  id: string,
  remote: Remote,
  options: SlicesOptions,
  around: Surroundings,
): Promise<number> {
  const slice = await findSlice(remote, id);
  if (slice === null) {
    const remedy = '`bellows slices --all` lists those there and those that ended lately';
    throw new CommandError(`no slice ${JSON.stringify(oneLine(id))}; ${remedy}`, exitCodes.failed);
  }
  const answer = create(ListSlicesResponseSchema, { slices: [slice], totalCount: 1 });
  around.out.stdout(
    options.json === true
      ? jsonDocument(toJsonValue(ListSlicesResponseSchema, answer))
      : renderSlice(slice, createView(around)),
  );
  return exitCodes.ok;
}

/** One slice with its history, also when it has ended; null when nobody remembers it. */
export async function findSlice({ client, fleet }: Remote, id: string): Promise<Slice | null> {
  const { slices } = await client.listSlices({
    fleet,
    sliceIds: [id],
    statuses: [...sliceStatuses],
    withHistory: true,
  });
  return slices.find((slice) => slice.id === id) ?? null;
}

interface SliceList {
  readonly slices: Slice[];
  readonly total: number;
  /** Set when there are more than we fetch. */
  readonly nextPageToken: string;
}

async function listSlices(
  { client, fleet }: Remote,
  filter: {
    readonly group: string;
    readonly statuses: readonly string[];
    readonly withHistory: boolean;
  },
): Promise<SliceList> {
  const slices: Slice[] = [];
  const { group, withHistory } = filter;
  const ask = { fleet, group, statuses: [...filter.statuses], withHistory, pageSize: PAGE_SIZE };
  let pageToken = '';
  let total = 0;
  for (let pages = 0; pages < PAGES_MAX && slices.length < ROWS_MAX; pages++) {
    const page = await client.listSlices({ ...ask, pageToken });
    slices.push(...page.slices);
    total = page.totalCount;
    pageToken = page.nextPageToken;
    if (pageToken === '') break;
  }
  return { slices, total, nextPageToken: pageToken };
}
