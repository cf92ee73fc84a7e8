import type { CompletionItem } from "vscode-languageserver-types";
import type { TextEdit } from "../../../grammar/problem.ts";
import { parseRoute, routeCaptures } from "../../../grammar/route/index.ts";
import { DURATION_UNITS, type DurationUnit } from "../../../grammar/units/duration.ts";
import { CSS_COLORS } from "../../../schema/index.ts";
import type { EmbeddedString, ToolDocument } from "../document.ts";
import { KIND } from "./candidate.ts";

/** Completion inside a string that is in a language of its own: what is replaced is a part of the string. */
export function completeEmbedded(document: ToolDocument, string: EmbeddedString, offset: number): CompletionItem[] {
  const at = string.toValue(offset);
  switch (string.language) {
    case "location":
      return captures(document, string, at);
    case "duration":
      return durationUnits(document, string, at);
    case "color":
      return colors(document, string);
    default:
      return [];
  }
}

/** An item that replaces a part of a string; the edit is one of the string's value. */
function itemInString(
  document: ToolDocument,
  string: EmbeddedString,
  { span, text }: TextEdit,
  more: Omit<CompletionItem, "textEdit">,
): CompletionItem {
  return {
    filterText: string.value.slice(span.start, span.end).startsWith('"') ? text : more.label,
    ...more,
    textEdit: {
      range: document.rangeOf(string.toText(span)),
      newText: JSON.stringify(text).slice(1, -1),
    },
  };
}

/** `:` offers what the pattern of the rule captures. */
function captures(document: ToolDocument, string: EmbeddedString, at: number): CompletionItem[] {
  const before = /:[A-Za-z_]?\w*$/.exec(string.value.slice(0, at));
  const rest = /^\w*/.exec(string.value.slice(at))![0];
  const span = { start: before?.index ?? at, end: before === null ? at : at + rest.length };
  const pattern = String(string.path.at(-2));
  const route = parseRoute(pattern);
  if (!route.ok) return [];
  // A capture is part of a path: it follows a slash or another separator, never a word.
  if (before === null && !/[/\-._?=&]$/.test(string.value.slice(0, at))) return [];
  if (before === null && rest !== "") return [];
  // The scheme and host of an address cannot contain captures.
  const origin = /^[a-z]+:\/{0,2}[^/?#]*/i.exec(string.value)?.[0] ?? "";
  if (at <= origin.length && origin !== "") return [];
  return routeCaptures(route.value).map((name, i) =>
    itemInString(
      document,
      string,
      { span, text: `:${name}` },
      {
        label: `:${name}`,
        kind: KIND.reference,
        detail: name === "splat" ? `what * matches in ${pattern}` : `a segment of ${pattern}`,
        sortText: `0${i}`,
      },
    ),
  );
}

const UNIT_NAMES: Readonly<Record<DurationUnit, string>> = {
  ms: "milliseconds",
  s: "seconds",
  m: "minutes",
  h: "hours",
  d: "days",
  M: "months of 30 days",
};

/** After digits, the units that may follow; in an empty string, some durations. */
function durationUnits(document: ToolDocument, string: EmbeddedString, at: number): CompletionItem[] {
  const { value } = string;
  // alerts[].period and warm_rate are counted in minutes by the platform.
  const units: readonly DurationUnit[] = ["m", "h", "d"];
  const before = /^((?:\d+[a-zA-Z]+)*)(\d+)([a-zA-Z]*)$/.exec(value.slice(0, at));
  if (before === null) {
    if (value.trim() !== "") return [];
    return ["1m", "5m", "15m", "1h"].map((text, i) =>
      itemInString(
        document,
        string,
        { span: { start: 0, end: value.length }, text },
        {
          label: text,
          kind: KIND.unit,
          sortText: `0${i}`,
        },
      ),
    );
  }
  const [, whole = "", digits = "", typed = ""] = before;
  const last = /([a-zA-Z]+)$/.exec(whole)?.[1];
  const lastMs =
    last !== undefined && Object.hasOwn(DURATION_UNITS, last) ? DURATION_UNITS[last as DurationUnit] : Infinity;
  if (/^0+$/.test(digits)) return [];
  const rest = /^[a-zA-Z]*/.exec(value.slice(at))![0];
  const span = { start: whole.length, end: whole.length + digits.length + typed.length + rest.length };
  return units
    .filter((unit) => DURATION_UNITS[unit] < lastMs)
    .map((unit, i) =>
      itemInString(
        document,
        string,
        { span, text: digits + unit },
        {
          label: digits + unit,
          kind: KIND.unit,
          detail: UNIT_NAMES[unit],
          sortText: `0${i}`,
        },
      ),
    );
}

function colors(document: ToolDocument, string: EmbeddedString): CompletionItem[] {
  if (/^#|\(/.test(string.value)) return [];
  return [...CSS_COLORS].map((name) =>
    itemInString(
      document,
      string,
      { span: { start: 0, end: string.value.length }, text: name },
      {
        label: name,
        kind: KIND.color,
        documentation: name,
      },
    ),
  );
}
