import { createScanner, type SyntaxKind } from "jsonc-parser";
import type { Span } from "../../../grammar/problem.ts";
import type { ArrayNode, Member, Node, ObjectNode } from "../../../schema/json.ts";
import { memberSchema, resolve, rootSchema, type Schema } from "../../../schema/shape.ts";
import { lastBefore, type NodePath, type ToolDocument } from "../document.ts";

/** Where something is being written, in a text that need not be whole. */
export interface CursorContext {
  /** A key of `container`, its value, or an item. */
  readonly kind: "key" | "value" | "item";
  readonly container: ObjectNode | ArrayNode;
  /** From the root to the container. */
  readonly path: NodePath;
  readonly schema: Schema;
  /** The key of a value. */
  readonly key: string | undefined;
  /** The number of items before this one. */
  readonly index: number;
  /** The member or item that is being changed; undefined if a new one begins. */
  readonly current: Member | Node | undefined;
  /** The text that is replaced: the token at the cursor with its quotes, or nothing. */
  readonly range: Span;
  /** Whether the token begins with a quote. */
  readonly isQuoted: boolean;
  /** Where a comma is missing before, and whether one must follow. */
  readonly commaBefore: number | undefined;
  readonly commaAfter: boolean;
  /** Whether a key already has its colon. */
  readonly hasColon: boolean;
}

// The kinds of jsonc-parser, a const enum of declarations only.
const OPEN: ReadonlySet<number> = new Set([1, 3]);
const CLOSE: ReadonlySet<number> = new Set([2, 4]);
const COMMA = 5;
const COLON = 6;
const STRING = 10;
const TRIVIA: ReadonlySet<number> = new Set([12, 13, 14, 15]);
const END = 17;

/** The context of a cursor at an offset; undefined outside of the root, in a comment and after a complete value. */
export function cursorAt(document: ToolDocument, offset: number): CursorContext | undefined {
  const innermost = containerAt(document, offset);
  if (innermost === undefined) return undefined;
  const { node: container, path, schema } = innermost;
  const { text } = document;
  const state = stateAt(text, container, offset);
  if (state === undefined) return undefined;
  const { isQuoted, expects, key, commaBefore } = state;
  let { range } = state;
  let following = tokenAfter(text, range.end);
  if (expects === "value" && range.start === range.end && following.onLine && following.startsValue) {
    // Before an existing value: a scalar is replaced; there is nothing to offer around an object.
    if (OPEN.has(following.kind)) return undefined;
    range = { start: range.start, end: following.end };
    following = tokenAfter(text, range.end);
  }
  const hasColon = expects === "key" && following.kind === COLON;
  // A new member begins after it.
  const commaAfter =
    !hasColon &&
    following.kind !== COMMA &&
    following.kind !== END &&
    !CLOSE.has(following.kind) &&
    following.kind !== COLON;
  const current = currentOf(container, range, offset, expects);
  const before = container.type === "array" ? container.items : [];
  return {
    kind: expects,
    container,
    path,
    schema,
    key: expects === "value" ? key : undefined,
    index: before.filter((item) => item.span.end <= offset && item !== current).length,
    current,
    range,
    isQuoted,
    commaBefore,
    commaAfter,
    hasColon,
  };
}

/** The innermost object or array around the offset, one that is never closed included. */
function containerAt(document: ToolDocument, offset: number) {
  let node = document.root;
  let path: NodePath = [];
  let schema: Schema = rootSchema;
  let innermost: { node: ObjectNode | ArrayNode; path: NodePath; schema: Schema } | undefined;
  while (node !== undefined && isAround(document.text, node, offset)) {
    innermost = { node, path, schema };
    if (node.type === "object") {
      const member: Member | undefined = node.members[lastBefore(node.members, ({ key }) => key.span.start, offset)];
      if (member === undefined) break;
      path = [...path, member.key.value];
      schema = memberSchema(schema, member.key.value);
      node = member.value;
    } else {
      const i: number = lastBefore(node.items, ({ span }) => span.start, offset);
      path = [...path, i];
      schema = resolve(schema.items ?? {});
      node = node.items[i];
    }
  }
  return innermost;
}

function isAround(text: string, node: Node, offset: number): node is ObjectNode | ArrayNode {
  if (node.type !== "object" && node.type !== "array") return false;
  if (offset <= node.span.start) return false;
  return offset < node.span.end || !isClosed(text, node);
}

function isClosed(text: string, node: ObjectNode | ArrayNode): boolean {
  const { start, end } = node.span;
  if (end - start < 2 || text[end - 1] !== (node.type === "object" ? "}" : "]")) return false;
  const last = node.type === "object" ? node.members.at(-1)?.value : node.items.at(-1);
  // Its bracket may be that of the last value inside.
  return last === undefined || last.span.end < end;
}

interface State {
  readonly expects: "key" | "value" | "item";
  readonly key: string | undefined;
  readonly range: Span;
  readonly isQuoted: boolean;
  readonly commaBefore: number | undefined;
}

/** Reads the tokens between the last complete member or item and the offset: the text after it may be broken. */
function stateAt(text: string, container: ObjectNode | ArrayNode, offset: number): State | undefined {
  const inObject = container.type === "object";
  const first = inObject ? "key" : "item";
  let expects: "key" | "value" | "item" | "colon" | "separator" = first;
  let key: string | undefined;
  let from = container.span.start + 1;
  /** Where the last value ended that no comma follows. */
  let valueEnd: number | undefined;
  if (inObject) {
    const member = container.members[lastBefore(container.members, ({ key }) => key.span.start, offset - 1)];
    if (member !== undefined) {
      from = member.key.span.start;
      if (member.value !== undefined && isAfter(text, member.value, offset)) {
        from = member.value.span.end;
        valueEnd = from;
        expects = "separator";
      } else if (container.members.indexOf(member) > 0) {
        // The token before decides whether a comma is missing.
        const before = container.members[container.members.indexOf(member) - 1]!;
        from = (before.value ?? before.key).span.end;
        valueEnd = from;
        expects = "separator";
      }
    }
  } else {
    const i = lastBefore(container.items, ({ span }) => span.start, offset - 1);
    const item = container.items[i];
    const before = item !== undefined && !isAfter(text, item, offset) ? container.items[i - 1] : item;
    if (before !== undefined) {
      from = before.span.end;
      valueEnd = from;
      expects = "separator";
    }
  }

  const scanner = createScanner(text, false);
  scanner.setPosition(from);
  let depth = 0;
  for (;;) {
    const kind: SyntaxKind = scanner.scan();
    const start = scanner.getTokenOffset();
    const end = Math.min(start + scanner.getTokenLength(), text.length);
    const isComment = kind === 12 || kind === 13;
    if (isComment && start < offset && (offset < end || (kind === 12 && offset === end))) return undefined;
    if ((kind as number) === END || start >= offset) return finish({ start: offset, end: offset }, false);
    if (TRIVIA.has(kind)) {
      if (end >= offset) return finish({ start: offset, end: offset }, false);
      continue;
    }
    const isString = (kind as number) === STRING;
    const isUnclosed = isString && scanner.getTokenError() === 2;
    const isPunctuation = (kind as number) < 7;
    if (!isPunctuation && (isString && !isUnclosed ? offset < end : offset <= end) && depth === 0) {
      // An unclosed string swallows its line: only what looks like one word belongs to it.
      const rest = /^[^\s",:{}[\]]*/.exec(text.slice(offset, end))![0];
      return finish({ start, end: isUnclosed ? offset + rest.length : end }, isString || text[start] === "'");
    }
    if (OPEN.has(kind)) depth++;
    else if (CLOSE.has(kind)) {
      if (depth === 0) return undefined;
      depth--;
      if (depth === 0) {
        expects = "separator";
        valueEnd = end;
      }
    } else if (depth > 0) {
      // Part of a value that is complete.
    } else if ((kind as number) === COMMA) {
      expects = first;
      key = undefined;
      valueEnd = undefined;
    } else if ((kind as number) === COLON) {
      if (inObject) expects = "value";
    } else if (inObject && (expects === "key" || expects === "separator")) {
      key = isString ? scanner.getTokenValue() : text.slice(start, end);
      expects = "colon";
    } else {
      expects = "separator";
      valueEnd = end;
    }
  }

  function finish(range: Span, isQuoted: boolean): State | undefined {
    if (expects === "colon") return undefined;
    if (expects !== "separator") return { expects, key, range, isQuoted, commaBefore: undefined };
    // A new one may begin after a blank; what touches a value belongs to it.
    if (range.start === valueEnd) return undefined;
    return { expects: first, key: undefined, range, isQuoted, commaBefore: valueEnd };
  }
}

/** Whether a value is complete before the offset, rather than being written. */
function isAfter(text: string, value: Node, offset: number): boolean {
  if (value.span.end < offset) return true;
  if (value.span.end > offset) return false;
  return value.type === "string"
    ? /["']/.test(text[offset - 1]!) && value.span.end - value.span.start > 1
    : "]}".includes(text[offset - 1]!);
}

function currentOf(
  container: ObjectNode | ArrayNode,
  { start, end }: Span,
  offset: number,
  expects: CursorContext["kind"],
): Member | Node | undefined {
  const touches = (span: Span) => span.start < end && start < span.end;
  if (container.type === "array") return start === end ? undefined : container.items.find(({ span }) => touches(span));
  if (expects === "key") return start === end ? undefined : container.members.find(({ key }) => touches(key.span));
  return container.members[lastBefore(container.members, ({ key }) => key.span.start, offset - 1)];
}

interface Following {
  readonly kind: number;
  readonly end: number;
  /** Whether it is on the same line. */
  readonly onLine: boolean;
  /** Whether it is a value rather than the next key or punctuation. */
  readonly startsValue: boolean;
}

function tokenAfter(text: string, offset: number): Following {
  const scanner = createScanner(text, true);
  scanner.setPosition(offset);
  const kind: number = scanner.scan();
  const start = scanner.getTokenOffset();
  const end = start + scanner.getTokenLength();
  const isPunctuation = CLOSE.has(kind) || kind === COMMA || kind === COLON || kind === END;
  const isKey = kind === STRING && scanner.scan() === (COLON as SyntaxKind);
  return { kind, end, onLine: !/[\r\n]/.test(text.slice(offset, start)), startsValue: !isPunctuation && !isKey };
}
