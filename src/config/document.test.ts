import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type DocumentRead, readDocument, YAML_LENGTH_MAX } from './document.ts';
import { renderProblem } from './problem.ts';

const dataOf = (read: DocumentRead): unknown =>
  read.kind === 'ok' ? read.document.data : read.problems.map(renderProblem);

/** What the reader says of the whole file, keys given twice included. */
function complaints(text: string, file = 'f.yaml'): readonly string[] {
  const read = readDocument(text, file);
  const problems = read.kind === 'bad' ? read.problems : read.document.duplicates;
  return problems.map(renderProblem);
}

function placeOf(text: string, path: readonly (string | number)[], at: 'key' | 'value'): string {
  const read = readDocument(text, 'f.yaml');
  if (read.kind === 'bad') return 'unreadable';
  const { line, column } = read.document.place({ path, at, value: 1, message: '', remedy: '' });
  return `${line}:${column}`;
}

describe('malformed text', () => {
  const many = `a: &a [x]\n${'bcdefgh'
    .split('')
    .map((name, index, names) => {
      const uses = Array.from({ length: 12 }, () => `*${names[index - 1] ?? 'a'}`);
      return `${name}: &${name} [${uses.join(', ')}]`;
    })
    .join('\n')}`;
  test.each([
    [
      'an empty file',
      '',
      'f.yaml: the file is empty; see `bellows config schema` for what belongs in it',
    ],
    [
      'white space',
      ' \n\t\n',
      'f.yaml: the file is empty; see `bellows config schema` for what belongs in it',
    ],
    [
      'comments only',
      '# nothing\n',
      'f.yaml:1:1: the file holds no data; see `bellows config schema` for what belongs in it',
    ],
    ['binary data', 'a\u0000b', 'f.yaml: the file is not text; give a YAML or JSON file in UTF-8'],
    [
      'several documents',
      'a: 1\n---\nb: 2\n',
      'f.yaml:2:1: the file holds several documents; keep one and put the others in own files',
    ],
    [
      'an open bracket',
      'a: 1\nb: [1, 2\n',
      'f.yaml:3:1: not valid YAML: Flow sequence in block collection must be sufficiently indented and end with a ]',
    ],
    ['a tab as indent', 'a:\n\tb: 1\n', 'f.yaml:2:1: a tab is used to indent; indent with spaces'],
    [
      'a list as a key',
      '? [a]\n: 1\n',
      'f.yaml:1:3: a list or mapping is used as a key; use a plain word',
    ],
    ['an alias without anchor', 'a: *b\n', 'f.yaml:1:4 a: the alias *b has no anchor &b'],
    [
      'a cycle',
      'a: &a\n  b: [*a]\n',
      'f.yaml:2:7 a.b[0]: the alias *a stands inside its own anchor: no end; write it out',
    ],
    [
      'a prototype',
      '__proto__: { a: 1 }',
      'f.yaml:1:1: the key "__proto__" is not allowed; remove it',
    ],
    [
      'a key given twice',
      'a:\n  b: 1\n  c: 2\n  b: 3\n',
      'f.yaml:4:3 a.b: this key is given twice; keep one',
    ],
    [
      'a merge of no mapping',
      'a:\n  <<: 5\n',
      'f.yaml:1:1: not valid YAML: Merge sources must be maps or map aliases',
    ],
  ])('%s', (_name, text, message) => {
    expect(complaints(text)).toEqual([message]);
  });

  test('an alias bomb is refused before it unfolds', () => {
    expect(complaints(many)[0]).toContain('aliases (*name) unfold to too much data');
  });

  test.each([
    ['flow', '['.repeat(100_000)],
    ['flow in YAML', `a: ${'{b: '.repeat(100_000)}`],
    ['block', `${'- '.repeat(100_000)}x`],
    ['indented', Array.from({ length: 1_000 }, (_, depth) => `${' '.repeat(depth)}a:\n`).join('')],
  ])('deep %s nesting is refused', (_name, text) => {
    expect(complaints(text)[0]).toContain('the data is nested too deeply to read; flatten it');
  });

  test('nesting that can be read but is of no use is refused, too', () => {
    expect(complaints(`${'{"a":'.repeat(70)}1${'}'.repeat(70)}`, 'f.json')).toEqual([
      'f.json:1:321: not valid JSON: nested more than 64 levels deep',
    ]);
    expect(complaints(`x: ${'['.repeat(70)}${']'.repeat(70)}`)[0]).toContain('64 levels deep');
  });

  test('YAML that would take minutes is refused at once', () => {
    expect(complaints(`a: ${'x'.repeat(YAML_LENGTH_MAX)}`)).toEqual([
      'f.yaml: the file is YAML of 2.0 MiB, the limit for YAML is 2.0 MiB; write it as JSON, which is read a hundred times faster',
    ]);
  });

  test('many keys are compared in good time', () => {
    const keys = Array.from({ length: 20_000 }, (_, index) => `k${index}: 1`).join('\n');
    expect(complaints(`${keys}\nk7: 2\n`)).toEqual([
      'f.yaml:20001:1 k7: this key is given twice; keep one',
    ]);
  });
});

describe('malformed JSON', () => {
  test.each([
    ['{"a": 1,}', '1:9: not valid JSON: a key in double quotes is expected'],
    ['{"a": 1', '1:8: not valid JSON: "," or "}" is expected'],
    ['{"a" 1}', '1:6: not valid JSON: ":" is expected after the key "a"'],
    ['{"a": 01}', '1:8: not valid JSON: "," or "}" is expected'],
    ['{"a": nul}', '1:7: not valid JSON: a value is expected'],
    ['{"a": NaN}', '1:7: not valid JSON: a value is expected'],
    ['{"a": "x', '1:7: not valid JSON: a text in double quotes does not end'],
    ['{"a": "\\q"}', '1:8: not valid JSON: "\\q" is no escape that JSON knows'],
    ['{\n"a": "x\ny"}', '2:8: not valid JSON: a text holds a line break or control character'],
    ['{} {}', '1:4: not valid JSON: the value is followed by more text'],
    ['[1, 2', '1:6: not valid JSON: "," or "]" is expected'],
    ['{', '1:2: not valid JSON: a key in double quotes is expected'],
    ['{"a":', '1:6: not valid JSON: the text ends where a value is expected'],
    ['{"__proto__": 1}', '1:13: not valid JSON: the key "__proto__" is not allowed'],
  ])('%s', (text, message) => {
    expect(complaints(text, 'f.json')).toEqual([`f.json:${message}`]);
  });

  test('a key given twice is named with its place', () => {
    expect(complaints('{"a": [{"b": 1, "b": 2}]}', 'f.json')).toEqual([
      'f.json:1:17 a[0].b: this key is given twice; keep one',
    ]);
  });
});

describe('readable text', () => {
  test('a byte order mark, CRLF, merge keys and anchors are understood', () => {
    const text = '\uFEFFbase: &base { x: 1 }\r\nmore:\r\n  <<: *base\r\n  y: 2\r\n';
    expect(dataOf(readDocument(text, 'f.yaml'))).toEqual({
      base: { x: 1 },
      more: { x: 1, y: 2 },
    });
  });

  test('flow YAML that only looks like JSON is YAML', () => {
    expect(dataOf(readDocument('{groups: [a, b]}', 'f.yaml'))).toEqual({ groups: ['a', 'b'] });
  });

  test('JSON is read as JSON.parse reads it', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.constantFrom(0, 1, '\t'), (value, space) => {
        const text = JSON.stringify({ value }, null, space);
        fc.pre(!text.includes('__proto__') && !text.includes('\\u0000'));
        expect(dataOf(readDocument(text, 'f.json'))).toEqual(JSON.parse(text));
      }),
      { numRuns: 500 },
    );
  });

  test.each([
    ['a: 1\nb:\n  - c: 2\n    d: 3\n', ['b', 0, 'd'], '4:8', '4:5'],
    ['a: 1\nb:\n  - c: 2\n', ['b', 0, 'missing'], '3:5', '3:5'],
    ['a:\nb: 2\n', ['a'], '1:1', '1:1'],
    ['{"a": 1,\n "b": [{"c": 2}, {"d": 3}]}', ['b', 1, 'd'], '2:24', '2:19'],
    ['{"a": 1,\n "b": [{"c": 2}]}', ['b', 0, 'missing'], '2:8', '2:8'],
    ['x: &x { a: 1 }\ny: *x\n', ['y', 'a'], '1:12', '1:9'],
  ])('%j has its places', (text, path, value, key) => {
    expect(placeOf(text, path, 'value')).toBe(value);
    expect(placeOf(text, path, 'key')).toBe(key);
  });
});
