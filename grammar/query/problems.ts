import { type Fix, type Problem, quote, type Remedy, type Span } from "../problem.ts";
import { levelOf } from "./levels.ts";
import type { Token } from "./tokens.ts";

// Every problem that a query can have, in the order of the text below: the whole, quoting and characters, structure,
// names, operators, values. Each function carries its span; codes are stable.

export const tooLong = (length: number, max: number) =>
  problem("too-long", { start: max, end: length }, `the query is ${length} characters long`, {
    hint: `at most ${max} are read: shorten it, or split it in two`,
  });

export const tooDeep = (at: Token, max: number) =>
  problem("too-deep", at, `${quote(at.text)} nests deeper than ${max} levels`, {
    hint: "write the terms side by side instead of nesting them",
  });

// Quoting and characters

/** `more`: lines follow, which may contain the closing quote. */
export const unclosedString = (at: Token, more: boolean) => {
  const hint = `write a " at its end${more ? ", on the same line: a line break in a text is \\n" : ""}`;
  return problem("unclosed-string", at, `no closing quote after ${quote(at.text.slice(1))}`, {
    hint,
    fix: {
      title: 'Add the closing "',
      edits: [{ span: { start: at.end, end: at.end }, text: closing(at.text) }],
    },
  });
};

export const unclosedRegex = (at: Token) => {
  // Without a blank or a group in it, the text ends where the expression was meant to.
  const certain = /^\/[^\s()[\]\\]+$/.test(at.text) && at.text.length > 1;
  return problem("unclosed-regex", at, `the regular expression ${quote(at.text)} is never closed`, {
    hint: at.text.includes("[") ? "write a / at its end; a class needs its ] before that" : "write a / at its end",
    fix: certain
      ? { title: "Add the closing /", edits: [{ span: { start: at.end, end: at.end }, text: "/" }] }
      : undefined,
  });
};

export const wrongQuotes = (at: Token) => {
  const inner = at.text.length > 1 ? at.text.slice(1, -1) : undefined;
  if (inner === undefined) {
    return problem("wrong-quotes", at, `${quoteName(at.text)} does not quote text here`, { hint: 'quote text with "' });
  }
  const text = `"${inner.replaceAll('"', '\\"')}"`;
  const message = `${quoteName(at.text)} does not quote text: ${at.text.includes('"') ? at.text : quote(at.text)}`;
  return problem("wrong-quotes", at, message, { hint: `write ${text}`, fix: replace(at, text) });
};

/** A name between backticks, as SQL quotes it. */
export const quotedName = (at: Token) => {
  const name = at.text.slice(1, -1);
  const isPlain = PLAIN_NAME.test(name) && !RESERVED_WORD.test(name);
  const write = isPlain ? name : `fields["${name}"]`;
  return problem("wrong-quotes", at, `a backtick encloses no name: ${quote(at.text)}`, {
    hint: `write ${write}`,
    fix: replace(at, write),
  });
};

export const wrongBlank = (at: Token) => {
  const code = at.text.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0");
  const name = at.text.startsWith("\u00a0") ? "a no-break space" : "an unusual space";
  return problem("wrong-blank", at, `${name} (U+${code}) does not separate terms`, {
    hint: "write an ordinary space",
    fix: {
      title: "Write an ordinary space",
      edits: [{ span: span(at), text: " " }],
    },
  });
};

export const unknownCharacter = (at: Token) =>
  problem("unknown-character", at, `${quote(at.text)} has no meaning in a query`, {
    hint: "put text that holds it in double quotes",
  });

export const badEscape = (at: Span, text: string) =>
  problem(
    "bad-escape",
    at,
    text.startsWith("\\u") ? `${quote(text)} needs four hexadecimal digits` : `unknown escape ${quote(text)}`,
    {
      hint: text.startsWith("\\u")
        ? "write \\u00e9"
        : `the escapes are \\" \\\\ \\* \\n \\t and \\u00e9; a backslash is \\\\`,
      fix: { title: "Write a backslash as \\\\", edits: [{ span: { start: at.start, end: at.start }, text: "\\" }] },
    },
  );

// Structure

/** `end` is where a `)` would close it; undefined if something else is missing before that. */
export const unclosedParen = (at: Token, end: number | undefined) =>
  problem("unclosed-paren", at, 'this "(" is never closed', {
    hint: "write a ) where it ends",
    fix:
      end === undefined ? undefined : { title: "Add the closing )", edits: [{ span: { start: end, end }, text: ")" }] },
  });

export const surplusParen = (at: Token) =>
  problem("surplus-paren", at, 'this ")" closes nothing', {
    hint: "remove it, or write the ( it belongs to",
    fix: {
      title: "Remove the )",
      edits: [{ span: span(at), text: "" }],
    },
  });

export const emptyParens = (at: Span) =>
  problem("empty-parens", at, "there is nothing between these parentheses", { hint: "write a term, or remove them" });

/** `and`, `or` or `not` with nothing to combine. `room` is what to remove, where that is certain. */
export const missingOperand = (at: Token, side: "before" | "after", room?: Span) =>
  problem("missing-operand", at, `there is nothing ${side} ${quote(at.text)}`, {
    hint: `write a term there, or remove it`,
    fix: room && { title: `Remove ${at.text}`, edits: [{ span: span(room), text: "" }] },
  });

export const missingBlank = (offset: number, before: Token, after: Token) =>
  problem(
    "missing-blank",
    { start: before.start, end: after.end },
    `missing space between ${quoteToken(before)} and ${quoteToken(after)}`,
    {
      hint: 'separate terms with spaces; write a quote inside text as \\"',
      fix: { title: "Insert a space", edits: [{ span: { start: offset, end: offset }, text: " " }] },
    },
  );

export const misplacedNot = (at: Span, field: Token, not: Token, operator: string) => {
  const title = operator === "=" ? "Write !=" : "Write not before the field";
  return problem("misplaced-not", at, `only "in" takes a "not" before it, found ${quote(`not ${operator}`)}`, {
    hint: operator === "=" ? `write ${field.text} != ...` : `write not ${field.text} ${operator} ...`,
    fix:
      operator === "="
        ? { title, edits: [{ span: span(at), text: "!=" }] }
        : {
            title,
            edits: [
              { span: { start: field.start, end: field.start }, text: "not " },
              { span: { start: not.start, end: at.end }, text: operator },
            ],
          },
  });
};

/** `term` and `write`: the values with the comma as a list; without them `and` takes the comma's place. */
export const unexpectedComma = (at: Token, fix?: { at: Span; text: string }) =>
  problem("unexpected", at, 'a "," only separates the values of a list', {
    hint: fix === undefined ? "write field in (a, b), or and between terms" : `write ${fix.text.trim()}`,
    fix: fix === undefined ? undefined : replace(fix.at, fix.text),
  });

export const unexpected = (at: Token) =>
  problem("unexpected", at, `${quote(at.text)} is not expected here`, {
    hint: "a query is a list of terms, such as status >= 500",
  });

// Names

/** `value` follows the operator. What a text contains is mostly asked of messages. */
export const missingField = (at: Token, value?: Token) => {
  const message = `there is no field before ${quote(at.text)}`;
  if (at.kind === "contains" && (value?.kind === "word" || value?.kind === "string")) {
    const fix = { title: "Write message", edits: [{ span: { start: at.start, end: at.start }, text: "message " }] };
    return problem("missing-field", at, message, { hint: `write message ${at.text} ${value.text}`, fix });
  }
  const field = at.kind === "contains" || at.kind === "match" ? "path" : "status";
  return problem("missing-field", at, message, { hint: `write what it applies to, such as ${field} ${at.text} ...` });
};

/** `before` is a name on the wrong side of `exists`. */
export const missingName = (at: Token, next: Token | undefined, before?: Token) =>
  next === undefined
    ? problem("missing-field", at, 'nothing follows "exists"', {
        hint: `write the name of a field, such as exists ${before?.text ?? "user.email"}`,
        fix: before && replace({ start: before.start, end: at.end }, `exists ${before.text}`),
      })
    : problem("missing-field", next, `"exists" takes the name of a field, found ${quoteToken(next)}`, {
        hint: "write it without quotes or parentheses, such as exists user.email",
        fix:
          next.kind === "string" && PLAIN_NAME.test(next.text.slice(1, -1))
            ? replace(next, next.text.slice(1, -1))
            : undefined,
      });

export const badName = (at: Span, name: string, hint: string, write?: string) =>
  problem("bad-name", at, `${quote(name)} is not a field name`, {
    hint,
    fix: write === undefined ? undefined : replace(at, write),
  });

/** `$.status`: the root of a JSON path, which a name here begins without. */
export const jsonPathSyntax = (at: Span, name: string) => {
  const hint = `write ${name.slice(2)}; fields["$"]${name.slice(1)} is a field below one named $`;
  return problem("bad-name", at, `${quote(name)} is a JSON path`, {
    hint,
    fix: replace({ start: at.start, end: at.start + 2 }, ""),
  });
};

/** A keyword where a field's name should be, alone or as the first part of one: `in`, `in.flight`. */
export const reservedName = (at: Token) => {
  const word = /^\w+/.exec(at.text)![0];
  const write = `fields["${word}"]${at.text.slice(word.length)}`;
  return problem("reserved-word", at, `${quote(word)} is a reserved word, no field`, {
    hint: `write ${write}`,
    fix: replace(at, write),
  });
};

/** A keyword where a value should be. */
export const reservedValue = (at: Token) =>
  problem("reserved-word", at, `${quote(at.text)} is a reserved word`, {
    hint: `write "${at.text}" in quotes to mean the text`,
    fix: {
      title: "Put it in quotes",
      edits: [{ span: span(at), text: `"${at.text}"` }],
    },
  });

export const keywordCase = (at: Span, text: string) => {
  const word = text.toLowerCase();
  const hint = `keywords are all lower or all upper case: write ${word} (or fields["${text}"] for a field of that name)`;
  return problem("keyword-case", at, `${quote(text)} is not a keyword`, { hint, fix: replace(at, word) });
};

export const indexTooLarge = (at: Span, text: string) =>
  problem("bad-name", at, `${quote(text)} is too large for an array index`, {
    hint: `write a key as ["${text.slice(1, -1)}"]`,
  });

// Operators

/** `write` is the right operator where there is one for the same thing. */
export const unknownOperator = (at: Span, text: string, hint: string, write?: string) =>
  problem("unknown-operator", at, `${quote(text)} is not an operator`, {
    hint,
    fix: write === undefined ? undefined : replace(at, write),
  });

/** An operator of another language, or its way to write a term: `write` replaces all of `term`. */
export const foreignOperator = (at: Span, text: string, term: Span, write: string) =>
  problem("unknown-operator", at, `${quote(text)} is not an operator`, {
    hint: `write ${write}`,
    fix: replace(term, write),
  });

/** The same in this language. */
interface Translation {
  /** Replaces `term`; undefined if nothing says the same. */
  readonly write: string | undefined;
  /** `write ...` if absent. */
  readonly hint?: string | undefined;
  readonly term?: Span;
}

/** A term as another language writes it, such as Lucene's key:[1 TO 5]. */
export const foreignTerm = (at: Span, text: string, what: string, { write, hint, term = at }: Translation) =>
  problem("foreign-term", at, `${quoteRaw(text)} is ${what}`, {
    hint: hint ?? `write ${write}`,
    fix: write === undefined ? undefined : replace(term, write),
  });

/** Words of a message, which side by side are names of fields. */
export const wordsAlone = (at: Span, text: string) =>
  problem("words-alone", at, `each word of ${quote(text)} would be the name of a field here`, {
    hint: `write "*${text}*" to search the messages, or and between fields`,
    fix: replace(at, `"*${text}*"`),
  });

/** The whole is a query of another language. `write` is the same in ours, where all of it that selects translates. */
export const foreignQuery = (at: Span, language: string, write: string | undefined, hint: string) =>
  problem("foreign-query", at, `this is ${language}`, {
    hint,
    fix: write === undefined ? undefined : replace(at, write),
  });

export const unknownFunction = (at: Span, name: string, { term, write, hint }: Required<Translation>) =>
  problem("unknown-function", at, `there are no functions, found ${quote(name)}`, {
    hint,
    fix: write === undefined ? undefined : replace(term, write),
  });

export const secondOperator = (at: Token, value: string) =>
  problem("second-operator", at, `a second ${quote(at.text)} in one comparison`, {
    hint: `write and between two comparisons, or put ${value}${at.text}... in double quotes`,
  });

export const fieldInQuotes = (at: Token, operator: Token) => {
  const name = at.text.slice(1, -1);
  return problem("missing-field", at, `${quote(operator.text)} follows the quoted text ${at.text}`, {
    hint: `a field's name is written without quotes, or as fields[${at.text}]`,
    fix: replace(at, PLAIN_NAME.test(name) && !RESERVED_WORD.test(name) ? name : `fields[${at.text}]`),
  });
};

// Values

export const missingValue = (operator: Token, field: string) => {
  const compared = field === "level" ? "error" : field === "timestamp" ? "1h" : "200";
  const values = field === "level" ? "(warn, error)" : "(a, b)";
  const example = { contains: '"text"', in: values, match: "/text/i" }[operator.kind as string] ?? compared;
  const hint = `write what to compare with, such as ${field} ${operator.text} ${example}`;
  const { end } = operator;
  return problem("missing-value", operator, `nothing follows ${quote(operator.text)}`, {
    hint,
    fix: {
      title: `Write ${example}`,
      edits: [{ span: { start: end, end }, text: ` ${example}` }],
      isSuggestion: true,
    },
  });
};

/** `comma` is the one too many. */
export const missingListValue = (at: Token, comma: Token | undefined) =>
  problem("missing-value", at, `a value is missing before ${quote(at.text)}`, {
    hint: "write one value between two commas",
    fix: comma && { title: "Remove the comma", edits: [{ span: span(comma), text: "" }] },
  });

/** `end` is where the value before ends. */
export const missingComma = (at: Token, end: number) =>
  problem("missing-comma", at, `missing comma before ${quoteToken(at)}`, {
    hint: "separate the values of a list with commas",
    fix: {
      title: "Insert a comma",
      edits: [{ span: { start: end, end }, text: at.start === end ? ", " : "," }],
    },
  });

interface NetworkTerm {
  readonly field: string;
  /** The network. */
  readonly text: string;
  readonly term: Span;
  readonly isNot: boolean;
}

/** `ip in 10.0.0.0/8`: a network in a list would be a text that no address equals. */
export const network = (at: Span, { field, text, term, isNot }: NetworkTerm) => {
  const bytes = /^(\d+)\.(\d+)\.(\d+)\.\d+\/(8|16|24)$/.exec(text);
  const prefix = bytes === null ? undefined : `${bytes.slice(1, 1 + Number(bytes[4]) / 8).join(".")}.*`;
  const write = `${isNot ? "not " : ""}${field} = ${prefix}`;
  return problem("missing-list", at, `addresses are not compared with networks, such as ${quote(text)}`, {
    hint:
      prefix === undefined
        ? `write a test of the text, such as ${field} = 10.0.* or ${field} ~ /^10\\./`
        : `write ${write}`,
    fix: prefix === undefined ? undefined : replace(term, write),
  });
};

/** `list` is what was meant as one, `write` the same in parentheses. */
export const missingList = (at: Token, field: string, list?: Span, write?: string) =>
  problem("missing-list", at, `"in" takes a list in parentheses, found ${quoteToken(at)}`, {
    hint: `write ${field} in ${write ?? "(a, b)"}`,
    fix: list === undefined || write === undefined ? undefined : replace(list, write),
  });

export const emptyList = (at: Span, field: string) =>
  problem("empty-list", at, "the list is empty", { hint: `write at least one value, such as ${field} in (a, b)` });

/** `plain` is the operator and its list if the values are plain, and what to write instead of them. */
export const listAfterOperator = (
  at: Token,
  operator: string,
  field: string,
  plain?: { readonly term: Span; readonly write: string },
) => {
  const contains = `write ${field} contains "a" or ${field} contains "b"`;
  return problem("unexpected", at, `${quote(operator)} takes one value, not a list`, {
    hint: operator === "contains" ? contains : `write ${field} ${plain?.write ?? "in (a, b)"}`,
    fix: plain && replace(plain.term, plain.write),
  });
};

export const missingRegex = (at: Token) => {
  const message = `"~" takes a regular expression, found ${quoteToken(at)}`;
  if (at.kind !== "string" && at.kind !== "word")
    return problem("missing-regex", at, message, { hint: "write /text/" });
  const plain = at.kind === "string" ? at.text.slice(1, -1) : at.text;
  const write = `/${plain.replaceAll("/", "\\/")}/`;
  return problem("missing-regex", at, message, { hint: `write ${write}`, fix: replace(at, write) });
};

export const badRegex = (at: Span, reason: string, part: string | undefined) => {
  const message = `the regular expression does not compile: ${reason}${part === undefined ? "" : ` ${quote(part)}`}`;
  return problem("bad-regex", at, message, { hint: regexHint(reason, part) });
};

export const unknownFlag = (at: Span, flags: string) =>
  problem("unknown-flag", at, `unknown flag ${quote(flags)}`, { hint: 'the only flag is "i", to ignore case' });

/** Text where a term begins that is not a field: `500`, `/account`. */
export const valueAlone = (at: Span, text: string, before: Token | undefined, list?: { at: Span; text: string }) => {
  if (list !== undefined) {
    const hint = `compare each value with the field: write ${list.text}`;
    return problem("value-alone", at, `${quote(text)} needs a field or quotes`, {
      hint,
      fix: replace(list.at, list.text),
    });
  }
  const isField = before !== undefined && levelOf(before.text) === undefined;
  if (!isField && /^\/[^/\s]+\/i?$/.test(text)) {
    const hint = `write message ~ ${text} to search the messages, path = ${text} to compare a field`;
    return problem("value-alone", at, `${quote(text)} needs a field`, { hint, fix: replace(at, `message ~ ${text}`) });
  }
  const pattern = text.includes("*") ? text : `*${text}*`;
  const field = before?.text ?? (/^-?\.?\d/.test(text) ? "status" : "path");
  const hint = `write ${field} = ${text} to compare a field, "${pattern}" to search the messages`;
  const equals = before && { title: "Insert =", edits: [{ span: { start: at.start, end: at.start }, text: "= " }] };
  return problem("value-alone", at, `${quote(text)} needs a field or quotes`, { hint, fix: equals });
};

export const unknownUnit = (at: Span, unit: string, hint: string, write?: { at: Span; text: string }) =>
  problem("unknown-unit", at, `unknown unit ${quote(unit)}`, {
    hint,
    fix: write === undefined ? undefined : replace(write.at, write.text),
  });

export const unitAfterBlank = (at: Span, number: Span & { readonly text: string }, unit: string) =>
  problem("unit-after-blank", at, `the unit ${quote(unit)} is separated from its number`, {
    hint: `write ${number.text}${unit}`,
    fix: replace({ start: number.start, end: at.end }, `${number.text}${unit}`),
  });

/** `1h30m`: units that are known, but a number has one. */
export const severalUnits = (at: Span, text: string, one: string) =>
  problem("unknown-unit", at, `${quote(text)} has several units`, { hint: `write ${one}`, fix: replace(at, one) });

export const digitGroups = (at: Span, text: string, plain: string) =>
  problem("not-a-number", at, `${quote(text)} is not a number`, { hint: `write ${plain}`, fix: replace(at, plain) });

/** A value that an ordering cannot compare with. */
export const notANumber = (at: Span, message: string, hint: string, write?: string) =>
  problem("not-a-number", at, message, { hint, fix: write === undefined ? undefined : replace(at, write) });

/** `timestamp = 2026-11-22`: a day, which no time of an entry equals. */
export const dayAsTime = (at: Span, text: string, term: Span, write: string) =>
  problem("day-as-time", at, `${quote(text)} is a day, and no entry's time equals it`, {
    hint: `write ${write}`,
    fix: replace(term, write),
  });

/** A pattern of digits: `write` replaces all of `term`. */
export const pattern = (at: Span, message: string, term: Span, write: string) =>
  problem("not-a-number", at, message, { hint: `write ${write}`, fix: replace(term, write) });

export function problem(name: string, at: Span, message: string, { hint = "", fix }: Remedy): Problem {
  // A hint may quote what the user wrote; it stays a line that a person reads.
  const short = hint.length > MAX_HINT ? `${hint.slice(0, MAX_HINT - 3)}...` : hint;
  return { code: `query/${name}`, severity: "error", message, hint: short, span: span(at), ...(fix && { fix }) };
}

const MAX_HINT = 160;

const PLAIN_NAME = /^[\p{L}_@$][\p{L}0-9_@$-]*$/u;
const RESERVED_WORD = /^(?:and|or|not|in|contains|exists)$/i;

const span = ({ start, end }: Span): Span => ({ start, end });

export const replace = (at: Span, text: string): Fix => ({
  title: text === "" ? "Remove it" : `Write ${text.trim()}`,
  edits: [{ span: span(at), text }],
});

/** Text that may hold quotes reads best without another pair. */
const quoteRaw = (text: string) => (text.includes('"') ? quote(text).slice(1, -1) : quote(text));

/** A token in one pair of quotes, which a quoted text has of its own. */
const quoteToken = (at: Token) => quote(at.kind === "string" ? at.text.slice(1, -1) : at.text);

// A backslash before the end would escape the quote that closes.
const closing = (text: string) => (/(?:^|[^\\])(?:\\\\)*\\$/.test(text) ? '\\"' : '"');

const quoteName = (text: string) => {
  if (text.startsWith("'")) return "a single quote";
  return text.startsWith("`") ? "a backtick" : "a typographic quote";
};

function regexHint(reason: string, part: string | undefined): string {
  if (part !== undefined && /^\(\?<?[=!]/.test(part)) return "RE2 has no look-around: combine two terms with and not";
  if (part !== undefined && /^\\[1-9]/.test(part)) return "RE2 has no references back to a group";
  if (reason.includes("repeat count")) return "a count is at most 1000, nested ones multiplied";
  if (reason.includes("escape")) return "a backslash goes before a character to be taken literally, or d w s b";
  return "the syntax is RE2's; put a backslash before a character to be taken literally";
}
