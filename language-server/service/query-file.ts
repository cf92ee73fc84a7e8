import { withoutComments } from "../../grammar/query/comments.ts";

/** The query of a `.logq` file in one line, as commands take it: a comment that is joined to what follows would end it. */
export const queryOfFile = (text: string): string =>
  withoutComments(text)
    .trim()
    .replace(/\s*\n\s*/g, " ");
