import fc from 'fast-check';
import { expect, test } from 'vitest';
import { renderTable } from './table.ts';

test('columns are as wide as their widest cell, numbers to the right, no trailing blanks', () => {
  const columns = [{ title: 'group' }, { title: 'new', align: 'right' as const }, { title: 'for' }];
  const rows = [
    ['cpu-16', '2', 'demand 2'],
    ['h100', '12', ''],
  ];
  expect(renderTable(columns, rows)).toBe(
    ['  group   new  for', '  cpu-16    2  demand 2', '  h100     12', ''].join('\n'),
  );
});

test('a table without titles has no head', () => {
  expect(renderTable([{ title: '' }, { title: '' }], [['a', 'b']])).toBe('  a  b\n');
});

test('cells that are missing are blank', () => {
  expect(renderTable([{ title: 'a' }, { title: 'b' }], [['x']])).toBe('  a  b\n  x\n');
});

test('only the head is marked, and marks do not move columns', () => {
  const mark = (text: string): string => `<${text}>`;
  const text = renderTable([{ title: 'a' }, { title: 'b' }], [['long', 'x']], mark);
  expect(text).toBe('  <a     b>\n  long  x\n');
});

test('every row is a line, and every cell is in it', () => {
  const cell = fc.string({ unit: fc.constantFrom('a', 'b', '-'), minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(fc.array(fc.tuple(cell, cell), { minLength: 1 }), (rows) => {
      const lines = renderTable([{ title: 'a' }, { title: 'b' }], rows).split('\n');
      expect(lines).toHaveLength(rows.length + 2);
      rows.forEach(([first, second], index) => {
        const line = lines[index + 1] ?? '';
        expect(line.startsWith(`  ${first}`) && line.endsWith(second)).toBe(true);
        expect(line).toBe(line.trimEnd());
      });
    }),
  );
});
