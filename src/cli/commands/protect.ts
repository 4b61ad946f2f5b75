import { ProtectSliceResponseSchema } from '../../api/gen/bellows/v1/autoscaler_pb.ts';
import { type ServerOptions, runRemote } from '../client.ts';
import { jsonDocument, toJsonValue } from '../json.ts';
import { exitCodes } from '../output.ts';
import { oneLine } from '../render/words.ts';
import type { Surroundings } from '../surroundings.ts';

interface ProtectOptions extends ServerOptions {
  readonly undo?: unknown;
}

/** `bellows protect SLICE [--undo]`: keeps scale-down from a slice, or allows it again. */
export function runProtect(
  sliceId: string,
  options: ProtectOptions,
  around: Surroundings,
): Promise<number> {
  return runRemote(options, around, async ({ client, fleet }) => {
    const undo = options.undo === true;
    const answer = await client.protectSlice({ fleet, sliceId, undo });
    const name = oneLine(sliceId);
    const text = undo
      ? `slice ${name} is no longer protected: scale-down may touch it\n`
      : `slice ${name} is protected: no scale-down touches it until bellows protect ${name} --undo\n`;
    const json = (): string => jsonDocument(toJsonValue(ProtectSliceResponseSchema, answer));
    around.out.stdout(options.json === true ? json() : text);
    return exitCodes.ok;
  });
}
