import { expect, test } from 'vitest';
import { aSnapshot, anEntry } from '../../../test/builders.ts';
import { decideDemand } from '../../policy/demand/decide.ts';
import { listRoster } from '../../policy/demand/roster.ts';
import { must } from '../../support/assert.ts';
import { nameEntries } from './entry-names.ts';

// prettier-ignore: a table is read by column
test.each([
  ['an entry alone', 1, 0, 1, 1, 'job'],
  ['an entry with others', 1, 0, 1, 9, 'job and 8 more'],
  ['a whole batch', 5, 0, 5, 5, 'job x 5'],
  ['a whole batch and others', 5, 0, 5, 7, 'job x 5 and 2 more'],
  ['a part of a batch', 5, 1, 4, 3, 'job/1..3'],
  ['one of a batch', 5, 2, 3, 1, 'job/2'],
  ['one of a batch and others', 5, 2, 3, 4, 'job/2 and 3 more'],
  ['a part of a batch and others', 5, 0, 2, 4, 'job/0..1 and 2 more'],
])('%s', (_name, batch, from, to, count, name) => {
  const snapshot = aSnapshot({ entries: [anEntry({ id: 'job', count: batch })] });
  const row = must(listRoster(snapshot, decideDemand(snapshot))[0], 'a row');
  expect(nameEntries({ ...row, from, to }, count)).toBe(name);
});
