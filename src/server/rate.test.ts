import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Buckets, clientOf } from './rate.ts';

test('a burst, then a steady rate, each client for itself', () => {
  const buckets = new Buckets({ perSecond: 10, burst: 3 });
  const take = (client: string, atMs: number): string => buckets.take(client, atMs).kind;
  expect([0, 0, 0, 0].map((atMs) => take('a', atMs))).toEqual(['taken', 'taken', 'taken', 'empty']);
  expect(take('b', 0)).toBe('taken');
  expect(buckets.take('a', 40)).toEqual({ kind: 'empty', retryMs: 60 });
  expect([take('a', 100), take('a', 100)]).toEqual(['taken', 'empty']);
});

test('never more than the burst and the rate together', () => {
  const steps = fc.array(fc.nat(50), { maxLength: 300 });
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 20 }),
      fc.integer({ min: 1, max: 100 }),
      steps,
      (burst, perSecond, waits) => {
        const buckets = new Buckets({ perSecond, burst });
        let nowMs = 0;
        let taken = 0;
        for (const waitMs of waits) {
          nowMs += waitMs;
          if (buckets.take('x', nowMs).kind === 'taken') taken++;
        }
        expect(taken).toBeLessThanOrEqual(burst + (nowMs * perSecond) / 1_000 + 1e-6);
      },
    ),
  );
});

test('a clock that goes back gives nothing', () => {
  const buckets = new Buckets({ perSecond: 1, burst: 1 });
  expect(buckets.take('x', 5_000).kind).toBe('taken');
  expect(buckets.take('x', 0).kind).toBe('empty');
});

test('remembers a bounded number of clients, those last heard of', () => {
  const buckets = new Buckets({ perSecond: 1, burst: 1, clientsMax: 100 });
  for (let n = 0; n < 1_000; n++) {
    buckets.take('loud', 0);
    buckets.take(`client ${n}`, 0);
  }
  expect(buckets.size).toBe(100);
  expect(buckets.take('loud', 0).kind).toBe('empty');
});

describe('clients by address', () => {
  // prettier-ignore: a table is read by column
  test.each([
    ['10.1.2.3', '10.1.2.3'],
    ['::ffff:10.1.2.3', '10.1.2.3'],
    ['::1', '::1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
    ['2001:db8::9', '2001:db8:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['', ''],
  ])('%s counts as %s', (address, client) => {
    expect(clientOf(address)).toBe(client);
  });
});
