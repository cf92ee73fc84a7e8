import { toolSchema } from "../../schema/index.ts";
import { readConfigFile } from "../config-file.ts";
import { type Context, EXIT } from "../context.ts";
import { resolveProject } from "../project/resolve-config.ts";
import type { Options } from "../table.ts";

/** `tool config`: prints tool.json with all defaults, or its schema, as one JSON document. */
export async function config(context: Context, { schema }: Options<"config">): Promise<number> {
  if (schema) {
    await context.print(JSON.stringify(toolSchema, null, 2));
    return EXIT.ok;
  }
  const file = await readConfigFile(context);
  const { config } = resolveProject(context, file.config, { development: false });
  await context.print(JSON.stringify(config, null, 2));
  return EXIT.ok;
}
