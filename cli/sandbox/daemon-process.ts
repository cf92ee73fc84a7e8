// The entry of the daemon's process: `node <this file> <folder> <build>`, started by connect.ts.

import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { systemClock } from "../../grammar/units/clock.ts";
import { runDaemon } from "./daemon.ts";

const here = import.meta.url;
const beside = dirname(here.startsWith("file:") ? fileURLToPath(here) : here);
const bundled = join(beside, "sandbox-node-runtime.cjs");

const report = (text: string) => process.stderr.write(`${new Date(systemClock.nowMs()).toISOString()} ${text}\n`);
const [folder = "", build = ""] = process.argv.slice(2);

/** Tells the command that waits, while it does. */
const tell = (message: object) => {
  process.send?.(message);
  process.disconnect?.();
};
const textOf = (error: unknown) => (error instanceof Error ? String(error.stack) : String(error));
process.on("uncaughtException", (error) => {
  report(textOf(error));
  process.exit(1);
});
// One request that went wrong is no reason to end all apps.
process.on("unhandledRejection", (error) => report(textOf(error)));

async function main(): Promise<void> {
  await runDaemon({
    folder,
    build,
    clock: systemClock,
    nodeRuntime: existsSync(bundled) ? bundled : join(beside, "cloud/lambda/node-runtime.js"),
    idleMs: process.env.TOOL_SANDBOX_IDLE_MS === undefined ? undefined : Number(process.env.TOOL_SANDBOX_IDLE_MS),
    ready: () => tell({}),
    report,
    ended: new Promise((resolve) => {
      for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => resolve());
    }),
  });
}

void main().then(
  () => process.exit(0),
  (error: Error) => {
    report(textOf(error));
    if (process.send === undefined) process.exit(1);
    process.send({ problem: `the sandbox cannot start: ${error.message}` }, () => process.exit(1));
  },
);
