/** A value of JSON as it is written: members in their order, keys that come twice, every digit of a number. */
export type JsonNode =
  | { readonly kind: "object"; readonly members: readonly (readonly [key: string, value: JsonNode])[] }
  | { readonly kind: "list"; readonly members: readonly (readonly [key: string, value: JsonNode])[] }
  | { readonly kind: "string" | "number" | "word"; readonly text: string };

/** Deeper ones stay texts. */
const MOST_DEPTH = 200;
/** Longer texts would hold up the page; the service takes none of more than 256 KiB. */
const MOST_LENGTH = 300_000;

/** What a text holds that is one object or list of JSON, as loggers without fields write them; undefined of any other. */
export function jsonIn(text: string): JsonNode | undefined {
  if (text.length > MOST_LENGTH || !/^\s*[[{]/.test(text)) return undefined;
  try {
    // It decides what JSON is; what it makes of numbers and of keys that come twice is not what was written.
    JSON.parse(text);
    return new Reader(text).value(0);
  } catch {
    return undefined;
  }
}

/** Reads a text that is JSON. */
class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  value(depth: number): JsonNode {
    if (depth > MOST_DEPTH) throw new RangeError("too deep");
    const token = this.#token();
    if (token === "{") return { kind: "object", members: this.#members("}", depth, () => this.#key()) };
    if (token === "[") return { kind: "list", members: this.#members("]", depth, (index) => String(index)) };
    if (token.startsWith('"')) return { kind: "string", text: JSON.parse(token) as string };
    return { kind: /^[-\d]/.test(token) ? "number" : "word", text: token };
  }

  #members(end: string, depth: number, keyOf: (index: number) => string): (readonly [string, JsonNode])[] {
    const members: (readonly [string, JsonNode])[] = [];
    for (;;) {
      BLANKS.lastIndex = this.#at;
      BLANKS.test(this.#text);
      const next = this.#text[BLANKS.lastIndex];
      if (next === end || next === ",") this.#at = BLANKS.lastIndex + 1;
      if (next === end) return members;
      members.push([keyOf(members.length), this.value(depth + 1)]);
    }
  }

  #key(): string {
    const key = JSON.parse(this.#token()) as string;
    this.#token();
    return key;
  }

  #token(): string {
    TOKEN.lastIndex = this.#at;
    const [, token] = TOKEN.exec(this.#text)!;
    this.#at = TOKEN.lastIndex;
    return token!;
  }
}

const BLANKS = /[ \t\r\n]*/y;
const TOKEN = /[ \t\r\n]*([{}[\],:]|"(?:[^"\\]|\\.)*"|[^ \t\r\n{}[\],:"]+)/y;
