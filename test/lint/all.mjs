// `npm run lint`: runs every check, also after one that fails. Exit code 1 if any failed.
import { spawnSync } from "node:child_process";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const checks = [
  ["node_modules/@biomejs/biome/bin/biome", "check", "."],
  ["test/lint/english.mjs"],
  ["test/lint/dead-code.mjs"],
  ["test/lint/ratchets.mjs"],
  ["test/lint/records-sql.mjs"],
  ["test/lint/costs.mjs"],
  ["test/lint/engines.mjs"],
  ["test/lint/clocks.mjs"],
];
const failed = checks.filter(
  (words) => spawnSync(process.execPath, words, { cwd: root, stdio: "inherit" }).status !== 0,
);
process.exitCode = failed.length > 0 ? 1 : 0;
