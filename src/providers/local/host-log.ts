import { closeSync, fstatSync, openSync, renameSync, writeSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';

/** Of one file. Two are kept, so that a host's log takes twice this at most. */
const FILE_BYTES_MAX = 1024 * 1024;
const LINE_LENGTH_MAX = 8_192;
/** Shorter ones would blot out half of what is written, and protect nothing. */
const SECRET_LENGTH_MIN = 6;

/**
 * What a host's processes print, line by line, in a file of bounded size. Secrets that a script echoes
 * are blotted out: whoever may read a log need not be one who may join.
 */
export class HostLog {
  readonly #path: string;
  readonly #secrets: readonly string[];
  #file: number;
  #sizeBytes: number;

  constructor(path: string, secrets: readonly string[]) {
    this.#path = path;
    // Written line by line, so a secret of several lines is one of several secrets.
    const parts = secrets.flatMap((secret) => secret.split('\n'));
    this.#secrets = parts.filter(({ length }) => length >= SECRET_LENGTH_MIN);
    this.#file = openSync(path, 'a', 0o600);
    this.#sizeBytes = fstatSync(this.#file).size;
  }

  /** One line; returned as it was written. */
  write(line: string): string {
    let clean = line.slice(0, LINE_LENGTH_MAX);
    for (const secret of this.#secrets) clean = clean.replaceAll(secret, '***');
    const bytes = Buffer.from(`${clean}\n`);
    try {
      if (this.#sizeBytes + bytes.length > FILE_BYTES_MAX) this.#turnOver();
      this.#sizeBytes += writeSync(this.#file, bytes);
    } catch {
      // A full disk must not end what runs: the line is lost, the host is not.
    }
    return clean;
  }

  /** What the host itself has to say. */
  note(text: string): void {
    this.write(`${new Date().toISOString()} bellows: ${text}`);
  }

  #turnOver(): void {
    renameSync(this.#path, `${this.#path}.1`);
    closeSync(this.#file);
    this.#file = openSync(this.#path, 'a', 0o600);
    this.#sizeBytes = 0;
  }
}

/** Cuts a stream of bytes into lines; those too long are cut where they are. */
export class LineCutter {
  readonly #decoder = new StringDecoder('utf8');
  readonly #take: (line: string) => void;
  #rest = '';

  constructor(take: (line: string) => void) {
    this.#take = take;
  }

  push(chunk: Buffer): void {
    const lines = (this.#rest + this.#decoder.write(chunk)).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#take(line);
    if (this.#rest.length > LINE_LENGTH_MAX) this.flush();
  }

  /** What came without an end of line is a line too. */
  flush(): void {
    if (this.#rest !== '') this.#take(this.#rest);
    this.#rest = '';
  }
}
