// Makes the runtime for Python and Java as a deploy would (cli/aws/layer), for an archive that is released with it:
// dist/layer holds the executable as it is below /opt, and what is uploaded. `node cli/build/layer.mjs [x64|arm64]`,
// after a build.
import { mkdirSync, mkdtempSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const target = process.argv[2] ?? "x64";
if (target !== "x64" && target !== "arm64") throw new Error(`no such architecture: ${target} (x64 or arm64)`);

const made = new URL("../../dist/cli/aws/layer/", import.meta.url);
const { ENGINE, thisMachine } = await import(new URL("engine.js", made));
const { makeRuntime } = await import(new URL("make-runtime.js", made));

mkdirSync(join(root, "dist/build"), { recursive: true });
const output = join(root, "dist/layer");
await makeRuntime({
  program: join(root, "dist/bin/runtime/bootstrap.cjs"),
  engine: ENGINE,
  machine: thisMachine(),
  target,
  workFolder: mkdtempSync(join(root, "dist/build/runtime-")),
  output,
  env: process.env,
  signal: new AbortController().signal,
  note: (text) => console.log(text),
});
const runtime = join(output, "tool/runtime");
console.log(`${runtime}: ${(statSync(runtime).size / 1e6).toFixed(1)} MB, Bun ${ENGINE.version} for ${target}`);
