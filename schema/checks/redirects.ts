import { didYouMean } from "../../grammar/did-you-mean.ts";
import { type Fix, quote, type Span } from "../../grammar/problem.ts";
import {
  compileRoutesInSteps,
  type Location,
  literalStart,
  locationCaptures,
  type Route,
  type RouteTable,
  routeCaptures,
  shapeKey,
  substitute,
} from "../../grammar/route/index.ts";
import { insertMember, removal } from "../edits.ts";
import { type Member, memberOf, type Node, plainValue, type StringNode, spanInside } from "../json.ts";
import type { Meanings } from "../languages.ts";
import type { Memory } from "../memory.ts";
import type { ProblemReport } from "../report.ts";
import { Beginnings } from "./beginnings.ts";

/** 200 is a rewrite; the others are the redirects that a client follows automatically (RFC 9110 section 15.4). */
const STATUSES: readonly number[] = [200, 301, 302, 303, 307, 308];

/** Browsers give up after 20 redirects (Fetch standard, HTTP-redirect fetch). */
const MAX_HOPS = 20;

/** A longer list of fixes is no help. */
const MAX_REMOVALS = 4;

/** No host accepts a path of this length. One that doubles with each hop would fill the memory before `MAX_HOPS`. */
const MAX_PATH_LENGTH = 1 << 16;

/** A few milliseconds of work. */
const RULES_PER_STEP = 500;

interface Rule {
  readonly member: Member;
  readonly route: Route;
  readonly locationNode: StringNode | undefined;
  readonly location: Location | undefined;
  readonly status: number;
}

/** A problem of a rule because of others. It has no offset, as offsets change with every edit above the rule. */
interface Finding {
  readonly code: string;
  /** The index of the rule. */
  readonly index: number;
  readonly at: "pattern" | "location";
  readonly message: string;
  readonly hint: string;
  /** If two patterns have the same shape, the index of the other rule. */
  readonly other?: number;
  /** If redirects form a loop, the indexes of its rules. */
  readonly circle?: readonly number[];
}

export interface RedirectContext {
  readonly meanings: Meanings;
  readonly memory: Memory;
  /** The app is certainly a server, so that paths may mean more than files. */
  readonly isServer: boolean;
}

/** In steps: see `checkInSteps`. */
export function* checkRedirects(
  report: ProblemReport,
  redirects: Node | undefined,
  { meanings, memory, isServer }: RedirectContext,
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
    if (location !== undefined) checkPlaceholders(report, { key: member.key, route, node: locationNode!, location });
    if (location !== undefined) checkRewriteOrigin(report, member, { node: locationNode!, location });
    if (isServer) warnRewriteOfAll(report, rules.at(-1)!);
  }
  yield;
  for (const { code, index, at, message, hint, other, circle = [] } of yield* findingsOf(rules, memory)) {
    const { member, locationNode } = rules[index]!;
    const span = (at === "pattern" ? member.key : locationNode!).span;
    const pair = other === undefined ? [] : [member, rules[other]!.member];
    const [own, before] = pair.map(({ value }) => JSON.stringify(value && plainValue(value)));
    const isLossless = own === before;
    const fixes = pair.map((rule) => removal(redirects, rule, { isLossless }));
    // Without any of its rules there is no loop: the last one is what closed it.
    fixes.push(...circle.toReversed().map((i) => removal(redirects, rules[i]!.member)));
    report.error(code, span, message, { hint, fixes });
  }
}

function* findingsOf(rules: readonly Rule[], memory: Memory): Generator<undefined, readonly Finding[]> {
  const inputs: unknown[] = [];
  for (const { route, location, status } of rules) inputs.push(route, location, status);
  const entry = memory.ofList<readonly Finding[]>("redirects", inputs);
  if (entry !== undefined) return entry.result;
  const findings = sameShapes(rules);
  yield;
  findings.push(...(yield* loops(rules)));
  memory.keepList("redirects", inputs, findings);
  return findings;
}

function checkStatus(report: ProblemReport, member: Member) {
  const status = memberOf(member.value, "status")?.value;
  if (status?.type !== "number" || !Number.isInteger(status.value) || STATUSES.includes(status.value)) return;
  report.error("config/redirect-status", status.span, `${status.value} is not a redirect status`, {
    hint:
      status.value >= 400
        ? "clients do not follow the location of an error; write 200 for a rewrite, or 301, 302, 303, 307, 308"
        : "write 200 for a rewrite, or 301, 302, 303, 307, 308",
    fixes: likelyStatuses(status.value).map((value) => ({
      title: `Change to ${value}`,
      edits: [{ span: status.span, text: String(value) }],
      isSuggestion: true,
    })),
  });
}

/** A rewrite changes the path that this app sees; no request goes to another server. */
function checkRewriteOrigin(
  report: ProblemReport,
  { value }: Member,
  { node, location: { origin } }: Pick<ParsedRedirect, "node" | "location">,
) {
  if (origin === "" || value?.type !== "object") return;
  const status = memberOf(value, "status");
  const written = status?.value;
  if (status !== undefined && !(written?.type === "number" && written.value === 200)) return;
  const text = '"status": 302';
  report.error("config/rewrite-origin", node.span, `a rewrite cannot lead to another origin, ${origin}`, {
    hint: `rewrites change the path that the app sees; write ${text} to send the client there, or a path`,
    fixes: [
      written === undefined
        ? { title: `Add ${text}`, edits: [insertMember(report.source, value, text)] }
        : { title: "Change to 302", edits: [{ span: written.span, text: "302" }], isSuggestion: true },
    ],
  });
}

/** The usual rule of a single-page site, in front of an app that would then answer one path only. */
function warnRewriteOfAll(report: ProblemReport, { member, route, location, status }: Rule) {
  if (status !== 200 || location === undefined || location.origin !== "" || !SHAPE_OF_ALL.test(shapeKey(route))) return;
  // A location with the rest of the path gives each request a path of its own.
  if (locationCaptures(location).length > 0) return;
  report.warning(
    "config/rewrite-all",
    member.key.span,
    `${quote(member.key.value)} rewrites every request to the app`,
    {
      hint: "only files of static.dir are left alone: name the paths that are pages, such as /app/*, and leave the app its own",
    },
  );
}

/** The shape of `/*` and `*`. */
const SHAPE_OF_ALL = /^(?:1"\/)?\*$/;

/** The statuses that a wrong one was likely meant to be: one slip away, else the usual ones. */
function likelyStatuses(value: number): number[] {
  const near = didYouMean(String(value), STATUSES.map(String));
  const usual = value >= 300 && value < 400 ? [302, 301] : [200, 301, 302];
  return [...new Set([...(near === undefined ? [] : [Number(near)]), ...usual])];
}

/** A redirect whose pattern and location are valid, with the texts that they are. */
interface ParsedRedirect {
  readonly key: StringNode;
  readonly route: Route;
  readonly node: StringNode;
  readonly location: Location;
}

function checkPlaceholders(report: ProblemReport, { key, route, node, location }: ParsedRedirect) {
  const pattern = key.value;
  const placeholders = locationCaptures(location);
  if (placeholders.length === 0) return;
  const captures = routeCaptures(route);
  for (const { name, span } of placeholders) {
    if (captures.includes(name)) continue;
    // A single capture is the only one that can be meant.
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
        fixes:
          near === undefined
            ? [
                ...captures.map((capture) => placeholderFix(report, node, span, capture)),
                captureFix(report, key, name, captures),
              ]
            : [{ title: `Change to :${near}`, edits: [report.editInside(node, { span, text: `:${near}` })] }],
      },
    );
  }
}

function placeholderFix(report: ProblemReport, node: StringNode, span: Span, capture: string): Fix {
  const edits = [report.editInside(node, { span, text: `:${capture}` })];
  return { title: `Change to :${capture}`, edits, isSuggestion: true };
}

/** Makes the pattern capture what the location wants. */
function captureFix(
  report: ProblemReport,
  key: StringNode,
  name: string,
  captures: readonly string[],
): Fix | undefined {
  if (captures.includes("splat") || key.value.endsWith("*")) return undefined;
  const pattern = `${key.value.replace(/\/+$/, "")}/${name === "splat" ? "*" : `:${name}`}`;
  return { ...report.replace(key, pattern), title: `Change the pattern to ${pattern}`, isSuggestion: true };
}

/** If two patterns match exactly the same paths, one of them never applies. */
function sameShapes(rules: readonly Rule[]): Finding[] {
  const groups = new Map<string, number[]>();
  for (const [index, { route }] of rules.entries()) {
    const key = shapeKey(route);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [index]);
    else group.push(index);
  }
  const findings: Finding[] = [];
  for (const group of groups.values()) {
    if (group.length === 1) continue;
    const patterns = group.map((index) => rules[index]!.member.key.value);
    const counts = new Map<string, number>();
    for (const pattern of patterns) counts.set(pattern, (counts.get(pattern) ?? 0) + 1);
    // The first of them in the file stays, the others are reported against it.
    for (const [i, index] of group.entries()) {
      const pattern = patterns[i]!;
      // The very same text is a duplicate key and has been reported as such.
      if (i === 0 || counts.get(pattern)! > 1) continue;
      const message = `${quote(pattern)} matches the same paths as ${quote(patterns[0]!)}`;
      findings.push({
        code: "config/same-shape",
        index,
        at: "pattern",
        message,
        hint: "remove one of the two rules",
        other: group[0]!,
      });
    }
  }
  return findings;
}

/**
 * Follows a sample path of every redirect through all rules, as clients would. Only redirects loop: a rewrite is applied
 * once and never matched again.
 */
function* loops(rules: readonly Rule[]): Generator<undefined, Finding[]> {
  const findings: Finding[] = [];
  const { starts, met } = yield* inReach(rules);
  if (starts.length === 0) return findings;
  const table = yield* compileRoutesInSteps(
    met.map((rule) => ({ route: rule.route, value: rule })),
    { trailingSlash: "optional" },
  );
  yield;
  const reported = new Set<Rule>();
  for (const [i, [index, start]] of starts.entries()) {
    if (i % RULES_PER_STEP === RULES_PER_STEP - 1) yield;
    if (reported.has(start)) continue;
    const circle = follow(table, start);
    if (circle === undefined || !circle.rules.includes(start) || circle.rules.some((rule) => reported.has(rule)))
      continue;
    for (const rule of circle.rules) reported.add(rule);
    const self = circle.rules.length === 1;
    const path = circle.path.join(" -> ");
    const indexes = circle.rules.map((rule) => rules.indexOf(rule));
    findings.push({
      code: "config/redirect-loop",
      index,
      at: "location",
      message: self
        ? `the redirect ${quote(start.member.key.value)} leads back to itself: ${path}`
        : `the redirects ${circle.rules.map((rule) => quote(rule.member.key.value)).join(", ")} form a loop: ${path}`,
      hint: self ? "send it to a path that the pattern does not match" : "send one of them elsewhere",
      circle: indexes.slice(0, MAX_REMOVALS),
    });
  }
  return findings;
}

const isRedirect = ({ status }: Rule) => status !== 200 && STATUSES.includes(status);

/**
 * The redirects that may be part of a loop, with their indexes, and the rules a client may reach by following them. Only
 * the beginnings of patterns and locations are compared: most redirects lead to a path that no other redirect matches,
 * and the route table of all rules would take long to build.
 */
function* inReach(rules: readonly Rule[]): Generator<undefined, { starts: [number, Rule][]; met: readonly Rule[] }> {
  // A rule that leads to another host, or nowhere, cannot be part of a loop.
  const onHost = [...rules.entries()].filter(([, rule]) => isRedirect(rule) && rule.location?.origin === "");
  const patterns = new Beginnings(onHost.map(([, { route }]) => literalStart(route)));
  yield;
  const starts = onHost.filter(([, { location }]) => patterns.meet(beginningOf(location!)));
  if (starts.length === 0) return { starts, met: [] };
  const ways = new Beginnings(
    starts.flatMap(([, { route, location }]) => [literalStart(route), beginningOf(location!)]),
  );
  yield;
  return { starts, met: rules.filter(({ route }) => ways.meet(literalStart(route))) };
}

/** The beginning of every path that a location gives. */
function beginningOf({ parts: [first] }: Location): string {
  if (first?.kind !== "text") return "";
  // After a percent sign it is not certain how a path is read.
  return first.text.split(/[?#%]/, 1)[0]!;
}

/** The rules of the loop that a redirect leads to, with the paths that show it; undefined if there is none. */
function follow(table: RouteTable<Rule>, start: Rule) {
  const steps: { path: string; rule: Rule }[] = [];
  let path: string | undefined = samplePath(start.route);
  while (path !== undefined) {
    const match = table.first(path);
    if (match === undefined || !isRedirect(match.value)) return undefined;
    const rule = match.value;
    const again = steps.findIndex((step) => step.path === path);
    const isTooLong = path.length > MAX_PATH_LENGTH;
    if (again >= 0 || steps.length >= MAX_HOPS || isTooLong) {
      // Without a repeated path, the path keeps growing: then the rules that were applied last are the loop.
      const circle = steps.slice(again >= 0 ? again : steps.length >> 1);
      if (isTooLong && new Set(circle.map((step) => step.rule)).size === circle.length) return undefined;
      const trail =
        again >= 0
          ? [...circle.map((step) => step.path), path]
          : [...steps.slice(0, 3).map((step) => step.path), "..."];
      return { rules: [...new Set(circle.map((step) => step.rule))], path: trail };
    }
    steps.push({ path, rule });
    if (rule.location === undefined || rule.location.origin !== "") return undefined;
    path = substitute(rule.location, match.captures).split(/[?#]/, 1)[0]!;
  }
  return undefined;
}

/** A path that the pattern matches, with captures that no literal is likely to equal. Undefined if it cannot be written. */
function samplePath(route: Route): string | undefined {
  let path = "";
  for (const part of route.parts) {
    if (part.kind === "param") path += `(${part.name})`;
    else if (part.kind === "wildcard") path += "(any)";
    // Characters that a literal keeps encoded stay encoded.
    else if (!/[\ud800-\udfff]/.test(part.text.replace(/[\ud800-\udbff][\udc00-\udfff]/g, "")))
      path += encodeURI(part.text).replaceAll("%25", "%");
    else return undefined;
  }
  return path.startsWith("/") ? path : `/${path}`;
}
