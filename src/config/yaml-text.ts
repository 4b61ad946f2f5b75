import {
  CST,
  type Document,
  isAlias,
  isCollection,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  Lexer,
  parseDocument,
  visit,
} from 'yaml';
import type { Path } from './problem.ts';

/** What is wrong with the text, and where. */
export interface YamlFlaw {
  readonly offset: number;
  readonly path: Path;
  readonly message: string;
  readonly remedy: string;
}

export type YamlRead =
  | {
      readonly kind: 'ok';
      readonly data: unknown;
      /** Keys given twice: the data can still be read, so that all problems come at once. */
      readonly duplicates: readonly YamlFlaw[];
      readonly locate: (path: Path, at: 'key' | 'value') => number;
    }
  | { readonly kind: 'bad'; readonly flaw: YamlFlaw };

/** Aliases in one file: the library takes time by the square of them. */
const ALIAS_COUNT_MAX = 10_000;
/** Values after aliases are unfolded, where a file has aliases. */
const UNFOLDED_COUNT_MAX = 500_000;

/** Letters of the library's own words in a message; they may quote the whole file. */
const DETAIL_LENGTH_MAX = 120;
/** Nesting that the library composes without running out of stack; far beyond any limit of ours. */
const COMPOSE_DEPTH_MAX = 400;

/** Reads one YAML 1.2 document (which JSON is, too), with merge keys, nested at most so deep. */
export function readYaml(text: string, depthMax: number): YamlRead {
  const tooDeepAt = findDeepNesting(text);
  if (tooDeepAt !== null) return bad(tooDeepAt, ...explain('RESOURCE_EXHAUSTION', ''));
  const document = parseDocument(text, {
    schema: 'core',
    merge: true,
    stringKeys: true,
    resolveKnownTags: false,
    prettyErrors: false,
    // The library compares each key with all before it: 100,000 keys would take minutes.
    uniqueKeys: false,
  });
  const error = document.errors[0];
  if (error !== undefined) return bad(error.pos[0], ...explain(error.code, error.message));
  if (document.contents === null) {
    return bad(0, 'the file holds no data', 'see `bellows config schema` for what belongs in it');
  }
  const targets = findTargets(document);
  if (targets.size > ALIAS_COUNT_MAX) {
    const message = `${targets.size} aliases (*name) are above the limit of ${ALIAS_COUNT_MAX}`;
    return bad(0, message, 'write the values out, or the file as JSON');
  }
  const shape = inspect(document, targets, depthMax);
  if (shape.kind === 'bad') return shape;
  const locate = (path: Path, at: 'key' | 'value'): number =>
    locateNode(document, targets, path, at);
  try {
    // Cycles and bombs are out, so the library's own count of aliases, which is slow, can be off.
    const data: unknown = document.toJS({ maxAliasCount: -1 });
    return { kind: 'ok', data, duplicates: shape.duplicates, locate };
  } catch (error) {
    // This is how the library says that a merge key (<<) names something that is no mapping.
    const detail = error instanceof Error ? error.message : String(error);
    return bad(0, ...explain('', detail));
  }
}

/** What each alias stands for: the last node before it that carries its anchor. */
type Targets = ReadonlyMap<unknown, unknown>;

function findTargets(document: Document): Targets {
  const anchors = new Map<string, unknown>();
  const targets = new Map<unknown, unknown>();
  visit(document, {
    Node: (_key, node) => {
      if (isAlias(node)) targets.set(node, anchors.get(node.source));
      else if ('anchor' in node && node.anchor !== undefined) anchors.set(node.anchor, node);
    },
  });
  return targets;
}

/**
 * Where the text is nested deeper than the library can compose: it recurses, and a stack that
 * overflows may take the process with it. Tokens are exact about quotes and comments.
 */
function findDeepNesting(text: string): number | null {
  let offset = 0;
  let flowDepth = 0;
  let lineDepth = 0;
  let isLineStart = true;
  let isScalar = false;
  for (const token of new Lexer().lex(text)) {
    if (isScalar) {
      // The token after this mark is content, whatever it looks like.
      isScalar = false;
      offset += token.length;
      continue;
    }
    const kind = CST.tokenType(token);
    if (kind === 'newline') lineDepth = 0;
    else if (kind === 'space' && isLineStart) lineDepth = token.length;
    else if (kind === 'seq-item-ind' || kind === 'explicit-key-ind' || kind === 'map-value-ind') {
      lineDepth++;
    } else if (kind === 'flow-map-start' || kind === 'flow-seq-start') flowDepth++;
    else if (kind === 'flow-map-end' || kind === 'flow-seq-end') flowDepth--;
    if (flowDepth > COMPOSE_DEPTH_MAX || lineDepth > COMPOSE_DEPTH_MAX) return offset;
    isLineStart = kind === 'newline';
    isScalar = kind === 'scalar';
    const isMark = isScalar || kind === 'doc-mode' || kind === 'flow-error-end';
    if (!isMark) offset += token.length;
  }
  return null;
}

function bad(offset: number, message: string, remedy: string, path: Path = []): YamlRead {
  return { kind: 'bad', flaw: { offset, path, message, remedy } };
}

function explain(code: string, detail: string): [message: string, remedy: string] {
  switch (code) {
    case 'MULTIPLE_DOCS':
      return ['the file holds several documents', 'keep one and put the others in own files'];
    case 'TAB_AS_INDENT':
      return ['a tab is used to indent', 'indent with spaces'];
    case 'RESOURCE_EXHAUSTION':
      return ['the data is nested too deeply to read', 'flatten it'];
    case 'NON_STRING_KEY':
      return ['a list or mapping is used as a key', 'use a plain word'];
    default:
      return [`not valid YAML: ${(detail.split('\n')[0] ?? '').slice(0, DETAIL_LENGTH_MAX)}`, ''];
  }
}

type Inspection =
  | { readonly kind: 'ok'; readonly duplicates: readonly YamlFlaw[] }
  | Extract<YamlRead, { kind: 'bad' }>;

interface Step {
  readonly node: unknown;
  readonly path: Path;
}

/**
 * Walks the nodes with aliases followed: finds cycles, bombs and nesting beyond the limit before
 * any of it is unfolded, and keys given twice.
 */
function inspect(document: Document, targets: Targets, depthMax: number): Inspection {
  const duplicates: YamlFlaw[] = [];
  const stack: Step[] = [{ node: document.contents, path: [] }];
  let visited = 0;
  for (let item = stack.pop(); item !== undefined; item = stack.pop()) {
    const { path } = item;
    let { node } = item;
    visited++;
    const offset = startOf(node);
    const stop = (message: string, remedy: string): Inspection => ({
      kind: 'bad',
      flaw: { offset, path, message, remedy },
    });
    if (isAlias(node)) {
      const { source } = node;
      node = targets.get(node);
      if (node === undefined) return stop(`the alias *${source} has no anchor &${source}`, '');
      // Anchors come before their aliases, so a cycle is an alias within its own anchor's text.
      if (offset < endOf(node)) {
        return stop(`the alias *${source} stands inside its own anchor: no end`, 'write it out');
      }
    }
    if (targets.size > 0 && visited > UNFOLDED_COUNT_MAX) {
      return stop('aliases (*name) unfold to too much data', 'write the values out');
    }
    if (!isCollection(node)) continue;
    if (path.length >= depthMax) {
      return stop(`nested more than ${depthMax} levels deep`, 'flatten it');
    }
    const seen = new Set<unknown>();
    for (const [index, item] of node.items.entries()) {
      const key = isPair(item) ? (isScalar(item.key) ? item.key.value : item.key) : index;
      const inner = [...path, typeof key === 'number' ? key : String(key)];
      if (isPair(item) && key !== '<<' && seen.has(key)) {
        const message = 'this key is given twice';
        duplicates.push({ offset: startOf(item.key), path: inner, message, remedy: 'keep one' });
      }
      if (key === '__proto__') return stop('the key "__proto__" is not allowed', 'remove it');
      seen.add(key);
      stack.push({ node: isPair(item) ? item.value : item, path: inner });
    }
  }
  return { kind: 'ok', duplicates };
}

function locateNode(document: Document, targets: Targets, path: Path, at: 'key' | 'value'): number {
  let node: unknown = document.contents;
  let offset = startOf(node);
  for (const [depth, part] of path.entries()) {
    if (isAlias(node)) node = targets.get(node);
    if (isSeq(node)) {
      node = node.items[Number(part)];
    } else if (isMap(node)) {
      const pair = node.items.findLast(({ key }) => isScalar(key) && key.value === part);
      // A value that a merge key (<<) brought in has no pair here: the mapping is meant.
      if (pair === undefined) return offset;
      const isKey = at === 'key' && depth === path.length - 1;
      if (isKey) return startOf(pair.key);
      node = isEmptyValue(pair.value) ? pair.key : pair.value;
    }
    if (node === undefined || node === null) return offset;
    offset = startOf(node);
  }
  return offset;
}

/** `max:` with nothing behind it: its key is where to look. */
const isEmptyValue = (value: unknown): boolean =>
  value === null || (isScalar(value) && value.value === null && value.source === '');

// Every parsed node has a range; without one (a node made otherwise) the top of the text is meant.
const startOf = (node: unknown): number => (isNode(node) ? (node.range?.[0] ?? 0) : 0);
const endOf = (node: unknown): number => (isNode(node) ? (node.range?.[1] ?? 0) : 0);
