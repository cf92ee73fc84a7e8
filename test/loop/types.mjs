// `npm run types`: checks the types of all TypeScript, also of the web UI, which is a project of its own. Writes only generated files.
import { spawnSync } from "node:child_process";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { isGeneratedStale } from "../../cli/build/generated.mjs";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const run = (...args) => spawnSync(process.execPath, args, { cwd: root, stdio: "inherit" }).status ?? 1;
const tsc = join(root, "node_modules/typescript/bin/tsc");

if (isGeneratedStale(root) && run("cli/build/generate.mjs") !== 0) process.exit(1);
// Both are checked, so that one run shows all that is wrong.
const statuses = [run(tsc, "--noEmit"), run(tsc, "--noEmit", "-p", "logservice/ui")];
process.exit(statuses.every((status) => status === 0) ? 0 : 1);
