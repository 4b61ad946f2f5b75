import { type DescMessage, isMessage, type MessageShape } from '@bufbuild/protobuf';
import {
  DrainSliceRequestSchema,
  PauseRequestSchema,
  ProtectSliceRequestSchema,
  ReloadConfigRequestSchema,
  ResumeRequestSchema,
} from '../api/gen/bellows/v1/autoscaler_pb.ts';
import {
  type PushDemandRequest,
  PushDemandRequestSchema,
  ReportHostsRequestSchema,
  RequestResourcesRequestSchema,
  StreamDemandRequestSchema,
} from '../api/gen/bellows/v1/demand_pb.ts';

type Subject = Readonly<Record<string, string | number | boolean>>;

/** Letters of a caller's own words that the log keeps. */
const TEXT_MAX = 200;

interface Row {
  readonly matches: (message: unknown) => boolean;
  readonly describe: (message: unknown) => Described;
}

/** What a request is about. */
export interface Described {
  readonly fleet: string;
  readonly subject: Subject;
}

function row<Desc extends DescMessage>(
  schema: Desc,
  describe: (message: MessageShape<Desc>) => Described,
): Row {
  return {
    matches: (message) => isMessage(message, schema),
    // Called only where `matches` said yes.
    describe: (message) => describe(message as MessageShape<Desc>),
  };
}

const rows: readonly Row[] = [
  row(PushDemandRequestSchema, describePush),
  row(StreamDemandRequestSchema, ({ push }) =>
    push === undefined ? { fleet: '', subject: {} } : describePush(push),
  ),
  row(ReportHostsRequestSchema, ({ fleet, reports }) => ({
    fleet,
    subject: {
      reports: reports.length,
      drained: reports.filter((report) => report.drain === 'drained').length,
      refused: reports.filter((report) => report.drain === 'refused').length,
    },
  })),
  row(RequestResourcesRequestSchema, ({ fleet, id, count }) => ({ fleet, subject: { id, count } })),
  row(DrainSliceRequestSchema, ({ fleet, sliceId, reason, author, deadline }) => ({
    fleet,
    subject: {
      sliceId,
      reason,
      author,
      ...(deadline === undefined ? {} : { deadlineS: Number(deadline.seconds) }),
    },
  })),
  row(ProtectSliceRequestSchema, ({ fleet, sliceId, undo }) => ({
    fleet,
    subject: { sliceId, undo },
  })),
  row(PauseRequestSchema, ({ fleet, what, group, reason, author }) => ({
    fleet,
    subject: { what, group, reason, author },
  })),
  row(ResumeRequestSchema, ({ fleet, pauseId }) => ({ fleet, subject: { pauseId } })),
  row(ReloadConfigRequestSchema, ({ fleet, dryRun }) => ({ fleet, subject: { dryRun } })),
];

function describePush(push: PushDemandRequest): Described {
  const { fleet, source, generation, baseGeneration, entries, removedIds, page, more } = push;
  return {
    fleet,
    subject: {
      source,
      // Text, since it may be beyond what a JSON number holds.
      generation: String(generation),
      ...(baseGeneration === undefined ? {} : { baseGeneration: String(baseGeneration) }),
      entries: entries.length,
      removed: removedIds.length,
      page,
      more,
    },
  };
}

/** The fields that say what a request is about: names and counts, cut short, never its whole body. */
export function describeRequest(message: unknown): Described {
  const found = rows.find((candidate) => candidate.matches(message));
  if (found === undefined) return { fleet: '', subject: {} };
  const { fleet, subject } = found.describe(message);
  const short = Object.entries(subject).flatMap(([key, value]) => {
    // Empty words are left out: they are what a field has that nobody set.
    if (value === '') return [];
    return [[key, typeof value === 'string' ? value.slice(0, TEXT_MAX) : value] as const];
  });
  return { fleet: fleet.slice(0, TEXT_MAX), subject: Object.fromEntries(short) };
}

/** Several pages of one push as one subject. */
export function addPage(before: Subject, page: Subject): Subject {
  const sum = (key: string): number => Number(before[key] ?? 0) + Number(page[key] ?? 0);
  return {
    ...page,
    entries: sum('entries'),
    removed: sum('removed'),
    pages: Number(before['pages'] ?? 0) + 1,
  };
}
