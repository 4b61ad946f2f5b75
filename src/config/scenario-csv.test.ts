import { expect, test } from 'vitest';
import { readCsv } from './scenario-csv.ts';

const cellsOf = (text: string): readonly (readonly string[])[] =>
  [...readCsv(text)].map(({ cells }) => cells);

test.each([
  [
    'plain cells',
    'a,b\n1,2\n',
    [
      ['a', 'b'],
      ['1', '2'],
    ],
  ],
  [
    'no line break at the end',
    'a,b\n1,2',
    [
      ['a', 'b'],
      ['1', '2'],
    ],
  ],
  [
    'line breaks of Windows',
    'a,b\r\n1,2\r\n',
    [
      ['a', 'b'],
      ['1', '2'],
    ],
  ],
  [
    'quotes, with commas, quotes and breaks in them',
    '"a,b","c""d","e\nf"\n',
    [['a,b', 'c"d', 'e\nf']],
  ],
  ['empty cells', ',x,\n', [['', 'x', '']]],
  ['blank lines, which are none', '\na\n\nb\n\n', [['a'], ['b']]],
  ['a quote that never ends', '"a\nb', [['a\nb']]],
  ['nothing', '', []],
])('reads %s', (_name, text, cells) => expect(cellsOf(text)).toEqual(cells));

test('knows line and column, also after a cell of several lines', () => {
  const rows = [...readCsv('a,"x\ny",b\nc,dd,e\n')];
  expect(rows.map(({ line, columns }) => [line, columns])).toEqual([
    [1, [1, 3, 9]],
    [3, [1, 3, 6]],
  ]);
});
