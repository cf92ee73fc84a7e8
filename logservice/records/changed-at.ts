import { type RawBuilder, sql } from "kysely";

/** The time of a change, which never lies before the one that the row has: clocks are set back. */
export function changedAt(now: string): RawBuilder<string> {
  return sql<string>`max(updated_at, ${now})`;
}
