import type { Parsed, Problem, Span } from "../problem.ts";
import type { Route, RoutePart, RouteToken } from "./ast.ts";
import { encodeKept, normalizePath } from "./path.ts";
import * as problem from "./problems.ts";
import { tokenize } from "./tokens.ts";

/** A route pattern such as `/docs/:page` or `*.css`. Problems: `route/...`, every one of them, sorted by place. */
export function parseRoute(source: string): Parsed<Route> {
  if (source === "") return { ok: false, problems: [problem.empty("route pattern")] };
  if (source.length > problem.MAX_ROUTE_LENGTH) {
    return { ok: false, problems: [problem.tooLong("route pattern", source.length)] };
  }
  if (source.startsWith("^")) {
    return { ok: false, problems: [problem.regularExpression(source, { start: 0, end: source.length })] };
  }
  const problems = problemsOfStart(source);
  const origin = problems.find(({ code }) => code === "route/url-as-pattern")?.span.end ?? 0;
  const tokens = tokenize(source, "route").filter(({ span }) => span.start >= origin);
  problems.push(...problemsOfTokens(tokens, source), ...problemsOfNames(tokens));
  if (problems.length > 0) return { ok: false, problems: problems.sort((a, b) => a.span.start - b.span.start) };
  return { ok: true, value: { source, parts: partsOf(tokens) } };
}

function problemsOfStart(source: string): Problem[] {
  const origin = /^[a-z][a-z0-9+.-]*:\/\/[^/?#*]*/i.exec(source)?.[0];
  if (origin !== undefined) return [problem.urlAsPattern(origin, source.slice(origin.length))];
  return /^[/*]/.test(source) ? [] : [problem.missingSlash(source)];
}

/** The problems of single tokens and their neighbours. */
function* problemsOfTokens(tokens: readonly RouteToken[], source: string): Generator<Problem> {
  for (const [i, { kind, text, span }] of tokens.entries()) {
    const next = tokens[i + 1];
    const afterNext = tokens[i + 2];
    if (kind === "regexGroup") yield problem.regularExpression(text, span, tokens[i - 1]?.kind === "param");
    if (kind === "foreign") yield problem.foreignParam("route pattern", text, span);
    if (kind === "nameless") yield problem.nameless(text, span);
    if (kind === "badEscape") yield problem.badEscape("route pattern", text, span, source[span.start - 1] === "/");
    if (kind === "badPercent") yield problem.badPercent(percentText(source, span), span);
    if (kind === "unencoded") yield problem.unencoded("route pattern", text, span);
    if (kind === "outsidePath" && tokens[i - 1]?.kind !== "param")
      yield problem.queryInPattern(text, span, source.length);
    if (kind === "wildcards" && text.length > 1) yield problem.doubleStar(text, span);
    if (!isCapture(kind) || next === undefined) continue;

    const both = { start: span.start, end: next.span.end };
    const endsSegment = afterNext === undefined || afterNext.text === "/";
    if (next.kind === "outsidePath") {
      if (next.text === "?" && kind === "param" && endsSegment) yield problem.optionalParam(text + next.text, both);
      else if (kind === "param") yield problem.queryInPattern(next.text, next.span, source.length);
    } else if (next.text === "+" && kind === "param" && endsSegment) {
      yield problem.repeatedParam(text + next.text, both);
    } else if (isCapture(next.kind)) {
      const trailingStar = next.kind === "wildcards" && afterNext === undefined;
      yield problem.adjacentCaptures(text + next.text, both, trailingStar);
    }
  }
}

function* problemsOfNames(tokens: readonly RouteToken[]): Generator<Problem> {
  const counts = new Map<string, number>();
  for (const { kind, text, span } of tokens) {
    if (kind !== "param") continue;
    const name = text.slice(1);
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    if (name === "splat") yield problem.reservedName(span, span.end === tokens.at(-1)!.span.end);
    else if (count > 1) yield problem.duplicateParam(name, count, span);
  }
}

function isCapture(kind: string): boolean {
  return kind === "param" || kind === "wildcards";
}

/** "%zz" as written, for the message. */
export function percentText(source: string, span: Span): string {
  return source.slice(span.start).match(/^%[^/%?#\s]{0,2}/)![0];
}

function partsOf(tokens: readonly RouteToken[]): RoutePart[] {
  const parts: RoutePart[] = [];
  let literal = "";
  let start = 0;
  // Percent-encoded bytes make characters only together, so a literal is decoded when it is complete.
  const flush = (end: number) => {
    if (literal === "") return;
    parts.push({ kind: "literal", text: encodeKept(normalizePath(literal).text), span: { start, end } });
    literal = "";
  };
  for (const { kind, text, span } of tokens) {
    if (isCapture(kind)) {
      flush(span.start);
      parts.push(kind === "param" ? { kind: "param", name: text.slice(1), span } : { kind: "wildcard", span });
    } else {
      if (literal === "") start = span.start;
      literal += kind === "escape" ? text[1] : text;
    }
  }
  flush(tokens.at(-1)!.span.end);
  return parts;
}
