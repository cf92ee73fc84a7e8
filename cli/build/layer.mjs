// Makes the runtime for languages whose managed runtime has no Node: one executable that holds the engine and
// dist/bin/runtime/bootstrap.cjs, in dist/layer as it lies below /opt. `node cli/build/layer.mjs [x64|arm64]`.
// Why this engine, and what it weighs, stands in runtime/README.md.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { arch, platform } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { crc32, deflateRawSync } from "node:zlib";

/** Pinned: the tests of the platform run with this one (TOOL_TEST_RUNTIME=dist/layer/tool/runtime npx tap ...). */
const BUN = "1.4.5";

const root = fileURLToPath(new URL("../..", import.meta.url));
const target = process.argv[2] ?? "x64";
const architectures = { x64: "x64", arm64: "aarch64" };
if (!(target in architectures)) throw new Error(`no such architecture: ${target} (x64 or arm64)`);

// Not among the dependencies: a hundred megabytes that only a release needs. Its scripts only rename what it brings.
const prefix = join(root, "dist/build/bun");
const packageName = (os, cpu) => `@oven/bun-${os}-${architectures[cpu]}`;
const builder = packageName(platform(), arch());
const runner = packageName("linux", target);
mkdirSync(prefix, { recursive: true });
const packages = [...new Set([builder, runner])].map((name) => `${name}@${BUN}`);
execFileSync(
  "npm",
  ["install", "--silent", "--no-save", "--ignore-scripts", "--force", "--prefix", prefix, ...packages],
  {
    stdio: "inherit",
  },
);
const binary = (name) => join(prefix, "node_modules", name, "bin/bun");
for (const name of [builder, runner]) chmodSync(binary(name), 0o755);

const output = join(root, "dist/layer");
rmSync(output, { recursive: true, force: true });
mkdirSync(join(output, "tool"), { recursive: true });
const runtime = join(output, "tool/runtime");
execFileSync(
  binary(builder),
  [
    "build",
    "--compile",
    "--bytecode",
    // Else it would read the app's .env and bunfig.toml as its own.
    "--no-compile-autoload-dotenv",
    "--no-compile-autoload-bunfig",
    `--target=bun-linux-${target}`,
    `--compile-executable-path=${binary(runner)}`,
    `--outfile=${runtime}`,
    join(root, "dist/bin/runtime/bootstrap.cjs"),
  ],
  { stdio: ["ignore", "ignore", "inherit"] },
);
// What a deployment uploads, and its hash: the same bytes for the same executable, so that it is uploaded once.
const { writeZip } = await import(new URL("../../dist/cli/artifact/zip.js", import.meta.url));
const content = readFileSync(runtime);
const zip = writeZip([
  {
    name: "tool/runtime",
    mode: 0o100755,
    crc32: crc32(content),
    unpackedBytes: content.length,
    isDeflated: true,
    data: deflateRawSync(content, { level: 9 }),
  },
]);
const sha256 = createHash("sha256").update(zip).digest("hex");
writeFileSync(join(output, "tool-runtime.zip"), zip);
writeFileSync(join(output, "tool-runtime.json"), `${JSON.stringify({ sha256, bytes: zip.length })}\n`);
console.log(`${runtime}: ${(statSync(runtime).size / 1e6).toFixed(1)} MB, Bun ${BUN} for ${target}`);
