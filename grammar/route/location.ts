import type { Parsed, Problem } from "../problem.ts";
import type { Location, LocationPart, RouteToken } from "./ast.ts";
import { percentEncode } from "./path.ts";
import { percentText } from "./pattern.ts";
import * as problem from "./problems.ts";
import { tokenize } from "./tokens.ts";

/**
 * Where a redirect or a rewrite goes: `/help/:page.html`, `https://example.com:8080/:splat?from=old#top`. A colon that
 * no letter follows is text, so that ports and times need no escape. Problems: `route/...`, sorted by place.
 */
export function parseLocation(source: string): Parsed<Location> {
  if (source === "") return { ok: false, problems: [problem.empty("location")] };
  if (source.length > problem.MAX_ROUTE_LENGTH) {
    return { ok: false, problems: [problem.tooLong("location", source.length)] };
  }
  const tokens = tokenize(source, "location");
  const problems = [...problemsOfStart(tokens, source), ...problemsOfTokens(tokens, source)];
  if (problems.length > 0) return { ok: false, problems: problems.sort((a, b) => a.span.start - b.span.start) };

  const [origin, authority] = tokens;
  const path = tokens.filter(({ kind }) => kind !== "origin" && kind !== "authority");
  return {
    ok: true,
    value: {
      source,
      origin: origin?.kind === "origin" ? `${origin.text.toLowerCase()}://${authority!.text.toLowerCase()}` : "",
      parts: partsOf(path),
      hasQuery: ownQuery(path),
    },
  };
}

function* problemsOfStart(tokens: readonly RouteToken[], source: string): Generator<Problem> {
  const [first, second] = tokens;
  if (first?.kind === "origin") {
    if (/^https?$/i.test(first.text)) yield* problemsOfAuthority(second!);
    else yield problem.locationScheme(first.text, first.span, source);
  } else if (first?.kind === "scheme") {
    yield problem.locationScheme(first.text, first.span, source);
  } else if (source.startsWith("//")) {
    yield problem.protocolRelative(source);
  } else if (!source.startsWith("/") && first?.kind !== "badEscape" && first?.kind !== "unencoded") {
    yield problem.relativeLocation(source);
  }
}

/** A name, an IPv4 or a bracketed IPv6 address, and a port (RFC 3986, 3.2, without user information). */
function* problemsOfAuthority({ text, span }: RouteToken): Generator<Problem> {
  const at = text.lastIndexOf("@");
  if (at >= 0) {
    yield problem.userinfo(text.slice(0, at + 1), { start: span.start, end: span.start + at + 1 });
    return;
  }
  const placeholder = /:[A-Za-z_]\w*|\*/.exec(
    text.startsWith("[") ? text.replace(/^\[[^\]]*\]/, (ip) => " ".repeat(ip.length)) : text,
  );
  if (placeholder) {
    const start = span.start + placeholder.index;
    yield problem.placeholderInHost(placeholder[0], { start, end: start + placeholder[0].length });
    return;
  }
  const valid = /^(?:[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?\.?|\[[0-9a-f:.]+\])(?::(\d{1,5}))?$/i.exec(text);
  if (!valid || text.includes("..") || Number(valid[1] ?? 0) > 65535) yield problem.host(text, span);
}

function* problemsOfTokens(tokens: readonly RouteToken[], source: string): Generator<Problem> {
  let inPath = true;
  for (const { kind, text, span } of tokens) {
    if (kind === "query") inPath = false;
    // `?a[b]=1` is a common query.
    if (kind === "foreign" && (inPath || text[0] !== "[")) yield problem.foreignParam("location", text, span);
    if (kind === "dollar") {
      yield /\d$/.test(text) ? problem.numberedGroup(text, span) : problem.foreignParam("location", text, span);
    }
    if (kind === "badEscape") yield problem.badEscape("location", text, span, source[span.start - 1] === "/");
    if (kind === "badPercent") yield problem.badPercent(percentText(source, span), span);
    if (kind === "unencoded") yield problem.unencoded("location", text, span);
    if (kind === "wildcards") yield problem.starInLocation(span);
  }
}

function partsOf(tokens: readonly RouteToken[]): LocationPart[] {
  const parts: LocationPart[] = [];
  for (const { kind, text, span } of tokens) {
    if (kind === "param") {
      parts.push({ kind: "placeholder", name: text.slice(1), span });
      continue;
    }
    const encoded = kind === "percentByte" ? text.toUpperCase() : asUrl(kind === "escape" ? text[1]! : text);
    const last = parts.at(-1);
    if (last?.kind === "text") {
      parts[parts.length - 1] = { ...last, text: last.text + encoded, span: { start: last.span.start, end: span.end } };
    } else {
      parts.push({ kind: "text", text: encoded, span });
    }
  }
  return parts;
}

/** Percent-encodes what a URL may not hold; brackets are let through for queries. */
function asUrl(text: string): string {
  return text.replace(/[^!#$&'()*+,\-./0-9:;=?@A-Z[\]_a-z~]/gu, percentEncode);
}

function ownQuery(tokens: readonly RouteToken[]): boolean {
  const query = tokens.findIndex(({ kind }) => kind === "query");
  const fragment = tokens.findIndex(({ text }) => text === "#");
  return query >= 0 && (fragment < 0 || query < fragment);
}
