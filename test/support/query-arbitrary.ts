import fc from "fast-check";
import type { Expr, Field, Query, Segment, StringValue, Value, WordValue } from "../../grammar/query/index.ts";
import { readNumber } from "../../grammar/query/literals.ts";

// Trees that the parser can give, with empty spans; and texts that look like queries.

const span = { start: 0, end: 0 };
const operator = span;

const chunk = fc.string({
  unit: fc.constantFrom(..."ab \"\\*/'().,=\n\t\r\u0000\u00a0\u2028\ud83d\u{1f600}é日"),
  maxLength: 6,
});
const stringValue = fc
  .array(chunk, { minLength: 1, maxLength: 3 })
  .map((chunks): StringValue => ({ kind: "string", chunks, span }));
const literalString = chunk.map((text): StringValue => ({ kind: "string", chunks: [text], span }));

const wordText = fc
  .string({ unit: fc.constantFrom(..."abeZ059_-./:@+%~*日नि"), minLength: 1, maxLength: 8 })
  .filter((text) => !READS_AS_OTHER.test(text));
const word = wordText.map((text): WordValue => ({ kind: "word", chunks: text.split("*"), span }));
const literalWord = wordText.map((text): WordValue => ({ kind: "word", chunks: [text], span }));
// Texts that the grammar takes for something else than a word where a value is expected.
const READS_AS_OTHER =
  /^(and|or|not|in|contains|exists|true|false|null)$|^-?(\d+(\.\d+)?|\.\d+)([eE][+-]?\d+)?([kmgt]?b|ms|[smhd])?$/i;

const number = fc
  .tuple(
    fc.constantFrom("", "-"),
    fc.constantFrom("0", "5", "200", "1.5", ".25", "007", "1e3", "2E-2", "12345678901234567890"),
    fc.constantFrom("", "", "", "b", "kb", "mb", "gb", "tb", "ms", "s", "m", "h", "d"),
  )
  .map(([sign, digits, suffix]): Value => {
    const text = sign + digits + suffix;
    const { value, unit } = readNumber(text);
    return { kind: "number", text, value, ...(unit && { unit }), span };
  });
const constant = fc.constantFrom<Value>(
  { kind: "boolean", value: true, span },
  { kind: "boolean", value: false, span },
  { kind: "null", span },
);
const value: fc.Arbitrary<Value> = fc.oneof(stringValue, word, number, constant);

const key = fc
  .oneof(
    fc.constantFrom(
      "a",
      "x-y",
      "@t",
      "_",
      "in",
      "OR",
      "größe",
      "error",
      "0",
      "odd key",
      "__proto__",
      "fields",
      "level",
      "message",
      "id",
    ),
    chunk,
  )
  .map((text): Segment => ({ kind: "key", key: text, span }));
const index = fc.nat({ max: 1000 }).map((at): Segment => ({ kind: "index", index: at, span }));
const first = (...names: string[]) =>
  fc.constantFrom(...names).map((text): Segment => ({ kind: "key", key: text, span }));
const fieldOf = (head: fc.Arbitrary<Segment>) =>
  fc
    .tuple(head, fc.array(fc.oneof(key, index), { maxLength: 2 }))
    .map(([segment, rest]): Field => ({ path: [segment, ...rest], span }));

const anyField = fieldOf(
  first(
    "a",
    "status",
    "user-agent",
    "@v",
    "$ref",
    "level",
    "message",
    "timestamp",
    "id",
    "fields",
    "error",
    "staging",
    "名前",
    "notes",
  ),
);
const plainField = fieldOf(first("a", "status", "fields", "size", "error", "in2"));
// A level or stage word alone is no name.
const bareField = anyField.filter(
  ({ path }) => path.length > 1 || !["error", "staging"].includes((path[0] as { key: string }).key),
);
const only = (name: string): Field => ({ path: [{ kind: "key", key: name, span }], span });

const levelText = fc
  .constantFrom("error", "ERROR", "Crit", "eMerg", "info", "trace", "WARN*", "*e*", "custom", "Custom")
  .map((text): WordValue => ({ kind: "word", chunks: text.split("*"), span }));
const ordering = fc.constantFrom("<", "<=", ">", ">=");
const leaf: fc.Arbitrary<Expr> = fc.oneof(
  fc
    .tuple(anyField, fc.constantFrom("=", "!="), value)
    .map(([field, op, value]) => ({ kind: "comparison", field, op, operator, value, span })),
  fc
    .tuple(plainField, ordering, number)
    .map(([field, op, value]) => ({ kind: "comparison", field, op, operator, value, span })),
  fc.tuple(ordering, fc.constantFrom("debug", "warning", "fatal", "Warn", "ERR")).map(([op, level]) => ({
    kind: "comparison",
    field: only("level"),
    op,
    operator,
    value: { kind: "word", chunks: [level], span },
    span,
  })),
  fc.tuple(fc.constantFrom("=", "!="), levelText).map(([op, value]) => ({
    kind: "comparison",
    field: only("level"),
    op,
    operator,
    value,
    span,
  })),
  fc
    .array(levelText, { minLength: 1, maxLength: 4 })
    .map((values) => ({ kind: "in", field: only("level"), operator, values, span })),
  fc.tuple(ordering, fc.boolean()).map(([op, ago]) => ({
    kind: "comparison",
    field: only("timestamp"),
    op,
    operator,
    value: ago
      ? { kind: "number", text: "1.5h", value: 5_400_000, unit: "h", span }
      : { kind: "string", chunks: ["2024-05-01T11:00:00Z"], span },
    span,
  })),
  fc
    .tuple(anyField, fc.array(value, { minLength: 1, maxLength: 3 }))
    .map(([field, values]) => ({ kind: "in", field, operator, values, span })),
  fc
    .tuple(anyField, fc.oneof(literalString, literalWord))
    .map(([field, text]) => ({ kind: "contains", field, operator, text, span })),
  fc
    .tuple(
      anyField,
      fc.constantFrom("", "a", "^\\/x$", "[/]+", "[]/\\]]", "(a|b)*", "\\d{2}", "[[:alpha:]/]", '"日'),
      fc.constantFrom("", "i"),
    )
    .map(([field, source, flags]) => ({ kind: "match", field, operator, regex: { source, flags, span }, span })),
  fc.constantFrom("DEBUG", "Error", "error", "WARN", "panic", "http").map((text) => ({
    kind: "comparison",
    field: only("level"),
    op: "=",
    operator,
    value: { kind: "word", chunks: [text], span },
    span,
  })),
  anyField.map((field) => ({ kind: "exists", operator, field, span })),
  bareField.map((field) => ({ kind: "truthy", field, span })),
  fc
    .constantFrom("debug", "err", "warning", "fatal", "ERROR", "Error", "WaRN")
    .map((word) => ({ kind: "level", word, span })),
  fc.constantFrom("production", "staging", "DEVELOPMENT").map((word) => ({ kind: "stage", word, span })),
  stringValue.map((text) => ({ kind: "message", text, span })),
) as fc.Arbitrary<Expr>;

const { expr } = fc.letrec<{ expr: Expr }>((tie) => ({
  expr: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    leaf,
    tie("expr").map((term): Expr => ({ kind: "not", term, operator, span })),
    fc.array(tie("expr"), { minLength: 2, maxLength: 3 }).map((terms) => chain("and", terms)),
    fc.array(tie("expr"), { minLength: 2, maxLength: 3 }).map((terms) => chain("or", terms)),
  ),
}));

/** Flattened, as the parser does. */
function chain(kind: "and" | "or", terms: readonly Expr[]): Expr {
  return { kind, terms: terms.flatMap((term) => (term.kind === kind ? term.terms : [term])), operators: [], span };
}

export const queries: fc.Arbitrary<Query> = fc
  .option(expr, { freq: 20, nil: undefined })
  .map((expr): Query => ({ source: "", expr }));

const piece = fc.constantFrom(
  ...[
    "a",
    "b.c",
    "status",
    "level",
    "timestamp",
    "error",
    "warn",
    "production",
    "in",
    "not",
    "and",
    "or",
    "contains",
    "exists",
  ],
  ...[
    "AND",
    "Or",
    "like",
    "is",
    "eq",
    "=",
    "==",
    "!=",
    ">",
    ">=",
    "<",
    "~",
    "!",
    "&&",
    "||",
    "=>",
    "=~",
    ":",
    ",",
    "(",
    ")",
  ],
  ...[
    '"x"',
    '"a*b"',
    '"\\q"',
    '"',
    "'",
    "'x'",
    "\u201cx\u201d",
    "/re/",
    "/re/i",
    "/(/",
    "/",
    "[",
    "]",
    "[0]",
    '["k"]',
    ".",
    "..",
  ],
  ...[
    "5",
    "5kb",
    "1.5s",
    "kb",
    "m",
    "1h30m",
    "5xyz",
    "-1h",
    "1e999",
    "true",
    "null",
    "*",
    "a*",
    "*b",
    "\\",
    "#",
    "\n",
    "\u00a0",
    "日本",
    "\ud83d",
    "\u{1f600}",
  ],
);
export const queryText = fc
  .array(fc.tuple(piece, fc.constantFrom("", " ", " ", " ")), { maxLength: 9 })
  .map((pieces) => pieces.flat().join(""));
