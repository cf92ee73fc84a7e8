import { accessPolicy } from "../aws/stack/policy.ts";
import { readConfigFile } from "../config-file.ts";
import { type Context, EXIT } from "../context.ts";
import { resolveProject } from "../project/resolve-config.ts";

/** `tool stack policy`: the access policy that the account needs for this app, a JSON document in either format. */
export async function policy(context: Context): Promise<number> {
  const file = await readConfigFile(context);
  if (file.code !== undefined) return file.code;
  const { config } = resolveProject(context, file.config, { development: false });
  await context.print(JSON.stringify(accessPolicy({ name: config.name, region: config.regions[0]! }), null, 2));
  return EXIT.ok;
}
