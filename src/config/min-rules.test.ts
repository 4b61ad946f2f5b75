import { describe, expect, test } from 'vitest';
import { parseConfig } from './config-file.ts';
import { renderProblem } from './problem.ts';

function complaints(text: string): readonly string[] {
  const parsed = parseConfig(text, 'b.yaml');
  return parsed.kind === 'ok' ? [] : parsed.problems.map(renderProblem);
}

/** Two groups of at most 9, the first with a min of 1, that share a quota pool. */
function fleet(limits: string, calendars: string, quota = 1_000): string {
  return `groups:
  - { name: a, host: { tpu: 4 }, hostsPerSlice: 2, min: 1, max: 9, pricePerHour: 3, quotaPool: q }
  - { name: b, host: { tpu: 1 }, max: 9, pricePerHour: 1, quotaPool: q }
quotaPools: { q: { tpu: ${quota} } }
limits: { ${limits} }
calendars:
${calendars}
`;
}

const calendar = (name: string, zone: string, entry: string): string =>
  `  - { name: ${name}, timeZone: ${zone}, entries: [{ ${entry} }] }\n`;

const day = 'days: [mon, tue], from: "08:00", to: "18:00"';
const dayA = calendar('day', 'UTC', `group: a, ${day}, min: 4`);
const sameHoursB = calendar('same', 'UTC', `group: b, ${day}, min: 5`);
const nightB = calendar('night', 'UTC', 'group: b, from: "18:00", to: "08:00", min: 5');
const parisA = calendar('paris', 'Europe/Paris', 'group: a, from: "08:00", to: "16:00", min: 4');
const yorkB = calendar('york', 'America/New_York', 'group: b, from: "09:30", to: "17:00", min: 5');

describe('calendars within bounds', () => {
  test.each([
    ['together as many as allowed', 'maxSlices: 9', dayA + sameHoursB],
    ['at different hours', 'maxSlices: 6', dayA + nightB],
    ['two for one group: the higher counts', 'maxSlices: 4', `${dayA}${dayA.replace('day', 'e')}`],
    ['below the own min', 'maxSlices: 1', calendar('c', 'UTC', 'group: a, min: 1')],
    ['spare is no promise', 'maxSlices: 1', calendar('c', 'UTC', 'group: a, spare: 9')],
    ['spare above max', '', calendar('c', 'UTC', 'group: a, spare: 99')],
  ])('%s', (_name, limits, calendars) => {
    expect(complaints(fleet(limits, calendars))).toEqual([]);
  });
});

describe('calendars beyond bounds', () => {
  test.each([
    [
      'slices of one group',
      fleet('maxSlices: 3', dayA),
      '5:22 limits.maxSlices: 3 is below 4, the sum of min over all groups with calendars on Mon 08:00 UTC; raise maxSlices to 4 or lower min',
    ],
    [
      'slices at the same hours',
      fleet('maxSlices: 8', dayA + sameHoursB),
      '5:22 limits.maxSlices: 8 is below 9, the sum of min over all groups with calendars on Mon 08:00 UTC; raise maxSlices to 9 or lower min',
    ],
    [
      'slices, one by its own min',
      fleet('maxSlices: 5', nightB),
      '5:22 limits.maxSlices: 5 is below 6, the sum of min over all groups with calendars on Sun 00:00 UTC; raise maxSlices to 6 or lower min',
    ],
    [
      'spend',
      fleet('spendPerHour: 11.5', dayA),
      '5:25 limits.spendPerHour: $11.50 is below $12.00, the price of min over all groups with calendars on Mon 08:00 UTC; raise spendPerHour to 12.00 or lower min',
    ],
    [
      'a quota',
      fleet('maxSlices: 99', dayA + sameHoursB, 36),
      '4:25 quotaPools.q.tpu: 36 is below 37, what min of its groups takes with calendars on Mon 08:00 UTC; raise it to 37 or lower min',
    ],
    [
      'zones that overlap only while America alone has summer time',
      // 16:00 in Paris is 10:00 in New York, but in those weeks of March it is 11:00.
      fleet('maxSlices: 8', parisA + yorkB.replace('"09:30"', '"10:30"')),
      '5:22 limits.maxSlices: 8 is below 9, the sum of min over all groups with calendars on Sun 14:30 UTC; raise maxSlices to 9 or lower min',
    ],
    [
      'max of its own group',
      fleet('maxSlices: 99', calendar('c', 'UTC', 'group: a, min: 10')),
      '7:58 calendars[0].entries[0].min: 10 is above max 9 of group a; lower it or raise max',
    ],
    [
      'groups there are',
      fleet('', calendar('c', 'UTC', 'group: aa, min: 1')),
      '7:50 calendars[0].entries[0].group: unknown group "aa"; did you mean a?',
    ],
  ])('%s', (_name, text, message) => {
    expect(complaints(text)).toEqual([`b.yaml:${message}`]);
  });
});

test('a calendar with a faulty hour is not counted, for nobody knows when it holds', () => {
  const faulty = dayA.replace('08:00', '8am');
  expect(complaints(fleet('maxSlices: 3', faulty))).toEqual([
    'b.yaml:7:79 calendars[0].entries[0].from: "8am" is not a time of day; write HH:MM, 09:30',
  ]);
});

test('calendars of many groups in many zones add up', () => {
  const zones = ['UTC', 'Europe/Paris', 'America/New_York', 'Asia/Tokyo', 'Australia/Sydney'];
  const groups = Array.from({ length: 200 }, (_, index) => {
    return { name: `g${index}`, host: { cpu: 1 }, max: 9, pricePerHour: 1 };
  });
  const calendars = zones.map((timeZone, zone) => {
    const entries = groups.map(({ name }, index) => {
      const from = `${10 + (index % 10)}:${10 + (index % 50)}`;
      return { group: name, from, to: '20:00', min: 1 + zone };
    });
    return { name: `c${zone}`, timeZone, entries };
  });
  const text = JSON.stringify({ groups, calendars, limits: { maxSlices: 1_000 } });
  expect(complaints(text)).toEqual([]);
  expect(complaints(text.replace('1000', '999'))).toHaveLength(1);
});
