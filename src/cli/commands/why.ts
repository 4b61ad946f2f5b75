import { ExplainResponseSchema } from '../../api/gen/bellows/v1/autoscaler_pb.ts';
import { type ServerOptions, runRemote } from '../client.ts';
import { jsonDocument, toJsonValue } from '../json.ts';
import { exitCodes } from '../output.ts';
import { renderExplanation } from '../render/explanation.ts';
import type { Surroundings } from '../surroundings.ts';
import { createView } from '../view.ts';

/** `bellows why ENTRY|SLICE|GROUP`: why it is as it is, what else there was, what would help. */
export function runWhy(
  subject: string,
  options: ServerOptions,
  around: Surroundings,
): Promise<number> {
  return runRemote(options, around, async ({ client, fleet }) => {
    const answer = await client.explain({ fleet, subject });
    around.out.stdout(
      options.json === true
        ? jsonDocument(toJsonValue(ExplainResponseSchema, answer))
        : renderExplanation(answer, createView(around)),
    );
    return exitCodes.ok;
  });
}
