/** Long names make long addresses. */
const MAX_LENGTH = 48;

/**
 * The id that the log service makes of a project's name: `My App (EU)` is `my_app_eu`. Undefined without a letter or digit
 * of ASCII.
 */
export function projectIdOf(name: string): string | undefined {
  const id = name
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "_")
    .slice(0, MAX_LENGTH)
    .replace(/^_+|_+$/g, "");
  return id || undefined;
}
