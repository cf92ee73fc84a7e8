import { quote, type Span } from "../../grammar/problem.ts";
import { removal } from "../edits.ts";
import { type Member, memberOf, type Node, type ObjectNode, type StringNode, spanInside } from "../json.ts";
import type { ProblemReport } from "../report.ts";
import { isSecretName, isSecretText } from "./secrets.ts";

/** Headers of the connection and of the framing (RFC 9110 sections 7.6.1 and 8.6): the proxy's own, never a rule's. */
const PROXY_OWN = new Set([
  "connection",
  "content-length",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

export function checkHeaders(report: ProblemReport, headers: Node | undefined) {
  if (headers?.type !== "object") return;
  for (const { value: rule } of headers.members) {
    if (rule?.type !== "object") continue;
    const seen = new Map<string, string>();
    for (const member of rule.members) {
      const { key, value } = member;
      const name = key.value.toLowerCase();
      if (PROXY_OWN.has(name)) {
        report.error("config/forbidden-header", key.span, `the header ${quote(key.value)} cannot be set`, {
          hint: "the proxy sets it for each connection: remove it",
          fix: removal(rule, member),
        });
      }
      const before = seen.get(name);
      // The very same text is a duplicate key and has been reported as such.
      if (before !== undefined && before !== key.value) {
        report.error("config/duplicate-header", key.span, `${quote(key.value)} and ${quote(before)} are one header`, {
          hint: "header names are not case-sensitive: remove one of the two",
          fixes: duplicateFixes(rule, memberOf(rule, before)!, member),
        });
      }
      seen.set(name, key.value);
      if (value?.type !== "string") continue;
      checkValue(report, value);
      checkSecret(report, rule, member, value);
    }
  }
}

/** These headers are answered to everybody: a credential in one is given away, in plain text twice. */
function checkSecret(report: ProblemReport, rule: ObjectNode, member: Member, node: StringNode) {
  const name = member.key.value;
  if (secretsInHeader(name, node.value).length === 0) return;
  report.warning("config/secret", node.span, `the value of ${quote(name)} looks like a secret`, {
    hint: "every client gets this header: remove it, and let the app add what is secret to its own requests",
    fix: removal(rule, member),
  });
}

/** Where secrets are in the value of a header; the scheme of a credential is none. */
export function secretsInHeader(name: string, text: string): Span[] {
  const scheme = /^(?:bearer|basic|token|apikey)\s+/i.exec(text)?.[0] ?? "";
  const value = text.slice(scheme.length);
  const isNamed =
    (scheme !== "" && name.toLowerCase() === "authorization" && value !== "") ||
    isSecretName(name.replaceAll("-", "_"), value);
  if (isNamed && !/^[$<{%]/.test(value)) return [{ start: scheme.length, end: text.length }];
  // Cookies and others carry one among their parts.
  const parts = [...value.matchAll(/[^\s;,=]+/g)].filter(([part]) => isSecretText(part));
  return parts.map(({ 0: part, index }) => {
    const start = scheme.length + index;
    return { start, end: start + part.length };
  });
}

function duplicateFixes(rule: ObjectNode, first: Member, second: Member) {
  const text = ({ value }: Member) => (value?.type === "string" ? value.value : undefined);
  const isLossless = text(first) !== undefined && text(first) === text(second);
  return [removal(rule, second, { isLossless }), ...(isLossless ? [] : [removal(rule, first)])];
}

/** RFC 9110 section 5.5, and what Node can send: no control characters, nothing beyond Latin-1. */
function checkValue(report: ProblemReport, node: StringNode) {
  const bad = /[^\t\x20-\x7e\x80-\xff]/u.exec(node.value);
  if (bad === null) return;
  const code = bad[0].codePointAt(0)!;
  const character =
    bad[0] === "\n" || bad[0] === "\r"
      ? "a line break"
      : code < 0x20 || code === 0x7f
        ? "a control character"
        : quote(bad[0]);
  report.error(
    "config/header-value",
    spanInside(report.source, node, { start: bad.index, end: bad.index + bad[0].length }),
    `${character} is not allowed in a header value`,
    { hint: code > 0xff ? "percent-encode it" : "remove it", fix: report.suggest(node, sendable(node.value)) },
  );
}

/** The value on one line, with what is beyond Latin-1 percent-encoded. */
function sendable(value: string): string {
  return value
    .trim()
    .replace(/[\r\n]+\s*/g, " ")
    .replace(/[\u0000-\u0008\u000a-\u001f\u007f]/g, "")
    .replace(/[\ud800-\udfff](?![\udc00-\udfff])(?<![\ud800-\udbff][\udc00-\udfff])/g, "")
    .replace(/[^\t\x20-\x7e\x80-\xff]/gu, (char) => encodeURIComponent(char));
}
