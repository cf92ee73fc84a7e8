import { resolve } from "node:path";
import { OperatorError, type RecordsPlace } from "../../logservice/admin.ts";
import type { Context } from "../context.ts";
import type { Options } from "../table.ts";
import { type RecordsFlags, recordsPlace } from "./records-flags.ts";

/**
 * Runs a command on the data directory that its flag names, and on the records where they are, if not there. Returns its exit
 * code.
 */
export async function onDataDirectory(
  context: Context,
  { data, ...flags }: Pick<Options<"service init">, "data"> & RecordsFlags,
  run: (folder: string, records: RecordsPlace | undefined) => Promise<number>,
): Promise<number> {
  if (data === undefined)
    return context.misuse("--data is missing", "write --data and the data directory of the log service");
  const records = "records" in flags ? await recordsPlace(context, flags) : undefined;
  context.io.keepFilesPrivate();
  try {
    return await run(resolve(context.directory, data), records);
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    const hint = error.mayBeCreated ? `tool service init --data ${data} creates one` : error.hint;
    return context.fail(error.message, hint);
  }
}
