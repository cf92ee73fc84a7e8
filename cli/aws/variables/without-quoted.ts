import { withMessage } from "../without-values.ts";

/**
 * Runs a call that sends a secret. The service quotes what it refuses, however short it is: what is between quotes is left
 * out of the errors that this function throws, in the message and in the stack.
 */
export async function withoutQuoted<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw error instanceof Error ? withMessage(error, error.message.replace(/(['"])[\s\S]*\1/g, "$1...$1")) : error;
  }
}
