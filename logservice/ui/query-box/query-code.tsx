import { coloured } from "./coloured-text.tsx";

/** A query that is read, not typed. */
export function QueryCode({ query }: { readonly query: string }) {
  return <code class="query">{coloured(query)}</code>;
}
