import type { Problem } from "../grammar/problem.ts";

/** A file whose bytes are not UTF-8, the first of them at an offset of its text. */
export function notUtf8(at: number): Problem {
  return {
    code: "config/encoding",
    message: "the file is not UTF-8",
    hint: "save it as UTF-8",
    span: { start: at, end: at + 1 },
    severity: "error",
  };
}
