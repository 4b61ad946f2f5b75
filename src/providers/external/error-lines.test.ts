import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cutLine, ErrorLines, LINE_LENGTH_MAX, LINES_MAX } from './error-lines.ts';

function read(chunks: readonly Buffer[], hide = (line: string): string => line) {
  const shown: string[] = [];
  const lines = new ErrorLines({ hide, onLine: (line) => void shown.push(line) });
  for (const chunk of chunks) lines.add(chunk);
  lines.end();
  return { shown, last: lines.last, unshownCount: lines.unshownCount };
}
const readText = (text: string): ReturnType<typeof read> => read([Buffer.from(text)]);

test.each([
  ['nothing', '', [], ''],
  ['one line', 'a\n', ['a'], 'a'],
  ['a line that nothing ends', 'a\nb', ['a', 'b'], 'b'],
  ['empty lines', '\n\na\n \n', ['a'], 'a'],
  ['carriage returns and colours', '\u001B[31mred\u001B[0m\r\n', ['[31mred [0m'], '[31mred [0m'],
])('%s', (_name, text, shown, last) => {
  expect(readText(text)).toEqual({ shown, last, unshownCount: 0 });
});

test('of many lines the first are shown, the others counted, the last kept', () => {
  const text = Array.from({ length: 250 }, (_, index) => `line ${index}\n`).join('');
  const { shown, last, unshownCount } = readText(text);
  expect([shown.length, unshownCount, last]).toEqual([LINES_MAX, 150, 'line 249']);
});

test('a long line is cut, and its secrets are hidden before', () => {
  const hide = (line: string): string => line.replaceAll('s'.repeat(500), '[secret]');
  const text = `${'x'.repeat(LINE_LENGTH_MAX - 20)}${'s'.repeat(500)}${'y'.repeat(99_999)}\n`;
  const { last } = read([Buffer.from(text)], hide);
  expect(last).toHaveLength(LINE_LENGTH_MAX);
  expect(last).toContain('x[secret]y');
});

test('no character is cut in half', () => {
  expect(cutLine('😀'.repeat(10), 6)).toBe('😀😀…');
});

test('how the text is cut into chunks does not matter', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'é', '😀', '\n', ' '), maxLength: 60 });
  fc.assert(
    fc.property(text, fc.array(fc.nat(100)), (whole, cuts) => {
      const bytes = Buffer.from(whole);
      const ends = [...cuts.map((cut) => Math.min(cut, bytes.length)), bytes.length];
      const chunks: Buffer[] = [];
      let from = 0;
      for (const to of ends.sort((a, b) => a - b)) {
        chunks.push(bytes.subarray(from, to));
        from = to;
      }
      expect(read(chunks)).toEqual(read([bytes]));
    }),
  );
});
