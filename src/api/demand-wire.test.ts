import { create, fromBinary, fromJsonString, toBinary, toJsonString } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { arbitraryEntries } from '../../test/arbitraries.ts';
import type { Entry } from '../model/demand.ts';
import { entryId, epochMs } from '../model/ids.ts';
import { FormTable } from '../server/codec/forms.ts';
import { readBody } from '../server/codec/page.ts';
import { toWireAmounts, toWireEntry } from './demand-wire.ts';
import { type PushDemandRequest, PushDemandRequestSchema } from './gen/bellows/v1/demand_pb.ts';

const read = (request: PushDemandRequest) =>
  readBody(request, { forms: new FormTable(), taken: null, nowMs: epochMs(0) });

/** With what the others leave out: names, owners, times, amounts of any size. */
const arbitraryPush: fc.Arbitrary<readonly Entry[]> = fc
  .record({
    entries: arbitraryEntries,
    owner: fc.constantFrom(null, 'ann', 'ünï "c" \n'),
    atMs: fc.integer({ min: 0, max: 253_402_300_799_999 }),
    // Above it, thousandths are finer than a double of whole units can tell.
    milli: fc.integer({ min: 0, max: 2 ** 50 }),
    bytes: fc.maxSafeNat(),
    isNamed: fc.boolean(),
  })
  .map(({ entries, owner, atMs, milli, bytes, isNamed }) =>
    entries.map((entry, n): Entry => {
      const { id, form, priority, invalid } = entry;
      const count = isNamed && form.kind === 'gang' ? form.taskCount : 0;
      return {
        id,
        count: entry.count,
        priority,
        invalid,
        form:
          form.kind === 'single' && n % 2 === 0
            ? { ...form, ask: { ...form.ask, resources: { disk: bytes, 'x/y': milli } } }
            : form,
        owner,
        submittedAtMs: epochMs(Math.max(0, atMs - n)),
        taskIds: Array.from({ length: count }, (_, task) => `${id}-${task}`),
      };
    }),
  );

test('what is written is read as the same, in both encodings', () => {
  fc.assert(
    fc.property(arbitraryPush, (entries) => {
      const push = create(PushDemandRequestSchema, { entries: entries.map(toWireEntry) });
      const schema = PushDemandRequestSchema;
      const binary = read(fromBinary(schema, toBinary(schema, push)));
      const json = read(fromJsonString(schema, toJsonString(schema, push)));
      expect(binary.entries).toEqual(entries);
      expect(json).toEqual(binary);
      expect(binary.undated).toEqual([]);
    }),
  );
});

test('equal bundles in a row are one part with a count', () => {
  const small = { device: null, preemptible: null, constraints: [], resources: { cpu: 500 } };
  const entry = toWireEntry({
    id: entryId('b'),
    count: 1,
    form: { kind: 'bundles', strategy: 'SPREAD', bundles: [small, { ...small }, small] },
    priority: 0,
    submittedAtMs: epochMs(0),
    owner: null,
    taskIds: [],
    invalid: null,
  });
  expect(entry.form).toMatchObject({
    case: 'bundles',
    value: { strategy: 'SPREAD', parts: [{ count: 3, ask: { resources: { cpu: 0.5 } } }] },
  });
});

test('amounts are told in natural units', () => {
  expect(toWireAmounts({ cpu: 250, memory: 1_024, gpu: 8_000 })).toEqual({
    cpu: 0.25,
    memory: 1_024,
    gpu: 8,
  });
});
