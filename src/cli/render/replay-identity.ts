import { renderPath } from '../../config/problem.ts';
import type { FaultyTick, IdentityReport, TickFault } from '../../replay/identity.ts';
import type { EpochMs } from '../../model/ids.ts';
import { unreachable } from '../../support/assert.ts';
import type { Style } from './style.ts';

/** Letters of a value that a difference shows. */
const VALUE_LENGTH_MAX = 200;

interface Shown {
  readonly journal: string;
  readonly fleet: string;
  readonly tookMs: number;
  readonly report: IdentityReport;
}

/** What came of running recorded ticks again, to be read and to be pasted. */
export function renderIdentity({ journal, fleet, tookMs, report }: Shown, style: Style): string {
  const { ticks, identical, different, missing, gaps, firstMs, lastMs, faults } = report;
  const unproven = ticks - identical;
  const lines = [
    `${style.bold('REPLAY')}  ${fleet}, ${journal}`,
    `  ticks      ${ticks}, from ${formatTime(firstMs)} to ${formatTime(lastMs)}`,
    `  identical  ${identical}`,
    `  different  ${different}`,
    ...(missing > 0 ? [`  not run    ${missing}, parts of them are gone from the journal`] : []),
    ...(gaps > 0
      ? [`  gaps       ${gaps} ticks between the first and the last are not there`]
      : []),
    `  speed      ${speedOf(ticks, tookMs)} ticks/s, ${(tookMs / ticks).toFixed(2)} ms each`,
    '',
  ];
  if (unproven === 0) {
    lines.push(style.good('IDENTICAL  every tick came out as it was recorded, byte for byte'));
  } else {
    const more = unproven > faults.length ? `, the first ${faults.length} of them` : '';
    lines.push(style.bad(`NOT PROVEN  ${unproven} of ${ticks} ticks${more}`));
    for (const faulty of faults) lines.push(...describeTick(faulty));
  }
  return `${lines.join('\n')}\n`;
}

export function toIdentityJson({ journal, fleet, tookMs, report }: Shown): unknown {
  const { firstMs, lastMs, faults, ...counts } = report;
  return {
    format: 'bellows-replay/1',
    journal,
    fleet,
    from: toIso(firstMs),
    to: toIso(lastMs),
    ...counts,
    isIdentical: counts.identical === counts.ticks,
    ticksPerSecond: speedOf(counts.ticks, tookMs),
    faults: faults.map(({ seq, epoch, atMs, fault }) => {
      return { seq, epoch, at: toIso(atMs), ...toFaultJson(fault) };
    }),
  };
}

/** `2026-01-01 10:04:20Z`, which sorts and pastes well. */
export const formatTime = (atMs: EpochMs | null): string =>
  toIso(atMs)
    .replace('T', ' ')
    .replace(/\.\d+Z$/, 'Z');

/** Years beyond 275760 have no date. */
export const toIso = (atMs: EpochMs | null): string =>
  new Date(Math.min(atMs ?? 0, 8.64e15)).toISOString();

const speedOf = (ticks: number, tookMs: number): number => Math.round((ticks * 1_000) / tookMs);

function describeTick({ seq, epoch, atMs, fault }: FaultyTick): readonly string[] {
  return [`  tick ${seq} of epoch ${epoch}, ${formatTime(atMs)}`, ...describeFault(fault)];
}

function describeFault(fault: TickFault): readonly string[] {
  switch (fault.kind) {
    case 'different': {
      const { path, was, is } = fault.difference;
      return [`    ${nameOf(path)}`, `      was  ${show(was)}`, `      is   ${show(is)}`];
    }
    case 'reordered':
      return ['    the same values, written in another order'];
    case 'failed':
      return [`    could not be decided again: ${fault.message}`];
    case 'missing':
      return [`    not run, gone from the journal: ${fault.parts.join(', ')}`];
    default:
      return unreachable(fault);
  }
}

function toFaultJson(fault: TickFault): object {
  if (fault.kind !== 'different') return fault;
  const { path, was, is } = fault.difference;
  return { kind: fault.kind, path: nameOf(path), was: was ?? null, is: is ?? null };
}

const nameOf = (path: readonly (string | number)[]): string =>
  path.length === 0 ? 'all of it' : renderPath(path);

function show(value: unknown): string {
  if (value === undefined) return 'nothing';
  const text = JSON.stringify(value);
  return text.length > VALUE_LENGTH_MAX ? `${text.slice(0, VALUE_LENGTH_MAX)}...` : text;
}
