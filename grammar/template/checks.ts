import { didYouMean } from "../did-you-mean.ts";
import type { Problem } from "../problem.ts";
import type { Call, Expr, Path } from "./ast.ts";
import * as problem from "./problems.ts";

/** The problems of names and arguments. `dotIsRoot`: outside of `with`, where `.` has the fields of an error page. */
export function* checkExpr(expr: Expr, dotIsRoot: boolean): Generator<Problem> {
  if (expr.kind === "path") {
    if (expr.fromRoot || dotIsRoot) yield* checkPath(expr);
  } else if (expr.kind === "call") {
    const isKnown = yield* checkCall(expr, dotIsRoot);
    if (isKnown) for (const arg of expr.args) yield* checkExpr(arg, dotIsRoot);
  }
}

function* checkPath({ names }: Path): Generator<Problem> {
  const [first, second] = names;
  if (first === undefined) return;
  if (!(problem.FIELDS as readonly string[]).includes(first.text)) {
    yield problem.unknownField(first.text, first.span, closest(first.text, problem.FIELDS));
  } else if (second !== undefined && first.text !== "Variables") {
    yield problem.noFields(first.text, first.text === "StatusCode" ? "a number" : "a text", second.span);
  }
}

// Least and most arguments.
const ARITY: Readonly<Record<string, readonly [number, number]>> = {
  and: [1, Infinity],
  or: [1, Infinity],
  not: [1, 1],
  eq: [2, Infinity],
  ne: [2, 2],
  lt: [2, 2],
  le: [2, 2],
  gt: [2, 2],
  ge: [2, 2],
};

// Functions and statements that other templates have, and what to write here.
export const UNSUPPORTED: Readonly<Record<string, string>> = {
  range: "write each item: an error page has no lists",
  define: "a template is one file; remove it",
  template: "a template is one file; copy the text here",
  block: "a template is one file; write its text here",
  break: "there is no range to leave",
  continue: "there is no range to go on with",
  print: "write {{.StatusText}} next to the text",
  printf: "write the values next to the text, as in {{.StatusCode}}: {{.StatusText}}",
  println: "write the values next to the text",
  html: "values are escaped without it; remove it",
  js: "values in <script> are escaped without it; remove it",
  urlquery: "write the encoded text as a variable",
  len: "write {{if .Variables.name}} to ask whether it is empty",
  index: "write .Variables.name with dots",
  slice: "write the part as a variable of its own",
  call: "there are no functions to call",
};

export const FUNCTION_NAMES: readonly string[] = Object.keys(ARITY);

/** The statements that take a condition; no function has such a name. */
export const STATEMENTS: readonly string[] = ["if", "with", "else"];

/** Whether the function exists, so that its arguments are worth checking. */
function* checkCall(call: Call, dotIsRoot: boolean): Generator<Problem, boolean> {
  const { text, span } = call.name;
  if (Object.hasOwn(UNSUPPORTED, text)) {
    yield problem.notSupported(text, span, UNSUPPORTED[text]!);
    return false;
  }
  if (!Object.hasOwn(ARITY, text)) {
    const field = call.args.length === 0 ? closest(text, problem.FIELDS) : undefined;
    // Alone in its braces it may be a statement too.
    const alone = call.args.length === 0;
    const name = closest(text, [...FUNCTION_NAMES, ...(alone ? ["else", "end"] : STATEMENTS)]);
    const suggestion = field ? `write .${field}` : name ? `did you mean "${name}"?` : undefined;
    yield problem.unknownFunction(text, span, suggestion, field ? `.${field}` : name);
    return false;
  }
  const [least, most] = ARITY[text]!;
  const count = call.args.length;
  if (count < least || count > most) {
    const wanted = `${most === Infinity ? "at least " : ""}${least} argument${least === 1 ? "" : "s"}`;
    yield problem.wrongArguments(text, wanted, count, count < least ? span : call.args[most]!.span);
  }
  if (text === "eq" || text === "ne") yield* checkComparison(call, dotIsRoot);
  return true;
}

/** `eq .StatusCode "404"` would be false for ever. */
function* checkComparison({ args }: Call, dotIsRoot: boolean): Generator<Problem> {
  const [first] = args;
  const isStatusCode = (expr: Expr | undefined) =>
    expr?.kind === "path" &&
    (expr.fromRoot || dotIsRoot) &&
    expr.names.length === 1 &&
    expr.names[0]!.text === "StatusCode";
  const string = isStatusCode(first)
    ? args.find((arg) => arg.kind === "constant" && typeof arg.value === "string")
    : isStatusCode(args[1]) && first!.kind === "constant" && typeof first!.value === "string"
      ? first
      : undefined;
  if (string?.kind === "constant") yield problem.neverEqual(String(string.value), string.span);
}

/** The candidate that `name` is a slip of, or the end of. */
function closest(name: string, candidates: readonly string[]): string | undefined {
  const wanted = name.toLowerCase();
  const whole = candidates.find((candidate) => wanted.length > 3 && candidate.toLowerCase().endsWith(wanted));
  return whole ?? didYouMean(name, candidates);
}
