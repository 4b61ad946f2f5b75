import Libsql from 'libsql';
import { must } from '../../support/assert.ts';

/**
 * What may be bound. Never a boolean: libsql 0.5.29 ends the whole process on one. Never
 * `undefined`, which it takes for null.
 */
export type Value = string | number | Uint8Array | null;

/** A statement, prepared once. */
export interface Query<Row> {
  get(...values: readonly Value[]): Row | undefined;
  all(...values: readonly Value[]): readonly Row[];
  /** How many rows it changed. */
  run(...values: readonly Value[]): number;
}

/** A blob as it comes back. */
export type Blob = ArrayBuffer;

export interface Connection {
  prepare<Row>(sql: string): Query<Row>;
  /** Statements without values or rows. */
  exec(sql: string): void;
  /** All or nothing. */
  transaction(run: () => void): void;
  /** Reads that see one state of the file. */
  snapshot<T>(read: () => T): T;
  isInTransaction(): boolean;
  close(): void;
}

/**
 * `address` is a path, or a `file:` address with SQLite's parameters. (libsql ignores the options
 * `readonly` and `fileMustExist` that its types promise.)
 */
export function connect(address: string): Connection {
  const db = new Libsql(address);
  const connection: Connection = {
    prepare<Row>(sql: string): Query<Row> {
      const statement = db.prepare(sql);
      // The cast: rows have the shape that the SQL beside them asks for. Values go as one array,
      // since libsql takes a single null or blob for named parameters. Its own `get` is not used:
      // once it has failed, on a full disk for example, it fails for ever.
      const all = (values: readonly Value[]) => statement.all(values) as readonly Row[];
      return {
        get: (...values) => all(values)[0],
        all: (...values) => all(values),
        run: (...values) => statement.run(values).changes,
      };
    },
    exec: (sql) => void db.exec(sql),
    transaction(run) {
      db.exec('BEGIN IMMEDIATE');
      try {
        run();
        db.exec('COMMIT');
      } catch (error) {
        // On a full disk SQLite has rolled back by itself, and a second time is an error.
        if (db.inTransaction) db.exec('ROLLBACK');
        throw error;
      }
    },
    snapshot(read) {
      db.exec('BEGIN');
      try {
        return read();
      } finally {
        if (db.inTransaction) db.exec('COMMIT');
      }
    },
    isInTransaction: () => db.inTransaction,
    close: () => void db.close(),
  };
  return connection;
}

/** The one number that `sql` asks for, called `value`. */
export const readNumber = (db: Connection, sql: string): number =>
  must(db.prepare<{ value: number }>(sql).get(), sql).value;
