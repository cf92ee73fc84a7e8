import { didYouMean } from "../did-you-mean.ts";
import type { Problem, Span } from "../problem.ts";
import { FUNCTION_NAMES, STATEMENTS, UNSUPPORTED } from "./checks.ts";
import type { BrokenPart, TemplateToken } from "./parts.ts";
import * as problem from "./problems.ts";

/** Says what is wrong with an action that the grammar does not know: one problem, the first from the left. */
export function diagnose(part: BrokenPart): Problem {
  const { tokens } = part;
  const open: Span = { start: part.span.start, end: part.span.start + 2 };
  // A string that is not closed swallows what would close the action.
  const string = tokens.find(({ kind }) => kind === "badString");
  if (string) return diagnoseString(string);
  if (part.kind === "unclosed") return problem.unclosedAction(open, tokens.find(({ text }) => text === "}")?.span);
  const [first] = tokens;
  if (first === undefined) return problem.emptyAction(part.span);

  if (first.text === "/" && tokens[1]?.text === "*") return problem.commentInAction(part.span);

  const unsupported = findUnsupported(tokens);
  if (unsupported) return unsupported;
  if ((first.text === "if" || first.text === "with") && tokens.length === 1) {
    return problem.missingCondition(first.text, first.span);
  }
  if (first.text === "else" && tokens[1]?.text === "if" && tokens.length === 2) {
    return problem.missingCondition("else if", { start: first.span.start, end: tokens[1].span.end });
  }
  return problemOfParentheses(tokens) ?? firstUnexpected(tokens);
}

function diagnoseString({ text, span }: TemplateToken): Problem {
  const mistake = /\\(?!["\\'nrt]|u[0-9a-fA-F]{4})./.exec(text);
  if (mistake && text.startsWith('"')) {
    const start = span.start + mistake.index;
    return problem.badEscape(mistake[0], { start, end: start + mistake[0].length });
  }
  return problem.unclosedString(text.trimEnd(), span);
}

const OPERATORS: Readonly<Record<string, string>> = {
  "==": "write eq .a .b",
  "!=": "write ne .a .b",
  "<": "write lt .a .b",
  "<=": "write le .a .b",
  ">": "write gt .a .b",
  ">=": "write ge .a .b",
  "&&": "write and .a .b",
  "||": "write or .a .b",
  "!": "write not .a",
  "|": "write the function before its arguments, as in {{not .Variables.a}}; escaping is done for you",
  "//": "write a comment as {{/* ... */}}",
};

function findUnsupported(tokens: readonly TemplateToken[]): Problem | undefined {
  const [first, second] = tokens;
  if (first?.text === "else" && second?.text === "with") {
    return problem.notSupported(
      "else with",
      { start: first.span.start, end: second.span.end },
      "write {{else}}{{with ...}} ... {{end}}",
    );
  }
  if (first?.kind === "word" && Object.hasOwn(UNSUPPORTED, first.text)) {
    return problem.notSupported(first.text, first.span, UNSUPPORTED[first.text]!);
  }
  for (const [i, { kind, text, span }] of tokens.entries()) {
    const next = tokens[i + 1];
    if (text === "$" && next?.kind === "word") {
      return problem.notSupported(
        `$${next.text}`,
        { start: span.start, end: next.span.end },
        "there are no variables of the template's own: write .Variables.name, or {{with .Variables.name}} and . in it",
      );
    }
    if (text === ":=" || text === "=")
      return problem.notSupported(text, span, "compare with eq; there is no assignment");
    const operator = kind === "symbol" ? OPERATORS[text] : undefined;
    if (operator !== undefined) return problem.notSupported(text, span, operator);
    if (text === "'") return problem.notSupported(text, span, `write strings in double quotes`);
  }
  return undefined;
}

function problemOfParentheses(tokens: readonly TemplateToken[]): Problem | undefined {
  const open: TemplateToken[] = [];
  for (const token of tokens) {
    if (token.text === "(") open.push(token);
    if (token.text === ")" && open.pop() === undefined) return problem.unexpected(")", token.span);
  }
  return open.length > 0 ? problem.unclosedParenthesis(open[0]!.span) : undefined;
}

/** The statement that a word is a slip of; functions and statements are none. */
function misspelled(word: string): string | undefined {
  const near = didYouMean(word, [...FUNCTION_NAMES, ...STATEMENTS]);
  return isKnown(word) || near === undefined || FUNCTION_NAMES.includes(near) ? undefined : near;
}

const isKnown = (word: string) => FUNCTION_NAMES.includes(word) || STATEMENTS.includes(word) || word === "end";

/** The first token that cannot follow the one before it. */
function firstUnexpected(tokens: readonly TemplateToken[]): Problem {
  const [first, second] = tokens;
  const statement = second !== undefined && first!.kind === "word" ? misspelled(first!.text) : undefined;
  if (statement !== undefined) {
    return problem.unknownFunction(first!.text, first!.span, `did you mean "${statement}"?`, statement);
  }
  if (first!.text === "end" || first!.text === "else") {
    return problem.unexpected(second!.text, second!.span, `write {{${first!.text}}} alone`);
  }
  for (const [i, token] of tokens.entries()) {
    const before = tokens[i - 1];
    if (token.kind === "symbol" && !"()$.".includes(token.text)) {
      const dashed = token.text === "-" && before?.kind === "path";
      return problem.unexpected(token.text, token.span, dashed ? "a name holds letters, digits and _" : "remove it");
    }
    if (token.kind === "number" && before?.kind === "path" && before.span.end === token.span.start) {
      return problem.unexpected(token.text, token.span, "a name starts with a letter or _");
    }
    if (token.text === "." && before?.span.end === token.span.start) {
      const named = /^[0-9]/.test(tokens[i + 1]?.text ?? "");
      return problem.unexpected(
        ".",
        token.span,
        named ? "a name starts with a letter or _" : "write a name after the dot",
      );
    }
    if (token.text === "(" && tokens[i + 1]?.text === ")") {
      return problem.unexpected(
        "()",
        { start: token.span.start, end: tokens[i + 1]!.span.end },
        "write a value or a comparison in it",
      );
    }
  }
  // The remaining case: values beside each other, without a function before them.
  const head = first!.text === "if" || first!.text === "with" ? 1 : first!.text === "else" ? 2 : 0;
  const surplus = tokens.slice(head + 1).find(({ text }) => text !== ")") ?? tokens.at(-1)!;
  return problem.unexpected(
    surplus.text,
    surplus.span,
    "write one value, or a function before them, as in eq .StatusCode 404",
  );
}
