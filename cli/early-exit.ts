/**
 * Ends a command early, from however deep. `Context` throws it (`fail`, `misuse`, `exit`), and main.ts prints why and
 * exits with the code, so that no function in between has to pass an exit code on.
 */
export class EarlyExit extends Error {
  override readonly name = "EarlyExit";
  readonly exitCode: number;
  readonly hint: string | undefined;

  /** The message is for people. An empty one means that everything has been printed. */
  constructor(exitCode: number, message = "", hint?: string) {
    super(message);
    this.exitCode = exitCode;
    this.hint = hint;
  }
}

/** By name: every command is a bundle of its own, with a class of its own. */
export function isEarlyExit(thrown: unknown): thrown is EarlyExit {
  return thrown instanceof Error && thrown.name === "EarlyExit";
}
