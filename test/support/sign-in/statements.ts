// What a service asks of its records.
import type { KyselyPlugin } from "kysely";
import type { Records } from "../../../logservice/records/open.ts";

/** The statements that run from now on, without their values. */
export function statementsOf(records: Records): string[] {
  const statements: string[] = [];
  const { db } = records;
  const plugin: KyselyPlugin = {
    transformQuery({ node, queryId }) {
      statements.push(db.getExecutor().compileQuery(node, queryId).sql);
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  // Operations take the records anew each time.
  Object.assign(records, { db: db.withPlugin(plugin) });
  return statements;
}
