import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { type RecordsPlace, readPostgresAddress } from "../../logservice/admin.ts";
import type { Context } from "../context.ts";
import type { Options } from "../table.ts";

export type RecordsFlags = Partial<Pick<Options<"service start">, "records" | "records-password" | "key-file">>;

/**
 * The place of the records, from flags and the environment; undefined if they are in the data directory. The password is in
 * neither the address nor another argument, which `ps` shows to everybody.
 */
export async function recordsPlace(context: Context, flags: RecordsFlags): Promise<RecordsPlace | undefined> {
  const { records, "records-password": passwordFile, "key-file": keyFile } = flags;
  const { TOOL_RECORDS, TOOL_RECORDS_PASSWORD } = context.io.env;
  const address = records ?? (TOOL_RECORDS || undefined);
  if (address === undefined) {
    const alone = passwordFile === undefined ? "--key-file" : "--records-password";
    if (passwordFile === undefined && keyFile === undefined) return undefined;
    return context.misuse(
      `${alone} is for records in PostgreSQL, whose address is missing`,
      "add --records postgres://user@host/database",
    );
  }
  const password =
    passwordFile === undefined ? TOOL_RECORDS_PASSWORD || undefined : await passwordIn(context, passwordFile);
  const read = readPostgresAddress(address, password);
  if (!read.ok) return context.misuse(`${records === undefined ? "TOOL_RECORDS" : "--records"}: ${read.problems[0]}`);
  return { postgres: read.value, keyFile: keyFile === undefined ? undefined : resolve(context.directory, keyFile) };
}

async function passwordIn(context: Context, file: string): Promise<string> {
  const text = await readFile(resolve(context.directory, file), "utf8").catch((error: NodeJS.ErrnoException) =>
    context.misuse(`--records-password: ${file} cannot be read (${error.code})`, "name a file that has the password"),
  );
  // Editors and echo end a file with a line end, and no password has one there.
  const password = text.replace(/\r?\n$/, "");
  if (password !== "") return password;
  return context.misuse(`--records-password: ${file} is empty`, "name a file that has the password");
}
