import { parseConfig } from '../../src/config/config-file.ts';
import type { Control } from '../../src/model/control.ts';
import type { EntryForm } from '../../src/model/demand.ts';

export const seconds = (count: number): number => count * 1_000;
export const minutes = (count: number): number => count * 60_000;
export const hours = (count: number): number => count * 3_600_000;

/** A configuration as its operator writes it. */
export function control(text: string): Control {
  const parsed = parseConfig(text, 'bellows.yaml');
  if (parsed.kind === 'bad') throw new Error(JSON.stringify(parsed.problems, null, 1));
  return parsed.config.control;
}

/** Work in a few words: what one task needs, how many belong together, how long it runs. */
export interface Sketch {
  readonly cpu?: number;
  readonly gpu?: number;
  readonly tpu?: number;
  /** So many equal tasks, all or nothing. */
  readonly gang?: number;
  readonly priority?: number;
  readonly runMs: number;
}

export function toForm({ cpu, gpu, tpu, gang }: Sketch): EntryForm {
  const amounts = { cpu, gpu, tpu };
  const resources = Object.fromEntries(
    Object.entries(amounts).flatMap(([name, count]) =>
      count === undefined ? [] : [[name, count * 1_000]],
    ),
  );
  const type = gpu !== undefined ? 'gpu' : tpu !== undefined ? 'tpu' : null;
  const device = type === null ? null : { type, variants: null };
  const ask = { device, preemptible: null, constraints: [], resources };
  return gang === undefined ? { kind: 'single', ask } : { kind: 'gang', ask, taskCount: gang };
}
