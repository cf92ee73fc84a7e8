import type { Span } from "./problem.ts";

/** A piece of a text and how it is to look. */
export interface HighlightToken extends Span {
  readonly type: TokenType;
}

/**
 * Those of the Language Server Protocol's semantic token types that fit, and five of our own: `constant` (a level, true,
 * null), `escape`, `punctuation`, `text` (around the language) and `invalid` (what the language has no use for).
 */
export type TokenType =
  | "comment"
  | "function"
  | "keyword"
  | "number"
  | "operator"
  | "parameter"
  | "property"
  | "regexp"
  | "string"
  | "variable"
  | "constant"
  | "escape"
  | "punctuation"
  | "text"
  | "invalid";

/** The table that grammar/build writes: contexts by number, the regular expressions as text. */
export type HighlightTable = readonly {
  readonly leaves: readonly {
    readonly regex: string;
    readonly type: TokenType;
    /** The type of each group, or "" where it is not a part. */
    readonly groups?: readonly (TokenType | "")[];
    readonly enter?: number;
    readonly leave?: true;
  }[];
  readonly textType?: TokenType;
}[];

/**
 * A tokenizer for a table: pure, linear in the text's length, and for every text. Its tokens are in order and cover all
 * that is not a blank (space, tab, line end) without overlap.
 */
export function createHighlighter(table: HighlightTable, start: number): (source: string) => HighlightToken[] {
  // Compiled with the first text: nothing runs on import.
  let narrow: readonly Compiled[] | undefined;
  let whole: readonly Compiled[] | undefined;
  return (source) => {
    if (source === "") return [];
    if (!ASCII.test(source)) {
      whole ??= table.map((context) => compile(context));
      return tokenize(source, whole, start);
    }
    narrow ??= table.map((context) => compile(context, asciiOnly));
    return tokenize(source, narrow, start);
  };
}

const ASCII = /^[\0-\x7f]*$/;

/**
 * A regular expression of a table that finds the same in texts of ASCII alone: without the letters of all scripts it is
 * compiled about twenty times as fast. It changes nothing outside of classes.
 */
export function asciiOnly(regex: string): string {
  return regex.replace(
    /\\p\{(\w+)\}|\\u\{([0-9a-f]+)\}(?:-\\u\{([0-9a-f]+)\})?/g,
    (part, property, first, last = first) => {
      if (property !== undefined) return LETTERS[property] ?? part;
      if (parseInt(first, 16) > LAST_ASCII) return "";
      return parseInt(last, 16) > LAST_ASCII ? `\\u{${first}}-\\u{7f}` : part;
    },
  );
}

const LAST_ASCII = 0x7f;
/** The ASCII characters in each Unicode property of letters. */
const LETTERS: Readonly<Record<string, string>> = { Ll: "a-z", Lu: "A-Z", Lt: "", Lm: "", Lo: "" };

type Compiled = Omit<HighlightTable[number], "leaves"> & {
  readonly leaves: readonly (Omit<HighlightTable[number]["leaves"][number], "regex"> & { readonly regex: RegExp })[];
};

function compile(context: HighlightTable[number], change = (regex: string) => regex): Compiled {
  const leaves = context.leaves.map((leaf) => ({
    ...leaf,
    regex: new RegExp(change(leaf.regex), leaf.groups ? "dyu" : "yu"),
  }));
  return { ...context, leaves };
}

function tokenize(source: string, contexts: readonly Compiled[], start: number): HighlightToken[] {
  const tokens: HighlightToken[] = [];
  const stack = [start];
  let at = 0;
  scan: while (at < source.length) {
    const { leaves, textType } = contexts[stack.at(-1)!]!;
    for (const { regex, type, groups, enter, leave } of leaves) {
      regex.lastIndex = at;
      const match = regex.exec(source);
      if (match === null) continue;
      const end = regex.lastIndex;
      if (groups) pushParts(tokens, type, match, groups);
      else push(tokens, type, at, end);
      if (leave) stack.pop();
      if (enter !== undefined) stack.push(enter);
      at = end;
      continue scan;
    }
    BLANKS.lastIndex = at;
    if (textType === undefined && BLANKS.test(source)) {
      at = BLANKS.lastIndex;
    } else if (textType === undefined && stack.length > 1) {
      stack.pop();
    } else {
      const end = at + (source.codePointAt(at)! > 0xffff ? 2 : 1);
      push(tokens, textType ?? "invalid", at, end);
      at = end;
    }
  }
  return tokens;
}

const BLANKS = /[ \t\r\n]+/y;

/** Token types that come in pieces which mean nothing alone: a quote and the text it quotes, characters of a text. */
const RUNS: ReadonlySet<TokenType> = new Set(["comment", "property", "regexp", "string", "text"]);

function push(tokens: HighlightToken[], type: TokenType, start: number, end: number): void {
  const last = tokens.at(-1);
  if (start === end) return;
  if (last?.type === type && last.end === start && RUNS.has(type)) {
    tokens[tokens.length - 1] = { type, start: last.start, end };
  } else {
    tokens.push({ type, start, end });
  }
}

function pushParts(
  tokens: HighlightToken[],
  type: TokenType,
  match: RegExpExecArray,
  groups: readonly (TokenType | "")[],
): void {
  let [at, end] = match.indices![0]!;
  for (const [index, partType] of groups.entries()) {
    const span = partType === "" ? undefined : match.indices![index + 1];
    if (partType === "" || span === undefined) continue;
    push(tokens, type, at, span[0]);
    push(tokens, partType, span[0], span[1]);
    at = span[1];
  }
  push(tokens, type, at, end);
}
