import { once } from "node:events";
import { fstatSync } from "node:fs";
import { createInterface } from "node:readline";

/** All effects of the command line enter here. The real ones are `processIo`. */
export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly platform: NodeJS.Platform;
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: Output;
  readonly stderr: Output;
  nowMs(): number;
  /** Takes the signals over until the answer is called; without a listener a signal ends the process as usual. */
  onSignal(listener: (signal: StopSignal) => void): () => void;
  /** Asks on the terminal; undefined where the answer is Ctrl-C or the end of the input. */
  ask(question: string): Promise<string | undefined>;
  /** Ends the process at once, whatever is under way. */
  exitNow(code: number): never;
  /** From now on all files and folders that this process and its children make are for their owner only. */
  keepFilesPrivate(): void;
  /** Whether a parent process opened an IPC channel that is still there. */
  hasParent(): boolean;
  /** Tells a parent process that opened an IPC channel. */
  notifyParent(message: unknown): void;
  /** Calls when that parent is gone, or closed the channel; never where there is none. */
  onParentGone(listener: () => void): void;
}

export type StopSignal = "SIGINT" | "SIGTERM" | "SIGHUP";

export interface Output {
  readonly isTerminal: boolean;
  readonly columns: number;
  readonly color: boolean;
  /** Resolves when there is room for more; after the reader went away it does nothing. */
  write(data: string | Uint8Array): Promise<void>;
  /** Resolves when all that was written is out. */
  flush(): Promise<void>;
  /** Aborted when the reader went away: `tool logs | head`. */
  readonly closed: AbortSignal;
  /** The file that it is redirected to; undefined for terminals and pipes. */
  file(): OpenFile | undefined;
  /** Whether anything was written. */
  readonly hasWritten: boolean;
}

/** A file by what stays the same whatever its name is. */
export interface OpenFile {
  readonly dev: number;
  readonly ino: number;
}

export function processIo(): Io {
  const { env } = process;
  return {
    env,
    cwd: workingFolder(env),
    platform: process.platform,
    // A getter: touching process.stdin opens it, and most commands never read.
    get stdin() {
      return process.stdin;
    },
    stdout: outputOf(process.stdout, env),
    stderr: outputOf(process.stderr, env),
    nowMs: Date.now,
    onSignal(listener) {
      const signals: StopSignal[] = ["SIGINT", "SIGTERM", "SIGHUP"];
      for (const signal of signals) process.on(signal, listener);
      return () => {
        for (const signal of signals) process.off(signal, listener);
      };
    },
    ask: askOnTerminal,
    exitNow: (code) => process.exit(code),
    keepFilesPrivate: () => void process.umask(0o077),
    hasParent: () => process.connected === true,
    notifyParent: (message) => process.send?.(message),
    onParentGone(listener) {
      // Without a channel it is undefined.
      if (process.connected === false) listener();
      else process.once("disconnect", listener);
    },
  };
}

/** A folder that was removed has no path any more; the shell's last word on it lets messages name it. */
function workingFolder(env: Io["env"]): string {
  try {
    return process.cwd();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    return env.PWD ?? "/";
  }
}

function outputOf(stream: NodeJS.WriteStream, env: Io["env"]): Output {
  const closed = new AbortController();
  let hasWritten = false;
  stream.on("error", (error: NodeJS.ErrnoException) => {
    // The reader had enough. Everything else (a full disk) is a failure that must not pass for success; on stderr there
    // is nowhere left to say so, and the command's own exit code counts.
    const isReaderGone = error.code === "EPIPE" || error.code === "ERR_STREAM_DESTROYED";
    if (!isReaderGone && stream !== process.stderr) throw error;
    closed.abort();
  });
  return {
    isTerminal: stream.isTTY === true,
    get columns() {
      return stream.columns || Number(env.COLUMNS) || 80;
    },
    color: wantsColor(stream.isTTY === true, env),
    closed: closed.signal,
    get hasWritten() {
      return hasWritten;
    },
    async write(data) {
      if (closed.signal.aborted || data.length === 0) return;
      hasWritten = true;
      if (stream.write(data)) return;
      await once(stream, "drain", { signal: closed.signal }).catch((error: unknown) => {
        if (!closed.signal.aborted) throw error;
      });
    },
    file() {
      // 1 or 2: the stream may not be a file, and then has no descriptor of its own.
      const found = fstatSync(stream === process.stderr ? 2 : 1);
      return found.isFile() ? { dev: found.dev, ino: found.ino } : undefined;
    },
    flush: () =>
      closed.signal.aborted ? Promise.resolve() : new Promise((resolve) => stream.write("", () => resolve())),
  };
}

/** NO_COLOR (no-color.org) beats FORCE_COLOR beats the kind of terminal. */
export function wantsColor(isTerminal: boolean, env: Io["env"]): boolean {
  if (env.NO_COLOR) return false;
  if (env.FORCE_COLOR !== undefined && env.FORCE_COLOR !== "") {
    return env.FORCE_COLOR !== "0" && env.FORCE_COLOR !== "false";
  }
  return isTerminal && env.TERM !== "dumb";
}

function askOnTerminal(question: string): Promise<string | undefined> {
  // On stderr: stdout may be a file.
  const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: true });
  return new Promise((resolve) => {
    lines.question(question, (answer) => {
      resolve(answer);
      lines.close();
    });
    lines.once("close", () => resolve(undefined));
    lines.once("SIGINT", () => {
      process.stderr.write("\n");
      lines.close();
    });
  });
}
