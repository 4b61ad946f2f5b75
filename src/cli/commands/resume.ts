import { ResumeResponseSchema } from '../../api/gen/bellows/v1/autoscaler_pb.ts';
import { type ServerOptions, runRemote } from '../client.ts';
import { jsonDocument, toJsonValue } from '../json.ts';
import { exitCodes } from '../output.ts';
import { plural } from '../render/words.ts';
import type { Surroundings } from '../surroundings.ts';

/** `bellows resume [ID]`: ends one pause, or all of the fleet. */
export function runResume(
  pauseId: string | undefined,
  options: ServerOptions,
  around: Surroundings,
): Promise<number> {
  return runRemote(options, around, async ({ client, fleet }) => {
    const answer = await client.resume({ fleet, pauseId: pauseId ?? '' });
    const { pauseIds } = answer;
    const text =
      pauseIds.length === 0
        ? 'nothing was paused\n'
        : `resumed: ${plural(pauseIds.length, 'pause')} ended (${pauseIds.join(', ')})\n`;
    const json = (): string => jsonDocument(toJsonValue(ResumeResponseSchema, answer));
    around.out.stdout(options.json === true ? json() : text);
    return exitCodes.ok;
  });
}
