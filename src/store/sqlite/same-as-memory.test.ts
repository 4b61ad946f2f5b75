import fc from 'fast-check';
import { expect, test } from 'vitest';
import { useStoreFolder } from '../../../test/contract/store-folder.ts';
import { aPart, anEvent, everything, hashOf, lease } from '../../../test/contract/store-subject.ts';
import { epochMs } from '../../model/ids.ts';
import { type Commit, type Document, type Store, StoreError } from '../../ports/store.ts';
import { must } from '../../support/assert.ts';
import { createMemoryStore } from '../memory/store.ts';
import { openForWriting } from './database.ts';
import { writeTogether } from './group-commit.ts';
import type { WriteRequest } from './protocol.ts';
import { readDocuments, readEvents, readParts, readTicks } from './reads.ts';
import { prepareWrites } from './writes.ts';

// The two stores share their rules but not how they keep things: whatever is asked, they agree.

const folder = useStoreFolder();
const caps = { journalSizeMax: 1e9, journalAgeMaxMs: 20 };
const texts = ['', 'a', 'b', '😀', 'x'.repeat(5_000)];

const aDocument: fc.Arbitrary<Document> = fc.record({
  kind: fc.constantFrom('slice', 'pause'),
  id: fc.constantFrom('a', 'b', 'é\0'),
  text: fc.option(fc.constantFrom(...texts)),
});
const aTickPart = fc
  .tuple(fc.constantFrom('in', 'out'), fc.constantFrom(...texts), fc.boolean())
  .map(([name, text, isKept]) => ({ ...aPart(name, text), ...(isKept ? { text: null } : {}) }));
const aTick = fc.record({
  seq: fc.nat(40),
  atMs: fc.nat(100).map(epochMs),
  parts: fc.array(aTickPart, { maxLength: 4 }),
});
const anyEvent = fc.tuple(fc.nat(40), fc.nat(100)).map(([seq, atMs]) => anEvent(seq, atMs));
const aCommitOf: fc.Arbitrary<Commit> = fc.record({
  epoch: fc.integer({ min: 1, max: 3 }),
  documents: fc.array(aDocument, { maxLength: 3 }),
  tick: fc.option(aTick),
  events: fc.array(anyEvent, { maxLength: 3 }),
});
const anAsk = fc
  .tuple(fc.constantFrom('one', 'other'), fc.nat(3_000), fc.option(fc.integer({ min: 1, max: 3 })))
  .map(([holder, nowMs, epoch]) => lease(holder, nowMs, epoch));
const id = 0;
const aWrite = fc.oneof(
  { weight: 6, arbitrary: aCommitOf.map((ask): WriteRequest => ({ id, kind: 'commit', ask })) },
  { weight: 2, arbitrary: anAsk.map((ask): WriteRequest => ({ id, kind: 'lease', ask })) },
  {
    weight: 1,
    arbitrary: fc.nat(3).map((ask): WriteRequest => ({ id, kind: 'release', ask })),
  },
);
/** Without it most commits would be fenced. */
const firstLease: WriteRequest = { id, kind: 'lease', ask: lease('one', 0) };

async function writeToMemory(store: Store, write: WriteRequest): Promise<unknown> {
  try {
    if (write.kind === 'lease') return await store.acquireLease(write.ask);
    return await (write.kind === 'release'
      ? store.releaseLease(write.ask)
      : store.commit(write.ask));
  } catch (error) {
    return error instanceof StoreError ? [error.kind, error.message] : error;
  }
}

const byText = (documents: readonly Document[]): readonly string[] =>
  documents.map((document) => JSON.stringify(document)).sort();

test('memory and sqlite give the same answers and hold the same', async () => {
  const groups = fc.array(fc.array(aWrite, { minLength: 1, maxLength: 8 }), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(groups, async (run) => {
      const memory = createMemoryStore(caps);
      const path = folder.fresh();
      const db = openForWriting(path, 'research');
      const target = { db, path, writes: prepareWrites(db, caps) };
      try {
        for (const group of [[firstLease], ...run]) {
          const outcomes = writeTogether(target, group);
          for (const [index, write] of group.entries()) {
            const outcome = must(outcomes[index], 'an outcome for each');
            const answer =
              outcome.kind === 'done'
                ? outcome.answer
                : [outcome.error.kind, outcome.error.message];
            expect(answer).toEqual(await writeToMemory(memory, write));
          }
        }
        expect(byText(readDocuments(db))).toEqual(byText(await memory.load()));
        expect(readTicks(db, everything)).toEqual(await memory.readTicks(everything));
        expect(readEvents(db, everything)).toEqual(await memory.readEvents(everything));
        const hashes = texts.map(hashOf);
        expect(readParts(db, path, hashes)).toEqual(await memory.readParts(hashes));
      } finally {
        db.close();
      }
    }),
    { numRuns: 40 },
  );
});
