import { visibleQuery } from "../../../grammar/query/visible.ts";
import type { Search } from "../../../schema/rpc.generated.ts";

/** The saved search that is on the screen, and whether its query was changed since. */
export interface OpenedSearch {
  readonly name: string;
  readonly isChanged: boolean;
}

/** Which saved search a query is, or began as: `before` is what was opened when the query was another. */
export function openedSearch(
  searches: readonly Pick<Search, "name" | "query">[],
  query: string,
  before: OpenedSearch | undefined,
): OpenedSearch | undefined {
  const text = query.trim();
  if (text === "") return undefined;
  // The address has no hidden characters. Several may have the same query: the one that was opened stays.
  const same = searches.filter((search) => visibleQuery(search.query).trim() === text);
  const match = same.find(({ name }) => name === before?.name) ?? same[0];
  if (match !== undefined) return { name: match.name, isChanged: false };
  return before && { name: before.name, isChanged: true };
}
