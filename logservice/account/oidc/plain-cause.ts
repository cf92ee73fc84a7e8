/**
 * The causes of a refusal as one error that may be logged. openid-client attaches whole answers, with their tokens, to
 * its errors, and a syntax error quotes the text that it is about: only what cannot contain them is kept.
 */
export function plainCause(error: unknown): Error | undefined {
  const lines: string[] = [];
  for (let one = error; one instanceof Error && lines.length < 10; one = one.cause) lines.push(lineOf(one));
  return lines.length === 0 ? undefined : new Error(lines.join(" < "));
}

/** Errors of the system, such as ECONNREFUSED, have a code that says enough; texts are fixed only in the library. */
function lineOf(error: Error): string {
  const code = "code" in error && typeof error.code === "string" ? error.code : undefined;
  if (code === undefined) return error.name;
  return code.startsWith("OAUTH_") ? `${error.name} ${code}: ${error.message}` : `${error.name} ${code}`;
}
