// The cost of deploying itself, on the stand-in of the cloud: calls, the command's time, the start before the first
// call. `node dist/test/bench/deploy.js`, on a quiet machine.
import { spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openAws } from "../support/aws/index.ts";
import { cleanEnv, cliPath, root } from "../support/cli.ts";

const ROUNDS = 9;
const folder = mkdtempSync(join(tmpdir(), "tool-bench-"));
const directory = join(folder, "app");
cpSync(join(root, "examples/node-server"), directory, { recursive: true, filter: (path) => !path.endsWith(".tool") });
// A deflated archive of it is as large.
writeFileSync(join(directory, "public/blob.bin"), randomBytes(10_000_000));
const aws = await openAws();
const env = cleanEnv({ ...aws.env, XDG_CACHE_HOME: join(folder, "cache") });

/** Runs it so often; milliseconds of each, from the start of the process to its end, and the calls of the last. */
async function measure(name: string, argv: readonly string[], before: (round: number) => void = () => {}) {
  const took: number[] = [];
  const first: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    before(round);
    aws.journal.clear();
    const begin = Date.now();
    await run(argv);
    took.push(Date.now() - begin);
    const [call] = aws.journal.entries;
    if (call !== undefined) first.push(call.at - begin);
  }
  const calls = aws.journal.calls();
  report(name, took, `${calls.length} calls: ${calls.join(" ")}`);
  report(`${name}, until the first call`, first, "");
}

function report(name: string, values: readonly number[], more: string): void {
  const sorted = [...values].sort((a, b) => a - b);
  const median = sorted[Math.floor(sorted.length / 2)];
  console.log(`${name}: ${median} ms (${sorted[0]} to ${sorted.at(-1)}) ${more}`.trim());
}

function run(argv: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, [cliPath, ...argv], { cwd: directory, env, stdio: "ignore" });
  return new Promise((resolve, reject) => {
    child.once("close", (code) => (code === 0 ? resolve() : reject(new Error(`tool ${argv.join(" ")}: ${code}`))));
  });
}

const starts = { "node -e 0": ["-e", "0"], "tool --version": [cliPath, "--version"] };
const startMs: Record<string, number[]> = {};
for (let round = 0; round < ROUNDS; round++) {
  for (const [name, argv] of Object.entries(starts)) {
    const begin = performance.now();
    spawnSync(process.execPath, argv, { env });
    startMs[name] = [...(startMs[name] ?? []), Math.round((performance.now() - begin) * 10) / 10];
  }
}
for (const [name, values] of Object.entries(startMs)) report(name, values, "");
await run(["deploy"]);
await measure("deploy of 10 MB of which a file changed", ["deploy"], (round) =>
  writeFileSync(join(directory, "public/change.txt"), `${round}\n`),
);
await measure("deploy of nothing new", ["deploy"]);
await measure("rollback", ["rollback"]);
await aws.close();
rmSync(folder, { recursive: true, force: true });
