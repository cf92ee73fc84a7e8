import { statSync } from "node:fs";
import { resolve } from "node:path";
import type { Format, Globals } from "./argv.ts";
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
  /** Says what failed and what to do, on stderr; answers exit code 1. */
  fail(message: string, hint?: string): Promise<number>;
  /** The same for wrong words, or an input that is not there; answers exit code 2. */
  misuse(message: string, hint?: string): Promise<number>;
  /**
   * Says what ended a command that did not expect it, with --verbose the stack too: answers 1 for a failure of the
   * outside world, 70 for a mistake of the tool's own.
   */
  crash(error: unknown): Promise<number>;
}

export function contextOf(io: Io, globals: Globals): Context {
  const directory = resolve(io.cwd, globals.chdir);
  const error = async (code: number, message: string, hint: string | undefined) => {
    const { color } = io.stderr;
    await io.stderr.write(`${color ? "\u001b[1;31merror\u001b[0m" : "error"}: ${message}\n`);
    if (hint !== undefined) await io.stderr.write(`  ${hint.replaceAll("\n", "\n  ")}\n`);
    return code;
  };
  return {
    io,
    directory,
    verbose: globals.verbose,
    format: globals.format,
    directoryExists: () => statSync(directory, { throwIfNoEntry: false })?.isDirectory() ?? false,
    print: (text) => io.stdout.write(`${text}\n`),
    say: (text) => io.stderr.write(`${text}\n`),
    fail: (message, hint) => error(EXIT.failed, message, hint),
    misuse: (message, hint) => error(EXIT.misuse, message, hint),
    async crash(thrown) {
      const what = thrown instanceof Error ? messages(thrown) : String(thrown);
      const isBug = isMistake(thrown);
      const message = isBug ? `internal error: ${what}` : what;
      const again = globals.verbose ? "report it with the lines below" : "run it again with --verbose and report that";
      const hint = isBug ? `this is a bug in tool, not in your project: ${again}` : undefined;
      const code = await error(isBug ? EXIT.internal : EXIT.failed, message, hint);
      if (globals.verbose && thrown instanceof Error && thrown.stack !== undefined)
        await io.stderr.write(`${thrown.stack}\n`);
      return code;
    },
  };
}

/** The message of an error and of what caused it, outermost first. */
function messages(error: Error): string {
  const { cause } = error;
  return cause instanceof Error && !error.message.includes(cause.message)
    ? `${error.message}: ${messages(cause)}`
    : error.message;
}
