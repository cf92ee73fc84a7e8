import type { Timer } from "../grammar/units/clock.ts";
import type { Config, ResolvedConfig } from "../schema/index.ts";
import type { Context } from "./context.ts";
import { isEarlyExit } from "./early-exit.ts";
import { openVariables } from "./open-platform.ts";
import { openSandbox, placed, usesSandbox } from "./open-sandbox.ts";
import { PlatformError } from "./platform/error.ts";
import type { VariableValues } from "./platform/variables.ts";

/** Longer than the store takes on a slow network, and short enough to wait for at every start. */
const LIMIT_MS = 2_000;
/**
 * The limit is counted in steps of this: a step that ends late, because the machine slept or others had its processor,
 * counts no more than one in time, so that the command is not late before it could read an answer.
 */
const STEP_MS = 250;

interface Wanted {
  readonly config: Config;
  readonly resolved: ResolvedConfig;
  readonly stage: string;
  /** The flags of the command. */
  readonly flags: { readonly env: boolean; readonly sandbox: boolean };
}

/**
 * The variables of `tool env` for a command that works without an account, too. The store is asked only if credentials are
 * named, or the sandbox is used, and `--no-env` is not given. If it does not answer in time the command warns, and works
 * without them. Nothing is kept on disk.
 */
export async function stageVariables(
  context: Context,
  { config, resolved, stage, flags }: Wanted,
): Promise<VariableValues> {
  const { env } = context.io;
  if (!flags.env) return {};
  const inSandbox = usesSandbox(context, flags.sandbox);
  const isNamed = inSandbox || resolved.profile !== undefined || Boolean(env.CLOUD_PROFILE || env.CLOUD_ACCESS_KEY_ID);
  if (!isNamed) return {};
  const limit = new AbortController();
  let timer: Timer | undefined;
  try {
    const sandbox = inSandbox ? await openSandbox(context, flags.sandbox, { app: config.name }) : undefined;
    const variables = await openVariables({
      env,
      clock: context.io.clock,
      config,
      resolved: placed(resolved, sandbox),
      sandbox,
    });
    // Finding credentials does not hear the signal: a program may make them.
    const late = new Promise<never>((_, reject) => {
      let leftMs = LIMIT_MS;
      timer = context.io.clock.every(STEP_MS, () => {
        leftMs -= STEP_MS;
        if (leftMs > 0) return;
        limit.abort();
        reject(new Error("late"));
      });
    });
    return await Promise.race([variables.read(stage, { signal: limit.signal, report() {} }), late]);
  } catch (error) {
    const isLate = limit.signal.aborted;
    // A sandbox that another app of the name has, or that does not start, ends other commands.
    if (!isLate && !(error instanceof PlatformError) && !isEarlyExit(error)) throw error;
    const why = isLate ? "no answer within 2 seconds" : (error as Error).message;
    await context.say(`warning: without the variables of tool env: ${why}`);
    await context.say("  --no-env does not ask for them");
    return {};
  } finally {
    timer?.stop();
  }
}
