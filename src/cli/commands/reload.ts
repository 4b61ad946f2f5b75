import {
  type ReloadConfigResponse,
  ReloadConfigResponseSchema,
} from '../../api/gen/bellows/v1/autoscaler_pb.ts';
import { type ServerOptions, runRemote } from '../client.ts';
import { jsonDocument, toJsonValue } from '../json.ts';
import { exitCodes } from '../output.ts';
import { formatDollars } from '../render/status.ts';
import { renderTable } from '../render/table.ts';
import { oneLine, plural } from '../render/words.ts';
import type { Surroundings } from '../surroundings.ts';
import { createView } from '../view.ts';

interface ReloadOptions extends ServerOptions {
  readonly dryRun?: unknown;
}

/** `bellows reload [--dry-run]`: reads the configuration again, and says what changes by it. */
export function runReload(options: ReloadOptions, around: Surroundings): Promise<number> {
  return runRemote(options, around, async ({ client, fleet }) => {
    const dryRun = options.dryRun === true;
    const answer = await client.reloadConfig({ fleet, dryRun });
    around.out.stdout(
      options.json === true
        ? jsonDocument(toJsonValue(ReloadConfigResponseSchema, answer))
        : renderChange(answer, dryRun, around),
    );
    return exitCodes.ok;
  });
}

function renderChange(answer: ReloadConfigResponse, isDryRun: boolean, around: Surroundings) {
  const { style } = createView(around);
  const { changes } = answer;
  if (changes.length === 0) return 'the configuration is read; nothing changes\n';
  const done = isDryRun ? 'would change' : 'changed';
  const title = `${style.bold('CONFIG')}  ${plural(changes.length, 'thing')} ${done}\n`;
  const lines = changes.map((change) => `  ${oneLine(change)}\n`).join('');
  const columns = [
    { title: '' },
    { title: 'before', align: 'right' as const },
    { title: 'after', align: 'right' as const },
  ];
  const rows = [
    ['launches', String(answer.launchesBefore), String(answer.launchesAfter)],
    ['given back', String(answer.releasesBefore), String(answer.releasesAfter)],
    ['$/h then', formatDollars(answer.usdPerHourBefore), formatDollars(answer.usdPerHourAfter)],
  ];
  const next = `\n${style.bold('NEXT DECISION')}\n${renderTable(columns, rows, style.dim)}`;
  const last = isDryRun ? 'nothing was changed; `bellows reload` does it\n' : '';
  return `${title}${lines}${next}${last}`;
}
