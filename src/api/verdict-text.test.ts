import { describe, expect, test } from 'vitest';
import { entryId, epochMs, groupName, machineId } from '../model/ids.ts';
import type { Refusal } from '../model/refusal.ts';
import type { CancelWhy, DrainWhy, SliceCause } from '../model/slice-record.ts';
import type { SliceVerdict } from '../model/tick.ts';
import { cancelText, causeText, drainText, refusalText, sliceVerdictText } from './verdict-text.ts';

const now = epochMs(1_000_000);
const inTwoMinutes = epochMs(1_120_000);
const fiveMinutesAgo = epochMs(700_000);

const verdicts: readonly (readonly [SliceVerdict, string])[] = [
  [{ kind: 'busy' }, 'work runs on it'],
  [{ kind: 'unreported' }, 'nobody has reported on it: taken for busy'],
  [{ kind: 'needed' }, 'pending work is to use it'],
  [{ kind: 'idle-grace', idleTimeoutMs: 600_000 }, 'without work, but not for 10m yet'],
  [{ kind: 'min', min: 2 }, 'kept for min 2'],
  [{ kind: 'spare', spare: 1 }, 'kept for spare 1'],
  [{ kind: 'floor' }, 'kept for a floor'],
  [{ kind: 'reserved', gang: entryId('train-7') }, 'held for gang train-7'],
  [{ kind: 'protected' }, 'protected: no scale-down touches it'],
  [
    { kind: 'drain-called-off', untilMs: inTwoMinutes },
    'its drain was called off; not asked again for 2m',
  ],
  [{ kind: 'paused' }, 'could go, but terminations are paused'],
  [{ kind: 'blast-radius' }, 'could go, but as many as may leave at a time do so already'],
  [
    { kind: 'waiting', status: 'terminating', timeoutMs: 120_000 },
    'terminating; when that takes more than 2m: the provider is asked again',
  ],
  [
    { kind: 'deferred', by: 'creates-per-minute', untilMs: inTwoMinutes },
    'waits for its turn, 2m at most: limits.createsPerMinute launches were sent in the last minute',
  ],
  [
    { kind: 'deferred', by: 'concurrent-launches', untilMs: now },
    'waits for its turn, 0s at most: as many launches as allowed are under way',
  ],
  [
    { kind: 'deferred', by: 'upscaling-speed', untilMs: fiveMinutesAgo },
    'waits for its turn, 0s at most: its group grows no faster than limits.upscalingSpeed',
  ],
  [
    { kind: 'deferred', by: 'probing', untilMs: inTwoMinutes },
    'waits for its turn, 2m at most: its group was in trouble: one launch tries it first',
  ],
  [
    { kind: 'draining', why: { kind: 'idle', idleForMs: 90_000 } },
    'draining: without work for 1m30s',
  ],
  [
    { kind: 'cancelled', why: { kind: 'not-needed', sinceMs: fiveMinutesAgo } },
    'given up: nobody has needed it for 5m',
  ],
  [{ kind: 'ending' }, 'its machines are being released'],
];

const drains: readonly (readonly [DrainWhy, string])[] = [
  [{ kind: 'idle', idleForMs: 600_000 }, 'without work for 10m'],
  [{ kind: 'above-max', total: 3, max: 2 }, 'its group has 3 slices where max is 2'],
  [{ kind: 'outdated' }, 'the shape or bootstrap of its group has changed'],
  [{ kind: 'group-removed' }, 'its group is no longer in the configuration'],
  [{ kind: 'interrupted', atMs: inTwoMinutes }, 'the provider takes it away in 2m'],
  [{ kind: 'interrupted', atMs: fiveMinutesAgo }, 'the provider takes it away'],
  [
    { kind: 'fallback-ended', preferred: groupName('spot') },
    'it stood in for spot, which can launch again',
  ],
  [
    { kind: 'surplus-machines', machines: 3, hosts: 1 },
    '3 machines carry its tag, but it has 1 host',
  ],
  [{ kind: 'operator', author: 'ann', reason: 'bad disk' }, 'ann asked for it: bad disk'],
  [{ kind: 'operator', author: 'ann', reason: '' }, 'ann asked for it'],
];

const cancels: readonly (readonly [CancelWhy, string])[] = [
  [{ kind: 'not-needed', sinceMs: inTwoMinutes }, 'nobody has needed it for 0s'],
  [
    { kind: 'gang-rolled-back', gang: entryId('train-7') },
    'the slices of gang train-7 did not all come up in time',
  ],
  [{ kind: 'group-troubled' }, 'its group cannot launch now; what it was for is planned anew'],
  [{ kind: 'above-max', total: 3, max: 2 }, 'its group has 3 slices where max is 2'],
  [{ kind: 'operator', author: 'ann', reason: 'mistake' }, 'ann asked for it: mistake'],
];

const where = { hostIndex: 1, machineId: machineId('i-0a') };
const causes: readonly (readonly [SliceCause, string])[] = [
  [{ kind: 'launched-for', why: 'demand' }, 'for pending work'],
  [{ kind: 'launched-for', why: 'min' }, 'for min'],
  [{ kind: 'launched-for', why: 'spare' }, 'for spare'],
  [{ kind: 'launched-for', why: 'floor' }, 'for a floor'],
  [{ kind: 'adopted' }, 'found with our tag, though nobody remembers it'],
  [{ kind: 'refused', refusal: { kind: 'stockout', detail: '' } }, 'the provider is out of stock'],
  [{ kind: 'timeout', status: 'booting', afterMs: 600_000 }, 'booting for 10m, which is too long'],
  [{ kind: 'host-lost', ...where }, 'host 1 (i-0a) was lost'],
  [{ kind: 'host-lost', hostIndex: 0, machineId: null }, 'host 0 was lost'],
  [
    { kind: 'bootstrap-failed', ...where, detail: 'exit code 3' },
    'bootstrap failed on host 1 (i-0a): exit code 3',
  ],
  [{ kind: 'preempted', ...where }, 'host 1 (i-0a) was taken away by the provider'],
  [
    { kind: 'draining', why: { kind: 'outdated' } },
    'the shape or bootstrap of its group has changed',
  ],
  [{ kind: 'drain-refused', hostIndex: 2 }, 'its scheduler refused to drain host 2'],
  [{ kind: 'drain-outlasted', hostIndex: 2 }, 'work on host 2 ran on beyond the deadline'],
  [{ kind: 'needed-again' }, 'work came back'],
  [
    { kind: 'cancelled', why: { kind: 'not-needed', sinceMs: fiveMinutesAgo } },
    'nobody has needed it for 5m',
  ],
];

const refusals: readonly (readonly [Refusal, string])[] = [
  [{ kind: 'stockout', detail: 'no p5.48xlarge' }, 'the provider is out of stock: no p5.48xlarge'],
  [{ kind: 'quota-exceeded', quotaName: 'gpus', detail: '8 of 8' }, 'quota gpus exceeded: 8 of 8'],
  [
    { kind: 'throttled', retryAfterMs: 5_000, detail: 'slow down' },
    'the provider throttles us for 5s: slow down',
  ],
  [{ kind: 'throttled', retryAfterMs: null, detail: '' }, 'the provider throttles us'],
  [{ kind: 'permanent', detail: 'no such image' }, 'refused for good: no such image'],
  [{ kind: 'unknown', detail: 'no answer' }, 'failed, nobody knows why: no answer'],
];

describe('a slice stays or leaves because', () => {
  test.each(verdicts)('%j', (verdict, text) => {
    expect(sliceVerdictText(verdict, now)).toBe(text);
  });
});

describe('a slice drains because', () => {
  test.each(drains)('%j', (why, text) => expect(drainText(why, now)).toBe(text));
});

describe('a launch is given up because', () => {
  test.each(cancels)('%j', (why, text) => expect(cancelText(why, now)).toBe(text));
});

describe('a slice is where it is because', () => {
  test.each(causes)('%j', (cause, text) => expect(causeText(cause, now)).toBe(text));
});

describe('a launch is refused because', () => {
  test.each(refusals)('%j', (refusal, text) => expect(refusalText(refusal)).toBe(text));
});
