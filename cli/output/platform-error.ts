import { type Context, EXIT } from "../context.ts";
import { PlatformError } from "../platform/error.ts";

/** Ends the command with what failed outside and what to do. Any other error is thrown on. */
export async function failByPlatform(context: Context, error: unknown): Promise<never> {
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
