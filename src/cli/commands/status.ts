import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import {
  GetAutoscalerStatusResponseSchema,
  WatchStatusResponseSchema,
} from '../../api/gen/bellows/v1/autoscaler_pb.ts';
import type { AutoscalerStatus } from '../../api/gen/bellows/v1/status_pb.ts';
import { type Remote, type ServerOptions, runRemote } from '../client.ts';
import { jsonDocument, jsonLine, toJsonValue } from '../json.ts';
import { createLiveScreen } from '../live-screen.ts';
import { CommandError } from '../option-values.ts';
import { exitCodes } from '../output.ts';
import { createOutageTeller } from '../patience.ts';
import { createMoments } from '../render/moment.ts';
import { renderStatus, statusLine } from '../render/status.ts';
import { noLimits, screenLimits } from '../render/status-view.ts';
import { watchStatus } from '../status-stream.ts';
import type { Surroundings } from '../surroundings.ts';
import { createView } from '../view.ts';

interface StatusOptions extends ServerOptions {
  readonly watch?: unknown;
  readonly all?: unknown;
}

/** Ages on the screen grow also while nothing happens. */
const REDRAW_MS = 1_000;

/** `bellows status`: all about the last decision on one screen, or, with `--watch`, again and again. */
export function runStatus(options: StatusOptions, around: Surroundings): Promise<number> {
  return runRemote(options, around, async (remote) => {
    if (options.watch === true) {
      if (options.json === true) return watchJson(remote, around);
      return around.screen() === null
        ? watchLines(remote, around)
        : watchScreen(remote, options, around);
    }
    const answer = await remote.client.getAutoscalerStatus({ fleet: remote.fleet });
    const { out } = around;
    if (options.json === true) {
      out.stdout(jsonDocument(toJsonValue(GetAutoscalerStatusResponseSchema, answer)));
      return exitCodes.ok;
    }
    if (answer.status === undefined) {
      throw new CommandError(
        'the server has no status yet; ask again in a moment',
        exitCodes.failed,
      );
    }
    out.stdout(renderNow(answer.status, options, around));
    return exitCodes.ok;
  });
}

function renderNow(status: AutoscalerStatus, { all }: StatusOptions, around: Surroundings): string {
  const limits = all === true ? noLimits : screenLimits;
  return renderStatus(status, { ...createView(around), limits });
}

async function watchJson(remote: Remote, around: Surroundings): Promise<number> {
  const teller = createOutageTeller(remote, around);
  for await (const update of watchStatus(remote, teller, around.interrupted())) {
    if (update.status === undefined) continue;
    around.out.stdout(jsonLine(toJsonValue(WatchStatusResponseSchema, update)));
  }
  return exitCodes.ok;
}

/** One line for each change that is worth a line. */
async function watchLines(remote: Remote, around: Surroundings): Promise<number> {
  const { out, nowMs, timeZone } = around;
  let last = '';
  const teller = createOutageTeller(remote, around);
  for await (const { status } of watchStatus(remote, teller, around.interrupted())) {
    const line = status === undefined ? last : statusLine(status);
    if (line === last) continue;
    last = line;
    const at = status?.decidedAt ?? timestampFromMs(nowMs());
    out.stdout(`${createMoments(nowMs(), timeZone).clock(at)}  ${line}\n`);
  }
  return exitCodes.ok;
}

/** The whole status, drawn over itself. */
async function watchScreen(
  remote: Remote,
  options: StatusOptions,
  around: Surroundings,
): Promise<number> {
  const live = createLiveScreen(around.out, around.screen);
  let status: AutoscalerStatus | null = null;
  let notice = '';
  const draw = (): void => {
    if (status !== null) live.draw(`${notice}${renderNow(status, options, around)}`);
  };
  const { warn } = createView(around).style;
  const teller = {
    away: () => {
      notice = `${warn(`${remote.address.url} is away; trying again every second`)}\n`;
      draw();
    },
    back: () => void (notice = ''),
  };
  const timer = setInterval(draw, REDRAW_MS);
  try {
    for await (const update of watchStatus(remote, teller, around.interrupted())) {
      if (update.status !== undefined) status = update.status;
      draw();
    }
  } finally {
    clearInterval(timer);
  }
  return exitCodes.ok;
}
