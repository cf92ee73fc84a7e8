/** Shorter ones would be found in any text, and are hidden only next to their names. */
const MIN_LENGTH = 4;

/**
 * Runs a call that sends variables. The service quotes what it refuses: an error that comes out of here names variables,
 * but has none of their values, neither in its message nor in its stack.
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
  const message = hideValues(error.message, variables);
  if (message === error.message) return error;
  // The original has the answer's body in members of its own.
  const { code, $metadata } = error as { code?: unknown; $metadata?: unknown };
  const clean = Object.assign(new Error(message), {
    ...(code !== undefined && { code }),
    ...($metadata !== undefined && { $metadata }),
  });
  clean.name = error.name;
  return clean;
}

/** Replaces values with `...`, as they are and as JSON and lists of names and values write them. */
export function hideValues(message: string, variables: Readonly<Record<string, string>>): string {
  // The whole set is quoted last.
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
