import { hideValues, withMessage } from "../without-values.ts";

/**
 * Runs a call that sends a secret. The service may quote what it refuses: the value, and whatever is between quotes, however
 * short it is, is left out of the errors that this function throws, in the message and in the stack.
 */
export async function withoutQuoted<T>(value: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const message = error.message.replace(/(['"])[\s\S]*\1/g, "$1...$1");
    throw withMessage(error, hideValues(message, { value }));
  }
}
