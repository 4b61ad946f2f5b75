import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { groupName } from '../src/model/ids.ts';
import type { HostType, WorkShape } from '../src/policy/placement/catalogue.ts';
import { must } from '../src/support/assert.ts';
import { type Demand, readTable, type ReplayProblem } from './replay-problems.ts';

const gangSchema = z.object({
  schema: z.literal('bellows-gang-replay/1'),
  name: z.string(),
  demands: z.string(),
  sliceTypes: z.array(
    z.object({
      name: z.string(),
      gpus: z.number(),
      hosts: z.number().default(1),
      hourlyCost: z.number(),
      bootSeconds: z.number(),
    }),
  ),
  maxRuntimeSeconds: z.number(),
  tickSeconds: z.number(),
  idleTimeoutSeconds: z.number(),
});
type SliceType = z.infer<typeof gangSchema>['sliceTypes'][number];

const MICRO = 1_000_000;
const GPUS_PER_HOST = 8;

/**
 * Reads a `bellows-gang-replay/1` problem. A gang of several hosts takes the smallest slice that
 * has them, as a whole; smaller jobs share hosts of eight, except that a one-GPU job has hosts of
 * its own and only visits holes elsewhere.
 */
export function readGangProblem(path: string): ReplayProblem {
  const file = gangSchema.parse(JSON.parse(readFileSync(path, 'utf8')));
  const types = file.sliceTypes.map(({ name, gpus, hourlyCost }): HostType => {
    const priceMicroUsdPerHour = Math.round(hourlyCost * MICRO);
    return { name: groupName(name), capacity: Float64Array.of(gpus), priceMicroUsdPerHour };
  });
  const shapes = new Map<number, { readonly index: number; readonly shape: WorkShape }>();
  const demands = readTable(join(dirname(path), file.demands)).map((row): Demand => {
    const gpus = Number(row['gpus']);
    const known = shapes.get(gpus) ?? { index: shapes.size, shape: toShape(file.sliceTypes, gpus) };
    shapes.set(gpus, known);
    const runS = Math.min(Math.max(Number(row['duration_s']), 1), file.maxRuntimeSeconds);
    const arrivalMs = Number(row['arrival_s']) * 1_000;
    return { shape: known.index, arrivalMs, runMs: runS * 1_000 };
  });
  return {
    name: file.name,
    input: { types, shapes: [...shapes.values()].map(({ shape }) => shape), deviceResource: 0 },
    bootMs: file.sliceTypes.map(({ bootSeconds }) => bootSeconds * 1_000),
    tickMs: file.tickSeconds * 1_000,
    idleTimeoutMs: file.idleTimeoutSeconds * 1_000,
    demands,
  };
}

function toShape(types: readonly SliceType[], gpus: number): WorkShape {
  const where = (admits: (type: SliceType) => boolean): Uint8Array =>
    Uint8Array.from(types, (type) => (admits(type) ? 1 : 0));
  const nowhere = where(() => false);
  if (gpus <= GPUS_PER_HOST) {
    const isHome = (type: SliceType): boolean =>
      type.hosts === 1 && (gpus === 1 ? type.gpus === 1 : type.gpus === GPUS_PER_HOST);
    const mayVisit = where((type) => gpus === 1 && type.hosts === 1 && type.gpus > 1);
    return { need: Float64Array.of(gpus), mayOpen: where(isHome), mayVisit };
  }
  const hosts = Math.ceil(gpus / GPUS_PER_HOST);
  const slice = types
    .filter((type) => type.hosts >= hosts)
    .reduce<SliceType | null>((a, b) => (a === null || b.hosts < a.hosts ? b : a), null);
  const whole = must(slice, `a slice of ${hosts} hosts`);
  return {
    need: Float64Array.of(whole.gpus),
    mayOpen: where((type) => type === whole),
    mayVisit: nowhere,
  };
}
