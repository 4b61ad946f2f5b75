import { randomBytes } from 'node:crypto';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError, type ServiceImpl } from '@connectrpc/connect';
import type { MessageInitShape } from '@bufbuild/protobuf';
import type {
  AutoscalerService,
  PauseRequest,
  ReloadConfigResponseSchema,
} from '../api/gen/bellows/v1/autoscaler_pb.ts';
import { describeValue, renderProblem } from '../config/problem.ts';
import type { CommandAnswer } from '../controller/commands.ts';
import { epochMs, groupName, type GroupName, sliceId } from '../model/ids.ts';
import type { Pause } from '../model/pause.ts';
import type { Clock } from '../ports/clock.ts';
import { nearestName } from '../support/nearest.ts';
import { authorOf, type Caller, callerOf } from './caller.ts';
import { readDrain, readPause, readSliceId } from './codec/operator.ts';
import { inTime, obeyed } from './durable.ts';
import { fleetOf, type ReloadOutcome, type ServedFleet } from './served-fleet.ts';

type OperatorRoutes = Pick<
  ServiceImpl<typeof AutoscalerService>,
  'drainSlice' | 'protectSlice' | 'pause' | 'resume' | 'reloadConfig'
>;

/** Pauses of one fleet; more of them say nothing new. */
const PAUSES_MAX = 1_000;
/** Ids compared letter by letter, those most alike at the start. */
const NEAR_IDS_MAX = 200;
/** Names listed in a message before it says "...". */
const LISTED_MAX = 10;

/** What people ask of a fleet. Answered once it is durable. */
export function operatorRoutes(
  fleets: readonly ServedFleet[],
  { clock }: { readonly clock: Clock },
): OperatorRoutes {
  return {
    async drainSlice(request, context) {
      const fleet = fleetOf(fleets, request.fleet);
      const { id, reason, spanMs } = readDrain(request);
      const author = authorOf(callerOf(context), request.author);
      const deadlineMs = spanMs === null ? null : epochMs(fleet.controller.now + spanMs);
      const command = { kind: 'drain-slice', sliceId: sliceId(id), author, reason } as const;
      const answer = await obeyed(fleet, { ...command, deadlineMs }, clock);
      checkSlice(answer, { fleet, id, verb: 'drain' });
      return { status: findStatus(fleet, id) };
    },

    async protectSlice(request) {
      const fleet = fleetOf(fleets, request.fleet);
      const id = readSliceId(request.sliceId);
      const isProtected = !request.undo;
      const command = { kind: 'protect-slice', sliceId: sliceId(id), isProtected } as const;
      const verb = isProtected ? 'protect' : 'unprotect';
      checkSlice(await obeyed(fleet, command, clock), { fleet, id, verb });
      return {};
    },

    async pause(request, context) {
      const fleet = fleetOf(fleets, request.fleet);
      const pause = toPause(fleet, request, callerOf(context));
      await obeyed(fleet, { kind: 'pause', pause }, clock);
      const { id: pauseId, untilMs } = pause;
      return { pauseId, ...(untilMs === null ? {} : { until: timestampFromMs(untilMs) }) };
    },

    async resume(request) {
      const fleet = fleetOf(fleets, request.fleet);
      const { pauseId } = request;
      const ids = fleet.controller.held.pauses.map(({ id }) => id);
      const wanted = pauseId === '' ? ids : [pauseId];
      const answers = await Promise.all(
        wanted.map((id) => obeyed(fleet, { kind: 'resume', pauseId: id }, clock)),
      );
      const ended = wanted.filter((_, n) => answers[n]?.kind === 'done');
      // One that ended by itself meanwhile is no mistake; one that was named and is not there is.
      if (pauseId !== '' && ended.length === 0) throw unknownPause(pauseId, ids);
      return { pauseIds: ended };
    },

    async reloadConfig(request) {
      const fleet = fleetOf(fleets, request.fleet);
      const reloading = fleet.reload({ isDryRun: request.dryRun });
      return toReloadResponse(await inTime(reloading, fleet, clock));
    },
  };
}

function toPause(fleet: ServedFleet, request: PauseRequest, caller: Caller): Pause {
  const { what, group, reason, ttlMs } = readPause(request);
  const { controller, name } = fleet;
  const { pauses } = controller.held;
  if (pauses.length >= PAUSES_MAX) {
    const message = `fleet ${name} has ${pauses.length} pauses; end some with Resume`;
    throw new ConnectError(message, Code.ResourceExhausted);
  }
  const sinceMs = controller.now;
  return {
    id: mintPauseId(pauses),
    what,
    group: group === '' ? null : findGroup(fleet, group),
    author: authorOf(caller, request.author),
    reason,
    sinceMs,
    untilMs: ttlMs === null ? null : epochMs(sinceMs + ttlMs),
  };
}

function toReloadResponse(
  outcome: ReloadOutcome,
): MessageInitShape<typeof ReloadConfigResponseSchema> {
  if (outcome.kind === 'refused') {
    const lines = outcome.problems.map(renderProblem);
    const message = ['the old configuration keeps running:', ...lines].join('\n');
    throw new ConnectError(message, Code.FailedPrecondition);
  }
  const { lines, launches, releases, microUsdPerHour } = outcome.change;
  return {
    changes: [...lines],
    launchesBefore: launches.before,
    launchesAfter: launches.after,
    releasesBefore: releases.before,
    releasesAfter: releases.after,
    usdPerHourBefore: microUsdPerHour.before / 1e6,
    usdPerHourAfter: microUsdPerHour.after / 1e6,
  };
}

function checkSlice(
  answer: CommandAnswer,
  { fleet, id, verb }: { readonly fleet: ServedFleet; readonly id: string; readonly verb: string },
): void {
  if (answer.kind === 'unknown-slice') throw unknownSlice(fleet, id);
  if (answer.kind === 'too-late') {
    const message = `slice ${id} is ${answer.status}; it is too late to ${verb} it`;
    throw new ConnectError(message, Code.FailedPrecondition);
  }
}

function unknownSlice({ controller, name }: ServedFleet, id: string): ConnectError {
  const known = [...controller.slices()].map((slice): string => slice.id);
  // With thousands of slices, only those that begin alike are worth the time.
  const alike = known
    .map((one) => ({ one, length: commonLength(one, id) }))
    .sort((a, b) => b.length - a.length || (a.one < b.one ? -1 : 1))
    .slice(0, NEAR_IDS_MAX);
  const near = nearestName(
    id,
    alike.map(({ one }) => one),
  );
  const remedy = near === null ? 'ListSlices has them all' : `did you mean ${near}?`;
  const message = `no slice ${describeValue(id)} in fleet ${name}; ${remedy}`;
  return new ConnectError(message, Code.NotFound);
}

function commonLength(a: string, b: string): number {
  let length = 0;
  while (length < a.length && length < b.length && a[length] === b[length]) length++;
  return length;
}

function findStatus({ controller }: ServedFleet, id: string): string {
  for (const slice of controller.slices()) if (slice.id === id) return slice.status;
  return 'terminated';
}

/** Groups that are retired can be paused too: they drain. */
function findGroup({ controller, name }: ServedFleet, group: string): GroupName {
  const names = controller.control.fleet.groups.map((one): string => one.name);
  if (names.includes(group)) return groupName(group);
  const near = nearestName(group, names);
  const remedy = near === null ? `there is ${list(names)}` : `did you mean ${near}?`;
  const message = `no group ${describeValue(group)} in fleet ${name}; ${remedy}`;
  throw new ConnectError(message, Code.NotFound);
}

function unknownPause(id: string, known: readonly string[]): ConnectError {
  const rest = known.length === 0 ? 'nothing is paused' : `there is ${list(known)}`;
  return new ConnectError(`no pause ${describeValue(id)}; ${rest}`, Code.NotFound);
}

const list = (names: readonly string[]): string =>
  [...names.slice(0, LISTED_MAX), ...(names.length > LISTED_MAX ? ['...'] : [])].join(', ');

/** Short enough to type; there are few at a time. */
function mintPauseId(pauses: readonly Pause[]): string {
  for (;;) {
    const id = `p-${randomBytes(3).toString('hex')}`;
    if (!pauses.some((pause) => pause.id === id)) return id;
  }
}
