/** Longer lines (a body that was logged whole) are cut: editors stop colouring and wrapping them well before. */
const MAX_LINE_LENGTH = 4000;

/** The newest lines of a stream of text; older ones are dropped, and counted. */
export class LogLines {
  readonly #maxLines: number;
  readonly #lines: string[] = [];
  #partial = "";
  #dropped = 0;

  constructor(maxLines: number) {
    this.#maxLines = maxLines;
  }

  /** How many lines are gone. */
  get dropped(): number {
    return this.#dropped;
  }

  get length(): number {
    return this.#lines.length;
  }

  /** Takes the next piece of the stream, which may end within a line: that one is shown when it is whole. */
  add(piece: string): void {
    const lines = (this.#partial + piece).split("\n");
    // If a line never ends, only the part that is shown is kept.
    this.#partial = lines.pop()!.slice(0, MAX_LINE_LENGTH + 1);
    for (const line of lines) this.#lines.push(cut(line.replace(/\r$/, "")));
    const surplus = this.#lines.length - this.#maxLines;
    if (surplus <= 0) return;
    this.#lines.splice(0, surplus);
    this.#dropped += surplus;
  }

  text(): string {
    return this.#lines.map((line) => `${line}\n`).join("");
  }
}

function cut(line: string): string {
  return line.length <= MAX_LINE_LENGTH ? line : `${line.slice(0, MAX_LINE_LENGTH)}\u2026`;
}
