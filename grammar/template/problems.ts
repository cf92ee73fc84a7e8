import { type Fix, type Problem, quote, type Remedy, type Span } from "../problem.ts";

// Everything that can be wrong with an error-page template, each with what to do about it.

/** An error page is sent whole, from memory, for every failing request. */
export const MAX_TEMPLATE_LENGTH = 1 << 20;

/** Actions written by hand are shorter, and the parser's memory grows with the length. */
export const MAX_ACTION_LENGTH = 4096;

/** Blocks in blocks, and parentheses in parentheses. */
export const MAX_TEMPLATE_DEPTH = 64;

export const FIELDS = ["StatusCode", "StatusText", "Variables"] as const;

export const tooLong = (length: number) =>
  make(
    "too-long",
    `the template has ${length} characters`,
    { start: MAX_TEMPLATE_LENGTH, end: length },
    { hint: `at most ${MAX_TEMPLATE_LENGTH}` },
  );

export const longAction = (length: number, span: Span) =>
  make("too-long", `the action has ${length} characters`, span, {
    hint: `at most ${MAX_ACTION_LENGTH}; is its "}}" missing?`,
  });

export const tooDeep = (what: "blocks" | "parentheses", span: Span) =>
  make("too-deep", `${what} are nested more than ${MAX_TEMPLATE_DEPTH} deep`, span, {
    hint: "split the page or simplify the condition",
  });

// ---- actions

/** `brace` is the place of a single one that was meant as the end. */
export const unclosedAction = (span: Span, brace?: Span) =>
  make("unclosed-action", `"{{" is not closed`, span, {
    hint: 'write "}}" at its end',
    fix: brace && replace(brace, "}}"),
  });

export const unclosedComment = (span: Span) =>
  make("unclosed-comment", "the comment is not closed", span, { hint: 'write "*/}}" at its end' });

export const commentInAction = (span: Span) =>
  make("comment", "a comment must be alone between its braces", span, {
    hint: "write {{/* ... */}}, without spaces and anything else",
  });

export const emptyAction = (span: Span) =>
  make("empty-action", "the action is empty", span, { hint: "write {{.StatusText}}, or remove it" });

export const unclosedString = (text: string, span: Span) =>
  make("unclosed-string", `the string ${quote(text.slice(1))} is not closed`, span, {
    hint: `write ${text[0]} at its end, on the same line`,
  });

export const badEscape = (text: string, span: Span) =>
  make("escape", `${quote(text)} is not an escape`, span, {
    hint: 'the escapes are \\" \\\\ \\n \\r \\t \\u0041; in `...` a backslash is text',
  });

export const unclosedParenthesis = (span: Span) =>
  make("unclosed-parenthesis", `"(" is not closed`, span, { hint: 'write ")" before the end of the action' });

export const unexpected = (text: string, span: Span, hint = "remove it") =>
  make("unexpected", `${quote(text)} is not expected here`, span, { hint });

export const missingCondition = (keyword: string, span: Span) =>
  make("missing-condition", `"${keyword}" has no condition`, span, { hint: `write {{${keyword} .Variables.name}}` });

// ---- what the language does not have

export const notSupported = (text: string, span: Span, hint: string) =>
  make("not-supported", `${quote(text)} is not supported in error pages`, span, { hint });

// ---- names

export const unknownField = (name: string, span: Span, suggestion: string | undefined) => {
  const problem = make("unknown-field", `".${name}" is not a field`, span, {
    hint:
      suggestion === undefined
        ? `the fields are .StatusCode, .StatusText and .Variables; a variable is .Variables.${name}`
        : `did you mean ".${suggestion}"?`,
  });
  if (suggestion === undefined) return problem;
  return { ...problem, fix: { title: `Write .${suggestion}`, edits: [{ span, text: `.${suggestion}` }] } };
};

export const noFields = (name: string, what: string, span: Span) =>
  make("unknown-field", `".${name}" is ${what} and has no fields`, span, { hint: `write .${name} alone` });

/** `write` is what the word was certainly meant to be. */
export const unknownFunction = (name: string, span: Span, suggestion: string | undefined, write: string | undefined) =>
  make("unknown-function", `"${name}" is not a function`, span, {
    hint: suggestion ?? "the functions are and, eq, ge, gt, le, lt, ne, not, or",
    fix: write === undefined ? undefined : replace(span, write),
  });

export const wrongArguments = (name: string, wanted: string, count: number, span: Span) =>
  make(
    count < Number.parseInt(wanted.replace(/\D/g, ""), 10) ? "missing-argument" : "surplus-argument",
    `"${name}" takes ${wanted}, not ${count}`,
    span,
    { hint: `write for example ${EXAMPLES[name]!}` },
  );

const EXAMPLES: Readonly<Record<string, string>> = {
  and: "and .Variables.a .Variables.b",
  or: "or .Variables.a .Variables.b",
  not: "not .Variables.a",
  eq: "eq .StatusCode 404",
  ne: "ne .StatusCode 404",
  lt: "lt .StatusCode 500",
  le: "le .StatusCode 499",
  gt: "gt .StatusCode 499",
  ge: "ge .StatusCode 500",
};

export const neverEqual = (value: string, span: Span) =>
  make("type-mismatch", `.StatusCode is a number, and ${quote(value)} is a string`, span, {
    hint: /^\d+$/.test(value) ? `write ${value}` : "compare it with a number",
  });

// ---- blocks

export const unclosedBlock = (keyword: string, span: Span) =>
  make("unclosed-block", `"${keyword}" is not closed`, span, { hint: "write {{end}} where it ends" });

export const unexpectedEnd = (span: Span) =>
  make("unexpected-end", "{{end}} closes nothing", span, {
    hint: "remove it, or open a block with {{if}} or {{with}} before it",
  });

export const unexpectedElse = (text: string, span: Span) =>
  make("unexpected-else", `${quote(text)} is outside of any {{if}} or {{with}}`, span, {
    hint: "remove it, or open a block before it",
  });

export const secondElse = (text: string, keyword: string, span: Span) =>
  make("unexpected-else", `${quote(text)} comes after the {{else}} of "${keyword}"`, span, {
    hint: "a block has one {{else}}, and it is the last",
  });

export const elseIfInWith = (span: Span) =>
  make("not-supported", `"else if" is not supported in a "with" block`, span, {
    hint: "write {{else}}{{if ...}} ... {{end}}",
  });

export const differentPlaces = (keyword: string, span: Span) =>
  make(
    "different-places",
    `the branches of "${keyword}" end in different parts of the page, such as inside and outside of a tag`,
    span,
    { hint: "open and close a tag, a quote, <script> or <style> within one branch" },
  );

function make(code: string, message: string, span: Span, { hint = "", fix }: Remedy): Problem {
  return { code: `template/${code}`, severity: "error", message, hint, span, ...(fix && { fix }) };
}

function replace(span: Span, text: string): Fix {
  return { title: `Write ${text}`, edits: [{ span, text }] };
}
