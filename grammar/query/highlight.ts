import type { HighlightContext, Highlighting, Leaf } from "../build/highlight.ts";

/**
 * How a query is coloured. The scopes are those that themes tell apart: of the 65 themes of the package tm-themes, the one
 * chosen for a field has the colour of plain text in one (`variable.other.property` in 30), and that of keywords in six
 * (`entity.name.tag` in 13, the default theme of VS Code among them). Words are `keyword.other`, as in SQL, and so is the
 * wildcard: several themes, that default too, leave `keyword.operator` plain. A level is an `entity.name.type` where the
 * theme has such, else a constant, which often looks like a keyword or a number.
 *
 * Lines are tokenized one by one in editors, so what a leaf needs to see is on its line: a level word is taken for a
 * field only if its operator is on the same line.
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
    computing = countWord | statsWord | timeseriesWord
    choosing = topWord | limitWord | fieldsWord | uniqueWord
    computingBegin = bar blank* computing
    choosingBegin = bar blank* choosing
    sortBegin = bar blank* sortWord
    whereBegin = bar blank* whereWord
    stageEnd = &bar
    callFraction = "." digit+ &"("
    blank = " " | "\t"
    open = "("
    close = ")"
    comma = ","

    // A quote that is not closed colours a word, not the rest of the line. The escapes after it stay pairs, so that no
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
    query: { leaves: [...pipes(), ...terms()] },
    /** Functions with their names, up to by; each name that no parenthesis encloses is a function's. */
    functions: pipe([
      { rule: "byWord", type: "keyword", scope: "keyword.other.by", enter: "columns" },
      { rule: "asWord", type: "keyword", scope: "keyword.other.as", enter: "presence" },
      { rule: "callName", type: "function", scope: "support.function" },
      { rule: "open", type: "punctuation", scope: "punctuation.section.parens.begin", enter: "argument" },
    ]),
    /** Names, whichever words they are. A parenthesis belongs to the name of a column. */
    columns: pipe([{ rule: "fieldName", type: "property", scope: field() }]),
    argument: pipe([
      { rule: "close", type: "punctuation", scope: "punctuation.section.parens.end", leave: true },
      { rule: "fieldName", type: "property", scope: field() },
    ]),
    keys: pipe([
      { rule: "fieldName", type: "property", scope: field(), enter: "direction" },
      { rule: "close", type: "punctuation", scope: "punctuation.section.parens.end", enter: "direction" },
    ]),
    /** The text after a column: the rest of its name, then the direction. */
    direction: {
      leaves: [{ rule: "direction", type: "keyword", scope: "keyword.other.direction", leave: true }, ...segments()],
    },
    /** After an operator. A quoted value looks as it does alone. */
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
    pattern: quoted([{ rule: "star", type: "operator", scope: "keyword.other.wildcard" }]),
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
        { rule: "classStart", type: "operator", scope: "keyword.operator.quantifier.class.regexp", enter: "class" },
        { rule: "regexSign", type: "operator", scope: "keyword.operator.quantifier.regexp" },
      ],
    },
    class: {
      scope: "string.regexp.class",
      textType: "regexp",
      endsWithLine: true,
      leaves: [
        { rule: "classEnd", type: "operator", scope: "keyword.operator.quantifier.class.regexp", leave: true },
        { rule: "escape", type: "escape", scope: "constant.character.escape" },
        { rule: "className", type: "constant", scope: "constant.language.character-class.regexp" },
      ],
    },
  },
};

/** A bar, with the word of a stage if that is on its line, which says what the names after it are. */
function pipes(): Leaf[] {
  const begin = (rule: string, word: string, enter?: string): Leaf => ({
    rule,
    type: "operator",
    scope: "keyword.operator.pipe",
    parts: { [word]: { type: "keyword", scope: "keyword.other.stage" } },
    ...(enter !== undefined && { enter }),
  });
  return [
    begin("computingBegin", "computing", "functions"),
    begin("choosingBegin", "choosing", "columns"),
    begin("sortBegin", "sortWord", "keys"),
    begin("whereBegin", "whereWord"),
    { rule: "bar", type: "operator", scope: "keyword.operator.pipe" },
  ];
}

/** The text after the word of a stage, up to the next bar. */
function pipe(leaves: readonly Leaf[]): HighlightContext {
  return {
    leaves: [
      { rule: "stageEnd", type: "operator", leave: true },
      ...leaves,
      { rule: "stringStart", type: "string", scope: beginOfString(), notAfter: "\\", enter: "pattern" },
      ...unclosed(),
      ...segments(),
      ...marks(),
      { rule: "logicalSymbol", type: "operator", scope: "keyword.operator.logical" },
      { rule: "loose", type: "invalid", scope: "invalid.illegal.word" },
      { rule: "other", type: "invalid", scope: "invalid.illegal.character" },
    ],
  };
}

/** The parts of a field's name after the first, and of a function's. */
function segments(): Leaf[] {
  return [
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
    { rule: "callFraction", type: "property", scope: field() },
  ];
}

/** Numbers of rows, lengths of steps, and what is between names. */
function marks(): Leaf[] {
  return [
    {
      rule: "number",
      type: "number",
      scope: "constant.numeric",
      parts: { unit: { type: "keyword", scope: "keyword.other.unit" } },
    },
    { rule: "open", type: "punctuation", scope: "punctuation.section.parens.begin" },
    { rule: "close", type: "punctuation", scope: "punctuation.section.parens.end" },
    { rule: "comma", type: "punctuation", scope: "punctuation.separator.comma" },
  ];
}

/** The tokens of a query. */
function terms(): Leaf[] {
  return [
    { rule: "stringStart", type: "string", scope: beginOfString(), notAfter: "\\", enter: "pattern" },
    ...unclosed(),
    { rule: "flags", type: "keyword", scope: "keyword.other.flag", after: "/" },
    ...segments(),
    { rule: "comparisonOp", type: "operator", scope: "keyword.operator.comparison", enter: "value" },
    { rule: "matchOp", type: "operator", scope: "keyword.operator.comparison", enter: "match" },
    { rule: "logicalSymbol", type: "operator", scope: "keyword.operator.logical" },
    { rule: "orWord", type: "keyword", scope: "keyword.other.or" },
    { rule: "andWord", type: "keyword", scope: "keyword.other.and" },
    { rule: "notWord", type: "keyword", scope: "keyword.other.not" },
    { rule: "inWord", type: "keyword", scope: "keyword.other.in", enter: "membership" },
    { rule: "containsWord", type: "keyword", scope: "keyword.other.contains", enter: "substring" },
    { rule: "existsWord", type: "keyword", scope: "keyword.other.exists", enter: "presence" },
    { rule: "levelAlone", type: "constant", scope: "constant.language.level entity.name.type.level" },
    { rule: "stageAlone", type: "constant", scope: "constant.language.stage entity.name.type.stage" },
    { rule: "fieldName", type: "property", scope: field() },
    ...marks(),
    { rule: "wrongQuotes", type: "invalid", scope: "invalid.illegal.quotes" },
    { rule: "escape", type: "invalid", scope: "invalid.illegal.escape" },
    { rule: "loose", type: "invalid", scope: "invalid.illegal.word" },
    { rule: "other", type: "invalid", scope: "invalid.illegal.character" },
  ];
}

function field(): string {
  return "support.type.property-name.json";
}

function beginOfString(): string {
  return "punctuation.definition.string.begin";
}

function unclosed(): Leaf[] {
  return [{ rule: "unclosedString", type: "string", scope: "string.quoted.double.unclosed", notAfter: "\\" }];
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
      parts: { wildcard: { type: "operator", scope: "keyword.other.wildcard" } },
    },
  ];
}

/** The characters that a backslash may escape, and those that it may not. */
function escapes(): Leaf[] {
  return [
    { rule: "stringEscape", type: "escape", scope: "constant.character.escape" },
    { rule: "escape", type: "invalid", scope: "invalid.illegal.escape" },
  ];
}

function quoted(leaves: readonly Leaf[]): HighlightContext {
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
