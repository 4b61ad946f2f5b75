import { describe, expect, test } from 'vitest';
import { findVariable, groupByToken, parseStat, type ProcessRow } from './process-table.ts';

const rest = '1 700 700 0 -1 4194560 1 0 0 0 3 1 0 0 20 0 1 0 98765 1000 200';

test.each([
  ['a plain name', `42 (node) S ${rest}`, true],
  ['a name with spaces and parentheses', `42 (a) b) (c) R ${rest}`, true],
  ['one that has ended and waits to be noticed', `42 (sh) Z ${rest}`, false],
])('a line of stat with %s', (_name, line, isAlive) => {
  const row = { pid: 42, parentPid: 1, session: 700, startTicks: '98765', isAlive };
  expect(parseStat(line)).toEqual(row);
});

test.each([[''], ['42'], ['42 (node) S 1 2 3'], ['x (y) z']])('%j is no line of stat', (line) => {
  expect(parseStat(line)).toBeNull();
});

test.each([
  ['first', 'TOKEN=a\0PATH=/bin\0', 'a'],
  ['last', 'PATH=/bin\0TOKEN=a', 'a'],
  ['empty', 'TOKEN=\0', ''],
  ['only as the end of another name', 'MY_TOKEN=a\0', null],
  ['only inside a value', 'ARGS=TOKEN=a\0', null],
  ['after a value that holds its name', 'ARGS=TOKEN=b\0TOKEN=a\0', 'a'],
  ['not at all', '', null],
])('a variable that is there %s', (_name, block, value) => {
  expect(findVariable(Buffer.from(block), 'TOKEN')).toBe(value);
});

describe('ours', () => {
  /** Written as pid, parent, session and token. */
  type Sketch = readonly [pid: number, parentPid: number, session: number, token: string | null];
  const aRow = ([pid, parentPid, session, token]: Sketch): ProcessRow => ({
    pid,
    parentPid,
    session,
    token,
    startTicks: '1',
    isAlive: true,
    hostDir: null,
  });
  // prettier-ignore: a table is read by column
  test.each<[string, readonly Sketch[], Readonly<Record<string, readonly number[]>>]>([
    [
      'is nothing without a token',
      [
        [1, 0, 1, null],
        [5, 1, 5, null],
      ],
      {},
    ],
    [
      'is each by its own token',
      [
        [5, 1, 5, 'a'],
        [6, 1, 6, 'b'],
      ],
      { a: [5], b: [6] },
    ],
    [
      'is a child that hides its own',
      [
        [5, 1, 5, 'a'],
        [6, 5, 6, null],
        [7, 6, 7, null],
      ],
      { a: [5, 6, 7] },
    ],
    [
      'is never a parent',
      [
        [4, 1, 4, null],
        [5, 4, 5, 'a'],
      ],
      { a: [5] },
    ],
    [
      'is who shares an orphaned session',
      [
        [6, 1, 9, 'a'],
        [7, 1, 9, null],
      ],
      { a: [6, 7] },
    ],
    [
      "is who shares a host's session",
      [
        [5, 1, 5, 'a'],
        [7, 1, 5, null],
      ],
      { a: [5, 7] },
    ],
    [
      'is not the terminal of a visitor',
      [
        [9, 1, 9, null],
        [6, 9, 9, 'a'],
        [7, 9, 9, null],
      ],
      { a: [6] },
    ],
    [
      'is not the kernel',
      [
        [2, 0, 0, null],
        [6, 1, 0, 'a'],
      ],
      { a: [6] },
    ],
    [
      'stays with the inner host',
      [
        [5, 1, 5, 'a'],
        [6, 5, 6, 'b'],
        [7, 6, 7, null],
      ],
      { a: [5], b: [6, 7] },
    ],
  ])('%s', (_name, sketches, pids) => {
    const found = [...groupByToken(sketches.map(aRow))];
    expect(
      Object.fromEntries(found.map(([token, rows]) => [token, rows.map(({ pid }) => pid)])),
    ).toEqual(pids);
  });

  test('is not who has ended, though its children are', () => {
    const dead = { ...aRow([5, 1, 5, 'a']), isAlive: false };
    expect(groupByToken([dead, aRow([6, 5, 6, null])]).get('a')).toMatchObject([{ pid: 6 }]);
  });
});
