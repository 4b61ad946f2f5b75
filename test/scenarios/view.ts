import type { FleetEvent } from '../../src/model/event.ts';
import { entryIdAt } from '../../src/model/demand.ts';
import { entryId, epochMs, type SliceId } from '../../src/model/ids.ts';
import { isLive, type SliceRecord } from '../../src/model/slice-record.ts';
import type { SliceStatus } from '../../src/model/slice.ts';
import type { SliceVerdict } from '../../src/model/tick.ts';
import type { MachineTruth } from '../../src/providers/simulated/truth.ts';
import type { SimulatedFleet } from '../../src/sim/fleet.ts';
import { must } from '../../src/support/assert.ts';

/** A call that reached a provider, at a time since the start. */
export interface Call {
  readonly kind: 'list' | 'launch' | 'terminate';
  readonly provider: string;
  readonly atMs: number;
  readonly sliceIds: readonly SliceId[];
  readonly groups: readonly string[];
}

/** What is and was: in the clouds, in the leader's records, in its last tick, in the store. */
export abstract class View {
  abstract readonly fleet: SimulatedFleet;
  readonly calls: Call[] = [];

  /** Machines that really are there now, of all groups or of one. */
  alive(group?: string): readonly MachineTruth[] {
    return [...this.fleet.clouds.values()]
      .flatMap(({ truth }) => truth.alive())
      .filter((machine) => group === undefined || machine.group === group);
  }

  /** All machines that ever were ours. */
  made(group?: string): readonly MachineTruth[] {
    return [...this.fleet.clouds.values()]
      .flatMap(({ truth }) => truth.machines())
      .filter(({ fleet }) => fleet !== null)
      .filter((machine) => group === undefined || machine.group === group);
  }

  /** Live slices as the leader remembers them. */
  slices(group?: string, status?: SliceStatus): readonly SliceRecord[] {
    return this.fleet
      .records()
      .filter(isLive)
      .filter((slice) => group === undefined || slice.group === group)
      .filter((slice) => status === undefined || slice.status === status);
  }

  record(id: SliceId): SliceRecord {
    return must(
      this.fleet.records().find((slice) => slice.id === id),
      `no slice ${id}`,
    );
  }

  /** Why a slice stays or goes, by the last tick. */
  verdictOn(id: SliceId): SliceVerdict {
    const rows = this.fleet.leader?.last?.output.verdicts ?? [];
    return must(
      rows.find(({ sliceIds }) => sliceIds.includes(id)),
      `no verdict on ${id}`,
    ).verdict;
  }

  /** What the last tick says of waiting work: `placed`, or its code and the rule of every group. */
  reasonFor(id: string): { readonly code: string; readonly rules: Record<string, string> } {
    const { input, output } = must(this.fleet.leader?.last, 'a tick');
    for (const [index, { batches }] of input.demand.entries()) {
      const names = batches.flatMap((batch) =>
        Array.from({ length: batch.count }, (_, n) => entryIdAt(batch, n)),
      );
      const place = names.indexOf(entryId(id));
      if (place < 0) continue;
      const { placed, unmet } = must(output.decision.classes[index], 'one verdict per class');
      if (place < placed.reduce((sum, { count }) => sum + count, 0)) {
        return { code: 'placed', rules: {} };
      }
      const { code, groups } = must(unmet, 'a reason');
      const rules = groups.map(({ group, exclusion }) => [group, exclusion.kind] as const);
      return { code, rules: Object.fromEntries(rules) };
    }
    return { code: 'not pending', rules: {} };
  }

  get runningCount(): number {
    return this.fleet.scheduler.runningCount;
  }

  /** Work that has run to its end, by id. */
  finished(): readonly string[] {
    return this.fleet.scheduler.finished.map(({ id }) => id).sort();
  }

  async events<Kind extends FleetEvent['kind']>(
    kind: Kind,
  ): Promise<readonly Extract<FleetEvent, { kind: Kind }>[]> {
    const ask = { sinceMs: epochMs(0), afterSeq: -1, limit: 1_000_000 };
    const rows = await this.fleet.store.readEvents(ask);
    return rows
      .map(({ text }): FleetEvent => JSON.parse(text))
      .filter((event): event is Extract<FleetEvent, { kind: Kind }> => event.kind === kind);
  }

  callsOf(kind: Call['kind'], group?: string): readonly Call[] {
    return this.calls.filter(
      (call) => call.kind === kind && (group === undefined || call.groups.includes(group)),
    );
  }
}
