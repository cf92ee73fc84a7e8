import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { systemClock } from "../../../grammar/units/clock.ts";
import type { ClickHouseEvents } from "../../../logservice/events/clickhouse/clickhouse-store.ts";
import { openClickHouseEvents } from "../../../logservice/events/clickhouse/open.ts";
import { root } from "../cli.ts";

const CHDB = join(root, "node_modules/.cache/clickhouse");

/** Whether tests of ClickHouse must be skipped: false, or the reason. `.ci/run` does not install half a gigabyte for them. */
export const withoutClickHouse: string | false = existsSync(join(CHDB, "node_modules/chdb"))
  ? false
  : "chdb is not installed: npm run test:clickhouse installs it";

let started: Promise<string> | undefined;
let databases = 0;

/** A new database in the ClickHouse of this process, which is started for the first one. */
export async function clickHouseDatabase(): Promise<{ readonly url: string; readonly database: string }> {
  started ??= startClickHouse();
  const url = await started;
  const database = `events_${databases++}`;
  await fetch(url, { method: "POST", body: `CREATE DATABASE ${database}` });
  return { url, database };
}

/** A store with a database of its own. */
export async function openClickHouse(
  t: { teardown(end: () => Promise<void>): void },
  nowMs: () => number,
): Promise<ClickHouseEvents> {
  const store = await openClickHouseEvents({ ...(await clickHouseDatabase()), clock: { ...systemClock, nowMs } });
  t.teardown(() => store.close());
  return store;
}

/** Starts ClickHouse without data, until this process ends. Resolves with its address. */
async function startClickHouse(): Promise<string> {
  const data = mkdtempSync(join(tmpdir(), "clickhouse-"));
  const bridge = fileURLToPath(new URL("bridge.js", import.meta.url));
  const child = spawn(process.execPath, [bridge, CHDB, data], { stdio: ["ignore", "pipe", "inherit"] });
  process.once("exit", () => {
    child.kill("SIGKILL");
    rmSync(data, { recursive: true, force: true });
  });
  const port = await new Promise<string>((resolve, reject) => {
    child.stdout.once("data", (text: Buffer) => resolve(text.toString().trim()));
    child.once("exit", (code, signal) => reject(new Error(`ClickHouse did not start: ${code ?? signal}`)));
  });
  child.stdout.destroy();
  child.unref();
  return `http://127.0.0.1:${port}`;
}
