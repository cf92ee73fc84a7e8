/** The table of the events of all projects, in the database of the connection. */
export const EVENTS_TABLE = "events_local";

/** The columns that an insert gives values of, in their order. */
export const INSERTED = [
  "project",
  "timestamp",
  "id",
  "level",
  "severity",
  "message",
  "fields",
  "written",
  "truncated",
  "bytes",
] as const;

/**
 * `level` and `fields` are as they came: `fields` is JSON text, since the type JSON loses null and {}. `written` is the
 * timestamp as it came, and empty if `timestamp` says all of it. `bytes` is the size of the event as JSON. A document with a
 * whole number beyond 64 bits cannot be read by ClickHouse, nor can one that is nested too deep: `readable` tells.
 *
 * Partitions are days as Date32: a Date has no days before 1970 and begins again after 2149.
 */
export const CREATE_TABLE = `CREATE TABLE IF NOT EXISTS ${EVENTS_TABLE} (
  project LowCardinality(String),
  timestamp DateTime64(9, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
  id String CODEC(ZSTD(1)),
  level LowCardinality(String),
  severity UInt8,
  message String CODEC(ZSTD(1)),
  fields String CODEC(ZSTD(1)),
  written String CODEC(ZSTD(1)),
  truncated Bool,
  bytes UInt32 CODEC(ZSTD(1)),
  readable Bool MATERIALIZED isValidJSON(fields)
) ENGINE = MergeTree
PARTITION BY toDate32(timestamp)
ORDER BY (project, timestamp, id)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1`;
