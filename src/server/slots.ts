/** Places that calls or streams take for as long as they last. One client gets at most half of them. */
export class Slots {
  readonly max: number;
  readonly clientMax: number;
  readonly #byClient = new Map<string, number>();
  #taken = 0;

  constructor(max: number) {
    this.max = max;
    this.clientMax = Math.max(1, Math.floor(max / 2));
  }

  get taken(): number {
    return this.#taken;
  }

  /** What gives the place back, once; or why there is none. */
  take(client: string): (() => void) | 'full' | 'client-full' {
    const mine = this.#byClient.get(client) ?? 0;
    if (mine >= this.clientMax) return 'client-full';
    if (this.#taken >= this.max) return 'full';
    this.#taken++;
    this.#byClient.set(client, mine + 1);
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      this.#taken--;
      const left = (this.#byClient.get(client) ?? 1) - 1;
      if (left > 0) this.#byClient.set(client, left);
      else this.#byClient.delete(client);
    };
  }
}
