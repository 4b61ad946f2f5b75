/** Secrets remembered at a time; the oldest is forgotten first. A configuration names a few. */
const SECRETS_MAX = 1_000;
/** A shorter line of a secret is no secret by itself, and hiding it would spoil ordinary words. */
const LINE_MIN = 8;
const HIDDEN = '[secret]';

/**
 * What was told to the program and must not come back through its words: a program may print its
 * input when it fails, and what it prints goes into errors, logs and the store.
 */
export class Secrets {
  readonly #known = new Set<string>();

  learn(secret: string): void {
    for (const form of formsOf(secret)) {
      this.#known.delete(form);
      this.#known.add(form);
    }
    for (const oldest of this.#known) {
      if (this.#known.size <= SECRETS_MAX) break;
      this.#known.delete(oldest);
    }
  }

  /** The text without any secret. Cut it afterwards, never before: half a secret is not found. */
  hide(text: string): string {
    if (this.#known.size === 0) return text;
    // Longest first: a secret that holds another one is hidden whole.
    const known = [...this.#known].sort((a, b) => b.length - a.length);
    return known.reduce((left, secret) => left.replaceAll(secret, HIDDEN), text);
  }
}

const quote = (text: string): string => JSON.stringify(text).slice(1, -1);

/** A secret as it may be printed: as it is, in JSON, in JSON that quotes JSON, and line by line. */
function formsOf(secret: string): readonly string[] {
  const lines = secret.split(/\r?\n/).map((line) => line.trim());
  const forms = [secret, secret.trim(), quote(secret), quote(quote(secret))];
  const whole = forms.filter((form) => form.length > 0);
  return [...whole, ...lines.filter(({ length }) => length >= LINE_MIN)];
}
