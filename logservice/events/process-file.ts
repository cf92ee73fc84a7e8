import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The file of a process of ours: beside the caller as compiled, beside the bundle where the caller is a part of one. */
export function processFile(name: string, callerUrl: string): string {
  // In a bundle the address is a path.
  const folder = dirname(callerUrl.startsWith("file:") ? fileURLToPath(callerUrl) : callerUrl);
  const compiled = join(folder, `${name}.js`);
  return existsSync(compiled) ? compiled : join(folder, `${name}.cjs`);
}
