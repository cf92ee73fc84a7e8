import type { Position } from "vscode-languageserver-types";

/**
 * Where lines begin, and what position an offset has. As TextDocument of the protocol's library says it, but made for a
 * walk through a long text: the line of the last answer is looked at first.
 */
export class LinePositions {
  readonly #text: string;
  readonly #starts: readonly number[];
  #last = 0;

  constructor(text: string) {
    this.#text = text;
    this.#starts = lineStarts(text);
  }

  /** Within a line end it is the position before that. */
  positionAt(offset: number): Position {
    const at = Math.max(0, Math.min(offset, this.#text.length));
    const line = this.#lineOf(at);
    return { line, character: this.#beforeEnd(at, line) - this.#starts[line]! };
  }

  offsetAt({ line, character }: Position): number {
    if (line >= this.#starts.length) return this.#text.length;
    if (line < 0) return 0;
    const start = this.#starts[line]!;
    if (character <= 0) return start;
    return this.#beforeEnd(Math.min(start + character, this.#starts[line + 1] ?? this.#text.length), line);
  }

  #lineOf(offset: number): number {
    const starts = this.#starts;
    const last = this.#last;
    if (starts[last]! <= offset) {
      for (let line = last; line < last + NEAR; line++) {
        if (offset < (starts[line + 1] ?? Number.POSITIVE_INFINITY)) {
          this.#last = line;
          return line;
        }
      }
    }
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (starts[middle]! <= offset) low = middle;
      else high = middle - 1;
    }
    this.#last = low;
    return low;
  }

  #beforeEnd(offset: number, line: number): number {
    const start = this.#starts[line]!;
    let at = offset;
    while (at > start && isLineEnd(this.#text.charCodeAt(at - 1))) at--;
    return at;
  }
}

/** A few lines are passed faster one by one than by halves of all. */
const NEAR = 4;

const isLineEnd = (code: number) => code === 0x0a || code === 0x0d;

function lineStarts(text: string): number[] {
  const starts = [0];
  if (!text.includes("\r")) {
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
    return starts;
  }
  for (const { index, 0: end } of text.matchAll(/\r\n|\r|\n/g)) starts.push(index + end.length);
  return starts;
}
