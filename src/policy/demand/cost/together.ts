import { must } from '../../../support/assert.ts';
import { byFirst, byNumber } from '../../../support/order.ts';
import { type Allocation, toBerths } from '../allocation.ts';
import { placeGang } from '../gangs.ts';
import { countFitting } from '../judge.ts';
import { type GroupOrder, byRank, placeEntries } from '../place.ts';
import type { DemandProblem, JudgedPart, Want } from '../problem.ts';
import { fitCopies } from '../host-list.ts';

/** Places what must be placed together, oldest class first, each class where it costs least. */
export function placeTogetherByCost(
  problem: DemandProblem,
  allocation: Allocation,
  wants: readonly Want[],
): void {
  const together = wants.filter(({ form }) => form.kind !== 'single').sort(byService);
  for (const want of together) {
    const { count } = want.demand;
    if (want.form.kind === 'gang') {
      placeGangsByCost(problem, allocation, want, want.form.taskCount);
    } else {
      const placed = placeEntries(problem, allocation, want, {
        count,
        order: byPriceOfClass(problem, count),
      });
      placeEntries(problem, allocation, want, { count: count - placed, order: byRank });
    }
  }
}

const byService = byFirst<Want>(
  (a, b) => b.demand.priority - a.demand.priority,
  byNumber(({ demand }) => demand.batches[0]?.submittedAtMs ?? 0),
  byNumber(({ index }) => index),
);

/** Gangs of a class: on room that is there first, the rest where a gang costs least on average. */
function placeGangsByCost(
  problem: DemandProblem,
  allocation: Allocation,
  want: Want,
  tasks: number,
): void {
  const part = must(want.parts[0], 'a gang has one part');
  let left = want.demand.count;
  const place = (group: number, gangs: number, slicesMax: () => number): number => {
    let placed = 0;
    while (placed < gangs) {
      const at = { group, slicesMax: slicesMax() };
      const taken = placeGang(problem, allocation, { part, tasks }, at);
      if (taken === null) break;
      allocation.place(want, 1, toBerths(group, taken));
      placed++;
    }
    return placed;
  };
  for (const group of part.ranked) left -= place(group, left, () => 0);
  while (left > 0) {
    const offers = part.ranked.flatMap((group) => {
      const offer = offerFor(problem, allocation, part, { group, tasks, gangs: left });
      return offer === null ? [] : [offer];
    });
    const best = offers.sort(byOffer)[0];
    if (best === undefined) return;
    const { group } = best;
    left -= place(group, best.gangs, () => allocation.ledger.budgets.openable(group));
  }
}

/** What a group asks for as many of the gangs as it can take. */
interface Offer {
  readonly group: number;
  readonly gangs: number;
  readonly soft: number;
  /** Average, in micro-dollars per hour. */
  readonly pricePerGang: number;
  readonly rank: number;
}

const byOffer = byFirst<Offer>(
  byNumber((offer) => -offer.soft),
  byNumber((offer) => offer.pricePerGang),
  byNumber((offer) => offer.rank),
);

function offerFor(
  { groups, capacity, needs }: DemandProblem,
  { ledger }: Allocation,
  part: JudgedPart,
  wanted: { readonly group: number; readonly tasks: number; readonly gangs: number },
): Offer | null {
  const { group, tasks } = wanted;
  const { hostsPerSlice, priceMicroUsdPerHour } = must(groups[group], 'a group index');
  const openable = ledger.budgets.openable(group);
  const perHost = Math.min(
    tasks * wanted.gangs,
    fitCopies(must(capacity[group], 'a group index'), must(needs[part.index], 'a part index')),
  );
  // On slices of several hosts a gang has one task to a host, and the slices to itself.
  const tasksPerSlice = hostsPerSlice > 1 ? hostsPerSlice : perHost;
  const inRooms =
    hostsPerSlice > 1
      ? ledger.rooms.wholeSlices(group) * hostsPerSlice
      : countFitting(ledger.rooms, part, group, tasks * wanted.gangs);
  const gangs = Math.min(wanted.gangs, Math.floor((inRooms + openable * tasksPerSlice) / tasks));
  if (gangs === 0) return null;
  const slices = Math.ceil(Math.max(0, gangs * tasks - inRooms) / tasksPerSlice);
  return {
    group,
    gangs,
    soft: part.soft[group] ?? 0,
    pricePerGang: (slices * (priceMicroUsdPerHour ?? 0)) / gangs,
    rank: part.ranked.indexOf(group),
  };
}

/** Groups by soft constraints, then by what the whole class would cost there in whole slices. */
function byPriceOfClass(problem: DemandProblem, count: number): GroupOrder {
  return (part) => {
    const price = (group: number): number => {
      const { hostsPerSlice, priceMicroUsdPerHour } = must(problem.groups[group], 'a group index');
      const hosts = count * part.share(group);
      return Math.ceil(hosts / hostsPerSlice) * (priceMicroUsdPerHour ?? 0);
    };
    return part.ranked
      .map((group, rank) => ({ group, rank, soft: part.soft[group] ?? 0, price: price(group) }))
      .sort(
        byFirst<{ rank: number; soft: number; price: number }>(
          byNumber((one) => -one.soft),
          byNumber((one) => one.price),
          byNumber((one) => one.rank),
        ),
      )
      .map(({ group }) => group);
  };
}
