// The process of a function, started as it is or in namespaces of its own. Its end is told in the same way for both.
import { type ChildProcess, spawn } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import type { Readable } from "node:stream";
import { type FunctionCommand, inNamespaces, isExecutable, mountsOf, type Namespaces } from "./namespaces.ts";
import { signalChildren } from "./process-tree.ts";

export type End =
  | { readonly code: number | null; readonly signal: NodeJS.Signals | null }
  /** The program cannot be started. */
  | { readonly error: Error }
  /** Why it got no namespaces, and was not started. */
  | { readonly refusal: string };

export interface FunctionProcess {
  /** The root of all that it starts, which leads a process group; undefined if it could not be started. */
  readonly pid: number | undefined;
  readonly output: readonly Readable[];
  readonly ended: Promise<End>;
  /** SIGTERM for the function's own process. */
  terminate(): void;
}

export function startProcess(command: FunctionCommand, namespaces: Namespaces | undefined): FunctionProcess {
  const isIn = namespaces !== undefined && isExecutable(command.command[0], command.directory);
  return isIn ? startInNamespaces(command, namespaces) : startAsItIs(command);
}

function startAsItIs({ command: [program, ...args], directory, env }: FunctionCommand): FunctionProcess {
  const child = spawn(program, args, { cwd: directory, detached: true, stdio: ["ignore", "pipe", "pipe"], env });
  return {
    pid: child.pid,
    output: [child.stdout, child.stderr],
    ended: endOf(child),
    terminate: () => void child.kill("SIGTERM"),
  };
}

export function startInNamespaces(command: FunctionCommand, namespaces: Namespaces): FunctionProcess {
  const { table } = namespaces;
  writeFileSync(table, mountsOf(namespaces), { mode: 0o600 });
  const { program, args, env } = inNamespaces(command, namespaces);
  const child = spawn(program, args, {
    cwd: command.directory,
    detached: true,
    stdio: ["ignore", "pipe", "pipe", "pipe"],
    env,
  });
  return {
    pid: child.pid,
    output: [child.stdout!, child.stdio[3] as Readable],
    ended: endInNamespaces(child).finally(() => rmSync(table, { force: true })),
    // `unshare` keeps it for itself, and process 1 of the namespace ignores it.
    terminate: () => child.pid !== undefined && signalChildren(child.pid, "SIGTERM"),
  };
}

function endOf(child: ChildProcess): Promise<Exclude<End, { refusal: string }>> {
  return new Promise((resolve) => {
    child.once("error", (error) => resolve({ error }));
    child.once("exit", (code, signal) => resolve({ code, signal }));
  });
}

async function endInNamespaces(child: ChildProcess): Promise<End> {
  let said = "";
  const saidAll = new Promise<void>((resolve) => {
    // No pipe where there is no process.
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      said += text;
    });
    child.stderr?.once("close", resolve).on("error", () => {});
  });
  const end = await endOf(child);
  if ("error" in end) return { refusal: end.error.message };
  // Process 1 holds the pipe, and is in this group.
  try {
    process.kill(-child.pid!, "SIGKILL");
  } catch {
    // Nobody is left.
  }
  await saidAll;
  if (end.signal !== null) return end;
  const [reason = "", rest] = said.split(/^ready\n/m);
  if (rest === undefined) return { refusal: reason.trim() || `unshare ended with exit status ${end.code}` };
  // That of util-linux 2.38 cannot repeat SIGKILL, says so, and exits.
  return rest === "" ? end : { code: null, signal: "SIGKILL" };
}
