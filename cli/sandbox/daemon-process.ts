// The entry of the daemon's process: `node <this file> <folder> <build>`, started by connect.ts.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { runDaemon } from "./daemon.ts";

const here = import.meta.url;
const beside = dirname(here.startsWith("file:") ? fileURLToPath(here) : here);
const bundled = join(beside, "sandbox-node-runtime.cjs");

const report = (text: string) => process.stderr.write(`${new Date().toISOString()} ${text}\n`);
for (const event of ["uncaughtException", "unhandledRejection"] as const) {
  process.on(event, (error: unknown) => {
    report(error instanceof Error ? String(error.stack) : String(error));
    process.exit(1);
  });
}
const [folder = "", build = ""] = process.argv.slice(2);
async function main(): Promise<void> {
  await runDaemon({
    folder,
    build,
    nodeRuntime: existsSync(bundled) ? bundled : join(beside, "cloud/lambda/node-runtime.js"),
    idleMs: process.env.TOOL_SANDBOX_IDLE_MS === undefined ? undefined : Number(process.env.TOOL_SANDBOX_IDLE_MS),
    ready() {
      process.send?.("ready");
      // The command that started it may end before or after this.
      process.disconnect?.();
    },
    report,
    ended: new Promise((resolve) => {
      for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => resolve());
    }),
  });
}

void main().then(() => process.exit(0));
