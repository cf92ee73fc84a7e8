import type { Problem } from "../../../grammar/problem.ts";
import { Text } from "../kit/text.tsx";
import { colouredPieces } from "./coloured.ts";

/** A query that is read, in its colours and with nothing hidden in it. */
export function coloured(text: string) {
  return colouredPieces(text, []).map(({ text: piece, type }, i) => (
    <span key={i} class={`q-${type}`}>
      <Text text={piece} keepsLines />
    </span>
  ));
}

/** The same under the textarea, with what is wrong underlined: exactly its characters, so that both are as wide. */
export function mirrored(text: string, problems: readonly Problem[]) {
  return colouredPieces(text, problems).map(({ text: piece, type, isWrong }, i) => (
    <span key={i} class={`q-${type}${isWrong ? " q-wrong" : ""}`}>
      {piece}
    </span>
  ));
}
