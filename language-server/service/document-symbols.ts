import { type DocumentSymbol, SymbolKind, SymbolTag } from "vscode-languageserver-types";
import type { Span } from "../../grammar/problem.ts";
import { parsePipeline } from "../../grammar/query/index.ts";
import { type Member, memberOf, type Node, type ObjectNode } from "../../schema/json.ts";
import type { ToolDocument } from "./document.ts";

/**
 * The outline of a query file by its conditions and stages, and of a tool.json. Entries are named by their purpose: a route with its location, an alert by what it
 * watches; settings have their value next to the name.
 */
export function documentSymbols(document: ToolDocument): DocumentSymbol[] {
  if (document.kind === "query") return partsOfQuery(document);
  return document.root?.type === "object" ? members(document, document.root, []) : [];
}

/** The conditions of a query and each of its stages. */
function partsOfQuery(document: ToolDocument): DocumentSymbol[] {
  const parsed = parsePipeline(document.query);
  if (!parsed.ok) return [];
  const { query, pipes } = parsed.value;
  const part = (span: Span, kind: SymbolKind): DocumentSymbol => {
    const text = document.query.slice(span.start, span.end).replace(/\s+/g, " ");
    const range = document.rangeOf(span);
    return { name: shorten(text), kind, range, selectionRange: range };
  };
  const conditions = query.expr === undefined ? [] : query.expr.kind === "and" ? query.expr.terms : [query.expr];
  return [
    ...conditions.map(({ span }) => part(span, SymbolKind.Boolean)),
    ...pipes.map(({ span }) => part(span, SymbolKind.Function)),
  ];
}

function members(document: ToolDocument, object: ObjectNode, path: readonly string[]): DocumentSymbol[] {
  return object.members.map((member) => {
    const { key, value } = member;
    const inner = [...path, key.value];
    const detail = detailOf(value, inner);
    const full = { start: key.span.start, end: (value ?? key).span.end };
    return {
      // An empty name is refused by clients.
      name: shorten(key.value) || '""',
      ...(detail !== "" && { detail }),
      kind: kindOf(member, inner),
      ...(isDisabled(value) && { tags: [SymbolTag.Deprecated] }),
      range: document.rangeOf(full),
      selectionRange: document.rangeOf(key.span),
      ...childrenOf(document, value, inner),
    };
  });
}

function childrenOf(document: ToolDocument, node: Node | undefined, path: readonly string[]) {
  if (node?.type === "object" && node.members.length > 0) {
    // The detail shows the whole rule; its three settings need no lines of their own.
    if (path[0] === "redirects" && path.length === 2) return {};
    return { children: members(document, node, path) };
  }
  // A list of plain values is shown as a detail.
  if (node?.type !== "array" || !node.items.some(({ type }) => type === "object")) return {};
  const children = node.items.map((item, i): DocumentSymbol => {
    const label = itemName(item, path, i);
    return {
      name: shorten(label.name),
      ...(label.detail !== "" && { detail: label.detail }),
      kind: ITEM_KINDS[path[0]!] ?? SymbolKind.Object,
      ...(isDisabled(item) && { tags: [SymbolTag.Deprecated] }),
      range: document.rangeOf(item.span),
      selectionRange: document.rangeOf(label.span ?? item.span),
    };
  });
  return { children };
}

/** How an item of a list is called, and which of its values says so. */
function itemName(
  item: Node,
  path: readonly string[],
  index: number,
): { name: string; detail: string; span: Span | undefined } {
  const value = (name: string) => memberOf(item, name)?.value;
  const text = (name: string) => plain(value(name));
  const named = (name: string, detail: string, by: string) => ({ name, detail, span: value(by)?.span });
  const last = path.at(-1);
  if (last === "actions" && text("name") !== "") return named(text("name"), text("type"), "name");
  if (last === "alerts" && text("metric") !== "") {
    const condition = [text("statistic"), text("operator") || ">", text("threshold")].filter((part) => part !== "");
    const period = text("period") || "1m";
    const action = text("action");
    return named(`${text("metric")} ${condition.join(" ")}`, `in ${period}${action && ` \u2192 ${action}`}`, "metric");
  }
  if (path[0] === "dns" && path.length === 2 && text("type") !== "") {
    const name = text("name") || "@";
    return named(`${text("type")} ${name}`, plain(value("value")), "name");
  }
  if (path[0] === "inject" && text("type") !== "") {
    return named(text("type"), shorten(text("file") || text("value")), "type");
  }
  if (last === "policy" && text("Effect") !== "")
    return named(`${text("Effect")} ${text("Action")}`.trim(), "", "Effect");
  return { name: `${last} ${index + 1}`, detail: plain(item), span: undefined };
}

function detailOf(value: Node | undefined, path: readonly string[]): string {
  if (path[0] === "redirects" && path.length === 2) {
    const status = plain(memberOf(value, "status")?.value) || "200";
    const location = plain(memberOf(value, "location")?.value);
    const force = plain(memberOf(value, "force")?.value) === "true" ? ", forced" : "";
    return location === "" ? "" : `\u2192 ${shorten(location)} (${status === "200" ? "rewrite" : status}${force})`;
  }
  if (path[0] === "stages" && path.length === 2) {
    return plain(memberOf(value, "domain")?.value) + plain(memberOf(value, "path")?.value);
  }
  // Values in environment may be secret, and an outline is easily seen by others.
  if (path[0] === "environment") return "";
  return plain(value);
}

function kindOf({ value }: Member, path: readonly string[]): SymbolKind {
  const [section] = path;
  if (path.length === 2) {
    if (section === "redirects" || section === "headers") return SymbolKind.Interface;
    if (section === "stages") return SymbolKind.Namespace;
    if (section === "environment") return SymbolKind.Variable;
    if (section === "dns") return SymbolKind.Package;
  }
  if (path.at(-2) === "hooks") return SymbolKind.Function;
  if (section === "logs" && path[1] === "queries" && path.length === 3) return SymbolKind.Function;
  if (path.length === 1 && (value?.type === "object" || value?.type === "array")) return SymbolKind.Module;
  switch (value?.type) {
    case "object":
      return SymbolKind.Object;
    case "array":
      return SymbolKind.Array;
    case "string":
      return SymbolKind.String;
    case "number":
      return SymbolKind.Number;
    case "boolean":
      return SymbolKind.Boolean;
    case "null":
      return SymbolKind.Null;
    default:
      return SymbolKind.Property;
  }
}

const ITEM_KINDS: Readonly<Record<string, SymbolKind>> = {
  actions: SymbolKind.Method,
  alerts: SymbolKind.Event,
  dns: SymbolKind.Field,
  inject: SymbolKind.File,
};

/** Clients strike these out. */
function isDisabled(node: Node | undefined): boolean {
  const disable = memberOf(node, "disable")?.value;
  return disable?.type === "boolean" && disable.value;
}

/** A value on one line; nothing for an object, whose members have lines of their own. */
function plain(node: Node | undefined): string {
  switch (node?.type) {
    case "string":
      return shorten(node.value);
    case "number":
    case "boolean":
      return String(node.value);
    case "array":
      return shorten(
        node.items
          .map(plain)
          .filter((text) => text !== "")
          .join(", "),
      );
    default:
      return "";
  }
}

// An outline shows this much of one line in a side bar of usual width.
const MAX_CHARACTERS = 60;

function shorten(text: string): string {
  // Most names and values are short and plain.
  if (text.length <= MAX_CHARACTERS && /^[!-~]*$/.test(text)) return text;
  const line = text.replace(/\s+/g, " ").trim();
  const characters = [...line];
  return characters.length <= MAX_CHARACTERS ? line : `${characters.slice(0, MAX_CHARACTERS - 1).join("")}\u2026`;
}
