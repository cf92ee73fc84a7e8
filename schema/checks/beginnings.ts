/** Texts that others may begin with, or be the beginning of. */
export class Beginnings {
  /** Sorted; none of them begins with another, which would be one too many. */
  readonly #texts: string[] = [];

  constructor(texts: Iterable<string>) {
    for (const text of [...texts].sort(byUnits)) {
      const last = this.#texts.at(-1);
      if (last === undefined || !text.startsWith(last)) this.#texts.push(text);
    }
  }

  /** Whether some text can begin with this one and with one of these at once. */
  meet(text: string): boolean {
    let low = 0;
    let high = this.#texts.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#texts[middle]! <= text) low = middle + 1;
      else high = middle;
    }
    // A text that it begins with is the last before it; one that begins with it is the first after it.
    return (low > 0 && text.startsWith(this.#texts[low - 1]!)) || (this.#texts[low]?.startsWith(text) ?? false);
  }
}

const byUnits = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
