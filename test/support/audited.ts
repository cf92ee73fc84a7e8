// Watches the records that a service has: what changes rows that people make leaves an entry of the audit in the same
// transaction. So every test that calls an operation tests that it is audited.
import type { Kysely, KyselyPlugin, OperationNode, QueryId, Transaction } from "kysely";
import type { Records } from "../../logservice/records/open.ts";
import type { Tables } from "../../logservice/records/tables.ts";

/** Tables of what people make, with the columns that the service changes by itself. */
const WATCHED: { readonly [Table in keyof Tables]?: readonly (keyof Tables[Table])[] } = {
  projects: [],
  alerts: [
    ...(["triggered", "next_slot", "first_slot", "late_seen", "pace"] as const),
    ...(["failures", "failure", "failing_episode_id", "evaluated_at"] as const),
  ],
  notifications: ["number_states"],
  searches: [],
  tokens: ["last_used_at", "sum"],
  teams: [],
  memberships: [],
  invites: ["mailed_at"],
};

/** The same records with their changes watched. A change that is not audited fails, and is taken back. */
export function audited(records: Records): Records {
  const watched = new WeakMap<Kysely<Tables>, Kysely<Tables>>();
  return {
    ...records,
    // Tests put another one in its place.
    get db() {
      const { db } = records;
      const copy = watched.get(db) ?? watch(db);
      watched.set(db, copy);
      return copy;
    },
  };
}

function watch(db: Kysely<Tables>): Kysely<Tables> {
  const alone = new Changes();
  alone.onChange = () => alone.check();
  const transaction = () => ({
    execute: <T>(work: (transaction: Transaction<Tables>) => Promise<T>): Promise<T> =>
      db.transaction().execute(async (transaction) => {
        const changes = new Changes();
        const result = await work(transaction.withPlugin(changes));
        changes.check();
        return result;
      }),
  });
  const writer = db.withPlugin(alone);
  // Reads are left to what is watched, as tests hold them (held-records.ts).
  return new Proxy(db, {
    get(target, name) {
      if (name === "transaction") return transaction;
      const owner = /^(insertInto|updateTable|deleteFrom)$/.test(String(name)) ? writer : target;
      const value: unknown = Reflect.get(owner, name, owner);
      return typeof value === "function" ? value.bind(owner) : value;
    },
  });
}

/** The changes of a transaction, or of a statement that is one of its own. */
class Changes implements KyselyPlugin {
  readonly #changed = new Set<string>();
  readonly #tables = new WeakMap<QueryId, string>();
  #isAudited = false;
  onChange = () => {};

  transformQuery({ node, queryId }: Parameters<KyselyPlugin["transformQuery"]>[0]) {
    const table = changedBy(node);
    if (table !== undefined) this.#tables.set(queryId, table);
    return node;
  }

  async transformResult({ queryId, result }: Parameters<KyselyPlugin["transformResult"]>[0]) {
    const table = this.#tables.get(queryId);
    if (table === undefined || !((result.numAffectedRows ?? 0n) > 0n || result.rows.length > 0)) return result;
    if (table === "audit") this.#isAudited = true;
    else if (Object.hasOwn(WATCHED, table)) {
      this.#changed.add(table);
      this.onChange();
    }
    return result;
  }

  check(): void {
    if (this.#changed.size === 0 || this.#isAudited) return;
    throw new Error(`a change of ${[...this.#changed].join(", ")} leaves no entry of the audit`);
  }
}

/** The table that a statement changes for people; undefined if it is none, or one that the service changes by itself. */
function changedBy(node: OperationNode): string | undefined {
  const { kind, into, values, from, table, updates } = node as unknown as Statement;
  // The token of a sign-in is made after its confirmation, of which there is an entry.
  if (kind === "InsertQueryNode") return JSON.stringify(values).includes('"command"') ? undefined : nameOf(into);
  if (kind === "DeleteQueryNode") return nameOf(from.froms[0]);
  if (kind !== "UpdateQueryNode") return undefined;
  const name = nameOf(table);
  const own: readonly string[] = WATCHED[name as keyof Tables] ?? [];
  return (updates ?? []).every(({ column }) => own.includes(column.column.name)) ? undefined : name;
}

/** As much of Kysely's nodes as is looked at. */
interface Statement {
  readonly kind: string;
  readonly into: TableName;
  readonly values?: object;
  readonly from: { readonly froms: readonly TableName[] };
  readonly table: TableName;
  readonly updates?: readonly { readonly column: { readonly column: { readonly name: string } } }[];
}

interface TableName {
  readonly table: { readonly identifier: { readonly name: string } };
}

const nameOf = (name: TableName | undefined) => name!.table.identifier.name;
