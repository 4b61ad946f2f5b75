import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { describe, expect, test } from 'vitest';

const root = new URL('..', import.meta.url).pathname;
const src = join(root, 'src');

// Who may import whom. A room not listed here may not exist; an import not listed may not be made.
const CORE = ['support', 'model'];
const PURE = [...CORE, 'lifecycle'];
const INNER = [...PURE, 'policy', 'planner', 'ports', 'api'];
const allowed: Readonly<Record<string, readonly string[]>> = {
  support: [],
  model: ['support'],
  lifecycle: CORE,
  policy: PURE,
  planner: PURE,
  ports: PURE,
  api: PURE,
  config: INNER,
  programs: ['support'],
  solver: [...PURE, 'ports', 'programs'],
  store: [...PURE, 'ports', 'programs'],
  providers: [...PURE, 'ports', 'programs'],
  service: [...INNER, 'config', 'controller', 'server'],
  cases: [...INNER, 'config'],
  controller: [...INNER, 'config'],
  server: [...INNER, 'config', 'controller'],
  sim: [...INNER, 'config', 'controller', 'providers', 'store'],
  replay: [...INNER, 'config', 'controller'],
  wiring: [
    ...INNER,
    'config',
    'cases',
    'controller',
    'solver',
    'sim',
    'store',
    'providers',
    'server',
    'service',
  ],
  cli: [...INNER, 'config', 'cases', 'controller', 'replay', 'wiring'],
};

/** Folders where deciding lives: they get time and chance as arguments and touch nothing outside. */
const pureRooms = new Set(['support', 'model', 'lifecycle', 'policy', 'planner', 'ports', 'api']);
const bannedInPureRooms = [
  /\bDate\b(?!\s*[:.]?\s*string)/,
  /\bMath\.random\b/,
  /\bsetTimeout\b/,
  /\bsetInterval\b/,
  /\bprocess\b\./,
  /\bperformance\.now\b/,
  /from 'node:/,
];
const bannedNames = /^(utils|helpers|common|types|manager)\.ts$/;
const LINES_MAX = 400;

interface SourceFile {
  readonly path: string;
  readonly room: string;
  readonly text: string;
  readonly lines: readonly string[];
}

function listFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? listFiles(path) : [path];
    })
    .filter((path) => path.endsWith('.ts'));
}

function readSource(path: string): SourceFile {
  const text = readFileSync(path, 'utf8');
  const room = (relative(src, path).split(sep)[0] ?? '').replace(/\.ts$/, '');
  return { path: relative(root, path), room, text, lines: text.split('\n') };
}

/** Comments say what they like; rules are about code. */
const withoutComments = (text: string): string =>
  text.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/(^|\s)\/\/.*$/gm, '$1');

/** Written by buf from proto/. */
const isGenerated = (path: string): boolean => relative(src, path).startsWith(join('api', 'gen'));

const files = listFiles(src)
  .filter((path) => !isGenerated(path))
  .map(readSource);
const production = files.filter((file) => !file.path.endsWith('.test.ts'));

describe('rooms', () => {
  test('every folder of src has a place in the import table', () => {
    const unknown = files.filter((file) => allowed[file.room] === undefined);
    expect(unknown.map((file) => file.path)).toEqual([]);
  });

  test('imports point one way', () => {
    const wrong: string[] = [];
    for (const file of production) {
      for (const match of file.text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)) {
        const target = join(root, file.path, '..', match[1] ?? '');
        const room = (relative(src, target).split(sep)[0] ?? '').replace(/\.ts$/, '');
        const may = room === file.room || (allowed[file.room] ?? []).includes(room);
        if (!may) wrong.push(`${file.path} imports ${room}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  test('deciding reads no clock, no chance, no environment', () => {
    const wrong: string[] = [];
    for (const file of production.filter((candidate) => pureRooms.has(candidate.room))) {
      const code = withoutComments(file.text);
      for (const banned of bannedInPureRooms) {
        if (banned.test(code)) wrong.push(`${file.path}: ${String(banned)}`);
      }
    }
    expect(wrong).toEqual([]);
  });
});

describe('files', () => {
  test('are kebab-case and named for what they hold', () => {
    const names = files.map((file) => file.path.split('/').at(-1) ?? '');
    expect(names.filter((name) => !/^[a-z0-9]+(-[a-z0-9]+)*(\.test)?\.ts$/.test(name))).toEqual([]);
    expect(names.filter((name) => bannedNames.test(name))).toEqual([]);
  });

  test(`stay under ${LINES_MAX} lines, or say why at the top`, () => {
    const long = production.filter(
      (file) =>
        file.lines.length > LINES_MAX && !file.lines.slice(0, 5).join(' ').includes('Long:'),
    );
    expect(long.map((file) => `${file.path}: ${file.lines.length}`)).toEqual([]);
  });

  test('leave nothing for later and hide no type', () => {
    const reminders = /\b(TODO|FIXME|XXX)\b|@ts-ignore|@ts-expect-error/;
    const holes = /\bas any\b|:\s*any\b/;
    const marked = files.filter(
      ({ text }) => reminders.test(text) || holes.test(withoutComments(text)),
    );
    expect(marked.map((file) => file.path)).toEqual([]);
  });

  test('export by name and have no barrels', () => {
    const wrong = production.filter((file) => /export default|export \* from/.test(file.text));
    expect(wrong.map((file) => file.path)).toEqual([]);
  });
});
