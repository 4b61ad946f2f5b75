/**
 * Texts that can be large are the last column of their row, so that looking for a row does not read
 * through them. Parts are found by number within the file: a tick then costs bytes, not hashes.
 */
export const start = `
  CREATE TABLE meta (
    key TEXT PRIMARY KEY,
    value
  ) WITHOUT ROWID;
  INSERT INTO meta VALUES ('journal_bytes', 0);

  CREATE TABLE lease (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    epoch INTEGER NOT NULL,
    holder TEXT,
    until_ms INTEGER NOT NULL
  );
  INSERT INTO lease VALUES (1, 0, NULL, 0);

  CREATE TABLE document (
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    text TEXT NOT NULL,
    UNIQUE (kind, id)
  );

  CREATE TABLE part (
    part INTEGER PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,
    bytes INTEGER NOT NULL,
    encoding TEXT NOT NULL CHECK (encoding IN ('plain', 'brotli')),
    data BLOB NOT NULL
  );
  CREATE TABLE tick (
    seq INTEGER PRIMARY KEY,
    epoch INTEGER NOT NULL,
    at_ms INTEGER NOT NULL
  );
  CREATE TABLE tick_part (
    seq INTEGER NOT NULL,
    place INTEGER NOT NULL,
    part INTEGER NOT NULL,
    name TEXT NOT NULL,
    PRIMARY KEY (seq, place)
  ) WITHOUT ROWID;
  CREATE INDEX tick_part_by_part ON tick_part (part);
  CREATE TABLE event (
    seq INTEGER PRIMARY KEY,
    at_ms INTEGER NOT NULL,
    text TEXT NOT NULL
  );
`;
