// A sandbox of a test's own: its folder, its daemon, and requests to what is deployed there.
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isRunning, type Outcome, tool } from "./cli.ts";
import { processesWith } from "./processes.ts";
import { until } from "./until.ts";

export interface TestSandbox {
  /** The folder that XDG_STATE_HOME names. */
  readonly stateHome: string;
  /** The sandbox's own folder in it. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  /** Runs a command of an app's folder in this sandbox, which TOOL_SANDBOX chooses. */
  tool(directory: string, ...argv: string[]): Promise<Outcome>;
  /** Returns the file that the daemon wrote about itself. */
  daemon(): { readonly pid: number; readonly port: number };
  access(): { readonly accessKeyId: string; readonly secretAccessKey: string };
  /** Asks a stage by its own name. */
  ask(app: string, stage: string, path?: string): Promise<Answer>;
  /** Processes that belong to the functions. */
  functions(): number[];
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

interface Test {
  teardown(handler: () => Promise<void>): void;
}

/** Ends with the test, with all of its processes. */
export function testSandbox(t: Test, more: Readonly<Record<string, string>> = {}): TestSandbox {
  const stateHome = mkdtempSync(join(tmpdir(), "tool-sandbox-"));
  const folder = join(stateHome, "tool/sandbox");
  // The files of functions are there, too, and tell them apart from those of other tests.
  const temporary = join(stateHome, "temporary");
  mkdirSync(temporary);
  const env = {
    XDG_STATE_HOME: stateHome,
    TMPDIR: temporary,
    TOOL_SANDBOX: "1",
    // Where a test is ended before its own end.
    TOOL_SANDBOX_IDLE_MS: "300000",
    NO_COLOR: "1",
    ...more,
  };
  const read = (name: string) => JSON.parse(readFileSync(join(folder, name), "utf8"));
  const sandbox: TestSandbox = {
    stateHome,
    folder,
    env,
    tool: (directory, ...argv) => tool(["-C", directory, ...argv], { env }),
    daemon: () => read("daemon.json"),
    access: () => read("access.json"),
    ask: (app, stage, path = "/") => ask(sandbox.daemon().port, `${stage}.${app}.localhost`, path),
    functions: () => processesWith(`TMPDIR=${temporary}/tool-functions-`),
  };
  t.teardown(async () => {
    await tool(["sandbox", "stop"], { env });
    // The watchdog of the functions may be about to remove their files.
    rmSync(stateHome, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  });
  return sandbox;
}

/** A GET at 127.0.0.1 under another name. */
export function ask(port: number, host: string, path: string, headers: Record<string, string> = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const all = { host: `${host}:${port}`, ...headers };
    const req = request({ host: "127.0.0.1", port, path, headers: all, agent: false }, (res) => {
      let body = "";
      res.setEncoding("utf8").on("data", (text: string) => {
        body += text;
      });
      res.on("end", () => resolve({ status: res.statusCode ?? 0, headers: res.headers, body }));
      res.on("error", reject);
    });
    req.on("error", reject);
    req.end();
  });
}

/** Waits for the end of a process that is no child. */
export async function gone(pid: number): Promise<void> {
  await until(`the end of ${pid}`, () => !isRunning(pid));
}
