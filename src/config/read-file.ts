import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { fileProblem, type Problem } from './problem.ts';

/** Largest file read, in bytes; a million entries fit. */
export const INPUT_SIZE_MAX = 64 * 1_024 * 1_024;
/** What messages call standard input. */
export const STDIN_NAME = '<stdin>';

const CHUNK_BYTES = 1_024 * 1_024;

/** Text with the name that messages give it, or why it could not be had. */
export type InputRead =
  | { readonly kind: 'ok'; readonly text: string; readonly file: string }
  | { readonly kind: 'bad'; readonly problem: Problem };

/**
 * Reads a text file whole; `-` is standard input. Never throws: a missing file, a directory, no
 * permission, too large (known before reading, where it is a file) or binary are problems.
 */
export function readInput(path: string, { sizeMax }: { readonly sizeMax: number }): InputRead {
  const file = path === '-' ? STDIN_NAME : path;
  const bad = (message: string, remedy: string): InputRead => {
    return { kind: 'bad', problem: fileProblem(file, message, remedy) };
  };
  let bytes: Buffer | 'too-large' | 'directory';
  try {
    bytes = path === '-' ? readAll(0, sizeMax) : readPath(path, sizeMax);
  } catch (error) {
    return bad(...explainError(error));
  }
  if (bytes === 'directory') return bad('is a directory', 'name a file in it');
  if (bytes === 'too-large') {
    return bad(`is larger than ${Math.floor(sizeMax / 1_024 / 1_024)} MiB`, 'give a smaller file');
  }
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return { kind: 'ok', text, file };
  } catch {
    return bad('is not text in UTF-8', 'give a YAML or JSON file');
  }
}

function readPath(path: string, sizeMax: number): Buffer | 'too-large' | 'directory' {
  const descriptor = openSync(path, 'r');
  try {
    const stat = fstatSync(descriptor);
    if (stat.isDirectory()) return 'directory';
    if (stat.size > sizeMax) return 'too-large';
    return readAll(descriptor, sizeMax);
  } finally {
    closeSync(descriptor);
  }
}

/** Reads to the end, or to the first byte too many: a pipe and /dev/zero do not tell their size. */
function readAll(descriptor: number, sizeMax: number): Buffer | 'too-large' {
  const chunks: Buffer[] = [];
  let size = 0;
  for (;;) {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    const length = readChunk(descriptor, chunk);
    if (length === 0) return Buffer.concat(chunks);
    size += length;
    if (size > sizeMax) return 'too-large';
    chunks.push(chunk.subarray(0, length));
  }
}

/** On a terminal or pipe that has nothing yet, reading says "try again"; then we wait a moment. */
function readChunk(descriptor: number, chunk: Buffer): number {
  const pause = new Int32Array(new SharedArrayBuffer(4));
  for (;;) {
    try {
      return readSync(descriptor, chunk);
    } catch (error) {
      if (errorCode(error) === 'EOF') return 0; // how Windows ends standard input
      if (errorCode(error) !== 'EAGAIN') throw error;
      Atomics.wait(pause, 0, 0, 10);
    }
  }
}

const errorCode = (error: unknown): unknown =>
  error instanceof Error && 'code' in error ? error.code : undefined;

function explainError(error: unknown): [message: string, remedy: string] {
  switch (errorCode(error)) {
    case 'ENOENT':
      return ['there is no such file', 'check the path'];
    case 'ENOTDIR':
      return ['a part of the path is no directory', 'check the path'];
    case 'EACCES':
    case 'EPERM':
      return ['may not be read', 'check its permissions'];
    case 'EISDIR':
      return ['is a directory', 'name a file in it'];
    default: {
      const code = errorCode(error);
      return [`cannot be read (${typeof code === 'string' ? code : 'unknown error'})`, ''];
    }
  }
}
