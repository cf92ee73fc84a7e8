/**
 * Results for one version of a text, kept for the next, in which most strings are the same. It is only a cache: every
 * result depends on the given text or inputs alone.
 */
export class Memory {
  readonly #texts = new Map<string, Map<string, Kept>>();
  readonly #lists = new Map<string, { readonly inputs: readonly unknown[]; readonly result: unknown }>();
  #version = 0;
  #added = 0;

  /** Begins another version. Once much has been added, drops the results that recent versions did not use. */
  begin(): void {
    this.#version++;
    if (this.#added < MAX_ADDED) return;
    this.#added = 0;
    for (const texts of this.#texts.values()) {
      for (const [text, { version }] of texts) if (version < this.#version - MAX_IDLE_VERSIONS) texts.delete(text);
    }
  }

  /** The result of `read` for a text; it must be the same pure function for each name. */
  ofText<T>(name: string, text: string, read: (text: string) => T): T {
    let texts = this.#texts.get(name);
    if (texts === undefined) {
      texts = new Map();
      this.#texts.set(name, texts);
    }
    let kept = texts.get(text);
    if (kept === undefined) {
      const own = detached(text);
      kept = { result: read(own), version: 0 };
      texts.set(own, kept);
      this.#added++;
    }
    kept.version = this.#version;
    return kept.result as T;
  }

  /** The last result under a name, if its inputs were the same values. */
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
  /** The last version that used it. */
  version: number;
}

// Going through all costs a few milliseconds in a long file; a thousand strings take less than a megabyte.
const MAX_ADDED = 1000;

// While the user types, checks are cancelled before they finish, and features wait for a pause.
const MAX_IDLE_VERSIONS = 50;

/** The same characters on their own: a part of a long text keeps the whole of it in memory, in V8 at least. */
function detached(text: string): string {
  return ` ${text}`.slice(1);
}
