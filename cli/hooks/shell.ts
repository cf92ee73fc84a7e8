import { type ChildProcess, spawn } from "node:child_process";
import type { Clock, Timer } from "../../grammar/units/clock.ts";
import type { Io } from "../io.ts";

/** How long processes that an interrupted hook left have to end by themselves. */
const GROUP_END_MS = 1000;

/**
 * A shell that is just starting a command when SIGINT comes waits for that command, which did not receive the signal. After
 * this time SIGTERM is sent, which shells do not defer.
 */
const HEED_SIGNAL_MS = 5000;

/** How much of an output that is not shown is kept: its end, which has the reason of a failure. */
const MAX_KEPT_BYTES = 256 * 1024;

export interface ShellOptions {
  /** Absolute. */
  readonly directory: string;
  readonly env: NodeJS.ProcessEnv;
  /** `shown` as it is written, on stdout and stderr or on stderr only; `kept` and returned at the end. */
  readonly output: "shown" | "shown-on-stderr" | "kept";
  /** Gets output that is kept as it comes, in any pieces; lines of the two streams may be mixed. */
  readonly onOutput?: (text: string) => void;
}

export interface ShellEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly isInterrupted: boolean;
  /** The end of both streams, interleaved as they were written, if they were kept. */
  readonly output: string;
}

/** Runs a command in a shell to its end. An interruption ends everything that it started. */
export function runInShell(io: Io, command: string, options: ShellOptions): Promise<ShellEnd> {
  const isKept = options.output === "kept";
  // If it is shown on a terminal, the command stays in our process group: it may ask questions, and Ctrl-C reaches it.
  // Otherwise it gets its own group, so that everything that it started can be ended.
  const isOwnGroup = isKept || !io.stderr.isTerminal;
  let signals = 0;
  let unheeded: Timer | undefined;
  // Before the start: a signal that comes with it would end this process and leave the command running.
  const stopListening = io.onSignal((signal) => {
    signals++;
    if (signals > 1) send("SIGKILL");
    // The terminal has sent Ctrl-C to the command already.
    else if (isOwnGroup || signal !== "SIGINT") {
      send(signal);
      unheeded = io.clock.after(HEED_SIGNAL_MS, () => send("SIGTERM"));
    }
  });
  const child = spawn("sh", ["-c", command], {
    cwd: options.directory,
    env: options.env,
    detached: isOwnGroup,
    stdio: isKept ? ["ignore", "pipe", "pipe"] : ["inherit", options.output === "shown" ? "inherit" : 2, "inherit"],
  });
  const kept = keepEnd(child, io.clock);
  if (options.onOutput !== undefined) passOn(child, options.onOutput);
  const send = (signal: NodeJS.Signals | 0): boolean => {
    if (child.pid === undefined) return false;
    try {
      return process.kill(isOwnGroup ? -child.pid : child.pid, signal);
    } catch (error) {
      // The group has no process any more.
      if ((error as NodeJS.ErrnoException).code === "ESRCH") return false;
      throw error;
    }
  };
  const release = () => {
    unheeded?.stop();
    stopListening();
  };
  return new Promise((resolve, reject) => {
    child.once("error", (error) => {
      release();
      reject(new Error(`cannot start a shell in ${options.directory}`, { cause: error }));
    });
    child.once("exit", async (code, signal) => {
      const isInterrupted = signals > 0;
      // Background processes of a shell ignore SIGINT.
      if (isInterrupted && isOwnGroup && send("SIGTERM")) {
        for (let waitedMs = 0; waitedMs < GROUP_END_MS && send(0); waitedMs += 20) await io.clock.sleep(20);
        send("SIGKILL");
      }
      release();
      resolve({ code, signal, isInterrupted, output: await kept() });
    });
  });
}

function passOn({ stdout, stderr }: ChildProcess, onOutput: (text: string) => void): void {
  for (const stream of [stdout, stderr]) {
    const decoder = new TextDecoder();
    stream?.on("data", (chunk: Buffer) => onOutput(decoder.decode(chunk, { stream: true })));
  }
}

/** Collects the output of a child. The returned function is called when it has ended. */
function keepEnd({ stdout, stderr }: ChildProcess, clock: Clock): () => Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  let isCut = false;
  for (const stream of [stdout, stderr]) {
    stream?.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      bytes += chunk.length;
      while (bytes - chunks[0]!.length >= MAX_KEPT_BYTES) {
        bytes -= chunks.shift()!.length;
        isCut = true;
      }
    });
  }
  return async () => {
    // Its last output is still in the pipe, which a background process may hold open.
    await clock.sleep(0);
    for (let waitedMs = 0; waitedMs < 100 && [stdout, stderr].some((it) => it && !it.readableEnded); waitedMs += 10) {
      await clock.sleep(10);
    }
    stdout?.destroy();
    stderr?.destroy();
    const text = Buffer.concat(chunks).toString();
    if (!isCut && text.length <= MAX_KEPT_BYTES) return text;
    const end = text.slice(-MAX_KEPT_BYTES);
    // Drops the first line, which is incomplete.
    return end.slice(end.indexOf("\n") + 1);
  };
}
