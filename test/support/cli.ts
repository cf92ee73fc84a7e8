// The real command: dist/bin, as people get it. `tool` runs most rows in the process of the test, with effects of its own; what
// needs a process has one, and with TOOL_TEST_COMMAND (cli.cjs of an installation) or TOOL_TEST_PROCESSES=1 all have.
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Entry } from "../../grammar/entry.ts";
import { isInputNull, runHere } from "./in-process.ts";
import { until } from "./until.ts";

/** The project's folder; compiled tests run in dist/test. */
export const root = resolve(dirname(fileURLToPath(import.meta.url)), "../../..");
export const cliPath = process.env.TOOL_TEST_COMMAND ?? join(root, "dist/bin/cli.cjs");

export interface Outcome {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface SpawnOptions {
  /** For `tool`: cli.cjs of another installation. */
  readonly path?: string;
  /** For `tool`: it has a process, with which all ends that it has begun. */
  readonly hasProcess?: true;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** A socket, as all pipes of Node are: commands see it with `-` only. Without it stdin is /dev/null. */
  readonly stdin?: string | Buffer;
  /** For `spawnTool`: as `ulimit -n` has it. */
  readonly maxFiles?: number;
  /** For `spawnTool`: what it writes is not kept. */
  readonly stdout?: "ignore";
}

/** Nothing of the machine that runs the tests but the way to its programs; UTC, so that times are rows of a table. */
export function cleanEnv(more: Readonly<Record<string, string>> = {}): Record<string, string> {
  return { PATH: process.env.PATH ?? "", HOME: "/nonexistent", TZ: "UTC", ...more };
}

/** Runs `tool ...argv` to its end. */
export function tool(argv: readonly string[], options: SpawnOptions = {}): Promise<Outcome> {
  const { cwd = process.cwd(), stdin } = options;
  const env = cleanEnv(options.env);
  if (!needsProcess(argv, env, options))
    return runHere({ main: join(root, "dist/bin/main.cjs"), argv, cwd, env, stdin });
  const child = spawn(process.execPath, [options.path ?? cliPath, ...argv], {
    cwd,
    env,
    stdio: [stdin === undefined ? "ignore" : "pipe", "pipe", "pipe"],
  });
  child.stdin?.on("error", () => {});
  child.stdin?.end(stdin);
  return outcome(child);
}

/**
 * Commands that set the mask of their files or start the command again, options with which a child has its standard streams, and
 * the version, which is printed before anything is loaded.
 */
const OF_PROCESSES = new Set(
  ["service", "sandbox", "start", "run", "lsp", "completion", "upgrade"].concat(["--version", "--verbose", "-v"]),
);

/** Variables that Node reads as it starts. */
const isOfNode = (name: string) => name.startsWith("NODE_") || name.startsWith("SSL_CERT");

let alwaysNeedsProcess = process.env.TOOL_TEST_COMMAND !== undefined || process.env.TOOL_TEST_PROCESSES === "1";

/** From now on `tool` starts a process, as people do: in tests of what the entry of the command and its files are. */
export function startProcesses(): void {
  alwaysNeedsProcess = true;
}

function needsProcess(argv: readonly string[], env: Readonly<Record<string, string>>, options: SpawnOptions): boolean {
  if (alwaysNeedsProcess || options.path !== undefined || options.hasProcess) return true;
  if (!isInputNull || env.TZ !== "UTC") return true;
  return argv.some((word) => OF_PROCESSES.has(word)) || Object.keys(env).some(isOfNode);
}

/** Runs a line of shell in which `tool` is the command: for pipes that are FIFOs, redirections, `| head`. */
export function shell(line: string, options: SpawnOptions = {}): Promise<Outcome> {
  const command = `tool() { ${JSON.stringify(process.execPath)} ${JSON.stringify(cliPath)} "$@"; }; ${line}`;
  return outcome(
    spawn("bash", ["-c", command], { cwd: options.cwd, env: cleanEnv(options.env), stdio: ["ignore", "pipe", "pipe"] }),
  );
}

function outcome(child: ChildProcess): Promise<Outcome> {
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name]?.setEncoding("utf8").on("data", (text: string) => {
      output[name] += text;
    });
  }
  return new Promise((done, fail) => {
    child.once("error", fail);
    child.once("close", (code, signal) => done({ code, signal, ...output }));
  });
}

/** A running command: what it wrote so far, and ways to wait. */
export interface Running {
  readonly child: ChildProcess;
  readonly pid: number;
  stdout(): string;
  stderr(): string;
  /** Messages that the command sent to its parent. */
  readonly messages: unknown[];
  readonly ended: Promise<Outcome>;
  kill(signal: NodeJS.Signals): void;
}

/** Starts `tool ...argv` and leaves it running, in a process group of its own. */
export function spawnTool(argv: readonly string[], options: SpawnOptions = {}): Running {
  const words = [process.execPath, cliPath, ...argv];
  const [program, ...args] =
    options.maxFiles === undefined
      ? words
      : ["sh", "-c", 'ulimit -n "$0"; exec "$@"', String(options.maxFiles), ...words];
  const child = spawn(program!, args, {
    cwd: options.cwd,
    env: cleanEnv(options.env),
    detached: true,
    stdio: ["ignore", options.stdout ?? "pipe", "pipe", "ipc"],
  });
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name]?.setEncoding("utf8").on("data", (text: string) => {
      output[name] += text;
    });
  }
  const messages: unknown[] = [];
  child.on("message", (message) => messages.push(message));
  const ended = new Promise<Outcome>((done) => {
    child.once("close", (code, signal) => done({ code, signal, ...output }));
  });
  return {
    child,
    pid: child.pid!,
    stdout: () => output.stdout,
    stderr: () => output.stderr,
    messages,
    ended,
    kill: (signal) => void child.kill(signal),
  };
}

/** `tool start` in a folder on a free port, once it listens. Throws with what it wrote where it ends before. */
export async function startTool(
  cwd: string,
  more: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
  options: Pick<SpawnOptions, "maxFiles" | "stdout"> = {},
): Promise<{ readonly running: Running; readonly url: string }> {
  const running = spawnTool(["start", "--address", "127.0.0.1:0", ...more], { cwd, env, ...options });
  return { running, url: await listening(running) };
}

/** The address that a starting command tells its parent, without the last slash. */
export async function listening(running: Running): Promise<string> {
  const message = await until("the message that it listens", () => {
    if (running.child.exitCode !== null) throw new Error(`ended early: ${running.stderr()}${running.stdout()}`);
    return running.messages[0] as { type: string; url: string } | undefined;
  });
  if (message.type !== "listening") throw new Error(JSON.stringify(message));
  return message.url.replace(/\/$/, "");
}

/** The entries in what a program has written so far. What follows the last end of a line is left out: it may be half a line. */
export function entriesIn(output: string): Entry[] {
  const lines = output.split("\n").slice(0, -1);
  return lines.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line) as Entry);
}

/** Whether a process still runs; one that has ended and was not yet waited for does not. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // proc(5): the state is after the name, which may hold anything.
    return process.platform !== "linux" || !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}
