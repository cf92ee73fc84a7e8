import { type Context, EXIT } from "./context.ts";
import { isEarlyExit } from "./early-exit.ts";
import type { StopSignal } from "./io.ts";
import { PlatformError } from "./platform/error.ts";

/** The signals that a command hears: the first one aborts `signal`, a second one ends the process at once. */
export interface Interruption {
  readonly signal: AbortSignal;
  /** While a hook runs, its shell gets the signals and ends by itself. */
  pause(): void;
  resume(): void;
}

interface Interruptible {
  /** Ended before anything is printed about the end of the command. */
  readonly progress?: { end(): void };
  /** Printed after an interruption: the state that it leaves, and how to continue. */
  readonly interrupted?: () => string | undefined;
}

/** Runs the part of a command that works on the platform, until it ends, fails or is interrupted. */
export async function interruptible(
  context: Context,
  { progress, interrupted }: Interruptible,
  run: (stop: Interruption) => Promise<number>,
): Promise<number> {
  const stop = interruption(context);
  try {
    return await run(stop);
  } catch (error) {
    progress?.end();
    if (isEarlyExit(error)) throw error;
    if (!stop.signal.aborted) return await failByPlatform(context, error);
    const said = interrupted?.();
    if (said !== undefined) await context.say(said);
    return EXIT.interrupted;
  } finally {
    progress?.end();
    stop.release();
  }
}

function interruption(context: Context): Interruption & { release(): void } {
  const { io } = context;
  const stop = new AbortController();
  let isPaused = false;
  const release = io.onSignal((name: StopSignal) => {
    if (stop.signal.aborted && !isPaused) io.exitNow(EXIT.interrupted);
    // The terminal has echoed ^C.
    if (name === "SIGINT" && io.stderr.isTerminal && !stop.signal.aborted) void context.say("");
    stop.abort();
  });
  return {
    signal: stop.signal,
    release,
    pause: () => {
      isPaused = true;
    },
    resume: () => {
      isPaused = false;
    },
  };
}

/** Ends the command with what failed outside and what to do. Any other error is thrown on. */
async function failByPlatform(context: Context, error: unknown): Promise<never> {
  if (!(error instanceof PlatformError)) throw error;
  await context.error(error.message, error.hint);
  if (context.verbose && error.cause instanceof Error) {
    const { name, message } = error.cause;
    await context.say(`  ${name}: ${withoutSigned(message)}`);
  }
  return context.exit(EXIT.failed);
}

/** A refused signature is answered with all that was signed, a session's token among it. */
function withoutSigned(message: string): string {
  return message.replace(/The Canonical String[\s\S]*$/, "").trim();
}
