import { once } from "node:events";
import { fstatSync } from "node:fs";
import { createInterface } from "node:readline";
import { type Clock, systemClock } from "../grammar/units/clock.ts";
import { type HiddenTerminal, hiddenLine, type Typed } from "./hidden-line.ts";

/** All effects of the command line enter here. The real ones are `processIo`. */
export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly platform: NodeJS.Platform;
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  /** The one source of time: durations, waits and timers. */
  readonly clock: Clock;
  /** The clock's `nowMs`. */
  nowMs(): number;
  /** Handles signals until the returned function is called. Without a listener a signal ends the process as usual. */
  onSignal(listener: (signal: StopSignal) => void): () => void;
  /** Asks on the terminal; undefined after Ctrl-C or the end of the input. */
  ask(question: string): Promise<string | undefined>;
  /** Asks for a secret, of which nothing is shown, until the signal. */
  askHidden(question: string, signal: AbortSignal): Promise<Typed>;
  /** Ends the process at once, whatever is running. */
  exitNow(code: number): never;
  /** From now on only the owner can read the files and folders that this process and its children create. */
  keepFilesPrivate(): void;
  /** From now on everybody can read the files and folders that this process and its children create, and only the owner change them. */
  keepFilesPublic(): void;
  /** Whether a parent process opened an IPC channel that is still open. */
  hasParent(): boolean;
  /** Sends a message to a parent process that opened an IPC channel. */
  notifyParent(message: unknown): void;
  /** Calls the listener when that parent is gone or closed the channel; never if there is none. */
  onParentGone(listener: () => void): void;
}

export type StopSignal = "SIGINT" | "SIGTERM" | "SIGHUP";

export interface OutputStream {
  readonly isTerminal: boolean;
  readonly columns: number;
  /** Lines of a terminal. */
  readonly rows: number;
  readonly color: boolean;
  /** Resolves when there is room for more. Does nothing once the reader is gone. */
  write(data: string | Uint8Array): Promise<void>;
  /** Resolves when everything written has been passed on. */
  flush(): Promise<void>;
  /** Aborted when the reader is gone: `tool logs | head`. */
  readonly closed: AbortSignal;
  /** The file that the stream is redirected to; undefined for terminals and pipes. */
  file(): FileIdentity | undefined;
  /** Whether anything was written. */
  readonly hasWritten: boolean;
}

/** Identifies a file, whatever its name is. */
export interface FileIdentity {
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
    clock: systemClock,
    nowMs: systemClock.nowMs,
    onSignal(listener) {
      const signals: StopSignal[] = ["SIGINT", "SIGTERM", "SIGHUP"];
      for (const signal of signals) process.on(signal, listener);
      return () => {
        for (const signal of signals) process.off(signal, listener);
      };
    },
    ask: askOnTerminal,
    askHidden: (question, signal) => hiddenLine(hiddenTerminal(), question, { clock: systemClock, signal }),
    exitNow: (code) => process.exit(code),
    keepFilesPrivate: () => void process.umask(0o077),
    keepFilesPublic: () => void process.umask(0o022),
    hasParent: () => process.connected === true,
    notifyParent: (message) => process.send?.(message),
    onParentGone(listener) {
      // Without a channel it is undefined.
      if (process.connected === false) listener();
      else process.once("disconnect", listener);
    },
  };
}

/** A folder that was removed has no path any more; the shell's PWD lets messages name it. */
function workingFolder(env: Io["env"]): string {
  try {
    return process.cwd();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    return env.PWD ?? "/";
  }
}

function outputOf(stream: NodeJS.WriteStream, env: Io["env"]): OutputStream {
  const closed = new AbortController();
  let hasWritten = false;
  stream.on("error", (error: NodeJS.ErrnoException) => {
    // The reader closed the pipe. Any other error (a full disk) is a failure, which must not look like success. An error
    // of stderr cannot be printed, so that the command's own exit code counts.
    const isReaderGone = error.code === "EPIPE" || error.code === "ERR_STREAM_DESTROYED";
    if (!isReaderGone && stream !== process.stderr) throw error;
    closed.abort();
  });
  return {
    isTerminal: stream.isTTY === true,
    get rows() {
      return stream.rows || Number(env.LINES) || 24;
    },
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
      // 1 or 2: a stream that is not a file has no descriptor of its own.
      const stats = fstatSync(stream === process.stderr ? 2 : 1);
      return stats.isFile() ? { dev: stats.dev, ino: stats.ino } : undefined;
    },
    flush: () =>
      closed.signal.aborted ? Promise.resolve() : new Promise((resolve) => stream.write("", () => resolve())),
  };
}

/** NO_COLOR (no-color.org) comes before FORCE_COLOR, and that before the kind of terminal. */
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

function hiddenTerminal(): HiddenTerminal {
  const { stdin, stderr } = process;
  const listen = (event: "data" | "end", listener: (text: string) => void) => {
    stdin.on(event, listener);
    return () => void stdin.off(event, listener);
  };
  return {
    setRaw(isRaw) {
      stdin.setRawMode(isRaw);
      if (isRaw) stdin.setEncoding("utf8").resume();
      else stdin.pause();
    },
    // stdout may be a file.
    write: (text) => void stderr.write(text),
    onInput: (listener) => listen("data", listener),
    onEnd: (listener) => listen("end", listener),
  };
}
