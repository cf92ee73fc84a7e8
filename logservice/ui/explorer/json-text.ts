import { HIDDEN } from "../../../grammar/hidden.ts";

/** A value of JSON as it is written: members in their order, keys that come twice, every digit of a number. */
export type JsonNode =
  | { readonly kind: "object"; readonly members: readonly (readonly [key: string, value: JsonNode])[] }
  | { readonly kind: "list"; readonly members: readonly (readonly [key: string, value: JsonNode])[] }
  | { readonly kind: "string" | "number" | "word"; readonly text: string };

/** Deeper ones stay texts. */
const MOST_DEPTH = 200;
/** Longer texts would hold up the page; the service takes none of more than 256 KiB. */
const MOST_LENGTH = 300_000;

/** Reads a text that is one object or list of JSON, as loggers without fields write them; undefined for any other. */
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

/** So many members of an object or list are drawn at first. */
export const FIRST_MEMBERS = 100;
/** So many rows of a tree are drawn at first: tens of thousands, which fit into a message, would hold up the page. */
const FIRST_ROWS = 400;

/** How many levels of a tree are open at first: those that together are not too many rows, but always one. */
export function openLevels(root: JsonNode): number {
  let rows = 0;
  let level: readonly JsonNode[] = [root];
  for (let depth = 0; ; depth++) {
    const below = level.flatMap((node) =>
      "members" in node ? node.members.slice(0, FIRST_MEMBERS).map(([, member]) => member) : [],
    );
    rows += below.length;
    if (below.length === 0 || (rows > FIRST_ROWS && depth > 0)) return Math.max(depth, 1);
    level = below;
  }
}

/** A part of a tree as JSON in one line. */
export function nodeText(node: JsonNode): string {
  if (!("members" in node)) return node.kind === "string" ? JSON.stringify(node.text) : node.text;
  const { kind, members } = node;
  if (kind === "list") return `[${members.map(([, member]) => nodeText(member)).join(",")}]`;
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${nodeText(member)}`).join(",")}}`;
}

/** The way to a part of a tree, as jq writes it. */
export function pathText(path: readonly (string | number)[]): string {
  const steps = path.map((step) =>
    typeof step === "string" && PLAIN_KEY.test(step) ? `.${step}` : `[${visibleStep(step)}]`,
  );
  const text = steps.join("");
  return text.startsWith(".") ? text : `.${text}`;
}

/** Who pastes a path sees all of it. */
const visibleStep = (step: string | number) => JSON.stringify(step).replace(HIDDEN_ONE, escapeOf);
const escapeOf = (char: string) =>
  char.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);

const HIDDEN_ONE = new RegExp(`[${HIDDEN}]`, "gu");
const PLAIN_KEY = /^[A-Za-z_][A-Za-z0-9_]*$/;

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
