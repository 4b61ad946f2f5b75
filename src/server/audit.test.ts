import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { create } from '@bufbuild/protobuf';
import { describe, expect, test } from 'vitest';
import { aFolder, eventually, type LogLine } from '../../test/shell-bench.ts';
import {
  DrainSliceRequestSchema,
  PauseRequestSchema,
} from '../api/gen/bellows/v1/autoscaler_pb.ts';
import {
  PushDemandRequestSchema,
  ReportHostsRequestSchema,
} from '../api/gen/bellows/v1/demand_pb.ts';
import { type AuditEntry, openAuditLog } from './audit.ts';
import { describeRequest } from './audit-subject.ts';
import { systemClock } from '../wiring/system-clock.ts';

const entry = (n: number): AuditEntry => ({
  at: '2026-11-15T00:00:00.000Z',
  who: 'ci',
  role: 'scheduler',
  from: '127.0.0.1:1',
  rpc: 'PushDemand',
  fleet: '',
  subject: { n },
  outcome: 'ok',
});
const linesOf = (path: string): readonly AuditEntry[] =>
  readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

function open(path: string, sizeMaxBytes?: number) {
  const log: LogLine[] = [];
  const opened = openAuditLog(path, {
    log: { write: (level, event, fields) => void log.push({ level, event, ...fields }) },
    clock: systemClock,
    ...(sizeMaxBytes === undefined ? {} : { sizeMaxBytes }),
  });
  return { opened, log };
}

test('lines in order, for the owner alone, kept over a restart', async () => {
  const path = join(aFolder(), 'audit.log');
  for (const start of [0, 500]) {
    const audit = await open(path).opened;
    for (let n = start; n < start + 500; n++) audit.write(entry(n));
    await audit.close();
  }
  expect(linesOf(path).map((line) => line.subject['n'])).toEqual(
    Array.from({ length: 1_000 }, (_, n) => n),
  );
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test('a line that broke off in a crash spoils no other', async () => {
  const path = join(aFolder(), 'audit.log');
  writeFileSync(path, `${JSON.stringify(entry(1))}\n{"at":"2026`);
  const audit = await open(path).opened;
  audit.write(entry(2));
  await audit.close();
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
  expect([lines.length, JSON.parse(lines[2] ?? '').subject]).toEqual([3, { n: 2 }]);
});

test('a full file becomes the older one; together they are bounded', async () => {
  const path = join(aFolder(), 'audit.log');
  const audit = await open(path, 2_000).opened;
  for (let n = 0; n < 1_000; n++) audit.write(entry(n));
  await audit.close();
  const kept = [...linesOf(`${path}.1`), ...linesOf(path)].map((line) => Number(line.subject['n']));
  expect(kept.at(-1)).toBe(999);
  expect(kept).toEqual(kept.map((_, index) => 1_000 - kept.length + index));
  expect(kept.length).toBe(200);
  expect(existsSync(`${path}.2`)).toBe(false);
});

test('a disk that takes nothing is told once, counted, and does no harm', async () => {
  // Writes to it fail as on a full disk.
  const { opened, log } = open('/dev/full');
  const audit = await opened;
  for (let n = 0; n < 50; n++) {
    audit.write(entry(n));
    await new Promise((resolve) => setImmediate(resolve));
  }
  await audit.close().catch(() => undefined);
  expect(log).toMatchObject([{ level: 'error', event: 'audit-failed', path: '/dev/full' }]);
  expect(log[0]?.['message']).toContain('ENOSPC');
});

test('lines that were lost are counted once it can be written again', async () => {
  const path = join(aFolder(), 'audit.log');
  const { opened, log } = open(path, 100);
  const audit = await opened;
  // In the way of the older file, so that the full one cannot become it.
  mkdirSync(join(`${path}.1`, 'inside'), { recursive: true });
  audit.write(entry(1));
  await eventually(() => expect(linesOf(path)).toEqual([entry(1)]));
  audit.write(entry(2));
  audit.write(entry(3));
  await eventually(() => expect(log).toMatchObject([{ event: 'audit-failed' }]));
  rmSync(`${path}.1`, { recursive: true });
  audit.write(entry(4));
  await audit.close();
  expect(linesOf(`${path}.1`)).toEqual([entry(1)]);
  expect(linesOf(path)).toEqual([{ at: entry(4).at, lost: 2 }, entry(4)]);
});

test('a place that cannot be written is told at the start', async () => {
  const folder = aFolder();
  chmodSync(folder, 0o755);
  await expect(open(join(folder, 'missing', 'audit.log')).opened).rejects.toThrow(
    'cannot be written',
  );
});

describe('what a request is about', () => {
  const entries = Array.from({ length: 3 }, (_, n) => ({ id: `secret-work-${n}` }));
  // prettier-ignore: a table is read by column
  test.each([
    [
      create(PushDemandRequestSchema, {
        fleet: 'f',
        source: 's',
        generation: 7n,
        entries,
        removedIds: ['x'],
      }),
      {
        fleet: 'f',
        subject: { source: 's', generation: '7', entries: 3, removed: 1, page: 0, more: false },
      },
    ],
    [
      create(ReportHostsRequestSchema, {
        reports: [{ sliceId: 'a', drain: 'drained' }, { sliceId: 'b' }],
      }),
      { fleet: '', subject: { reports: 2, drained: 1, refused: 0 } },
    ],
    [
      create(DrainSliceRequestSchema, {
        sliceId: 'a',
        reason: 'r'.repeat(500),
        deadline: { seconds: 60n },
      }),
      { fleet: '', subject: { sliceId: 'a', reason: 'r'.repeat(200), deadlineS: 60 } },
    ],
    [
      create(PauseRequestSchema, { what: 'both', group: 'g' }),
      { fleet: '', subject: { what: 'both', group: 'g' } },
    ],
    [{ no: 'message' }, { fleet: '', subject: {} }],
  ])('%#', (message, described) => {
    expect(describeRequest(message)).toEqual(described);
    expect(JSON.stringify(describeRequest(message))).not.toContain('secret-work');
  });
});
