// Starts the real command on a folder and waits until it listens.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** The project's folder; compiled tests run in dist/test. */
export const root = resolve(dirname(fileURLToPath(import.meta.url)), "../../..");
export const toolPath = join(root, "dist/bin/cli.cjs");

export interface StartedTool {
  readonly url: string;
  readonly process: ChildProcess;
  /** Everything written so far, stdout and stderr as they came. */
  output(): string;
  /** Sends a signal and waits for the end; answers the exit code. Again: the same answer. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** `tool start` in a folder on a free port. Throws with what it printed where it ends before it listens. */
export async function startTool(directory: string, args: readonly string[] = []): Promise<StartedTool> {
  const child = spawn(process.execPath, [toolPath, "-C", directory, "start", "--address", "127.0.0.1:0", ...args], {
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  let output = "";
  for (const stream of [child.stdout!, child.stderr!]) {
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      output += chunk;
    });
  }
  const ended = once(child, "exit").then(([code]) => code as number | null);
  const url = await new Promise<string>((resolve, reject) => {
    child.on("message", (message: { type?: string; url?: string }) => {
      if (message.type === "listening" && message.url) resolve(message.url);
    });
    void ended.then((code) => reject(new Error(`tool start ended with ${code}:\n${output}`)));
  });
  return {
    url,
    process: child,
    output: () => output,
    stop(signal = "SIGINT") {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal);
      return ended;
    },
  };
}
