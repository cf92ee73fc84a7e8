import type { Context } from "../context.ts";
import { PlatformError } from "../platform/error.ts";

/** Says what failed outside and what to do; answers the exit code. What nobody expected is thrown on. */
export async function sayPlatformError(context: Context, error: unknown): Promise<number> {
  if (!(error instanceof PlatformError)) throw error;
  const code = await context.fail(error.message, error.hint);
  if (context.verbose && error.cause instanceof Error) {
    const { name, message } = error.cause;
    await context.say(`  ${name}: ${withoutSigned(message)}`);
  }
  return code;
}

/** A refused signature is answered with all that was signed, a session's token among it. */
function withoutSigned(message: string): string {
  return message.replace(/The Canonical String[\s\S]*$/, "").trim();
}
