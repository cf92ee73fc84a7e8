// The records of a test. Each of their transactions runs twice: it is taken back the first time, as another process may cause
// where several have the same records. So a test fails if a transaction has an effect that is not on the records.
import type { Kysely, TransactionBuilder } from "kysely";
import { type OpenOptions, openRecords, type Records } from "../../logservice/records/open.ts";
import type { Tables } from "../../logservice/records/tables.ts";

export async function openTestRecords(directory: string, options?: OpenOptions): Promise<Records> {
  const records = await openRecords(directory, options);
  rehearse(records.db);
  return records;
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
