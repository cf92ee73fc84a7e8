import { Text } from "../kit/text.tsx";
import { colouredPieces } from "./coloured.ts";

/** A query that is read, not typed: in its colours, and with nothing hidden in it. */
export function QueryCode({ query }: { readonly query: string }) {
  return (
    <code class="query">
      {colouredPieces(query, []).map(({ text, type }, i) => (
        <span key={i} class={`q-${type}`}>
          <Text text={text} keepsLines />
        </span>
      ))}
    </code>
  );
}
