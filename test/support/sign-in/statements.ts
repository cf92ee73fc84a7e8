// The statements that a service sends to its records.
import type { KyselyPlugin } from "kysely";
import type { Records } from "../../../logservice/records/open.ts";

/**
 * The statements that run from now on, without their values. `check` is called with each one and those before it, and may
 * throw as the database does.
 */
export function statementsOf(
  records: Records,
  check: (sql: string, before: readonly string[]) => void = () => {},
): string[] {
  const statements: string[] = [];
  const { db } = records;
  const plugin: KyselyPlugin = {
    transformQuery({ node, queryId }) {
      const { sql } = db.getExecutor().compileQuery(node, queryId);
      const before = [...statements];
      statements.push(sql);
      check(sql, before);
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  // Operations take the records anew each time.
  Object.assign(records, { db: db.withPlugin(plugin) });
  return statements;
}
