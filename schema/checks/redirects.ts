import { didYouMean } from "../../grammar/did-you-mean.ts";
import { quote, type Span } from "../../grammar/problem.ts";
import {
  compareRoutes,
  compileRoutes,
  type Location,
  locationCaptures,
  type Route,
  routeCaptures,
  sameShape,
  substitute,
} from "../../grammar/route/index.ts";
import { type Member, memberOf, type Node, type StringNode, spanInside } from "../json.ts";
import type { Meanings } from "../languages.ts";
import type { Report } from "../report.ts";

/** 200 is a rewrite; the others are those that a client follows by themselves (RFC 9110 section 15.4). */
const STATUSES: readonly number[] = [200, 301, 302, 303, 307, 308];

/** Browsers give up after 20 redirects (Fetch standard, HTTP-redirect fetch). */
const MAX_HOPS = 20;

/** A few milliseconds of work. */
const RULES_PER_STEP = 500;

interface Rule {
  readonly member: Member;
  readonly route: Route;
  readonly locationNode: StringNode | undefined;
  readonly location: Location | undefined;
  readonly status: number;
}

/** In steps: see `checkInSteps`. */
export function* checkRedirects(
  report: Report,
  redirects: Node | undefined,
  meanings: Meanings,
): Generator<undefined, undefined> {
  if (redirects?.type !== "object") return;
  const rules: Rule[] = [];
  for (const [i, member] of redirects.members.entries()) {
    if (i % RULES_PER_STEP === RULES_PER_STEP - 1) yield;
    checkStatus(report, member);
    const route = meanings.routes.get(member.key);
    if (route === undefined) continue;
    const node = memberOf(member.value, "location")?.value;
    const locationNode = node?.type === "string" ? node : undefined;
    const location = locationNode && meanings.locations.get(locationNode);
    const status = memberOf(member.value, "status")?.value;
    // No written status is a rewrite; an unreadable one says nothing.
    rules.push({ member, route, locationNode, location, status: status?.type === "number" ? status.value : 200 });
    if (location !== undefined) checkPlaceholders(report, member.key.value, route, locationNode!, location);
  }
  yield;
  checkShapes(report, rules);
  yield;
  yield* checkLoops(report, rules);
}

function checkStatus(report: Report, member: Member) {
  const status = memberOf(member.value, "status")?.value;
  if (status?.type !== "number" || !Number.isInteger(status.value) || STATUSES.includes(status.value)) return;
  report.error("config/redirect-status", status.span, `${status.value} is no status of a redirect`, {
    hint:
      status.value >= 400
        ? "a client follows no location of an error; write 200 for a rewrite, or 301, 302, 303, 307, 308"
        : "write 200 for a rewrite, or 301, 302, 303, 307, 308",
  });
}

function checkPlaceholders(report: Report, pattern: string, route: Route, node: StringNode, location: Location) {
  const captures = routeCaptures(route);
  for (const { name, span } of locationCaptures(location)) {
    if (captures.includes(name)) continue;
    // Of one capture there is no other to mean.
    const near = didYouMean(name, captures) ?? (captures.length === 1 && name.length < 3 ? captures[0] : undefined);
    const listed = captures.map((capture) => `:${capture}`).join(", ");
    const hint =
      near !== undefined
        ? `did you mean :${near}?`
        : name === "splat"
          ? "end the pattern in * to capture the rest of the path"
          : captures.length > 0
            ? `${quote(pattern)} captures ${listed}`
            : `write /:${name} in the pattern to capture a segment`;
    report.error(
      "config/unknown-placeholder",
      spanInside(report.source, node, span),
      `${quote(pattern)} does not capture ${quote(`:${name}`)}`,
      {
        hint,
        fix:
          near === undefined
            ? undefined
            : { title: `Change to :${near}`, edits: [report.editInside(node, { span, text: `:${near}` })] },
      },
    );
  }
}

/** Of two patterns that match exactly the same paths one never applies. */
function checkShapes(report: Report, rules: readonly Rule[]) {
  const order = new Map(rules.map((rule, i) => [rule, i]));
  const sorted = [...rules].sort((a, b) => compareRoutes(a.route, b.route) || order.get(a)! - order.get(b)!);
  // Patterns of one shape are neighbours; the first of them in the file stays, the others are reported against it.
  for (let i = 0; i < sorted.length; ) {
    let end = i + 1;
    while (end < sorted.length && sameShape(sorted[i]!.route, sorted[end]!.route)) end++;
    const group = sorted.slice(i, end).sort((a, b) => order.get(a)! - order.get(b)!);
    for (const { member } of group.slice(1)) {
      const first = group[0]!.member.key.value;
      // The very same text is a duplicate key and has been reported as such.
      if (group.some((other) => other.member !== member && other.member.key.value === member.key.value)) continue;
      report.error(
        "config/same-shape",
        member.key.span,
        `${quote(member.key.value)} matches the same paths as ${quote(first)}`,
        { hint: "remove one of the two rules" },
      );
    }
    i = end;
  }
}

/**
 * Follows a sample path of every redirect through all rules, as clients would. Only redirects loop: a rewrite is applied
 * once and never matched again.
 */
function* checkLoops(report: Report, rules: readonly Rule[]): Generator<undefined, undefined> {
  const redirecting = rules.filter(({ status }) => status !== 200 && STATUSES.includes(status));
  if (redirecting.length === 0) return;
  const table = compileRoutes(
    rules.map((rule) => ({ route: rule.route, value: rule })),
    { trailingSlash: "optional" },
  );
  yield;
  const reported = new Set<Rule>();
  for (const [i, start] of redirecting.entries()) {
    if (i % RULES_PER_STEP === RULES_PER_STEP - 1) yield;
    if (reported.has(start)) continue;
    const circle = follow(table, start);
    if (circle === undefined || !circle.rules.includes(start) || circle.rules.some((rule) => reported.has(rule)))
      continue;
    for (const rule of circle.rules) reported.add(rule);
    const span: Span = start.locationNode!.span;
    const self = circle.rules.length === 1;
    report.error(
      "config/redirect-loop",
      span,
      self
        ? `the redirect ${quote(start.member.key.value)} leads back to itself: ${circle.path.join(" -> ")}`
        : `the redirects ${circle.rules.map((rule) => quote(rule.member.key.value)).join(", ")} go in a circle: ${circle.path.join(" -> ")}`,
      { hint: self ? "send it to a path that the pattern does not match" : "send one of them elsewhere" },
    );
  }
}

/** The rules of the circle that a redirect ends up in, with the paths that show it; undefined where it ends. */
function follow(table: ReturnType<typeof compileRoutes<Rule>>, start: Rule) {
  const steps: { path: string; rule: Rule }[] = [];
  let path: string | undefined = samplePath(start.route);
  while (path !== undefined) {
    const match = table.first(path);
    if (match === undefined || match.value.status === 200 || !STATUSES.includes(match.value.status)) return undefined;
    const rule = match.value;
    const again = steps.findIndex((step) => step.path === path);
    if (again >= 0 || steps.length >= MAX_HOPS) {
      // Without a repeated path it grows for ever, or for longer than clients go along: the rules that come back are it.
      const circle = again >= 0 ? steps.slice(again) : steps.slice(-Math.min(steps.length, MAX_HOPS / 2));
      const shown =
        again >= 0
          ? [...circle.map((step) => step.path), path]
          : [...steps.slice(0, 3).map((step) => step.path), "..."];
      return { rules: [...new Set(circle.map((step) => step.rule))], path: shown };
    }
    steps.push({ path, rule });
    if (rule.location === undefined || rule.location.origin !== "") return undefined;
    path = substitute(rule.location, match.captures).split(/[?#]/, 1)[0]!;
  }
  return undefined;
}

/** A path that the pattern matches, with captures that no literal is likely to equal. Undefined where it cannot be written. */
function samplePath(route: Route): string | undefined {
  let path = "";
  for (const part of route.parts) {
    if (part.kind === "param") path += `(${part.name})`;
    else if (part.kind === "wildcard") path += "(any)";
    // What a literal keeps encoded stays so.
    else if (!/[\ud800-\udfff]/.test(part.text.replace(/[\ud800-\udbff][\udc00-\udfff]/g, "")))
      path += encodeURI(part.text).replaceAll("%25", "%");
    else return undefined;
  }
  return path.startsWith("/") ? path : `/${path}`;
}
