import { PauseResponseSchema } from '../../api/gen/bellows/v1/autoscaler_pb.ts';
import { type ServerOptions, runRemote } from '../client.ts';
import { jsonDocument, toJsonValue } from '../json.ts';
import { durationOf, requireText, textOf, toWireDuration, wordOf } from '../option-values.ts';
import { exitCodes } from '../output.ts';
import { oneLine } from '../render/words.ts';
import type { Surroundings } from '../surroundings.ts';
import { createView } from '../view.ts';

interface PauseOptions extends ServerOptions {
  readonly what?: unknown;
  readonly group?: unknown;
  readonly for?: unknown;
  readonly reason?: unknown;
}

const TIMES = { minMs: 1_000, maxMs: 365 * 86_400_000 };

/** `bellows pause --reason TEXT`: stops launches, terminations or both, of a group or the fleet. */
export function runPause(options: PauseOptions, around: Surroundings): Promise<number> {
  return runRemote(options, around, async ({ client, fleet }) => {
    const what = wordOf('--what', textOf(options.what) ?? 'both', [
      'launches',
      'terminations',
      'both',
    ]);
    const group = textOf(options.group) ?? '';
    const reason = requireText('--reason', options.reason, 'say why, for those who ask later');
    const ttlMs = durationOf('--for', options.for, TIMES);
    const answer = await client.pause({
      fleet,
      what,
      group,
      reason,
      author: around.userName,
      ...(ttlMs === null ? {} : { ttl: toWireDuration(ttlMs) }),
    });
    const { out } = around;
    if (options.json === true) {
      out.stdout(jsonDocument(toJsonValue(PauseResponseSchema, answer)));
      return exitCodes.ok;
    }
    const { moments } = createView(around);
    const stopped = what === 'both' ? 'launches and terminations' : what;
    const where = group === '' ? 'the whole fleet' : `group ${oneLine(group)}`;
    const until = answer.until === undefined ? '' : ` ${moments.until(answer.until)}`;
    out.stdout(
      `paused ${stopped} of ${where}${until}\nend it with: bellows resume ${answer.pauseId}\n`,
    );
    return exitCodes.ok;
  });
}
