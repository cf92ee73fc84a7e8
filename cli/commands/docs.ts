import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { toolSchema } from "../../schema/index.ts";
import { rpcReference } from "../../schema/rpc-reference.ts";
import { rpcSchema } from "../../schema/rpc-schema.generated.ts";
import { type Context, EXIT } from "../context.ts";
import { referenceFile } from "../docs/reference-file.ts";
import { referencePage } from "../docs/reference-page.ts";
import { openInBrowser } from "../open-in-browser.ts";
import { version } from "../version.ts";

/** `tool docs`: opens the reference of tool.json. */
export function docs(context: Context): Promise<number> {
  return openPage(context, "tool-json", referencePage(toolSchema, version));
}

/** `tool docs service`: the reference of the log service's operations, as the service itself shows it at /reference. */
export function serviceDocs(context: Context): Promise<number> {
  return openPage(context, "log-service", rpcReference(rpcSchema, version));
}

/** Writes the page of this version into the user's cache, and opens it. */
async function openPage(context: Context, name: "tool-json" | "log-service", page: string): Promise<number> {
  const path = referenceFile(context.io.env, name);
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, page);
  } catch (error) {
    throw new Error(`cannot write the reference to ${path}`, { cause: error });
  }
  if (context.format === "json") {
    // A program gets the path and decides what to do with it.
    await context.print(JSON.stringify({ path }));
    return EXIT.ok;
  }
  await openInBrowser(context.io, path);
  await context.print(path);
  return EXIT.ok;
}
