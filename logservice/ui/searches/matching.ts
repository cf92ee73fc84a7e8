import type { Search } from "../../../schema/rpc.generated.ts";

/** A search that has a name already, however it is written; not the one that is changed itself. */
export function searchNamed(
  searches: readonly Search[],
  name: string,
  exceptId: string | undefined,
): Search | undefined {
  const wanted = folded(name);
  return searches.find((search) => search.id !== exceptId && folded(search.name) === wanted);
}

/** The searches that have each typed word in their name or query. */
export function matchingSearches(searches: readonly Search[], typed: string): readonly Search[] {
  const words = typed.toLowerCase().split(/\s+/);
  return searches.filter(({ name, query }) => {
    const whole = `${name}\n${query}`.toLowerCase();
    return words.every((word) => whole.includes(word));
  });
}

const folded = (name: string) => name.trim().replace(/\s+/g, " ").toLowerCase();
