import { randomUUID } from 'node:crypto';

/**
 * JSON that many are sent alike, written once. Connect makes text of every message anew, for every
 * reader; the one way in is the encoder that makes bytes of the text. So a small message with a name
 * that nobody can guess stands for the text, and is known there by what it looks like as JSON.
 */
export class SharedJson {
  readonly #secret = randomUUID();
  readonly #encoder = new TextEncoder();
  /** By the JSON of the message that stands for it. */
  readonly #texts = new Map<string, Uint8Array>();
  #count = 0;

  /** Keeps a text; `{"status":{"fleet":NAME}}` stands for it until it is dropped. */
  keep(text: string): string {
    const name = `${this.#secret} ${++this.#count}`;
    this.#texts.set(standIn(name), this.#encoder.encode(text));
    return name;
  }

  drop(name: string): void {
    this.#texts.delete(standIn(name));
  }

  /** As a TextEncoder does it. */
  encode(text: string): Uint8Array {
    if (!text.startsWith(this.#start)) return this.#encoder.encode(text);
    const shared = this.#texts.get(text);
    if (shared === undefined) throw new Error('the status is not there any more; ask again');
    return shared;
  }

  readonly #start = standIn(this.#secret).slice(0, -'"}}'.length);
}

const standIn = (name: string): string => JSON.stringify({ status: { fleet: name } });
