import type { Fix, Span, TextEdit } from "../grammar/problem.ts";
import { parseDuration } from "../grammar/units/duration.ts";
import { spaced } from "./edits.ts";
import { type ArrayNode, isJson, type Node, plainValue, type StringNode } from "./json.ts";
import { resolve, type Schema } from "./keywords.ts";

/** The value that was meant by one of the wrong type. */
export interface Coerced {
  /** For later checks; its span is that of the value as written. */
  readonly node: Node;
  /** The same for a message, after "write". */
  readonly wording: string;
  readonly fix: Fix | undefined;
}

interface Written {
  readonly source: string;
  readonly node: Node;
  readonly schema: Schema;
  readonly types: readonly (string | undefined)[];
  /** As it is in the source. */
  readonly text: string;
}

/** The value that a value of the wrong type was meant to be; undefined if that cannot be told. */
export function coerce(source: string, node: Node, schema: Schema): Coerced | undefined {
  const text = source.slice(node.span.start, node.span.end);
  const written = { source, node, schema, types: [schema.type].flat(), text };
  for (const read of READINGS) {
    const meant = read(written);
    if (meant !== undefined) return meant;
  }
  return undefined;
}

const READINGS: readonly ((written: Written) => Coerced | undefined)[] = [
  asJson,
  asNumber,
  asBoolean,
  asWhole,
  rulesByPattern,
  outOfArray,
  outOfObject,
  asDuration,
  asString,
  asArray,
  asObject,
];

/** An object or a list that is written in a string. */
function asJson({ node, types }: Written): Coerced | undefined {
  if (node.type !== "string" || !/^\s*[[{]/.test(node.value)) return undefined;
  if (!types.includes(/^\s*\[/.test(node.value) ? "array" : "object") || !isJson(node.value)) return undefined;
  const inner = node.value.trim();
  const wording = inner.length <= 40 ? inner : "it without quotes";
  const meant = nodeOf(JSON.parse(inner), node.span);
  return { node: meant, wording, fix: replaced("Write it without quotes", node, inner) };
}

/** `"512"`, `"512MB"`, `"15000ms"` for a number. */
function asNumber(written: Written): Coerced | undefined {
  const { node, types, schema } = written;
  if (node.type !== "string" || !(types.includes("integer") || types.includes("number"))) return undefined;
  const value = numberOf(node.value.trim(), schema, types.includes("number"));
  return value === undefined ? undefined : literal(written, value);
}

function numberOf(text: string, { "x-unit": unit }: Schema, isFraction: boolean): number | undefined {
  if ((isFraction ? /^-?\d{1,15}(\.\d{1,15})?$/ : /^-?\d{1,15}(\.0{1,6})?$/).test(text)) return Number(text);
  if (unit === undefined) return undefined;
  const [, amount, name] = /^(\d{1,15}(?:\.\d{1,6})?)\s*([a-z]+)$/i.exec(text) ?? [];
  if (amount === undefined) return undefined;
  let value: number | undefined;
  if (name!.toLowerCase() === unit.toLowerCase()) value = Number(amount);
  else if (unit === "MB") {
    const scale: Record<string, number> = {
      m: 1,
      mib: 1,
      megabytes: 1,
      g: 1024,
      gb: 1024,
      gib: 1024,
      k: 1 / 1024,
      kb: 1 / 1024,
    };
    value = Number(amount) * (scale[name!.toLowerCase()] ?? Number.NaN);
  } else value = inUnit(text, unit);
  return value !== undefined && (Number.isInteger(value) || (isFraction && Number.isFinite(value))) ? value : undefined;
}

/** A duration in seconds or milliseconds. */
function inUnit(text: string, unit: string): number | undefined {
  const plain = text.replace(/\s+/g, "");
  const parsed = parseDuration(plain);
  const fixed = parsed.ok ? undefined : parsed.problems[0]?.fix?.edits[0];
  const read = fixed
    ? parseDuration(plain.slice(0, fixed.span.start) + fixed.text + plain.slice(fixed.span.end))
    : parsed;
  return read.ok ? read.value / (unit === "s" ? 1000 : 1) : undefined;
}

/** `"yes"`, `1` for true. */
function asBoolean(written: Written): Coerced | undefined {
  const { node, types, text } = written;
  if (!types.includes("boolean")) return undefined;
  const word = node.type === "string" ? node.value.trim().toLowerCase() : node.type === "number" ? text : "";
  const isNumber = /^[01]$/.test(word);
  if (!Object.hasOwn(BOOLEANS, word) || (isNumber && types.length > 1)) return undefined;
  return literal(written, BOOLEANS[word]!);
}

/** As other formats of configuration spell them. */
const BOOLEANS: Readonly<Record<string, boolean>> = {
  true: true,
  false: false,
  yes: true,
  no: false,
  on: true,
  off: false,
  1: true,
  0: false,
  enabled: true,
  disabled: false,
};

/** A fraction where a whole number is wanted: the nearest one, within bounds. */
function asWhole(written: Written): Coerced | undefined {
  const { node, types, schema } = written;
  if (node.type !== "number" || !types.includes("integer")) return undefined;
  const near = Math.max(schema.minimum ?? -Infinity, Math.min(schema.maximum ?? Infinity, Math.round(node.value)));
  return Number.isSafeInteger(near) ? suggested(literal(written, near)) : undefined;
}

/** `[{ "from": "/a", "to": "/b" }]`, as other formats of configuration have it, for rules by their patterns. */
function rulesByPattern({ node, types, schema }: Written): Coerced | undefined {
  if (node.type !== "array" || node.items.length === 0 || !types.includes("object")) return undefined;
  const { propertyNames, additionalProperties } = schema;
  if (propertyNames?.["x-language"] !== "route" || typeof additionalProperties !== "object") return undefined;
  const { title } = resolve(additionalProperties) as Schema & { title?: string };
  const rules = new Map<string, object | undefined>();
  for (const item of node.items) {
    if (item.type !== "object") return undefined;
    const members = item.members.map(({ key, value }): [string, unknown] => [
      RULE_NAMES.get(key.value) ?? key.value,
      value && plainValue(value),
    ]);
    const { pattern, ...others } = Object.fromEntries(members.toReversed());
    if (typeof pattern !== "string" || rules.has(pattern)) return undefined;
    // A setting that is written twice has two meanings.
    const isClear = new Set(members.map(([name]) => name)).size === members.length;
    rules.set(pattern, isClear ? (title === "Redirect" ? redirectOf(others) : headersOf(others)) : undefined);
  }
  // Empty, as what is wrong in one of them has no place of its own.
  const meant = nodeOf({}, node.span);
  if ([...rules.values()].includes(undefined)) {
    return { node: meant, wording: `{ ${JSON.stringify([...rules.keys()][0])}: { ... } }`, fix: undefined };
  }
  const wording = spaced(Object.fromEntries(rules));
  const fix: Fix = { ...replaced("Write the rules by their patterns", node, wording), isSuggestion: true };
  return { node: meant, wording, fix };
}

const RULE_NAMES: ReadonlyMap<string, string> = new Map([
  ...["from", "source", "src", "path", "for", "pattern"].map((name) => [name, "pattern"] as const),
  ...["to", "destination", "dest", "target", "url"].map((name) => [name, "location"] as const),
  ...["statusCode", "status_code", "code"].map((name) => [name, "status"] as const),
  ["values", "headers"],
]);

function redirectOf({ location, status, permanent, ...others }: Record<string, unknown>): object | undefined {
  if (typeof location !== "string" || Object.keys(others).length > 0) return undefined;
  if (permanent === undefined) {
    if (status === undefined) return { location };
    return typeof status === "number" ? { location, status } : undefined;
  }
  if (typeof permanent !== "boolean") return undefined;
  // As those formats have it that know the word.
  const code = permanent ? 308 : 307;
  return status === undefined || status === code ? { location, status: code } : undefined;
}

/** An object of texts, or a list of names with values. */
function headersOf({ headers, ...others }: Record<string, unknown>): object | undefined {
  if (Object.keys(others).length > 0 || typeof headers !== "object" || headers === null) return undefined;
  const entries: readonly (readonly unknown[])[] = Array.isArray(headers)
    ? headers.map(headerOf)
    : Object.entries(headers);
  const isText = (entry: readonly unknown[]): entry is readonly [string, string] =>
    entry.every((text) => typeof text === "string");
  if (entries.length === 0 || !entries.every(isText)) return undefined;
  // An object has each name once.
  const names = new Set(entries.map(([name]) => name.toLowerCase()));
  return names.size === entries.length ? Object.fromEntries(entries) : undefined;
}

function headerOf(one: unknown): readonly unknown[] {
  const { key, name = key, value, ...others } = (one ?? {}) as Record<string, unknown>;
  const isClear = (key === undefined || key === name) && Object.keys(others).length === 0;
  return isClear ? [name, value] : [undefined];
}

/** `["app"]` for one value, `[{ ... }]` for an object. */
function outOfArray({ source, node, types }: Written): Coerced | undefined {
  const [only, second] = node.type === "array" && !types.includes("array") ? node.items : [];
  if (only === undefined || second !== undefined) return undefined;
  if (!types.includes(only.type === "number" && !types.includes("number") ? "integer" : only.type)) return undefined;
  const inner = source.slice(only.span.start, only.span.end);
  const wording = inner.length <= 40 && !inner.includes("\n") ? inner : "it without [ ]";
  return { node: only, wording, fix: { title: "Take it out of the array", edits: [{ span: node.span, text: inner }] } };
}

/** `{ "value": 512 }` for one value. */
function outOfObject({ source, node, types }: Written): Coerced | undefined {
  const [only, second] = node.type === "object" && !types.includes("object") ? node.members : [];
  const value = only?.value;
  if (value === undefined || second !== undefined || value.type === "object" || value.type === "array")
    return undefined;
  if (!types.includes(value.type === "number" && !types.includes("number") ? "integer" : value.type)) return undefined;
  const inner = source.slice(value.span.start, value.span.end);
  return {
    node: value,
    wording: inner,
    fix: { title: `Change to ${inner}`, edits: [{ span: node.span, text: inner }], isSuggestion: true },
  };
}

/** A number for a duration: minutes, or seconds that are whole minutes. */
function asDuration(written: Written): Coerced | undefined {
  const { node, types, schema } = written;
  if (node.type !== "number" || !types.includes("string") || schema["x-language"] !== "duration") return undefined;
  if (!Number.isSafeInteger(node.value) || node.value <= 0) return undefined;
  const minutes = node.value >= 60 && node.value % 60 === 0 ? node.value / 60 : node.value;
  return suggested(text(written, `${minutes}m`));
}

/** `3000` for a text. */
function asString(written: Written): Coerced | undefined {
  const { node, types, schema } = written;
  if ((node.type !== "number" && node.type !== "boolean") || types.length !== 1 || types[0] !== "string")
    return undefined;
  if (schema.enum !== undefined && !schema.enum.includes(written.text)) return undefined;
  const language = schema["x-language"];
  if (language !== undefined && language !== "path") return undefined;
  return text(written, written.text);
}

/** One value, or several in one text, for a list. */
function asArray({ node, types, schema, text, source }: Written): Coerced | undefined {
  if (!types.includes("array") || types.includes(node.type)) return undefined;
  const item = schema.items && resolve(schema.items);
  const { span } = node;
  if (node.type === "string" && item?.type === "string") {
    const words = node.value.split(",").map((word) => word.trim());
    // Blanks and other signs are a part of texts such as commands, queries and records.
    const isList =
      words.length > 1 && words.every((word) => /^[\w.:/*@+-]+$/.test(word)) && item["x-language"] !== "command";
    if (isList) {
      const wording = spaced(words);
      const items = words.map((value): StringNode => ({ type: "string", span, value, content: span }));
      return {
        node: { type: "array", span, items },
        wording,
        fix: { title: "Write it as a list", edits: [{ span, text: wording }] },
      };
    }
  }
  if (node.type === "object" && item?.type === "object") {
    const named = namedItems(source, node, item);
    if (named !== undefined)
      return { node: nodeOf([], span), wording: "a list", fix: replaced("Write it as a list", node, named) };
  }
  if (isEmpty(node)) return { node: nodeOf([], span), wording: "[]", fix: replaced("Change to []", node, "[]") };
  // A value without quotes of its own, or with a slip inside, is put right first.
  const isWhole = node.type !== "object" || (text.startsWith("{") && text.endsWith("}"));
  if (item?.type !== node.type || !isWhole) return undefined;
  const edits = [
    { span: { start: span.start, end: span.start }, text: "[" },
    { span: { start: span.end, end: span.end }, text: "]" },
  ];
  const wrapped: ArrayNode = { type: "array", span, items: [node] };
  const wording = text.length <= 40 && !text.includes("\n") ? `[${text}]` : "[ ] around it";
  return { node: wrapped, wording, fix: { title: "Put it in an array", edits } };
}

/** `{ "ops": { ... } }` for a list of objects that each have a name. */
function namedItems(source: string, node: Node, item: Schema): string | undefined {
  if (node.type !== "object" || node.members.length === 0 || !Object.hasOwn(item.properties ?? {}, "name"))
    return undefined;
  if (node.members.some(({ key, value }) => value?.type !== "object" || Object.hasOwn(item.properties!, key.value)))
    return undefined;
  const items = node.members.map(({ key, value }) => {
    const { start, end } = value!.span;
    const inner = source.slice(start + 1, end - 1).trim();
    return `{ "name": ${JSON.stringify(key.value)}${inner === "" ? "" : `, ${inner}`} }`;
  });
  return `[${items.join(", ")}]`;
}

/** For a section: its main setting, pairs in texts, names of empty members. */
function asObject(written: Written): Coerced | undefined {
  const { node, types, schema, text } = written;
  if (!types.includes("object") || types.includes(node.type)) return undefined;
  if (isEmpty(node) || (node.type === "array" && node.items.length === 0)) {
    return { node: nodeOf({}, node.span), wording: "{}", fix: replaced("Change to {}", node, "{}") };
  }
  const inner =
    (isJson(text) ? mainSetting(node, schema, text) : undefined) ?? pairs(node, schema) ?? emptyMembers(node, schema);
  if (inner === undefined) return undefined;
  const meant = nodeOf(JSON.parse(inner), node.span);
  return { node: meant, wording: inner, fix: { ...replaced(`Change to ${inner}`, node, inner), isSuggestion: true } };
}

/** A value as if it were written at a place. */
function nodeOf(value: unknown, span: Span): Node {
  if (typeof value === "string") return { type: "string", span, value, content: span };
  if (typeof value === "number") return { type: "number", span, value };
  if (typeof value === "boolean") return { type: "boolean", span, value };
  if (Array.isArray(value)) return { type: "array", span, items: value.map((item) => nodeOf(item, span)) };
  if (value === null) return { type: "null", span };
  const members = Object.entries(value as object).map(([key, part]) => {
    const name: StringNode = { type: "string", span, value: key, content: span };
    return { key: name, value: nodeOf(part, span) };
  });
  return { type: "object", span, members };
}

/** The settings that a section is mostly written for. `disable` and `enable` take true and false. */
const MAIN: Readonly<Record<string, readonly string[]>> = {
  Backoff: ["attempts"],
  Cors: ["enable", "allowed_origins"],
  ErrorPages: ["disable", "dir"],
  FunctionSettings: ["memory"],
  Hooks: ["build"],
  Injection: [],
  Logs: ["disable", "stdout"],
  Proxy: ["command"],
  Redirect: ["location"],
  Stage: ["domain"],
  StageProxy: ["command"],
  Static: ["dir"],
};

function mainSetting(node: Node, { title = "", properties = {} }: Schema & { title?: string }, text: string) {
  for (const name of MAIN[title] ?? []) {
    const setting = resolve(properties[name]!);
    const types = [setting.type].flat();
    if (node.type === "boolean" && types.includes("boolean")) {
      return `{ "${name}": ${name === "disable" ? !node.value : node.value} }`;
    }
    if (node.type === "number" && types.includes("integer")) return `{ "${name}": ${text} }`;
    if (node.type === "string" && types.includes("string") && (setting.enum?.includes(node.value) ?? true)) {
      return `{ "${name}": ${text} }`;
    }
    const isList = node.type === "array" && node.items.every(({ type }) => type === "string");
    if (types.includes("array") && isList) return `{ "${name}": ${text} }`;
    if (types.includes("array") && !types.includes("string") && node.type === "string")
      return `{ "${name}": [${text}] }`;
  }
  return undefined;
}

/** `"A=b"`, `["A=b"]`, `[{ "name": "A", "value": "b" }]` for a map of texts. */
function pairs(node: Node, { additionalProperties }: Schema): string | undefined {
  if (typeof additionalProperties !== "object" || resolve(additionalProperties).type !== "string") return undefined;
  const entries = new Map<string, string>();
  const items = node.type === "array" ? node.items : [node];
  for (const item of items) {
    let pair: [string, string] | undefined;
    if (item.type === "string") {
      const parts = /^([^=:\s]+)\s*(?:=|:\s)\s*(.*)$/s.exec(item.value);
      if (parts !== null) pair = [parts[1]!, parts[2]!];
    } else if (item.type === "object") {
      const texts = item.members.map(({ value }) => (value?.type === "string" ? value.value : undefined));
      const isPair = item.members.length === 2 && /^(name|key)$/i.test(item.members[0]!.key.value);
      if (isPair && texts[0] !== undefined && texts[1] !== undefined) pair = [texts[0], texts[1]];
      else if (item.members.length === 1 && texts[0] !== undefined) pair = [item.members[0]!.key.value, texts[0]];
    }
    if (pair === undefined || entries.has(pair[0])) return undefined;
    entries.set(...pair);
  }
  return spaced(Object.fromEntries(entries));
}

/** `["staging"]` for a map of sections. */
function emptyMembers(node: Node, { additionalProperties }: Schema): string | undefined {
  if (typeof additionalProperties !== "object" || resolve(additionalProperties).required !== undefined)
    return undefined;
  if (resolve(additionalProperties).type !== "object" || node.type !== "array") return undefined;
  const names = node.items.flatMap((item) => (item.type === "string" ? item.value : []));
  return names.length === node.items.length ? spaced(Object.fromEntries(names.map((name) => [name, {}]))) : undefined;
}

const isEmpty = (node: Node) =>
  (node.type === "object" && node.members.length === 0) || (node.type === "string" && node.value.trim() === "");

function literal({ source, node: { span } }: Written, value: number | boolean): Coerced {
  const wording = String(value);
  const node: Node = typeof value === "number" ? { type: "number", span, value } : { type: "boolean", span, value };
  // Without its quotes it would melt into whatever is right beside it.
  const isGlued = /[\w.+'-]/.test((source[span.start - 1] ?? "") + (source[span.end] ?? ""));
  return {
    node,
    wording,
    fix: isGlued ? undefined : { title: `Change to ${wording}`, edits: [{ span, text: wording }] },
  };
}

function text({ source, node: { span } }: Written, value: string): Coerced {
  const quoted = JSON.stringify(value);
  const isGlued = /[\w.+'-]/.test((source[span.start - 1] ?? "") + (source[span.end] ?? ""));
  const node: StringNode = { type: "string", span, value, content: span };
  return {
    node,
    wording: quoted,
    fix: isGlued ? undefined : { title: `Change to ${quoted}`, edits: [{ span, text: quoted }] },
  };
}

function suggested(coerced: Coerced): Coerced {
  return coerced.fix === undefined ? coerced : { ...coerced, fix: { ...coerced.fix, isSuggestion: true } };
}

const replaced = (title: string, { span }: Node, text: string): Fix => {
  const edits: readonly TextEdit[] = [{ span, text }];
  return { title, edits };
};
