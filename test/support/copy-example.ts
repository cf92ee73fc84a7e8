import { cpSync } from "node:fs";
import { join } from "node:path";
import { root } from "./cli.ts";

/** The example that the scenario edits, in a folder of its own. */
export function copyExample(dir: string, name = "app"): string {
  const app = join(dir, name);
  cpSync(join(root, "examples/node-server"), app, { recursive: true, filter: (source) => !source.endsWith(".tool") });
  return app;
}
