import { create } from '@bufbuild/protobuf';
import { DurationSchema } from '@bufbuild/protobuf/wkt';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { anEntry } from '../../../test/builders.ts';
import { seconds } from '../../../test/scenarios/sketch.ts';
import { ServedStage } from '../../../test/served-stage.ts';
import {
  type WatchStatusResponse,
  WatchStatusResponseSchema,
} from '../../api/gen/bellows/v1/autoscaler_pb.ts';
import { epochMs } from '../../model/ids.ts';
import { StatusView } from './status-view.ts';
import { intervalOf, watchStatus } from './watch-status.ts';

const config = `
loop: { evaluationInterval: 1s, reconcileInterval: 60s }
groups:
  - { name: cpu, provider: simulated, device: cpu, host: { cpu: 16 }, max: 2, pricePerHour: 1 }
`;

/** Counts what is made. */
class CountingView extends StatusView {
  count = 0;
  override current() {
    this.count++;
    return super.current();
  }
}

let stage: ServedStage;
let view: CountingView;
let stopping: AbortController;
beforeEach(async () => {
  stage = await ServedStage.open(config);
  view = new CountingView(stage);
  stopping = new AbortController();
});
afterEach(() => stage.close());

interface Reader {
  readonly got: WatchStatusResponse[];
  /** Settles when the stream has ended. */
  readonly done: Promise<void>;
}

const watch = (intervalMs = seconds(1)) =>
  watchStatus(stage, {
    message: () => create(WatchStatusResponseSchema, { status: view.current() }),
    clock: stage.clock,
    intervalMs,
    signal: stopping.signal,
  });

function read(intervalMs?: number): Reader {
  const got: WatchStatusResponse[] = [];
  const run = async (): Promise<void> => {
    for await (const update of watch(intervalMs)) got.push(update);
  };
  return { got, done: run() };
}

const ring = (): void => {
  const outcome = { kind: 'unknown', why: 'no-price', detail: '' } as const;
  stage.feed.bounded({ outcome, atMs: epochMs(0) });
};

test('the status comes at once, then whenever something changed, shared by all who watch', async () => {
  const readers = [read(), read(), read()];
  await stage.run(0);
  expect(readers.map(({ got }) => got.length)).toEqual([1, 1, 1]);
  await stage.push([anEntry({ id: 'a' })]);
  const [first, second] = readers.map(({ got }) => got);
  expect(first?.length).toBeGreaterThan(1);
  expect(first?.at(-1)?.status?.classes).toHaveLength(1);
  expect(first?.map(({ status }) => status)).toEqual(second?.map(({ status }) => status));
  expect(first?.at(-1)?.status).toBe(second?.at(-1)?.status);
  stopping.abort();
  await Promise.all(readers.map(({ done }) => done));
});

test('many changes within an interval come as one, the last', async () => {
  await stage.run(seconds(5));
  const { got, done } = read(seconds(2));
  await stage.run(0);
  for (let n = 0; n < 100; n++) ring();
  await stage.run(1_900);
  expect(got).toHaveLength(1);
  await stage.run(200);
  expect(got).toHaveLength(2);
  expect(view.count).toBe(2);
  stopping.abort();
  await done;
});

test('a reader that is slow gets the latest, and nothing is made for it meanwhile', async () => {
  const stream = watch();
  await stream.next();
  for (let n = 0; n < 5; n++) {
    ring();
    await stage.run(seconds(3));
  }
  expect(view.count).toBe(1);
  const next = stream.next();
  await stage.run(seconds(2));
  expect((await next).value?.status).toBe(view.current());
  await stream.return(undefined);
});

test('where nothing changes it says that it is alive', async () => {
  await stage.run(seconds(5));
  const { got, done } = read();
  await stage.run(seconds(31));
  expect(got.map(({ status }) => status !== undefined)).toEqual([true, false, false]);
  stopping.abort();
  await done;
});

test('that it leads no more is told, though nothing else happens', async () => {
  const { got, done } = read();
  await stage.run(seconds(5));
  void stage.controller.stop();
  await stage.run(seconds(16));
  expect(got[0]?.status?.standing).toBe('leading');
  expect(got.at(-1)?.status?.standing).not.toBe('leading');
  stopping.abort();
  await done;
});

test('it ends when the request does, and leaves no bell and no timer', async () => {
  await stage.run(seconds(5));
  const before = stage.clock.pendingCount;
  const { got, done } = read();
  await stage.run(seconds(1));
  stopping.abort();
  await done;
  expect(stage.clock.pendingCount).toBe(before);
  const count = got.length;
  ring();
  await stage.run(seconds(2));
  expect(got).toHaveLength(count);
});

test('a request that ended before it began gets nothing', async () => {
  stopping.abort();
  const { got, done } = read();
  await done;
  expect(got).toEqual([]);
  expect(view.count).toBe(0);
});

const duration = (ms: number) =>
  create(DurationSchema, { seconds: BigInt(Math.floor(ms / 1_000)), nanos: (ms % 1_000) * 1e6 });

test.each([
  [undefined, 1_000],
  [duration(100), 100],
  [duration(1_500), 1_500],
  [duration(60_000), 60_000],
])('interval %o is %d ms', (asked, ms) => expect(intervalOf(asked)).toBe(ms));

test.each([
  [0, 'interval is 0s; it may be from 0.1s to 60s'],
  [99, 'interval is 0.099s'],
  [60_001, 'interval is 60.001s'],
])('an interval of %d ms is refused', (ms, message) => {
  expect(() => intervalOf(duration(ms))).toThrow(message);
});
