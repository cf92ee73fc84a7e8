import type { HighlightContext, Highlighting, Leaf } from "../build/highlight.ts";

/**
 * How the actions of error-page templates are coloured; the page around them is HTML's. Editors show one line at a time,
 * so `{{-` and the comment after it, or `*\/` and its `-}}`, are a comment's only if they are on one line.
 */
export const highlighting: Highlighting = {
  name: "tooltemplate",
  scopeName: "text.html.tooltemplate",
  fileTypes: [],
  host: "text.html.basic",
  starts: ["template"],
  rules: String.raw`
    blank = " " | "\t"
    commentStart = "{{" ("-" blank+)? "/*"
    commentEnd = "*/" (blank+ "-")? "}}"
    commentBadEnd = "*/"
    actionStart = "{{" ("-" &gap)?
    actionEnd = "-}}" | "}}"
    // An action that is not closed ends where the next one begins, or where there is certainly HTML again.
    pageGoesOn = &("{{" | tagStart)
    tagStart = "<" ("/" | "!" | "a".."z" | "A".."Z")
    anyKeyword = keyword<"if"> | keyword<"else"> | keyword<"with"> | keyword<"end">
    quote = "\""
    quoteStart = "\"" &(quotedChar* "\"")
    quotedChar = badEscape | ~("\"" | "\n") character
    unclosedQuote = "\"" unclosedQuoteChar*
    unclosedQuoteChar = badEscape | ~("\"" | "\n" | "}}" | "{{" | tagStart) character
    backquote = "${"`"}"
    rawStart = "${"`"}" &((~("${"`"}" | "\n") character)* "${"`"}")
    // Not closed on its line. If something else follows on the line it is broken, else the next lines belong to it.
    unclosedRaw = "${"`"}" (~("${"`"}" | "\n" | "}}" | "{{" | tagStart) character)* &("}}" | "{{" | "<")
    openParen = "("
    closeParen = ")"
    otherSymbol = ~gap any
  `,
  contexts: {
    template: {
      textType: "text",
      leaves: [
        { rule: "commentStart", type: "comment", scope: "punctuation.definition.comment.begin", enter: "comment" },
        { rule: "actionStart", type: "punctuation", scope: "punctuation.section.embedded.begin", enter: "action" },
      ],
    },
    comment: {
      scope: "comment.block",
      textType: "comment",
      leaves: [
        { rule: "commentEnd", type: "comment", scope: "punctuation.definition.comment.end", leave: true },
        { rule: "commentBadEnd", type: "comment", scope: "punctuation.definition.comment.end", leave: true },
      ],
    },
    action: {
      scope: "meta.embedded.action",
      leaves: [
        { rule: "actionEnd", type: "punctuation", scope: "punctuation.section.embedded.end", leave: true },
        { rule: "pageGoesOn", type: "text", leave: true },
        {
          rule: "quoteStart",
          type: "string",
          scope: "punctuation.definition.string.begin",
          notAfter: "\\",
          enter: "quoted",
        },
        { rule: "unclosedQuote", type: "string", scope: "string.quoted.double.unclosed", notAfter: "\\" },
        { rule: "rawStart", type: "string", scope: "punctuation.definition.string.begin", enter: "raw" },
        { rule: "unclosedRaw", type: "string", scope: "string.quoted.other.unclosed" },
        { rule: "backquote", type: "string", scope: "punctuation.definition.string.begin", enter: "raw" },
        { rule: "anyKeyword", type: "keyword", scope: "keyword.control" },
        { rule: "constant", type: "constant", scope: "constant.language" },
        { rule: "number", type: "number", scope: "constant.numeric" },
        {
          rule: "field",
          type: "punctuation",
          scope: "punctuation.accessor",
          parts: { name: { type: "property", scope: "support.type.property-name.json" } },
        },
        { rule: "dot", type: "variable", scope: "constant.language variable.language.dot" },
        { rule: "root", type: "variable", scope: "constant.language variable.language.root" },
        { rule: "name", type: "function", scope: "support.function" },
        { rule: "openParen", type: "punctuation", scope: "punctuation.section.parens.begin" },
        { rule: "closeParen", type: "punctuation", scope: "punctuation.section.parens.end" },
        // Pairs, so that no quote after one is looked at for its end: see grammar/query/highlight.ts.
        { rule: "badEscape", type: "invalid", scope: "invalid.illegal.escape" },
        { rule: "otherSymbol", type: "invalid", scope: "invalid.illegal.symbol" },
      ],
    },
    quoted: quoted("string.quoted.double", "quote", [
      { rule: "escape", type: "escape", scope: "constant.character.escape" },
      { rule: "badEscape", type: "invalid", scope: "invalid.illegal.escape" },
    ]),
    raw: quoted("string.quoted.other", "backquote", []),
  },
};

function quoted(scope: string, end: string, leaves: readonly Leaf[]): HighlightContext {
  return {
    scope,
    textType: "string",
    leaves: [{ rule: end, type: "string", scope: "punctuation.definition.string.end", leave: true }, ...leaves],
  };
}
