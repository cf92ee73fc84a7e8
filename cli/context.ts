import { statSync } from "node:fs";
import { resolve } from "node:path";
import type { Format, Globals } from "./argv.ts";
import { EarlyExit, isEarlyExit } from "./early-exit.ts";
import type { Io } from "./io.ts";
import { isMistake } from "./mistake.ts";

/** The exit codes of every command. */
export const EXIT = {
  ok: 0,
  failed: 1,
  misuse: 2,
  /** A bug of the tool; 70 is EX_SOFTWARE of sysexits(3). */
  internal: 70,
  interrupted: 130,
} as const;

/** The surroundings of a command: the effects, the global flags, and the ways to print and to end. */
export interface Context {
  readonly io: Io;
  /** Absolute: where `-C` points, else the working directory. */
  readonly directory: string;
  readonly verbose: boolean;
  /** The format asked for. Undefined leaves the choice to the command (text for all but logs). */
  readonly format: Format | undefined;
  directoryExists(): boolean;
  /** From now on hints are changed so before they are printed: commands that they name are to be copied. */
  changeHints(change: (text: string) => string): void;
  /** Prints one line or several on stdout. */
  print(text: string): Promise<void>;
  /** Prints a line for people on stderr. */
  say(text: string): Promise<void>;
  /** Prints an error and what to do about it on stderr. The command continues. */
  error(message: string, hint?: string): Promise<void>;
  /** Notes an error that is printed in another way, for programs. */
  noteError(message: string, hint?: string): void;
  /** Ends the command with exit code 1, printing what failed and what to do. */
  fail(message: string, hint?: string): never;
  /** Ends the command with exit code 2, for wrong arguments or an input that does not exist. */
  misuse(message: string, hint?: string): never;
  /** Ends the command; everything has been printed. */
  exit(code: number): never;
  /**
   * Prints on stderr what ended a command, and returns its exit code: that of an `EarlyExit`, else 1 for a failure of the
   * outside world and 70 for a bug of the tool. --verbose adds the stack.
   */
  explain(thrown: unknown): Promise<number>;
  /** The result of the work. If it ends with an `EarlyExit`, explains that and returns undefined. */
  attempt<T>(work: Promise<T>): Promise<T | undefined>;
}

export interface SaidError {
  readonly message: string;
  readonly hint: string | undefined;
}

/** The first error of each run, which is the cause of those that follow. */
const firstErrors = new WeakMap<Io, SaidError>();

/** The first error that a command has printed; undefined if it printed none. */
export const firstErrorOf = (io: Io): SaidError | undefined => firstErrors.get(io);

export function createContext(io: Io, globals: Globals): Context {
  const directory = resolve(io.cwd, globals.chdir);
  let changed = (text: string) => text;
  const noteError = (message: string, hint?: string) => {
    if (!firstErrors.has(io)) firstErrors.set(io, { message, hint: hint === undefined ? undefined : changed(hint) });
  };
  const error = async (message: string, hint?: string) => {
    noteError(message, hint);
    const { color } = io.stderr;
    await io.stderr.write(`${color ? "\u001b[1;31merror\u001b[0m" : "error"}: ${message}\n`);
    if (hint !== undefined) await io.stderr.write(`  ${changed(hint).replaceAll("\n", "\n  ")}\n`);
  };
  const exit = (code: number, message?: string, hint?: string): never => {
    throw new EarlyExit(code, message, hint === undefined ? undefined : changed(hint));
  };
  const explain = async (thrown: unknown) => {
    if (isEarlyExit(thrown)) {
      if (thrown.message !== "") await error(thrown.message, thrown.hint);
      return thrown.exitCode;
    }
    const what = thrown instanceof Error ? messages(thrown) : String(thrown);
    const isBug = isMistake(thrown);
    const message = isBug ? `internal error: ${what}` : what;
    const again = globals.verbose ? "report it with the lines below" : "run it again with --verbose and report that";
    const isOfConnection = Object.values(CONNECTION).some((sentence) => what.includes(sentence));
    // It is what ended the command, whatever was said before.
    if (isBug) firstErrors.delete(io);
    const remedy = isOfConnection ? "check what it connects to, then run the command again" : undefined;
    await error(message, isBug ? `this is a bug in tool, not in your project: ${again}` : remedy);
    if (globals.verbose && thrown instanceof Error && thrown.stack !== undefined)
      await io.stderr.write(`${thrown.stack}\n`);
    return isBug ? EXIT.internal : EXIT.failed;
  };
  return {
    io,
    directory,
    verbose: globals.verbose,
    format: globals.format,
    directoryExists: () => statSync(directory, { throwIfNoEntry: false })?.isDirectory() ?? false,
    changeHints(change) {
      changed = change;
    },
    // A document is for programs.
    print: (text) => io.stdout.write(`${globals.format === undefined ? changed(text) : text}\n`),
    say: (text) => io.stderr.write(`${changed(text)}\n`),
    error,
    noteError,
    fail: (message, hint) => exit(EXIT.failed, message, hint),
    misuse: (message, hint) => exit(EXIT.misuse, message, hint),
    exit,
    explain,
    attempt: (work) =>
      work.catch(async (thrown: unknown) => {
        if (!isEarlyExit(thrown)) throw thrown;
        await explain(thrown);
        return undefined;
      }),
  };
}

/** The message of an error and of what caused it, outermost first. */
function messages(error: Error): string {
  const { cause } = error;
  return cause instanceof Error && !error.message.includes(cause.message)
    ? `${error.message}: ${messages(cause)}`
    : sentenceOf(error);
}

/** The meaning of the system's errors of a connection. Without it, the last line would be `read ECONNRESET`. */
const CONNECTION: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing accepts connections there",
  ECONNRESET: "the other side ended the connection before its answer was complete",
  EHOSTUNREACH: "the network has no way to that machine",
  ENETUNREACH: "the network has no way to that machine",
  EPIPE: "the other side ended the connection before all was sent",
  ETIMEDOUT: "the other side did not answer in time",
};

function sentenceOf(error: Error): string {
  const { message } = error;
  const { code = "" } = error as NodeJS.ErrnoException;
  const isBare = /^(?:(?:read|write|connect) E[A-Z]+\b|socket hang up$)/.test(message);
  return isBare && Object.hasOwn(CONNECTION, code) ? `${CONNECTION[code]} (${message})` : message;
}
