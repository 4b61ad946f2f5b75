import type { Random } from '../../src/support/random.ts';

interface Entry {
  readonly id: string;
  readonly kind: 'single' | 'gang';
  readonly cpu: number;
}

/** What was acknowledged, and what was sent since without an answer. */
interface Said<T> {
  readonly acknowledged: T;
  readonly unanswered: readonly T[];
}

const SOURCE = 'crash-test';
const CALL_MS = 5_000;

/**
 * A scheduler whose mind changes all the time. It remembers what it was told is durable, so that what
 * a restarted controller knows can be held against it.
 */
export class RestlessScheduler {
  acknowledgedCount = 0;
  /** Sentences, one for each acknowledged thing that was not there afterwards. */
  readonly lost: string[] = [];
  readonly #url: string;
  readonly #random: Random;
  #generation = 0;
  #made = 0;
  #sets: Said<{ generation: number; entries: ReadonlyMap<string, Entry> }> = {
    acknowledged: { generation: 0, entries: new Map() },
    unanswered: [],
  };
  #floors: Said<number> = { acknowledged: 0, unanswered: [] };

  constructor(url: string, random: Random) {
    this.#url = url;
    this.#random = random;
  }

  /** One change of mind. A call that is not answered may or may not have counted. */
  async change(): Promise<void> {
    const roll = this.#random();
    if (roll < 0.1) return this.#hold(Math.floor(this.#random() * 3));
    const entries = new Map(this.#sets.acknowledged.entries);
    const isSure = this.#sets.unanswered.length === 0 && entries.size > 0;
    const changed: Entry[] = [];
    const removed: string[] = [];
    for (const id of entries.keys()) if (this.#random() < 0.4) removed.push(id);
    for (let n = Math.floor(this.#random() * 4); n > 0; n--) changed.push(this.#make());
    for (const id of removed) entries.delete(id);
    for (const entry of changed) entries.set(entry.id, entry);
    // A delta needs to know what it builds on.
    if (isSure && roll < 0.5) await this.#push(entries, { changed, removed });
    else await this.#push(entries, null);
  }

  async clear(): Promise<void> {
    await this.#push(new Map(), null);
    await this.#hold(0);
  }

  /** Holds what the controller knows against what it acknowledged. */
  async check(): Promise<void> {
    // A controller that has just begun to listen has yet to read what it knows.
    let { status } = await this.#call<Status>('GetAutoscalerStatus', {});
    while (status?.standingDetail?.includes('the store')) {
      ({ status } = await this.#call<Status>('GetAutoscalerStatus', {}));
    }
    const source = status?.sources?.find((one) => one.source === SOURCE);
    const { acknowledged, unanswered } = this.#sets;
    const generation = Number(source?.generation ?? 0);
    const known = [acknowledged, ...unanswered].find((set) => set.generation === generation);
    if (known === undefined) {
      this.lost.push(`generation ${generation} is known, ${acknowledged.generation} acknowledged`);
    } else if (Number(source?.entryCount ?? 0) !== known.entries.size) {
      const count = Number(source?.entryCount ?? 0);
      this.lost.push(`generation ${generation} has ${count} entries, not ${known.entries.size}`);
    } else {
      this.#sets = { acknowledged: known, unanswered: [] };
    }
    const floor = Number(status?.floors?.find(({ id }) => id === 'floor')?.count ?? 0);
    const floors = [this.#floors.acknowledged, ...this.#floors.unanswered];
    if (floors.includes(floor)) this.#floors = { acknowledged: floor, unanswered: [] };
    else this.lost.push(`a floor of ${floor} is known, ${floors[0]} acknowledged`);
  }

  async sliceCount(): Promise<number> {
    return (await this.#call<{ totalCount?: number }>('ListSlices', {})).totalCount ?? 0;
  }

  #make(): Entry {
    const kind = this.#random() < 0.25 ? 'gang' : 'single';
    return { id: `e-${this.#made++}`, kind, cpu: kind === 'gang' ? 2 : 1 + this.#random() * 3 };
  }

  async #push(
    entries: ReadonlyMap<string, Entry>,
    delta: { readonly changed: readonly Entry[]; readonly removed: readonly string[] } | null,
  ): Promise<void> {
    const generation = ++this.#generation;
    const next = { generation, entries };
    const { acknowledged, unanswered } = this.#sets;
    this.#sets = { acknowledged, unanswered: [...unanswered, next] };
    const body = {
      source: SOURCE,
      generation,
      entries: [...(delta === null ? entries.values() : delta.changed)].map(toWire),
      ttl: '600s',
      ...(delta === null
        ? {}
        : { baseGeneration: acknowledged.generation, removedIds: delta.removed }),
    };
    const answer = await this.#call<{ durable?: boolean }>('PushDemand', body);
    if (answer.durable !== true) throw new Error('a push was answered, and is not durable');
    this.acknowledgedCount++;
    this.#sets = { acknowledged: next, unanswered: [] };
  }

  async #hold(count: number): Promise<void> {
    const { acknowledged, unanswered } = this.#floors;
    this.#floors = { acknowledged, unanswered: [...unanswered, count] };
    const ask = { resources: { cpu: 2 } };
    await this.#call('RequestResources', { id: 'floor', ask, count, ttl: '600s' });
    this.acknowledgedCount++;
    this.#floors = { acknowledged: count, unanswered: [] };
  }

  async #call<T>(method: string, body: object): Promise<T> {
    const reply = await fetch(`${this.#url}/bellows.v1.AutoscalerService/${method}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(CALL_MS),
    });
    const answer: unknown = await reply.json();
    // The cast: the caller knows what the method answers.
    if (reply.ok) return answer as T;
    throw new Refused(`${method}: ${JSON.stringify(answer)}`, reply.status);
  }
}

/** The controller answered, and said no. */
export class Refused extends Error {
  readonly status: number;
  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

interface Status {
  readonly status?: {
    readonly standingDetail?: string;
    readonly sources?: readonly { source: string; generation: string; entryCount: string }[];
    readonly floors?: readonly { id: string; count: string }[];
  };
}

function toWire({ id, kind, cpu }: Entry): object {
  const ask = { resources: { cpu: Math.round(cpu * 10) / 10 } };
  return kind === 'gang' ? { id, gang: { ask, taskCount: 2 } } : { id, single: ask };
}
