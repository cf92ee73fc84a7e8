import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Base } from "./config-mutants.ts";

/** The valid files of test/fixtures/configs, by name. */
export function configBases(root: string): Base[] {
  const folder = join(root, "test/fixtures/configs");
  const names = readdirSync(folder).sort();
  return names.map((name) => ({ name, text: readFileSync(join(folder, name), "utf8") }));
}
