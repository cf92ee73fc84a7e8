import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Context } from "../context.ts";

/** The settings of the provider of text messages: a file, or TOOL_SMS. They hold secrets, so no argument has them. */
export async function smsSettings(context: Context, file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return context.io.env.TOOL_SMS || undefined;
  try {
    return await readFile(resolve(context.directory, file), "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return context.misuse(
      `--sms: ${file} cannot be read (${code})`,
      "name a file with the provider's settings as JSON, or set TOOL_SMS",
    );
  }
}
