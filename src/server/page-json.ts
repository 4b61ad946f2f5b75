import { fromJsonString } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import {
  type Entry,
  EntrySchema,
  type PushDemandRequest,
  PushDemandRequestSchema,
} from '../api/gen/bellows/v1/demand_pb.ts';
import { must } from '../support/assert.ts';
import type { Turns } from '../support/turns.ts';

const ENTRIES_PER_TURN = 250;
const CHARACTERS_PER_TURN = 2 ** 18;

/**
 * A page of pending work in JSON, decoded a few entries at a time: all of it at once takes longer
 * than others should have to wait. Null when the text is not so plain that its entries can be told
 * apart: then it is decoded in one go, and what is wrong with it is said there.
 */
export function* readPageJson(text: string): Turns<PushDemandRequest | null> {
  const split = yield* splitEntries(text);
  if (split === null) return null;
  const { from, to, cuts } = split;
  const page = decode(() =>
    fromJsonString(PushDemandRequestSchema, `${text.slice(0, from)}${text.slice(to)}`, strictly),
  );
  const entries: Entry[] = [];
  for (let n = 0; n + 1 < cuts.length; n++) {
    if (n > 0 && n % ENTRIES_PER_TURN === 0) yield;
    const entry = text.slice(cuts[n], must(cuts[n + 1], 'the end of an entry') - 1);
    entries.push(decode(() => fromJsonString(EntrySchema, entry, strictly), `entries[${n}]: `));
  }
  page.entries = entries;
  return page;
}

const strictly = { ignoreUnknownFields: false } as const;

/** What cannot be decoded is the sender's fault. */
function decode<T>(read: () => T, where = ''): T {
  try {
    return read();
  } catch (error) {
    const { rawMessage } = ConnectError.from(error);
    throw new ConnectError(`${where}${rawMessage}`, Code.InvalidArgument);
  }
}

/** Where the entries are: all of them, and where each begins, one character after the last one's end. */
interface Split {
  readonly from: number;
  readonly to: number;
  readonly cuts: readonly number[];
}

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const [OPEN_LIST, CLOSE_LIST, OPEN, CLOSE] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Finds `"entries": [...]` of the outermost object. Looks at brackets, commas and strings alone;
 * whether the rest is JSON its decoding shows. Null when there is no such list, or not just one.
 */
function* splitEntries(text: string): Turns<Split | null> {
  let depth = 0;
  let split: { from: number; to: number; cuts: number[] } | null = null;
  /** The last string of the outermost object, since its last comma. */
  let key = '';
  let stop = CHARACTERS_PER_TURN;
  for (let at = 0; at < text.length; at++) {
    const isInList = split?.to === 0 && depth === 2;
    switch (text.charCodeAt(at)) {
      case QUOTE: {
        const end = endOfString(text, at);
        if (depth === 1) key = text.slice(at + 1, end);
        at = end;
        break;
      }
      case OPEN_LIST:
        if (depth === 1 && key === 'entries') {
          if (split !== null) return null;
          split = { from: at + 1, to: 0, cuts: [at + 1] };
        }
        depth++;
        break;
      case OPEN:
        depth++;
        break;
      case COMMA:
        if (isInList) split?.cuts.push(at + 1);
        else if (depth === 1) key = '';
        break;
      case CLOSE_LIST:
      case CLOSE:
        depth--;
        if (isInList && split !== null) {
          split.cuts.push(at + 1);
          split.to = at;
        }
        break;
      default:
    }
    if (at < stop) continue;
    stop = at + CHARACTERS_PER_TURN;
    yield;
  }
  return split === null || split.to === 0 || isEmpty(text, split) ? null : split;
}

const isEmpty = (text: string, { from, to }: Split): boolean => text.slice(from, to).trim() === '';

/** Where the string that begins here ends; the end of the text when it does not. */
function endOfString(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at;
    if (code === BACKSLASH) at++;
  }
  return text.length;
}
