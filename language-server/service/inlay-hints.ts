import { type InlayHint, InlayHintKind, type Range } from "vscode-languageserver-types";
import type { Span } from "../../grammar/problem.ts";
import { type Expr, parsePipeline, printField } from "../../grammar/query/index.ts";
import { humanBytes } from "../../grammar/units/bytes.ts";
import { humanDuration, parseDuration } from "../../grammar/units/duration.ts";
import type { Node } from "../../schema/json.ts";
import { memberSchema, resolve, rootSchema, type Schema } from "../../schema/shape.ts";
import type { EmbeddedString, ToolDocument } from "./document.ts";

/**
 * Hints after values that say what they mean: the unit of a number (`15` s), a duration in other words (`90m` =
 * 1h 30m), the unit of a bare number in a query, and the defaults of a section that is written but empty.
 */
export function inlayHints(document: ToolDocument, range: Range): InlayHint[] {
  const start = document.offsetAt(range.start);
  const end = document.offsetAt(range.end);
  const hints: InlayHint[] = [];
  const add: Add = (offset, label, tooltip) => {
    if (offset < start || offset > end) return;
    const position = document.positionAt(offset);
    hints.push({ position, label, kind: InlayHintKind.Type, paddingLeft: true, ...(tooltip && { tooltip }) });
  };
  if (document.kind === "query") hintQuery(document.query, (offset) => offset, add);
  if (document.root !== undefined) hintNode(document.root, rootSchema, { start, end }, add);
  for (const string of document.strings()) {
    const { span } = string.node;
    if (span.end < start || span.start > end) continue;
    if (string.language === "duration") hintDuration(string, add);
    if (string.language === "query") {
      hintQuery(string.value, (offset) => string.toText({ start: offset, end: offset }).end, add);
    }
  }
  return hints.sort((a, b) => a.position.line - b.position.line || a.position.character - b.position.character);
}

type Add = (offset: number, label: string, tooltip?: string) => void;

function hintNode(node: Node, part: Schema, bounds: Span, add: Add) {
  if (node.span.end < bounds.start || node.span.start > bounds.end) return;
  const schema = resolve(part);
  const unit = schema["x-unit"];
  if (node.type === "number" && unit !== undefined) add(node.span.end, withUnit(node.value, unit));
  if (node.type === "array" && schema.items !== undefined) {
    for (const item of node.items) hintNode(item, schema.items, bounds, add);
  }
  if (node.type !== "object") return;
  if (node.members.length === 0) hintDefaults(node.span.end, schema, add);
  for (const { key, value } of node.members) {
    if (value !== undefined) hintNode(value, memberSchema(schema, key.value), bounds, add);
  }
}

/** `s`, and what many seconds or megabytes are. */
function withUnit(value: number, unit: string): string {
  const ms = unit === "s" ? value * 1000 : unit === "ms" ? value : undefined;
  const rounded = ms !== undefined && ms > 0 && Number.isSafeInteger(ms) ? humanDuration(ms) : undefined;
  if (unit === "MB" && value >= 1024) return `${unit} = ${humanBytes(value * 1024 * 1024)}`;
  const isPlain = rounded === undefined || rounded === `${value}${unit}`;
  return isPlain ? unit : `${unit} = ${rounded}`;
}

/** A duration in seconds; if it is longer than an hour, in days, hours and minutes. */
function hintDuration({ node, value }: EmbeddedString, add: Add) {
  const parsed = parseDuration(value);
  if (!parsed.ok) return;
  const seconds = parsed.value / 1000;
  // Beyond an hour a number of seconds is hard to read.
  const text = seconds <= 3600 ? `${seconds} s` : humanDuration(parsed.value);
  if (text.replaceAll(" ", "") !== value) add(node.span.end, `= ${text}`);
}

/** The specification's units of a bare number, by field. */
const BARE_UNITS: Readonly<Record<string, string>> = { duration: "ms", size: "b" };

function hintQuery(source: string, offsetOf: (offset: number) => number, add: Add) {
  const parsed = parsePipeline(source);
  const visit = (expr: Expr | undefined) => {
    if (expr?.kind === "and" || expr?.kind === "or") for (const term of expr.terms) visit(term);
    if (expr?.kind === "not") visit(expr.term);
    if (expr?.kind !== "comparison" && expr?.kind !== "in") return;
    const name = printField(expr.field);
    const unit = Object.hasOwn(BARE_UNITS, name) ? BARE_UNITS[name] : undefined;
    if (unit === undefined) return;
    for (const value of expr.kind === "in" ? expr.values : [expr.value]) {
      if (value.kind === "number" && value.unit === undefined) add(offsetOf(value.span.end), unit);
    }
  };
  if (parsed.ok) visit(parsed.value.query.expr);
}

// More would push the rest of the line out of sight; the tooltip has all.
const MAX_LABEL_LENGTH = 60;

function hintDefaults(offset: number, { properties = {} }: Schema, add: Add) {
  const defaults = Object.entries(properties).flatMap(([name, part]) => {
    const { default: value, "x-unit": unit, "x-language": language } = resolve(part);
    const text = JSON.stringify(value ?? "");
    // The command of an app follows from its files; an object cannot be said in a word.
    const isNothing = hasObject(value) || text === '""' || text === "[]" || text === "{}" || language === "command";
    return isNothing ? [] : [`${name} ${valueText(value)}${unit === undefined ? "" : ` ${unit}`}`];
  });
  if (defaults.length === 0) return;
  const label = defaults.join(", ");
  const isLong = label.length > MAX_LABEL_LENGTH;
  const short = isLong ? `${label.slice(0, label.lastIndexOf(", ", MAX_LABEL_LENGTH))}, \u2026` : label;
  add(offset, short, `Defaults: ${label}`);
}

function hasObject(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(hasObject);
  return typeof value === "object" && value !== null;
}

function valueText(value: unknown): string {
  return Array.isArray(value) ? value.map(valueText).join(" ") : String(value);
}
