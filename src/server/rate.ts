import { isIPv6 } from 'node:net';

/** Clients remembered at a time. Beyond it the one longest unheard is forgotten, and starts afresh. */
const CLIENTS_MAX = 10_000;

export type Take =
  | { readonly kind: 'taken' }
  /** Nothing left; the next one is there after `retryMs`. */
  | { readonly kind: 'empty'; readonly retryMs: number };

interface Bucket {
  left: number;
  atMs: number;
}

/** A token bucket for each client: so many at once, refilled at a steady rate. Bounded. */
export class Buckets {
  readonly #perSecond: number;
  readonly #burst: number;
  readonly #clientsMax: number;
  /** The least lately used comes first. */
  readonly #buckets = new Map<string, Bucket>();

  constructor(options: {
    readonly perSecond: number;
    readonly burst: number;
    readonly clientsMax?: number;
  }) {
    this.#perSecond = options.perSecond;
    this.#burst = options.burst;
    this.#clientsMax = options.clientsMax ?? CLIENTS_MAX;
  }

  get size(): number {
    return this.#buckets.size;
  }

  take(client: string, nowMs: number): Take {
    const bucket = this.#buckets.get(client) ?? { left: this.#burst, atMs: nowMs };
    const passedMs = Math.max(0, nowMs - bucket.atMs);
    bucket.left = Math.min(this.#burst, bucket.left + (passedMs * this.#perSecond) / 1_000);
    bucket.atMs = nowMs;
    this.#keep(client, bucket);
    if (bucket.left < 1) {
      return { kind: 'empty', retryMs: Math.ceil(((1 - bucket.left) * 1_000) / this.#perSecond) };
    }
    bucket.left--;
    return { kind: 'taken' };
  }

  #keep(client: string, bucket: Bucket): void {
    this.#buckets.delete(client);
    this.#buckets.set(client, bucket);
    if (this.#buckets.size <= this.#clientsMax) return;
    for (const oldest of this.#buckets.keys()) {
      this.#buckets.delete(oldest);
      return;
    }
  }
}

/**
 * What counts as one client among addresses: an IPv4 address, or the first half of an IPv6 one, of
 * which whoever has one has all.
 */
export function clientOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '');
  if (!isIPv6(plain)) return plain;
  const [head = '', tail = ''] = plain.split('::');
  const heads = head === '' ? [] : head.split(':');
  const tails = tail === '' ? [] : tail.split(':');
  const zeros = plain.includes('::') ? Math.max(0, 8 - heads.length - tails.length) : 0;
  const groups = [...heads, ...Array.from({ length: zeros }, () => '0'), ...tails];
  const net = groups.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16));
  // Loopback is one machine, not a network.
  return plain === '::1' ? plain : `${net.join(':')}::/64`;
}
