import type { DemandClass, FloorStatus, Unmet } from '../../api/gen/bellows/v1/status_pb.ts';
import { byFirst, byNumber, byText } from '../../support/order.ts';
import { fitLast } from './fit.ts';
import type { StatusView } from './status-view.ts';
import { type Column, renderTable } from './table.ts';
import { formatCount, joinWords, moreLine, oneLine, plural, shorten } from './words.ts';

const columns: readonly Column[] = [
  { title: 'count', align: 'right' },
  { title: 'asks for' },
  { title: 'placed', align: 'right' },
  { title: 'waits', align: 'right' },
  { title: 'where' },
];
const ASK_LENGTH_MAX = 46;

const roomWords: Readonly<Record<string, string>> = {
  'free-room': 'free room',
  'on-its-way': 'on its way',
};

/** Pending work by shape, the largest first. */
export function renderDemand(classes: readonly DemandClass[], view: StatusView): string {
  const { style, limits } = view;
  if (classes.length === 0) return `${style.bold('DEMAND')}  no work is pending\n`;
  const count = sumOf(classes, (one) => one.count);
  const unmet = sumOf(classes, (one) => one.unmetCount);
  const waits =
    unmet === 0n
      ? 'all placed'
      : `${formatCount(count - unmet)} placed, ${formatCount(unmet)} wait`;
  const title = `${style.bold('DEMAND')}  ${plural(count, 'entry', 'entries')}, ${waits}\n`;
  const largest = [...classes].sort(byCount).slice(0, limits.classes);
  const rows = largest.map((one) => [
    formatCount(one.count),
    askText(one, view),
    formatCount(one.count - one.unmetCount),
    formatCount(one.unmetCount),
    whereText(one),
  ]);
  const table = renderTable(columns, fitLast(columns, rows, view.columns), style.dim);
  return title + table + moreLine(classes.length - largest.length, 'shape');
}

const byCount = byFirst<DemandClass>(
  byNumber((one) => -Number(one.count)),
  byNumber((one) => -one.priority),
  (a, b) => byText(a.id, b.id),
);

const sumOf = <T>(items: readonly T[], count: (item: T) => bigint): bigint =>
  items.reduce((sum, item) => sum + count(item), 0n);

function askText({ text, priority }: DemandClass, { columns: width }: StatusView): string {
  const ask = oneLine(text);
  const asks = width === Infinity ? ask : shorten(ask, ASK_LENGTH_MAX);
  return priority === 0 ? asks : `${asks} (priority ${priority})`;
}

/** `cpu-16 300 new, 120 on its way`, or why nothing of it is placed. */
function whereText({ placed, unmet }: DemandClass): string {
  const byGroup = new Map<string, Map<string, bigint>>();
  for (const { count, spots } of placed) {
    for (const { group, room } of spots) {
      const rooms = byGroup.get(group) ?? new Map<string, bigint>();
      byGroup.set(group, rooms.set(room, (rooms.get(room) ?? 0n) + count));
    }
  }
  const places = [...byGroup].map(([group, rooms]) => {
    const parts = [...rooms].map(
      ([room, count]) => `${formatCount(count)} ${roomWords[room] ?? room}`,
    );
    return `${group} ${parts.join(', ')}`;
  });
  return oneLine(joinWords([...places, unmet?.reason?.kind], '; '));
}

interface WaitReason {
  readonly kind: string;
  count: bigint;
  /** Of the largest class that waits for this reason. */
  readonly largest: DemandClass;
}

/** Why work waits, the commonest reason first, each with what would help. */
export function renderUnmet(classes: readonly DemandClass[], view: StatusView): string {
  const { style, limits, columns: width } = view;
  const reasons = new Map<string, WaitReason>();
  const waiting = classes.filter((one) => one.unmetCount > 0n);
  for (const one of waiting.toSorted(byNumber((other) => -Number(other.unmetCount)))) {
    const kind = one.unmet?.reason?.kind ?? 'unknown';
    const known = reasons.get(kind);
    if (known === undefined) reasons.set(kind, { kind, count: one.unmetCount, largest: one });
    else known.count += one.unmetCount;
  }
  if (reasons.size === 0) return '';
  const commonest = [...reasons.values()].sort(byNumber((reason) => -Number(reason.count)));
  const shown = commonest.slice(0, limits.reasons);
  const unmet = sumOf(waiting, (one) => one.unmetCount);
  const title = `${style.bold(style.bad('UNMET'))}   ${plural(unmet, 'entry', 'entries')}\n`;
  const lines = shown.flatMap((reason) => reasonLines(reason, width, style.good('remedy')));
  return title + lines.join('') + moreLine(reasons.size - shown.length, 'reason');
}

function reasonLines({ kind, count, largest }: WaitReason, width: number, remedy: string) {
  const { unmet, unmetCount } = largest;
  const example = waitingEntry(largest);
  const of = unmetCount === count ? '' : ` (${formatCount(unmetCount)} of them)`;
  const text = unmet?.reason?.text ?? '';
  const why = text === '' || text === kind ? '' : `: ${oneLine(text)}`;
  const first = `  ${formatCount(count)} ${oneLine(kind)}${why}${of}`;
  const ask = example === undefined ? '' : `; more: bellows why ${oneLine(example)}`;
  const second = `      ${remedyText(unmet, remedy, unmetCount)}${ask}`;
  return [`${shorten(first, width)}\n`, `${second}\n`];
}

/** An entry that waits for sure: those that are served come first, and only twenty are named. */
function waitingEntry({ entryIds, count, unmetCount }: DemandClass): string | undefined {
  if (unmetCount === count) return entryIds[0];
  return BigInt(entryIds.length) === count ? entryIds.at(-1) : undefined;
}

function remedyText(unmet: Unmet | undefined, remedy: string, count: bigint): string {
  if (unmet === undefined || unmet.remedy === '') {
    return unmet?.canEverRun === false
      ? 'it never runs here as things are configured'
      : 'no single change would help';
  }
  const admits =
    count === 1n
      ? ''
      : `, which admits ${formatCount(unmet.remedyAdmits)} of ${formatCount(count)}`;
  return `${remedy}: ${oneLine(unmet.remedy)}${admits}`;
}

/** Capacity held whether used or not. */
export function renderFloors(
  floors: readonly FloorStatus[],
  { style, moments, limits }: StatusView,
): string {
  if (floors.length === 0) return '';
  const shown = floors.slice(0, limits.reasons);
  const rows = shown.map(({ id, text, count, held, until, unmet }) => [
    oneLine(id),
    `${formatCount(held)} of ${formatCount(count)} held`,
    oneLine(text),
    oneLine(joinWords([moments.until(until), unmet?.reason?.text], '; ')),
  ]);
  const titles = rows[0]?.map(() => ({ title: '' })) ?? [];
  return `${style.bold('FLOORS')}\n${renderTable(titles, rows)}${moreLine(floors.length - shown.length, 'floor')}`;
}
