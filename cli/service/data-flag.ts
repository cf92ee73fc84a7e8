import { resolve } from "node:path";
import { OperatorError } from "../../logservice/admin.ts";
import type { Context } from "../context.ts";
import type { Options } from "../table.ts";

/** Runs a command on the data directory that its flag names. Returns its exit code. */
export async function onDataDirectory(
  context: Context,
  { data }: Pick<Options<"service init">, "data">,
  run: (folder: string) => Promise<number>,
): Promise<number> {
  if (data === undefined)
    return context.misuse("--data is missing", "write --data and the data directory of the log service");
  context.io.keepFilesPrivate();
  try {
    return await run(resolve(context.directory, data));
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    const hint = error.mayBeCreated ? `tool service init --data ${data} creates one` : error.hint;
    return context.fail(error.message, hint);
  }
}
