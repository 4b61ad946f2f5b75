import type { HistoryStep, Host, Slice } from '../../api/gen/bellows/v1/status_pb.ts';
import { formatQuantity, formatUsd } from '../../api/format.ts';
import { resourceUnit } from '../../model/resources.ts';
import { fitLast } from './fit.ts';
import type { Moments } from './moment.ts';
import type { Style } from './style.ts';
import { type Column, renderTable } from './table.ts';
import { joinWords, oneLine, plural } from './words.ts';

/** How slices are shown. */
export interface SlicesView {
  readonly style: Style;
  readonly moments: Moments;
  /** Of the screen; Infinity where nothing needs to be cut. */
  readonly columns: number;
}

const columns: readonly Column[] = [
  { title: 'slice' },
  { title: 'group' },
  { title: 'status' },
  { title: 'for', align: 'right' },
  { title: 'hosts', align: 'right' },
  { title: 'use' },
  { title: '$/h', align: 'right' },
  { title: 'why' },
];

/** One row for each. */
export function renderSlices(slices: readonly Slice[], view: SlicesView): string {
  const { moments, style } = view;
  const rows = slices.map((slice) => [
    oneLine(slice.id),
    oneLine(slice.group),
    slice.status,
    moments.age(slice.statusSince),
    String(slice.hosts.length),
    useText(slice, moments),
    priceText(slice),
    whyText(slice),
  ]);
  return renderTable(columns, fitLast(columns, rows, view.columns), style.dim);
}

/** One slice with its hosts and its life so far. */
export function renderSlice(slice: Slice, view: SlicesView): string {
  const { style, moments } = view;
  const price = priceText(slice);
  const { drainDeadline: deadline } = slice;
  const facts: (readonly [string, string])[] = [
    ['group', joinWords([slice.group, slice.provider && `provider ${slice.provider}`])],
    ['status', `${slice.status} since ${moments.full(slice.statusSince)}`],
    ['why', slice.verdict?.text ?? ''],
    ['price', price === '-' ? 'not known' : `$${price}/h`],
    ['ready', slice.readyAt === undefined ? '' : `first at ${moments.full(slice.readyAt)}`],
    ['idle', slice.idleSince === undefined ? '' : `since ${moments.full(slice.idleSince)}`],
    ['deadline', deadline === undefined ? '' : `work may run ${moments.until(deadline)}`],
    ['held for', slice.reservedFor === '' ? '' : `gang ${slice.reservedFor}`],
    ['protected', slice.protected ? 'yes: no scale-down touches it' : ''],
  ];
  const known = facts
    .filter(([, text]) => text !== '')
    .map(([name, text]) => [name, oneLine(text)]);
  return [
    `${style.bold('SLICE')}  ${oneLine(slice.id)}\n`,
    renderTable([{ title: '' }, { title: '' }], known),
    renderHosts(slice.hosts, style),
    renderHistory(slice.history, view),
  ].join('');
}

function renderHosts(hosts: readonly Host[], style: Style): string {
  if (hosts.length === 0) return '';
  const titles = [
    { title: 'host', align: 'right' as const },
    { title: 'machine' },
    { title: 'use' },
    { title: 'free' },
  ];
  const rows = hosts.map(({ index, machineId, use, free }) => [
    String(index),
    machineId === '' ? '-' : oneLine(machineId),
    use,
    oneLine(roomText(free)),
  ]);
  return `\n${style.bold('HOSTS')}  ${hosts.length}\n${renderTable(titles, rows, style.dim)}`;
}

/** The steps of a slice's life, oldest first. */
export function renderHistory(
  history: readonly HistoryStep[],
  { style, moments }: SlicesView,
): string {
  if (history.length === 0) return '';
  const rows = history.map(({ at, event, status, cause }) => [
    moments.full(at),
    event,
    status,
    oneLine(cause),
  ]);
  const titles = [{ title: 'at' }, { title: 'event' }, { title: 'status' }, { title: 'why' }];
  return `\n${style.bold('HISTORY')}  ${plural(history.length, 'step')}\n${renderTable(titles, rows, style.dim)}`;
}

/** `busy`, `idle 4m12s`, `2 of 4 busy`, or `-` before there is anything to use. */
function useText({ hosts, idleSince }: Slice, moments: Moments): string {
  if (hosts.length === 0) return '-';
  if (idleSince !== undefined) return `idle ${moments.age(idleSince)}`;
  const uses = new Set(hosts.map(({ use }) => use));
  const [only] = uses;
  if (uses.size === 1 && only !== undefined) return only;
  const busy = hosts.filter(({ use }) => use !== 'idle').length;
  return `${busy} of ${hosts.length} busy`;
}

const priceText = ({ priceUsdPerHour: price }: Slice): string =>
  price === undefined ? '-' : formatUsd(Math.round(price * 1e6)).slice(1);

/** Why it stays or leaves, with the marks on it. */
function whyText({ verdict, reservedFor, protected: isProtected }: Slice): string {
  const marks = [
    reservedFor !== '' && verdict?.kind !== 'reserved' ? `held for ${reservedFor}` : null,
    isProtected && verdict?.kind !== 'protected' ? 'protected' : null,
  ];
  return oneLine(joinWords([verdict?.text, ...marks], '; '));
}

/** Amounts as the wire carries them: `cpu 2, memory 4GiB`. */
export function roomText(amounts: Readonly<Record<string, number>>): string {
  return Object.entries(amounts)
    .map(([name, amount]) => {
      const scale = resourceUnit(name) === 'bytes' ? 1 : 1_000;
      return `${name} ${formatQuantity(name, Math.round(amount * scale))}`;
    })
    .join(', ');
}
