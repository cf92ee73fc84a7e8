// The records of a test: SQLite in its folder, or with TOOL_TEST_RECORDS=postgres a database of a PostgreSQL that the test starts,
// one for each folder. Each transaction runs twice: it is taken back the first time, as another process may cause where
// several have the same records. So a test fails if a transaction has an effect that is not on the records.
import { join } from "node:path";
import type { Kysely, TransactionBuilder } from "kysely";
import { type Clock, systemClock } from "../../grammar/units/clock.ts";
import { KEY_FILE } from "../../logservice/records/key-file.ts";
import { type OpenOptions, openRecords, type Records } from "../../logservice/records/open.ts";
import type { Tables } from "../../logservice/records/tables.ts";

/** Whether the tests of this process have their records on PostgreSQL. */
const isOnPostgres = () => process.env.TOOL_TEST_RECORDS === "postgres";

/** Whether a row must be skipped that is about the file of the records, as `requires` says it. */
export const requiresFile = (): string | false => isOnPostgres() && "the records are in no file of the folder";

/** The rows that are at rest beside the files of the folder, as text. */
export async function rowsAtRest({ db }: Records): Promise<string> {
  if (!isOnPostgres()) return "";
  const tables = await db.introspection.getTables();
  const rows = tables.map(({ name }) =>
    db
      .selectFrom(name as keyof Tables)
      .selectAll()
      .execute(),
  );
  return JSON.stringify(await Promise.all(rows));
}

export async function openTestRecords(directory: string, options?: OpenOptions): Promise<Records> {
  const records = await (isOnPostgres() ? openOnPostgres(directory, options) : openRecords(directory, options));
  rehearse(records.db);
  return records;
}

/** A time in which nothing is late, however busy the machine is. */
const PATIENT: Clock = { ...systemClock, monotonicMs: () => 0, after: () => ({ stop() {} }) };
export const UNBOUNDED = { statementMs: 0, idleTransactionMs: 0, connectMs: 0 };

/** Opens the records that PostgreSQL has for a folder. Nothing of it is late unless a clock is given. */
export async function openOnPostgres(
  directory: string,
  { clock = PATIENT, ...options }: OpenOptions = {},
): Promise<Records> {
  // Only then: most tests need neither.
  const { databaseOf, testPostgres } = await import("./postgres.ts");
  const { openPostgresRecords } = await import("../../logservice/records/postgres/open.ts");
  const { readPostgresAddress } = await import("../../logservice/records/postgres/place.ts");
  const place = readPostgresAddress(await (await testPostgres()).database(databaseOf(directory)), undefined);
  if (!place.ok) throw new Error(place.problems[0]);
  const bounded = { ...place.value, bounds: UNBOUNDED };
  return openPostgresRecords(bounded, join(directory, KEY_FILE), { ...options, clock });
}

/** Has every transaction run twice. One that throws the first time ends with that. */
function rehearse(db: Kysely<Tables>): void {
  const begin = db.transaction.bind(db);
  const transaction = (): Pick<TransactionBuilder<Tables>, "execute"> => ({
    async execute(work) {
      const taken = new Error("taken back");
      const first = begin().execute(async (rehearsal) => {
        await work(rehearsal);
        throw taken;
      });
      await first.catch((error: unknown) => {
        if (error !== taken) throw error;
      });
      return begin().execute(work);
    },
  });
  Object.assign(db, { transaction });
}
