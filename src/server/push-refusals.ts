import { Code, ConnectError } from '@connectrpc/connect';
import { describeValue } from '../config/problem.ts';
import type { CommandAnswer } from '../controller/commands.ts';
import { unreachable } from '../support/assert.ts';
import type { PageHead } from './codec/page.ts';
import type { PageStanding } from './push-staging.ts';

/** What to tell a scheduler whose push was not taken: what is current, and what to do. */
export function refusePush(
  { source, generation, baseGeneration }: PageHead,
  answer: CommandAnswer,
): ConnectError {
  const name = describeValue(source);
  switch (answer.kind) {
    case 'stale-generation': {
      const is = `generation ${generation} of ${name} is older than ${answer.generation}, the current`;
      return refused(`${is} one; push the full set with a generation above ${answer.generation}`);
    }
    case 'generation-reused': {
      const was = `generation ${generation} of ${name} was pushed before with other content`;
      return refused(`${was}; push the full set with a generation above ${answer.generation}`);
    }
    case 'wrong-base': {
      if (answer.generation === null) {
        return refused(`nothing of ${name} is held, or no longer; push the full set`);
      }
      const current = answer.generation;
      const base = baseGeneration ?? generation;
      const is = `base_generation ${base} of ${name} is not ${current}, the current one`;
      return refused(`${is}; push what changed since ${current}, or the full set above ${current}`);
    }
    case 'done':
    case 'unknown-slice':
    case 'unknown-pause':
    case 'too-late':
      return new ConnectError(`a push was answered with ${answer.kind}`, Code.Internal);
    default:
      return unreachable(answer);
  }
}

/** What to tell of a page that does not follow those before it; null: there are none. */
export function refusePage(
  { page, generation, source }: PageHead,
  standing: PageStanding | null,
  awaited: number,
): ConnectError {
  const itself = `page ${page} of generation ${generation} of ${describeValue(source)}`;
  const again = 'start again with page 0';
  if (standing === 'too-early') {
    return refused(`${itself} came before page ${awaited}; push that one first, or ${again}`);
  }
  if (standing === 'other-content') {
    return refused(`${itself} was pushed before with other content; ${again}`);
  }
  const why = 'pages are kept for 2 min, until a restart, a newer generation or the last page';
  return refused(`the pages before ${itself} are not here (${why}); ${again}`);
}

export const tooMuch = (message: string): ConnectError =>
  new ConnectError(message, Code.ResourceExhausted);

const refused = (message: string): ConnectError =>
  new ConnectError(message, Code.FailedPrecondition);
