import { mkdir, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { toolSchema } from "../../schema/index.ts";
import { type Context, EXIT } from "../context.ts";
import { referencePage } from "../docs/reference-page.ts";
import { openInBrowser } from "../open-in-browser.ts";
import { version } from "../version.ts";

/** `tool docs`: writes the reference page of this version into the user's cache, and opens it. */
export async function docs(context: Context): Promise<number> {
  const { env } = context.io;
  const folder = join(env.XDG_CACHE_HOME || join(env.HOME || homedir(), ".cache"), "tool");
  const path = join(folder, `tool-json-${version}.html`);
  try {
    await mkdir(folder, { recursive: true });
    await writeFile(path, referencePage(toolSchema, version));
  } catch (error) {
    throw new Error(`cannot write the reference to ${path}`, { cause: error });
  }
  if (context.format === "json") {
    // A program asked: it gets the place and decides.
    await context.print(JSON.stringify({ path }));
    return EXIT.ok;
  }
  await openInBrowser(context.io, path);
  await context.print(path);
  return EXIT.ok;
}
