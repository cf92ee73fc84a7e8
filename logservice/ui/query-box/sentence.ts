import { PIPE_WORDS } from "../../../grammar/query/reference.ts";

/** A function, or a word of the language: it is written small, wherever it is. */
const WRITTEN_SMALL = new RegExp(`^(?:\\w+\\(|(?:${[...PIPE_WORDS, "by", "as", "and", "or", "not"].join("|")})\\b)`);

/** A message of the language as the beginning of a sentence, without its full stop. */
export function sentence(text: string): string {
  const bare = text.replace(/\.$/, "");
  return WRITTEN_SMALL.test(bare) ? bare : bare.charAt(0).toUpperCase() + bare.slice(1);
}
