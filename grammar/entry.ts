/**
 * One log entry, as written to the development log, shipped to the log service and selected by queries.
 * `timestamp` is RFC 3339. `level` is as the program wrote it (`warning` is not rewritten to `warn`).
 */
export interface Entry {
  readonly id?: string;
  readonly timestamp: string;
  readonly level: string;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}
