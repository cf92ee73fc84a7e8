import type { CompiledQuery, Kysely } from "kysely";
import type { Tables } from "./tables.ts";

type Db = Kysely<Tables>;

interface Built<Row> {
  compile(): CompiledQuery<Row>;
}

/**
 * A question that comes with nearly every request: Kysely takes longer to make its SQL than SQLite to answer it, so it is
 * made once for each connection. `build` uses each value once, in the order in which they are given, and must not depend on
 * them otherwise. Returns the first row.
 */
export function compiledQuery<Values extends readonly unknown[], Row>(
  build: (db: Db, ...values: Values) => Built<Row>,
): (db: Db, ...values: Values) => Promise<Row | undefined> {
  const compiled = new WeakMap<Db, CompiledQuery<Row>>();
  return async (db, ...values) => {
    let query = compiled.get(db);
    if (query === undefined) {
      query = build(db, ...values).compile();
      const isInOrder =
        query.parameters.length === values.length && query.parameters.every((it, i) => it === values[i]);
      if (!isInOrder) throw new TypeError("a compiled query takes each of its values once, in their order");
      compiled.set(db, { ...query, parameters: [] });
    }
    const { rows } = await db.executeQuery<Row>({ ...query, parameters: values });
    return rows[0];
  };
}
