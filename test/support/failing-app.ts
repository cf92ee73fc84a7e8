// test/apps/fails under the real `tool start`, and what it leaves behind.
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Test } from "tap";
import type { Entry } from "../../grammar/entry.ts";
import { entriesIn, type Running, startTool } from "./cli.ts";
import { commandOf, processesWith } from "./processes.ts";
import { apps, ask, type RawResponse } from "./runtime.ts";
import { until } from "./until.ts";

type Config = { readonly proxy?: object; readonly environment?: object };

export interface Failing {
  readonly running: Running;
  readonly port: number;
  readonly directory: string;
  /** In the environment of all that it started. */
  readonly mark: string;
  entries(): Entry[];
  /** Process id of the app that answers, once one does. */
  pid(): Promise<number>;
}

/** The app of test/apps/fails under `tool start`, which is stopped at the test's end, and has left nothing then. */
export async function startFailing(t: Test, config: Config = {}, timeout = 1, maxFiles?: number): Promise<Failing> {
  // Not below this project, whose package.json would say what kind of module an app is.
  const directory = mkdtempSync(join(tmpdir(), "tool-failing-"));
  const mark = `tool-test-${randomUUID()}`;
  const proxy = {
    command: `exec ${process.execPath} ${join(apps, "fails/server.mjs")}`,
    timeout,
    backoff: { min: 10, max: 50 },
    ...config.proxy,
  };
  writeFileSync(join(directory, "tool.json"), JSON.stringify({ name: "fails", type: "server", ...config, proxy }));
  const { running, url } = await startTool(
    directory,
    ["--format", "json"],
    { TOOL_TEST_MARK: mark },
    { ...(maxFiles !== undefined && { maxFiles }) },
  );
  t.teardown(async () => {
    running.kill("SIGTERM");
    await running.ended;
    rmSync(directory, { recursive: true });
    // One that was killed may still be ending.
    const left = () => processesWith(mark).map(commandOf);
    await until("nothing to be left", () => left().length === 0).catch(() => {
      throw new Error(`left behind: ${left().join("; ")}`);
    });
  });
  const port = Number(new URL(url).port);
  const entries = () => entriesIn(running.stdout());
  const pid = async () => {
    // Right where an app exits by itself, a request that it may have seen gets 502.
    const body = await until("the app", async () => {
      const answer = await ask(port, { path: "/pid" });
      return answer.status === 200 && answer.body.toString();
    });
    return Number(body);
  };
  return { running, port, directory, mark, entries, pid };
}

/** The status, and whether the connection broke before the end of the body. */
export function statusText(response: RawResponse): string {
  return `${response.status}${response.cut ? ", cut" : ""}`;
}
