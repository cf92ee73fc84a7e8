import { writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { checkConfig } from "../../schema/index.ts";
import { CONFIG_FILE } from "../config-file.ts";
import type { Context } from "../context.ts";

/** Asks on the terminal for the app's name and writes the smallest tool.json. False where no name was given. */
export async function writeFirstConfig(context: Context): Promise<boolean> {
  const { io, directory } = context;
  await context.say(`There is no ${CONFIG_FILE} in ${directory}. The app's name is all that it needs.`);
  const suggestion = suggestName(basename(directory));
  for (;;) {
    const answer = await io.ask(`Name (${suggestion}): `);
    if (answer === undefined) return false;
    const text = `${JSON.stringify({ name: answer.trim() || suggestion }, null, 2)}\n`;
    const problem = checkConfig(text).problems.find(({ severity }) => severity === "error");
    if (problem === undefined) {
      await writeFile(join(directory, CONFIG_FILE), text, { flag: "wx" });
      await context.say(`${CONFIG_FILE} written.\n`);
      return true;
    }
    await context.say(`${problem.message}${problem.hint === undefined ? "" : `\n  ${problem.hint}`}`);
  }
}

/** The folder's name in the letters that a name may have. */
function suggestName(folder: string): string {
  const name = folder
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, "-")
    .replace(/^[^a-z]+|-+$/g, "")
    .slice(0, 40);
  return name || "my-app";
}
