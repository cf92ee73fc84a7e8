import { parseIp } from "../../grammar/address/ip.ts";
import { isLoopback } from "../../grammar/address/loopback.ts";
import { didYouMean } from "../../grammar/did-you-mean.ts";
import { quote } from "../../grammar/problem.ts";
import { type ArrayNode, memberOf, type Node, type StringNode } from "../json.ts";
import type { ProblemReport } from "../report.ts";

const METHODS = "HEAD, GET, POST, PUT, PATCH, DELETE";

// The registry of RFC 9110 section 18.2, and those that Node's parser takes besides. It refuses all others with 400.
const REGISTERED: ReadonlySet<string> = new Set(
  `ACL BASELINE-CONTROL BIND CHECKIN CHECKOUT CONNECT COPY DELETE GET HEAD LABEL LINK LOCK MERGE MKACTIVITY MKCALENDAR
  M-SEARCH MKCOL MKREDIRECTREF NOTIFY PURGE SOURCE SUBSCRIBE UNSUBSCRIBE MKWORKSPACE MOVE OPTIONS ORDERPATCH PATCH POST PRI PROPFIND PROPPATCH PUT QUERY REBIND REPORT
  SEARCH TRACE UNBIND UNCHECKOUT UNLINK UNLOCK UPDATE UPDATEREDIRECTREF VERSION-CONTROL`.split(/\s+/),
);

export function checkCors(report: ProblemReport, cors: Node | undefined) {
  const origins = strings(memberOf(cors, "allowed_origins")?.value);
  for (const origin of origins) checkOrigin(report, origin);
  const methods = memberOf(cors, "allowed_methods")?.value;
  for (const method of strings(methods)) checkMethod(report, method, methods as ArrayNode);

  const credentials = memberOf(cors, "allow_credentials")?.value;
  if (credentials?.type !== "boolean" || !credentials.value) return;
  const written = memberOf(cors, "allowed_origins") !== undefined;
  if (written && !origins.some(({ value }) => value === "*")) return;
  report.warning(
    "config/credentials-for-any-origin",
    credentials.span,
    `credentials are not sent for the origin "*"${written ? "" : ", the default"}`,
    {
      hint: "browsers refuse that pair: list the origins that need credentials in allowed_origins",
      // Browsers treat it as false.
      fix: { title: "Change to false", edits: [{ span: credentials.span, text: "false" }], isSuggestion: true },
    },
  );
}

/** `*`, or scheme, host and port with at most one `*` (RFC 6454 section 6.2); the wildcard may stand for the scheme too. */
function checkOrigin(report: ProblemReport, node: StringNode) {
  const { value } = node;
  if (value === "*" || value === "null") return;
  const error = (message: string, hint: string, fixed?: string) =>
    report.error("config/origin", node.span, message, {
      hint,
      fix: fixed === undefined ? report.suggest(node, meantOrigin(value)) : report.replace(node, fixed),
    });
  if (value.split("*").length > 2) {
    error(`the origin ${quote(value)} contains more than one "*"`, "one * matches any characters");
    return;
  }
  const parts = /^([a-z*][a-z0-9+.*-]*:\/\/)?([^/?#\s@:]+|\[[0-9a-f:]+\])(:[0-9*]{1,5})?([/?#].*)?$/i.exec(value);
  if (parts === null) {
    error(`${quote(value)} is not an origin`, "write scheme and host, such as https://example.com");
    return;
  }
  const [, scheme, host, port = "", path] = parts;
  if (path !== undefined) {
    const plain = `${scheme ?? ""}${host}${port}`;
    const certain = path === "/" && (scheme !== undefined || host!.includes("*"));
    error(
      `the origin ${quote(value)} has a path`,
      `an origin ends after host and port: write ${plain}`,
      certain ? plain : undefined,
    );
  } else if (scheme === undefined && !host!.startsWith("*")) {
    error(`the origin ${quote(value)} has no scheme`, `write https://${value}`);
  }
}

/** The origin of an address that is nearly one, or lacks its scheme. */
function meantOrigin(value: string): string | undefined {
  const text = value.trim().replace(/\*{2,}/g, "*");
  const [, scheme] = /^(https?):?\/*(?=[^\s:/])/i.exec(text) ?? [];
  const rest = text.replace(/^(?:[a-z]+:\/+|https?:)/i, "").replace(/[/?#].*$/s, "");
  const host = /^(?:[a-z0-9_*-]+\.)*[a-z0-9_*-]+(?::\d{1,5})?$/i.exec(rest)?.[0];
  if (host === undefined || host.split("*").length > 2) return undefined;
  // Hardly anybody has a certificate for the own machine, or for an address.
  const name = host.replace(/:\d+$/, "");
  const isLocal = isLoopback(name) || parseIp(name) !== undefined;
  return `${scheme?.toLowerCase() ?? (isLocal ? "http" : "https")}://${host}`;
}

/** RFC 9110 section 9.1: a method is a token; `*` is one, and no method. One that is nearly a usual one is a slip. */
function checkMethod(report: ProblemReport, node: StringNode, list: ArrayNode) {
  if (node.value === "*") {
    const others = METHODS.split(", ").filter((method) => strings(list).every(({ value }) => value !== method));
    const text = others.map((method) => JSON.stringify(method)).join(", ");
    report.error("config/method", node.span, `"*" is not a method`, {
      hint: `list the methods: ${METHODS}`,
      fix: text === "" ? undefined : { title: `Change to ${others.join(", ")}`, edits: [{ span: node.span, text }] },
    });
  } else if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(node.value)) {
    const plain = node.value.replace(/[^A-Za-z-]/g, "").toUpperCase();
    const near = REGISTERED.has(plain) ? plain : didYouMean(plain, METHODS.split(", "));
    const words = node.value.split(/[\s,|]+/).filter((word) => REGISTERED.has(word.toUpperCase()));
    const text = words.map((word) => JSON.stringify(word.toUpperCase())).join(", ");
    report.error("config/method", node.span, `${quote(node.value)} is not a method`, {
      hint: near === undefined ? `methods are ${METHODS}` : `did you mean ${quote(near)}?`,
      fixes: [
        words.length > 1 ? { title: `Change to ${words.join(", ")}`, edits: [{ span: node.span, text }] } : undefined,
        near === undefined ? undefined : report.replace(node, near),
      ],
    });
  } else if (!REGISTERED.has(node.value.toUpperCase())) {
    const near = didYouMean(node.value, [...METHODS.split(", "), "OPTIONS"]);
    report.warning("config/method", node.span, `no method is known as ${quote(node.value)}`, {
      hint: near === undefined ? `methods are ${METHODS}` : `did you mean ${quote(near)}?`,
      fix: near === undefined ? undefined : report.replace(node, near),
    });
  }
}

function strings(node: Node | undefined): StringNode[] {
  return node?.type === "array" ? node.items.filter((item) => item.type === "string") : [];
}
