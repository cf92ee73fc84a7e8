import type { Context, Highlighting, Leaf } from "../build/highlight.ts";

/**
 * How a query is coloured. Scopes are those that themes colour: words are `keyword`, not `keyword.operator`, which many
 * themes leave in the colour of the text; a field is a `variable.other.property` within a `support.type.property-name`,
 * as the keys of JSON and CSS are, because no theme leaves both plain.
 *
 * Lines are tokenized one by one in editors, so what a leaf needs to see stands on its line: a level word is taken for a
 * field only if its operator stands on the same line.
 */
export const highlighting: Highlighting = {
  name: "toolquery",
  scopeName: "source.toolquery",
  fileTypes: ["logq"],
  starts: ["query"],
  rules: String.raw`
    logicalSymbol = "||" | "&&" | "!"
    levelAlone = levelTerm ~isCompared
    stageAlone = stageTerm ~isCompared
    isCompared = space* (comparisonOp | matchOp | containsWord | membershipOp)
    membershipOp = (notWord space*)? inWord
    fieldName = ~(reserved ~nameRest) name
    index = "[" position "]"
    position = digit+
    keyStart = "[\"" &(stringChar* "\"]")
    keyEnd = "\"]"
    stringStart = "\"" &(stringChar* "\"")
    quote = "\""
    star = "*"
    stringEscape = "\\" ("\"" | "\\" | "*" | "n" | "t" | codeUnit)
    codeUnit = "u" hexDigit hexDigit hexDigit hexDigit
    starredWord = ~(reserved ~wordChar) (stretch | wildcard) (run? wildcard)? (run? wildcard)? wordChar*
    wildcard = "*"+
    stretch = run wildcard?
    run = (~"*" wordChar)+
    regexStart = "/" &((~("/" | lineEnd) any)* "/")
    slash = "/"
    flags = letter+
    regexSign = "(" | ")" | "|" | "*" | "+" | "?" | "{" | "}" | "^" | "$" | "."
    classStart = "[" "^"? "]"?
    classEnd = "]"
    className = "[:" "^"? letter* ":]"
    open = "("
    close = ")"
    comma = ","

    // A quote that is not closed colours a word, not the rest of the line. The escapes behind it stay pairs, so that no
    // second quote on the line is looked at for its end: all that looking ahead costs is linear.
    unclosedString = "\"" unclosedChar*
    unclosedChar = escape | ~(space | "(" | ")" | "," | "\"" | "\\") any
    wrongQuotes
      = "'" (~("'" | lineEnd) any)* "'" | "${"`"}" (~("${"`"}" | lineEnd) any)* "${"`"}"
      | typographic (~(typographic | "\"" | lineEnd) any)* (typographic | "\"")
    typographic = "\u{2018}".."\u{201f}" | "\u{ab}" | "\u{bb}"
    loose = (~"~" wordChar | "$")+
    other = ~space any
  `,
  contexts: {
    query: {
      leaves: [
        { rule: "stringStart", type: "string", scope: beginOfString(), notAfter: "\\", enter: "pattern" },
        ...unclosed(),
        { rule: "flags", type: "keyword", scope: "keyword.other.flag", after: "/" },
        { rule: "keyStart", type: "punctuation", scope: "punctuation.accessor", notAfter: "\\", enter: "key" },
        {
          rule: "index",
          type: "punctuation",
          scope: "punctuation.accessor",
          parts: { position: { type: "number", scope: "constant.numeric.index" } },
        },
        {
          rule: "segment_name",
          type: "punctuation",
          scope: "punctuation.accessor",
          parts: { name: { type: "property", scope: field() } },
        },
        { rule: "comparisonOp", type: "operator", scope: "keyword.operator.comparison", enter: "value" },
        { rule: "matchOp", type: "operator", scope: "keyword.operator.comparison", enter: "match" },
        { rule: "logicalSymbol", type: "operator", scope: "keyword.operator.logical" },
        { rule: "orWord", type: "keyword", scope: "keyword.other.or" },
        { rule: "andWord", type: "keyword", scope: "keyword.other.and" },
        { rule: "notWord", type: "keyword", scope: "keyword.other.not" },
        { rule: "inWord", type: "keyword", scope: "keyword.other.in", enter: "membership" },
        { rule: "containsWord", type: "keyword", scope: "keyword.other.contains", enter: "substring" },
        { rule: "existsWord", type: "keyword", scope: "keyword.other.exists", enter: "presence" },
        { rule: "levelAlone", type: "constant", scope: "constant.language.level" },
        { rule: "stageAlone", type: "constant", scope: "constant.language.stage" },
        { rule: "fieldName", type: "property", scope: field() },
        { rule: "open", type: "punctuation", scope: "punctuation.section.parens.begin" },
        { rule: "close", type: "punctuation", scope: "punctuation.section.parens.end" },
        { rule: "comma", type: "punctuation", scope: "punctuation.separator.comma" },
        { rule: "wrongQuotes", type: "invalid", scope: "invalid.illegal.quotes" },
        { rule: "escape", type: "invalid", scope: "invalid.illegal.escape" },
        { rule: "loose", type: "invalid", scope: "invalid.illegal.word" },
        { rule: "other", type: "invalid", scope: "invalid.illegal.character" },
      ],
    },
    /** Behind an operator. A quoted value looks as it does alone. */
    value: { leaves: values().map((leaf) => ({ ...leaf, leave: true })) },
    membership: {
      leaves: [
        { rule: "open", type: "punctuation", scope: "punctuation.section.parens.begin", enter: "list", leave: true },
      ],
    },
    list: {
      leaves: [
        { rule: "close", type: "punctuation", scope: "punctuation.section.parens.end", leave: true },
        { rule: "comma", type: "punctuation", scope: "punctuation.separator.comma" },
        { rule: "stringStart", type: "string", scope: beginOfString(), notAfter: "\\", enter: "pattern" },
        ...unclosed(),
        ...values(),
      ],
    },
    /** A star is a star here. */
    substring: {
      leaves: [
        { rule: "word", type: "string", scope: "string.unquoted", leave: true },
        { rule: "stringStart", type: "string", scope: beginOfString(), notAfter: "\\", enter: "literal", leave: true },
      ],
    },
    match: {
      leaves: [
        {
          rule: "regexStart",
          type: "regexp",
          scope: "punctuation.definition.string.begin",
          enter: "regex",
          leave: true,
        },
      ],
    },
    presence: { leaves: [{ rule: "fieldName", type: "property", scope: field(), leave: true }] },
    pattern: quoted([{ rule: "star", type: "operator", scope: "keyword.operator.wildcard" }]),
    literal: quoted([]),
    key: {
      scope: field(),
      textType: "property",
      leaves: [{ rule: "keyEnd", type: "punctuation", scope: "punctuation.accessor", leave: true }, ...escapes()],
    },
    regex: {
      scope: "string.regexp",
      textType: "regexp",
      endsWithLine: true,
      leaves: [
        { rule: "slash", type: "regexp", scope: "punctuation.definition.string.end", leave: true },
        { rule: "escape", type: "escape", scope: "constant.character.escape" },
        { rule: "classStart", type: "operator", scope: "keyword.operator.class.begin", enter: "class" },
        { rule: "regexSign", type: "operator", scope: "keyword.operator.quantifier" },
      ],
    },
    class: {
      scope: "constant.other.character-class.regexp",
      textType: "regexp",
      endsWithLine: true,
      leaves: [
        { rule: "classEnd", type: "operator", scope: "keyword.operator.class.end", leave: true },
        { rule: "escape", type: "escape", scope: "constant.character.escape" },
        { rule: "className", type: "constant", scope: "constant.other.character-class" },
      ],
    },
  },
};

function field(): string {
  return "support.type.property-name variable.other.property";
}

function beginOfString(): string {
  return "punctuation.definition.string.begin";
}

function unclosed(): Leaf[] {
  return [{ rule: "unclosedString", type: "string", scope: "string.quoted.double.unclosed" }];
}

function values(): Leaf[] {
  return [
    {
      rule: "number",
      type: "number",
      scope: "constant.numeric",
      parts: { unit: { type: "keyword", scope: "keyword.other.unit" } },
    },
    { rule: "boolean", type: "constant", scope: "constant.language.boolean" },
    { rule: "null", type: "constant", scope: "constant.language.null" },
    {
      rule: "starredWord",
      type: "string",
      scope: "string.unquoted",
      parts: { wildcard: { type: "operator", scope: "keyword.operator.wildcard" } },
    },
  ];
}

/** What a backslash may stand before, and what it may not. */
function escapes(): Leaf[] {
  return [
    { rule: "stringEscape", type: "escape", scope: "constant.character.escape" },
    { rule: "escape", type: "invalid", scope: "invalid.illegal.escape" },
  ];
}

function quoted(leaves: readonly Leaf[]): Context {
  return {
    scope: "string.quoted.double",
    textType: "string",
    leaves: [
      { rule: "quote", type: "string", scope: "punctuation.definition.string.end", leave: true },
      ...escapes(),
      ...leaves,
    ],
  };
}
