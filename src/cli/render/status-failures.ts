import type { Event, PauseStatus, TroubleStatus } from '../../api/gen/bellows/v1/status_pb.ts';
import type { StatusView } from './status-view.ts';
import { joinWords, moreLine, oneLine, plural, shorten } from './words.ts';

/** Events that somebody should look at. A refused slice also has its `launch-refused`. */
const badKinds: ReadonlySet<string> = new Set([
  'launch-refused',
  'backoff-started',
  'gang-rolled-back',
  'provider-silent',
  'garbage-dropped',
]);
const badSteps: ReadonlySet<unknown> = new Set(['host-lost', 'timed-out']);

export function isFailure({ kind, fields }: Event): boolean {
  return badKinds.has(kind) || (kind === 'slice-moved' && badSteps.has(fields?.['event']));
}

/** What is stopped, by whom, and how to end it. */
export function renderPauses(pauses: readonly PauseStatus[], view: StatusView): string {
  const { style, moments, limits, columns } = view;
  const lines = pauses.slice(0, limits.pauses).map(({ id, what, group, author, reason, until }) => {
    const stopped = what === 'both' ? 'launches and terminations' : what;
    const where = group === '' ? '' : ` of ${group}`;
    const end = until === undefined ? `until \`bellows resume ${id}\`` : moments.until(until);
    const text = oneLine(`${stopped}${where} by ${author} ${end}: ${reason} (${id})`);
    return `${style.bold(style.warn('PAUSED'))}  ${shorten(text, columns - 8)}\n`;
  });
  return lines.join('') + moreLine(pauses.length - lines.length, 'pause');
}

/** Where nothing can be had for a while. */
export function renderTroubles(troubles: readonly TroubleStatus[], view: StatusView): string {
  const { style, moments, limits, columns } = view;
  if (troubles.length === 0) return '';
  const lines = troubles.slice(0, limits.troubles).map((trouble) => {
    const { scope, name, kind, attempts, until, detail } = trouble;
    const times = attempts > 1 ? plural(attempts, 'refusal') : null;
    const where = `${scope.replaceAll('-', ' ')} ${name}`;
    const text = joinWords([`${kind} in ${where}`, moments.until(until), times, detail]);
    return `  ${shorten(oneLine(text), columns - 2)}\n`;
  });
  const title = `${style.bold(style.warn('TROUBLE'))}\n`;
  return title + lines.join('') + moreLine(troubles.length - lines.length, 'trouble');
}

/** The last things that went wrong, newest first. */
export function renderFailures(events: readonly Event[], view: StatusView): string {
  const { style, moments, limits, columns } = view;
  const failures = events.filter(isFailure).slice(0, limits.failures);
  if (failures.length === 0) return '';
  const lines = failures.map(
    ({ at, text }) => `  ${shorten(`${moments.full(at)}  ${oneLine(text)}`, columns - 2)}\n`,
  );
  return `${style.bold('FAILURES')}  the last ${lines.length}\n${lines.join('')}`;
}
