import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hashOf } from '../../src/controller/journal.ts';
import type { Store } from '../../src/ports/store.ts';
import { connect } from '../../src/store/sqlite/connection.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { must } from '../../src/support/assert.ts';
import { bellows, lines, useFolder } from './cli.ts';
import { copyJournal, dayConfig, HOUR_MS, runDay } from './replay-day.ts';

const write = useFolder();
const folder = mkdtempSync(join(tmpdir(), 'bellows-replay-'));
const database = join(folder, 'bellows.db');
const caps = { journalSizeMax: 1e9, journalAgeMaxMs: 1e12 };
/** The controller that recorded; it has the database open all the time. */
let running: Store;
let tickCount = 0;

beforeAll(async () => {
  const { store } = await runDay({ forMs: 2 * HOUR_MS });
  const options = { path: database, holder: 'a controller', fleet: 'research', ...caps };
  running = await openSqliteStore(options);
  await copyJournal(store, running);
  tickCount = (await store.readTicks({ sinceMs: 0 as never, afterSeq: -1, limit: 1e6 })).length;
}, 120_000);
afterAll(async () => {
  await running.close();
  rmSync(folder, { recursive: true });
});

/** A copy of the database that nobody has open, changed by SQL. */
function changed(name: string, change: (db: ReturnType<typeof connect>) => void): string {
  const path = join(folder, name);
  const source = connect(database);
  source.exec(`VACUUM INTO '${path}'`);
  source.close();
  const db = connect(path);
  change(db);
  db.close();
  return path;
}

/** Ticks are counted from the second of the first: here the first of the simulated year. */
const tick = (n: number): number => 1_767_225_600 + n;

/** What a tick concluded, replaced, with the right hash: as somebody with time would do it. */
const forgeOutput =
  (seq: number) =>
  (db: ReturnType<typeof connect>): void => {
    const text = '{"decision":{"strategy":"priority"}}';
    db.prepare('INSERT INTO part (hash, bytes, encoding, data) VALUES (?, ?, ?, ?)').run(
      hashOf(text),
      text.length,
      'plain',
      Buffer.from(text),
    );
    db.prepare(
      "UPDATE tick_part SET part = last_insert_rowid() WHERE seq = ? AND name = 'output'",
    ).run(seq);
  };

describe('a database', () => {
  test('whose controller runs is proven identical', () => {
    const run = bellows(['replay', database]);
    expect([run.exit, run.stderr]).toEqual([0, '']);
    const [head, ...rest] = lines(run.stdout);
    expect(head).toBe(`REPLAY  research, ${database}`);
    expect(rest.join('\n')).toMatch(/ticks {6}\d+, from 2026-01-01 00:00:00Z to .*Z\n/);
    expect(rest.join('\n')).toMatch(/different {2}0\n {2}speed {6}\d+ ticks\/s/);
    expect(rest.at(-1)).toMatch(/^IDENTICAL {2}/);
    expect(existsSync(`${database}.lock`)).toBe(true);
  });

  test('is reported as JSON', () => {
    const { exit, stdout } = bellows(['replay', database, '--json']);
    expect(exit).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      format: 'bellows-replay/1',
      fleet: 'research',
      ticks: tickCount,
      identical: tickCount,
      isIdentical: true,
      faults: [],
    });
  });

  test('is read from and up to a time', () => {
    const range = ['--since', '2026-01-01T00:30', '--until', '2026-01-01 02:00:00+01:00'];
    const { stdout } = bellows(['replay', database, '--json', ...range]);
    const report = JSON.parse(stdout);
    expect(report.from >= '2026-01-01T00:30').toBe(true);
    expect(report.to <= '2026-01-01T01:00:00.000Z').toBe(true);
    expect(report.ticks).toBeGreaterThan(50);
    expect(report.ticks).toBeLessThan(tickCount);
  });

  test('with one forged tick is found out', () => {
    const path = changed('forged.db', forgeOutput(tick(100)));
    const run = bellows(['replay', path]);
    expect([run.exit, run.stderr]).toEqual([1, '']);
    expect(run.stdout).toMatch(/different {2}1\n/);
    expect(run.stdout).toMatch(
      /NOT PROVEN {2}1 of \d+ ticks\n {2}tick 1767225700 of epoch \d+, .*Z\n {4}decision.strategy\n {6}was {2}"priority"\n {6}is {3}"cost"\n/,
    );
    const { faults } = JSON.parse(bellows(['replay', path, '--json']).stdout);
    expect(faults).toMatchObject([
      { seq: tick(100), kind: 'different', path: 'decision.strategy', was: 'priority', is: 'cost' },
    ]);
  });

  test('with a flipped bit and a tick cut out says what it cannot prove', () => {
    const path = changed('damaged.db', (db) => {
      db.exec(`UPDATE part SET data = x'00' WHERE part = (
        SELECT part FROM tick_part WHERE seq = ${tick(100)} AND name = 'output')`);
      db.exec(`DELETE FROM tick WHERE seq = ${tick(200)}`);
    });
    const run = bellows(['replay', path]);
    expect(run.exit).toBe(1);
    expect(run.stdout).toMatch(/not run {4}\d+, parts of them are gone/);
    expect(run.stdout).toMatch(/gaps {7}1 ticks/);
    expect(run.stdout).toContain('not run, gone from the journal: output');
  });
});

describe('an export', () => {
  test.each(['all.jsonl', 'all.jsonl.gz'])('%s replays as its database does', (name) => {
    const file = join(folder, name);
    const run = bellows(['replay', database, '--export', file]);
    expect([run.exit, run.stdout]).toEqual([0, `${file}: ${tickCount} ticks of research\n`]);
    const { exit, stdout } = bellows(['replay', file, '--json']);
    expect([exit, JSON.parse(stdout).identical]).toEqual([0, tickCount]);
  });

  test('is never written over a file, least of all the database', () => {
    const before = readFileSync(database);
    const run = bellows(['replay', database, '--export', database]);
    expect(run.exit).toBe(2);
    expect(run.stderr).toMatch(/exists already; name another file/);
    expect(readFileSync(database).equals(before)).toBe(true);
  });

  test('of no ticks leaves no file', () => {
    const file = join(folder, 'none.jsonl');
    const run = bellows(['replay', database, '--until', '2020-01-01', '--export', file]);
    expect([run.exit, existsSync(file)]).toEqual([2, false]);
  });
});

describe('another configuration', () => {
  test('equal to the recorded one changes nothing', () => {
    const config = write('same.yaml', dayConfig());
    const { exit, stdout } = bellows(['replay', database, '--with', config, '--json']);
    expect(exit).toBe(0);
    const report = JSON.parse(stdout);
    expect(Object.values(report.change).every((value) => value === 0)).toBe(true);
    expect(report.with).toEqual(report.model);
    expect(Math.abs(report.modelCostError)).toBeLessThan(0.1);
    expect(report.assumptions.length).toBeGreaterThan(3);
  });

  test('is shown with launches, money, waiting, trust and assumptions', () => {
    const config = write('small.yaml', dayConfig({ max: 3 }));
    const run = bellows(['replay', database, '--with', config]);
    expect([run.exit, run.stderr]).toEqual([0, '']);
    expect(run.stdout).toMatch(/^REPLAY {2}research, .*, \d+ ticks\n/);
    expect(run.stdout).toContain(`WITH    ${config}\n`);
    expect(run.stdout).toMatch(/ launches +\d+ +\d+ +\d+ +-\d+\n/);
    expect(run.stdout).toMatch(/ waiting, mean +\S+ +\S+ +\S+ +\+\S+\n/);
    expect(run.stdout).toMatch(/ node +\$\S+ +\$\S+ +\$\S+ +-\$\S+\n/);
    expect(run.stdout).toMatch(/ no-capacity +\S+ +\S+ +\S+ +\+\S+\n/);
    expect(run.stdout).toMatch(/\nTRUST\n[^]*\nASSUMED\n {2}- /);
  });
});

describe('bad input', () => {
  const config = 'groups: 7\n';
  test.each([
    ['a file that is not there', ['nowhere.db'], /nowhere.db: there is no such file/],
    ['a folder', ['.'], /\. is a directory; name the database/],
    [
      'an unreadable time',
      ['DB', '--since', 'yesterday'],
      /^--since: "yesterday" is no time; write/,
    ],
    ['a day that is none', ['DB', '--until', '2026-02-31T99:00'], /^--until: .* is no time/],
    [
      'times the wrong way round',
      ['DB', '--since', '2026-02-01', '--until', '2026-01-01'],
      /is after/,
    ],
    [
      'a time after the journal',
      ['DB', '--since', '2027-01-01'],
      /no ticks from 2027.*its first is of/,
    ],
    ['a time before it', ['DB', '--until', '2020-01-01'], /no ticks up to 2020/],
    [
      'a config that is not there',
      ['DB', '--with', 'nowhere.yaml'],
      /nowhere.yaml: there is no such/,
    ],
    ['two commands at once', ['DB', '--with', 'CONFIG', '--export', 'x'], /give one of them/],
  ])('%s', (_, args, message) => {
    const file = write('bad.yaml', config);
    const run = bellows([
      'replay',
      ...args.map((arg) => (arg === 'DB' ? database : arg === 'CONFIG' ? file : arg)),
    ]);
    if (!args.includes('CONFIG')) expect(run.stderr).toMatch(message);
    expect([run.exit, run.stdout, lines(run.stderr).length]).toEqual([2, '', 1]);
  });

  test.each([
    [
      'no database and no journal',
      'plain words\n',
      /is neither a database of Bellows nor a journal/,
    ],
    ['an empty file', '', /is empty/],
    ['a journal without ticks', '{"format":"bellows-journal/1","fleet":"x"}\n', /has no ticks/],
    ['a newer journal', '{"format":"bellows-journal/2","fleet":"x"}\n', /reads bellows-journal\/1/],
    ['some other JSON', '{"a":1}\n', /is no journal: its first line/],
    ['a broken line', '{"format":"bellows-journal/1","fleet":"x"}\n{"seq":\n', /:2: not JSON/],
  ])('%s', (_, text, message) => {
    const run = bellows(['replay', write('journal', text)]);
    expect(run.stderr).toMatch(message);
    expect([run.exit, run.stdout, lines(run.stderr).length]).toEqual([2, '', 1]);
  });

  test('a config with problems says them all, each with its place', () => {
    const bad = write('two.yaml', 'fleet: x\nstrategy: cheap\ngroups: 7\n');
    const run = bellows(['replay', database, '--with', bad]);
    expect([run.exit, run.stdout]).toEqual([2, '']);
    expect(lines(run.stderr).map((line) => line.replace(`${dirname(bad)}/`, ''))).toEqual([
      expect.stringMatching(/^two.yaml:2:11 strategy: /),
      expect.stringMatching(/^two.yaml:3:9 groups: /),
    ]);
  });

  test.each([
    ['of a newer Bellows', 'PRAGMA user_version = 99', /a newer Bellows has written it/],
    ['of another program', 'PRAGMA application_id = 7', /database of another program/],
    ['without ticks', 'DELETE FROM tick', /has no ticks: its controller has decided nothing yet/],
  ])('a database %s', (name, sql, message) => {
    const path = changed(`${name}.db`, (db) => db.exec(sql));
    const run = bellows(['replay', path]);
    expect(run.stderr).toMatch(message);
    expect([run.exit, run.stdout]).toEqual([2, '']);
  });

  test('a database that was cut', () => {
    const path = join(folder, 'cut.db');
    copyFileSync(
      must(
        changed('whole.db', () => {}),
        'a copy',
      ),
      path,
    );
    writeFileSync(path, readFileSync(path).subarray(0, 5_000));
    const run = bellows(['replay', path]);
    expect(run.stderr).toMatch(/cut\.db/);
    expect([run.exit, run.stdout]).toEqual([2, '']);
  });
});

test('its help has examples', () => {
  const { exit, stdout } = bellows(['replay', '--help']);
  expect(exit).toBe(0);
  expect(stdout).toMatch(/Examples:\n {2}bellows replay bellows.db\n/);
});
