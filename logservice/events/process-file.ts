import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The file of a process of ours, beside the caller or its bundle: a bundle, or what was compiled if there is none. */
export function processFile(name: string, callerUrl: string): string {
  // In a bundle the address is a path.
  const folder = dirname(callerUrl.startsWith("file:") ? fileURLToPath(callerUrl) : callerUrl);
  const bundle = join(folder, `${name}.cjs`);
  return existsSync(bundle) ? bundle : join(folder, `${name}.js`);
}
