import { execFile } from "node:child_process";
import type { RunResult } from "./host.ts";

/** Many times what the slowest request to a cloud takes; a program that waits for something else is ended. */
const LIMIT_MS = 120_000;

/** An error and its hint are two lines. */
const MAX_SAID = 2000;

export interface ProgramRun {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly input: string;
  /** See `Ran`. */
  readonly place: string;
}

/** Runs a program, without a shell, to its end. It reads `input`, and nothing of that is in what it is said to have said. */
export function runProgram(
  [file, ...words]: readonly string[],
  { cwd, env, input, place }: ProgramRun,
): Promise<RunResult> {
  return new Promise((resolve) => {
    // Text that a person reads in a message has no colours.
    const options = { cwd, env: { ...env, NO_COLOR: "1", FORCE_COLOR: undefined }, timeout: LIMIT_MS };
    const child = execFile(file!, words, options, (error, _, stderr) => {
      const said = stderr.trim() || (error?.killed ? "it took too long and was ended" : (error?.message ?? ""));
      resolve({ isDone: error === null, said: without(said, input.trim()).slice(0, MAX_SAID), place });
    });
    // A program that ends before it has read everything says itself why.
    child.stdin?.on("error", () => {}).end(input);
  });
}

/** A question to an account takes a second; nobody waits for the answer any more after this. */
const ANSWER_LIMIT_MS = 20_000;

/** Returns the text that a program writes to stdout; rejects if it fails, or is not done in time. */
export function programOutput(
  [file, ...words]: readonly string[],
  { cwd, env, input }: Omit<ProgramRun, "place">,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile(file!, words, { cwd, env, timeout: ANSWER_LIMIT_MS }, (error, stdout) =>
      error === null ? resolve(stdout) : reject(error),
    );
    child.stdin?.on("error", () => {}).end(input);
  });
}

/** A text without a secret, which the program should not have said. Less than four letters are in every text. */
const without = (text: string, secret: string) => (secret.length < 4 ? text : text.replaceAll(secret, "***"));
