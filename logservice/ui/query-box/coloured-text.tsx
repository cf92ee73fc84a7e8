import type { Problem } from "../../../grammar/problem.ts";
import { colouredPieces } from "./coloured.ts";

/** A query in its colours, with what is wrong underlined. */
export function coloured(text: string, problems: readonly Problem[] = []) {
  return colouredPieces(text, problems).map(({ text: piece, type, isWrong }, i) => (
    <span key={i} class={`q-${type}${isWrong ? " q-wrong" : ""}`}>
      {piece}
    </span>
  ));
}
