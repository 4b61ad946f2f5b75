import {
  DRAIN_AGAIN_MS,
  QUEUED_MAX_MS,
  TERMINATING_MAX_MS,
  timeoutConsequences,
} from '../src/lifecycle/timeouts.ts';
import { transitions } from '../src/lifecycle/transitions.ts';
import {
  type CancelWhy,
  type DrainWhy,
  type SliceCause,
  type SliceEvent,
  sliceEvents,
  terminalStatuses,
} from '../src/model/slice-record.ts';
import { type SliceStatus, sliceStatuses } from '../src/model/slice.ts';

// docs/lifecycle.md, from the table that the code runs on. What the table cannot say stands here,
// in records that do not compile when a kind is missing.

const statusWords: Readonly<Record<SliceStatus, string>> = {
  queued: 'planned, not asked for: a rate or a pause holds it',
  requesting: 'asked for; no machine seen yet',
  booting: 'at least one machine seen, not all up',
  initializing: 'all machines up, software not yet',
  ready: 'all hosts can take work',
  draining: 'takes no new work; what runs may finish',
  terminating: 'release asked for; counts and costs until no machine is left',
  terminated: 'ended: no machine is left and none may come',
  failed: 'ended: refused by the provider, no machine ever came',
};

const eventWords: Readonly<Record<SliceEvent, string>> = {
  planned: 'a tick decided to launch it',
  adopted: 'machines with our tag were listed that nobody remembered',
  'launch-sent': 'the rates let it go; the call follows the record',
  'machines-seen': 'a list shows a machine of it',
  'hosts-up': 'every host runs',
  'hosts-ready': 'every host is ready, or up and reported on',
  refused: 'the provider is certain: nothing exists and nothing will',
  cancelled: 'given up before it was ready',
  'drain-started': 'told to take no new work',
  'drain-cancelled': 'refused, outlasted by work, or needed again',
  'drain-finished': 'every host said drained',
  'host-lost': 'a machine is gone, or lists that had time to show it do not',
  'timed-out': 'it waited too long in its status',
  'all-gone': 'a list begun long enough after the release shows nothing of it',
};

const timeoutWords: Readonly<Partial<Record<SliceStatus, string>>> = {
  queued: minutes(QUEUED_MAX_MS),
  requesting: '`timeouts.requesting` (120s)',
  booting: '`timeouts.booting` (10m)',
  initializing: '`timeouts.initializing` (10m)',
  draining: '`timeouts.draining` (30m), or the time that an operator or the provider set',
  terminating: minutes(TERMINATING_MAX_MS),
};

const causeWords: Readonly<Record<SliceCause['kind'], string>> = {
  'launched-for': 'what it was launched for: demand, min, spare or a floor',
  adopted: 'it was found, not launched',
  refused: 'the provider refused, with kind and words',
  timeout: 'the status that lasted too long, and how long',
  'host-lost': 'which host, which machine',
  'bootstrap-failed': 'which host, which machine, and what its bootstrap said last',
  preempted: 'which host, which machine: taken away by the provider',
  draining: 'why it drains, see below',
  'drain-refused': 'which host refused',
  'drain-outlasted': 'which host still had work at the deadline',
  'needed-again': 'work came back during the drain',
  cancelled: 'why it was given up, see below',
};

type Why = DrainWhy['kind'] | CancelWhy['kind'];
const whyWords: Readonly<Record<Why, readonly [where: string, meaning: string]>> = {
  idle: ['drain', 'without work for its idle timeout'],
  'above-max': ['drain, cancel', 'more slices than the max of its group'],
  outdated: ['drain, cancel', 'its group has another shape or bootstrap now'],
  'group-removed': ['drain, cancel', 'its group is no longer in the configuration'],
  interrupted: ['drain, cancel', 'the provider has announced to take it away'],
  'fallback-ended': ['drain', 'it stood in for a group that can launch again'],
  'surplus-machines': ['drain, cancel', 'more machines than hosts carry its tag'],
  operator: ['drain, cancel', 'somebody asked for it, with name and reason'],
  'not-needed': ['cancel', 'nothing needs it any more'],
  'gang-rolled-back': ['cancel', 'its gang did not come together in time'],
  'group-troubled': ['cancel', 'not sent yet, and its group cannot launch now'],
};

function minutes(ms: number): string {
  return `${ms / 60_000}m, fixed`;
}

const row = (...cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const rule = `|${head.map(() => '---').join('|')}|`;
  return [row(...head), rule, ...rows.map((cells) => row(...cells))].join('\n');
}

function diagram(): string {
  const lines = ['stateDiagram-v2', '  [*] --> queued: planned', '  [*] --> booting: adopted'];
  for (const from of sliceStatuses) {
    // Events that lead to the same status share an arrow.
    const arrows = new Map<SliceStatus, string[]>();
    for (const [event, to] of Object.entries(transitions[from])) {
      arrows.set(to, [...(arrows.get(to) ?? []), event]);
    }
    for (const [to, events] of arrows) lines.push(`  ${from} --> ${to}: ${events.join(', ')}`);
    if (terminalStatuses.has(from)) lines.push(`  ${from} --> [*]`);
  }
  return lines.join('\n');
}

function transitionTable(): string {
  const rows = sliceStatuses.flatMap((from) =>
    Object.entries(transitions[from]).map(([event, to]) => [
      `\`${from}\``,
      `\`${event}\``,
      `\`${to}\``,
    ]),
  );
  return table(['from', 'event', 'to'], rows);
}

function timeoutTable(): string {
  const rows = sliceStatuses.flatMap((status) => {
    const consequence = timeoutConsequences[status];
    return consequence === undefined
      ? []
      : [[`\`${status}\``, timeoutWords[status] ?? '', consequence]];
  });
  return table(['status', 'limit', 'then'], rows);
}

const listed = (words: Readonly<Record<string, string>>): readonly (readonly string[])[] =>
  Object.entries(words).map(([name, meaning]) => [`\`${name}\``, meaning]);

/** The whole page. */
export function renderLifecyclePage(): string {
  const whys = Object.entries(whyWords).map(([name, cells]) => [`\`${name}\``, ...cells]);
  const events = sliceEvents.map((name) => [`\`${name}\``, eventWords[name]]);
  return `# The life of a slice

<!-- Made by \`npm run docs:lifecycle\` from src/lifecycle. Do not edit: a test compares. -->

\`\`\`mermaid
${diagram()}
\`\`\`

## Statuses

${table(['status', 'meaning'], listed(statusWords))}

A slice is ready when all its hosts are; it is lost, drained and replaced as a unit. What is queued, requesting,
booting or initializing is capacity on its way and counts as capacity everywhere. What is draining or terminating
counts against every bound until no machine is left.

## Transitions

An event that is not listed for a status means nothing there: late, repeated or overtaken. It is refused and changes
nothing.

${transitionTable()}

## Events

${table(['event', 'what happened'], events)}

A machine is lost, and a released slice gone, only when a list that began later than the provider's list lag after
the fact does not show it. A machine that the provider itself calls gone is gone at once.

## Timeouts

${timeoutTable()}

A drain that was refused, outlasted or called off is not begun again for another reason within ${DRAIN_AGAIN_MS / 60_000}
minutes, and its time without work begins anew.

## Causes

Every slice says why it is in its status.

${table(['cause', 'says'], listed(causeWords))}

Why a slice is made to leave though nothing is wrong with it:

${table(['why', 'of a', 'meaning'], whys)}

## The same in other words

| ours | Iris | Ray | Skyward |
|---|---|---|---|
| queued | - | QUEUED | - |
| requesting | REQUESTING | REQUESTED | pending |
| booting | BOOTING | ALLOCATED | pending |
| initializing | INITIALIZING | RAY_INSTALLING | pending |
| ready | READY | RAY_RUNNING | current |
| draining | - | RAY_STOP_REQUESTED, RAY_STOPPING, RAY_STOPPED | draining |
| terminating, terminated | TERMINATED | TERMINATING, TERMINATED | - |
| failed | FAILED | ALLOCATION_FAILED | lost |
`;
}
