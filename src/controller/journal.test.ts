import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { entryId, groupName, sliceId } from '../model/ids.ts';
import type { PlanStep, TickInput } from '../model/tick.ts';
import type { TickPart, TickWrite } from '../ports/store.ts';
import { must } from '../support/assert.ts';
import { arbitraryTick } from '../../test/arbitrary-tick.ts';
import { aGroup, aTickInput, aTrackedSlice, anAsk, anEntry } from '../../test/builders.ts';
import { decideTick } from './decide-tick.ts';
import { hashOf, Journal, readTick } from './journal.ts';

const toldParts = ({ parts }: TickWrite) =>
  parts.map(({ name, text }) => ({ name, text: must(text, 'the first tick tells all') }));
const untold = (parts: readonly TickPart[]): readonly string[] =>
  parts.flatMap(({ name, text }) => (text === null ? [name] : []));

const groups = [aGroup({ name: 'a' }), aGroup({ name: 'b' })];
const first: TickInput = aTickInput({
  control: { fleet: { groups } },
  slices: [
    aTrackedSlice({ id: 's1', group: 'a' }),
    aTrackedSlice({ id: 's2', group: 'b' }),
    aTrackedSlice({ id: 's3', group: 'a' }),
  ],
  entries: Array.from({ length: 20 }, (_, n) =>
    anEntry({ id: `e${n}`, form: { kind: 'single', ask: anAsk({ resources: { cpu: 100 + n } }) } }),
  ),
});

type Launch = Extract<PlanStep, { kind: 'launch' }>;

/** With its fields in the order in which the planner makes them. */
const aLaunch = (id: string, over: Partial<Launch> & Pick<Launch, 'group'>): Launch => ({
  kind: 'launch',
  sliceId: sliceId(id),
  group: over.group,
  why: over.why ?? 'demand',
  reservedFor: over.reservedFor ?? null,
  fallbackFor: over.fallbackFor ?? [],
});

describe('a recorded tick', () => {
  test('is read as it was written, and gives the same output', () => {
    fc.assert(
      fc.property(arbitraryTick, ({ input: given }) => {
        const input: TickInput = JSON.parse(JSON.stringify(given)); // JSON knows no -0
        const output = decideTick(input);
        const written = new Journal().write(input, output);
        const read = readTick({ ...written, epoch: input.epoch }, toldParts(written));
        const byId = input.slices.toSorted((a, b) => (a.id < b.id ? -1 : 1));
        expect(read.input).toEqual({ ...input, slices: byId });
        expect(read.outputText).toBe(JSON.stringify(output));
        if (byId.every((slice, n) => slice === input.slices[n])) {
          expect(JSON.stringify(decideTick(read.input))).toBe(read.outputText);
        }
      }),
      { numRuns: 25 },
    );
  });

  test('is read as it was written though a group has more slices than a part', () => {
    const slices = Array.from({ length: 40 }, (_, n) =>
      aTrackedSlice({ id: `s${10 + n}`, group: n % 8 === 0 ? 'b' : 'a' }),
    );
    const input = { ...first, slices };
    const written = new Journal().write(input, decideTick(input));
    const names = written.parts.map(({ name }) => name).filter((name) => name.startsWith('slices'));
    expect(names).toEqual(['slices/b', 'slices/a', 'slices/a/1', 'slices/a/2']);
    const read = readTick({ ...written, epoch: input.epoch }, toldParts(written));
    expect(read.input.slices).toEqual(slices);
  });

  test('has launches of every sort, and those alike together', () => {
    const [a, b] = [groupName('a'), groupName('b')];
    const steps: readonly PlanStep[] = [
      { kind: 'send', sliceId: sliceId('s1') },
      aLaunch('n"1', { group: a }),
      aLaunch('n2', { group: a }),
      aLaunch('n3', { group: a, why: 'min' }),
      aLaunch('n4', { group: b }),
      aLaunch('n5', { group: a, reservedFor: entryId('gang') }),
      aLaunch('n6', { group: a, fallbackFor: [b] }),
      aLaunch('n7', { group: a, fallbackFor: [b] }),
      aLaunch('n8', { group: a, fallbackFor: [] }),
    ];
    const output = { ...decideTick(first), steps };
    const written = new Journal().write(first, output);
    const read = readTick({ ...written, epoch: first.epoch }, toldParts(written));
    expect(read.outputText).toBe(JSON.stringify(output));
    const { steps: folded } = JSON.parse(toldParts(written).at(-1)?.text ?? '');
    expect(folded.map(({ sliceIds = [] }) => sliceIds.length)).toEqual([0, 2, 1, 1, 1, 2, 1]);
  });

  test('tells why work waits once for all that wait alike', () => {
    const entries = Array.from({ length: 20 }, (_, n) => {
      const ask = anAsk({ resources: { cpu: 1_000_000 + n } });
      const constraints = [{ key: 'zone', op: 'eq' as const, values: ['moon'], soft: false }];
      return anEntry({ id: `e${n}`, form: { kind: 'single', ask: { ...ask, constraints } } });
    });
    const input = aTickInput({ control: { fleet: { groups } }, entries });
    const output = decideTick(input);
    expect(output.decision.classes.filter(({ unmet }) => unmet !== null)).toHaveLength(20);
    const written = new Journal().write(input, output);
    const read = readTick({ ...written, epoch: input.epoch }, toldParts(written));
    expect(read.outputText).toBe(JSON.stringify(output));
    const { exclusions } = JSON.parse(toldParts(written).at(-1)?.text ?? '');
    expect(exclusions).toHaveLength(1);
  });

  test('is read also where its output was written in full', () => {
    const output = decideTick(first);
    const written = new Journal().write(first, output);
    const parts = toldParts(written).map((part) =>
      part.name === 'output' ? { ...part, text: JSON.stringify(output) } : part,
    );
    const read = readTick({ ...written, epoch: first.epoch }, parts);
    expect(read.outputText).toBe(JSON.stringify(output));
  });

  test('every part is known by its content', () => {
    const { parts } = new Journal().write(first, decideTick(first));
    for (const { hash, text } of parts) expect(hash).toBe(hashOf(text ?? ''));
  });

  test('a missing part is a crash, not a guess', () => {
    const written = new Journal().write(first, decideTick(first));
    const parts = toldParts(written).filter(({ name }) => name !== 'control');
    expect(() => readTick({ ...written, epoch: 1 }, parts)).toThrow('the part control of tick 1');
  });
});

describe('what did not change', () => {
  const journal = () => {
    const one = new Journal();
    const written = one.write(first, decideTick(first));
    one.written(written);
    return { one, written };
  };

  test('is not told again', () => {
    const { one, written } = journal();
    const again = one.write({ ...first, seq: 2 }, decideTick(first));
    expect(untold(again.parts)).toEqual(written.parts.map(({ name }) => name));
    expect(again.parts.map(({ hash }) => hash)).toEqual(written.parts.map(({ hash }) => hash));
  });

  test('is not told again though it is another object with the same content', () => {
    const { one, written } = journal();
    const copy: TickInput = JSON.parse(JSON.stringify(first));
    expect(untold(one.write(copy, decideTick(first)).parts)).toHaveLength(written.parts.length);
  });

  test('is told again as long as the last tick was not kept', () => {
    const one = new Journal();
    one.write(first, decideTick(first));
    expect(untold(one.write(first, decideTick(first)).parts)).toEqual([]);
  });

  test('leaves the parts of other groups alone when one group changes', () => {
    const { one } = journal();
    const slices = first.slices.map((slice) =>
      slice.group === 'b' ? { ...slice, isProtected: true } : slice,
    );
    const { parts } = one.write({ ...first, slices }, decideTick(first));
    const told = parts.filter(({ text }) => text !== null).map(({ name }) => name);
    expect(told).toEqual(['slices/b']);
  });

  test('is told again when only the tick before the last had it', () => {
    const { one } = journal();
    const other = { ...first, slices: [] };
    one.written(one.write(other, decideTick(other)));
    const { parts } = one.write(first, decideTick(first));
    expect(untold(parts)).not.toContain('slices/a');
  });
});
