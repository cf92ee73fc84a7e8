/** Shorter values occur in any text, so they are only hidden next to their names. */
const MIN_LENGTH = 4;

/**
 * Runs a call that sends variables. The service quotes what it refuses; the errors that this function throws contain names
 * of variables but no values, neither in the message nor in the stack.
 */
export async function withoutValues<T>(
  variables: Readonly<Record<string, string>>,
  call: () => Promise<T>,
): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw error instanceof Error ? redacted(error, variables) : error;
  }
}

function redacted(error: Error, variables: Readonly<Record<string, string>>): Error {
  return withMessage(error, hideValues(error.message, variables));
}

/** The error with another message, which may have quoted a secret. */
export function withMessage(error: Error, message: string): Error {
  if (message === error.message) return error;
  // A new error, as the original has the response's body in other members.
  const { code, $metadata } = error as { code?: unknown; $metadata?: unknown };
  const clean = Object.assign(new Error(message), {
    ...(code !== undefined && { code }),
    ...($metadata !== undefined && { $metadata }),
  });
  clean.name = error.name;
  return clean;
}

/** Replaces values with `...`, in plain form and in the forms of JSON and `name=value` lists. */
export function hideValues(message: string, variables: Readonly<Record<string, string>>): string {
  // The service quotes the whole set at the end of the message.
  let hidden = message.replace(/[.,]?\s*String measured:[\s\S]*$/i, "");
  const entries = Object.entries(variables).filter(([, value]) => value !== "");
  // A longer value may contain a shorter one.
  for (const [name, value] of entries.sort(([, a], [, b]) => b.length - a.length)) {
    for (const written of new Set([value, JSON.stringify(value).slice(1, -1)])) {
      hidden = hidden
        .replaceAll(`"${name}":"${written}"`, `"${name}":"..."`)
        .replaceAll(`${name}=${written}`, `${name}=...`);
      if (written.length >= MIN_LENGTH) hidden = hidden.replaceAll(written, "...");
    }
  }
  return hidden;
}
