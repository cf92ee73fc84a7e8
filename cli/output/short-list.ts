/** As many as fit two lines of a narrow terminal. */
const MAX_NAMED = 10;

/** `A, B and 3 more` */
export function shortList(names: readonly string[]): string {
  const more = names.length - MAX_NAMED;
  // "and 1 more" would be as long as its name.
  return more > 1 ? `${names.slice(0, MAX_NAMED).join(", ")} and ${more} more` : names.join(", ");
}
