import type { ReportHostsRequest } from '../../api/gen/bellows/v1/demand_pb.ts';
import type { HostReport } from '../../model/host-report.ts';
import { type EpochMs, sliceId } from '../../model/ids.ts';
import { readAmounts } from './amounts.ts';
import { notOneOf } from './ask.ts';
import { checkText, Complaints, ID_LENGTH_MAX } from './complaints.ts';

const REPORTS_MAX = 2_000;

/** By what the wire says: an empty word is no answer. */
const drainWords = { '': 'none', drained: 'drained', refused: 'refused' } as const;
const isDrainWord = (word: string): word is keyof typeof drainWords =>
  Object.hasOwn(drainWords, word);

/** What a scheduler says of hosts; refuses the message when something of it makes no sense. */
export function readReports({ reports }: ReportHostsRequest, atMs: EpochMs): readonly HostReport[] {
  const complaints = new Complaints();
  if (reports.length > REPORTS_MAX) {
    const message = `${reports.length} reports are above the limit of ${REPORTS_MAX}`;
    complaints.add(['reports'], message, 'send them in several messages');
    complaints.settle();
  }
  const read = reports.map(({ sliceId: id, hostIndex, free, busy, drain: word }, n): HostReport => {
    const path = ['reports', n];
    if (id === '' || id.length > ID_LENGTH_MAX) {
      checkText(id, { path: [...path, 'slice_id'], lengthMax: ID_LENGTH_MAX, complaints });
    }
    if (!isDrainWord(word)) {
      complaints.add([...path, 'drain'], ...notOneOf(word, Object.keys(drainWords)));
    }
    const drain = isDrainWord(word) ? drainWords[word] : 'none';
    const room = readAmounts(free, { path, field: 'free', rounding: 'down', complaints });
    return { sliceId: sliceId(id), hostIndex, free: room, isBusy: busy, drain, atMs };
  });
  complaints.settle();
  return read;
}
