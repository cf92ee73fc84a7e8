/**
 * What was found out about a text, kept for its next version, in which most strings stand as they did. It is only ever a
 * way to say the same sooner: whatever is kept follows from the given text or inputs alone.
 */
export class Memory {
  readonly #texts = new Map<string, Map<string, Kept>>();
  readonly #lists = new Map<string, { readonly inputs: readonly unknown[]; readonly result: unknown }>();
  #round = 0;
  #size = 0;
  #used = 0;

  /** A new version is read. */
  begin(): void {
    this.#round++;
    this.#used = 0;
  }

  /** It was read to its end: what it had no use for goes, once that is much. */
  end(): void {
    if (this.#size <= this.#used + MAX_UNUSED) return;
    for (const texts of this.#texts.values()) {
      for (const [text, { round }] of texts) if (round !== this.#round) texts.delete(text);
    }
    this.#size = this.#used;
  }

  /** What `read` gives for a text, a pure function for each name. */
  ofText<T>(name: string, text: string, read: (text: string) => T): T {
    let texts = this.#texts.get(name);
    if (texts === undefined) {
      texts = new Map();
      this.#texts.set(name, texts);
    }
    let kept = texts.get(text);
    if (kept === undefined) {
      const own = detached(text);
      kept = { result: read(own), round: 0 };
      texts.set(own, kept);
      this.#size++;
    }
    if (kept.round !== this.#round) {
      kept.round = this.#round;
      this.#used++;
    }
    return kept.result as T;
  }

  /** The last result under a name, where it was made of the very same values. */
  ofList<T>(name: string, inputs: readonly unknown[]): { readonly result: T } | undefined {
    const kept = this.#lists.get(name);
    const isSame =
      kept !== undefined && kept.inputs.length === inputs.length && inputs.every((one, i) => one === kept.inputs[i]);
    return isSame ? (kept as { result: T }) : undefined;
  }

  keepList(name: string, inputs: readonly unknown[], result: unknown): void {
    this.#lists.set(name, { inputs, result });
  }
}

interface Kept {
  readonly result: unknown;
  /** The last version that had this text. */
  round: number;
}

// Going through all costs a few milliseconds in a long file; so many strings take less than a megabyte.
const MAX_UNUSED = 1000;

/** The same characters on their own: a part of a long text keeps the whole of it in memory, in V8 at least. */
function detached(text: string): string {
  return ` ${text}`.slice(1);
}
