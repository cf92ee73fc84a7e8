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
  /** A mistake of the tool's own; 70 is EX_SOFTWARE of sysexits(3). */
  internal: 70,
  interrupted: 130,
} as const;

/** What a command runs in: the effects, the global flags, and the ways to speak. */
export interface Context {
  readonly io: Io;
  /** Absolute: where `-C` points, else the working directory. */
  readonly directory: string;
  readonly verbose: boolean;
  /** As asked for; undefined leaves the choice to the command (text for all but logs). */
  readonly format: Format | undefined;
  directoryExists(): boolean;
  /** A line, or several, on stdout. */
  print(text: string): Promise<void>;
  /** A line for people on stderr. */
  say(text: string): Promise<void>;
  /** An error and what to do about it, on stderr. The command goes on. */
  error(message: string, hint?: string): Promise<void>;
  /** Ends the command with exit code 1: what failed and what to do. */
  fail(message: string, hint?: string): never;
  /** Ends the command with exit code 2: wrong arguments, or an input that does not exist. */
  misuse(message: string, hint?: string): never;
  /** Ends the command after everything has been said. */
  exit(code: number): never;
  /**
   * Says on stderr what ended a command, and answers its exit code: that of an `EarlyExit`, else 1 for a failure of the outside
   * world and 70 for a mistake of the tool's own, with the stack if --verbose is given.
   */
  explain(thrown: unknown): Promise<number>;
  /** The result of work, or undefined after an `EarlyExit` of it was explained. */
  attempt<T>(work: Promise<T>): Promise<T | undefined>;
}

export function contextOf(io: Io, globals: Globals): Context {
  const directory = resolve(io.cwd, globals.chdir);
  const error = async (message: string, hint?: string) => {
    const { color } = io.stderr;
    await io.stderr.write(`${color ? "\u001b[1;31merror\u001b[0m" : "error"}: ${message}\n`);
    if (hint !== undefined) await io.stderr.write(`  ${hint.replaceAll("\n", "\n  ")}\n`);
  };
  const exit = (code: number, message?: string, hint?: string): never => {
    throw new EarlyExit(code, message, hint);
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
    await error(message, isBug ? `this is a bug in tool, not in your project: ${again}` : undefined);
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
    print: (text) => io.stdout.write(`${text}\n`),
    say: (text) => io.stderr.write(`${text}\n`),
    error,
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
    : error.message;
}
