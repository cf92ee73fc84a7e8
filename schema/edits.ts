import type { Fix, TextEdit } from "../grammar/problem.ts";
import { type ArrayNode, type Member, type Node, type ObjectNode, removeMembers } from "./json.ts";

// Changes to a text that keep its formatting: what is put in is set apart as its neighbours are.

/** JSON on one line, with the blanks that people put in. */
export function spaced(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spaced).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([key, part]) => `${JSON.stringify(key)}: ${spaced(part)}`);
  return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
}

/** Puts members, as one text, into an object: before one of its members, or after the last. */
export function insertMember(source: string, object: ObjectNode, text: string, before?: Member): TextEdit {
  const { members } = object;
  if (before !== undefined) {
    const { start } = before.key.span;
    const i = members.indexOf(before);
    const from = i === 0 ? object.span.start + 1 : endOf(members[i - 1]!);
    const blank = blankBefore(source, from, start);
    return { span: { start, end: start }, text: `${text},${blank || " "}` };
  }
  return insertLast(
    source,
    object,
    { end: members.at(-1) && endOf(members.at(-1)!), first: members[0]?.key.span.start },
    text,
  );
}

interface Setting {
  readonly name: string;
  /** As JSON. */
  readonly value: string;
  /** The names of the schema, in its order. */
  readonly order: readonly string[];
}

/** Puts a setting where the schema has it in its order, before the first of those after it. */
export function addition(source: string, object: ObjectNode, { name, value, order }: Setting): Fix {
  const after = order.slice(order.indexOf(name) + 1);
  const before = object.members.find(({ key }) => after.includes(key.value));
  const text = `${JSON.stringify(name)}: ${value}`;
  return { title: `Add ${text}`, edits: [insertMember(source, object, text, before)], isSuggestion: true };
}

/** Puts an item after the last one. */
export function insertItem(source: string, array: ArrayNode, text: string): TextEdit {
  return insertLast(source, array, { end: array.items.at(-1)?.span.end, first: array.items[0]?.span.start }, text);
}

/** Where the first member or item begins and the last one ends; undefined if there is none. */
interface Extent {
  readonly first: number | undefined;
  readonly end: number | undefined;
}

function insertLast(source: string, around: Node, { first, end }: Extent, text: string): TextEdit {
  if (end === undefined || first === undefined) {
    const at = around.span.start + 1;
    const isOpen = around.type === "object" && source[at] === "}";
    return { span: { start: at, end: at }, text: isOpen ? ` ${text} ` : text };
  }
  const blank = blankBefore(source, around.span.start + 1, first);
  return { span: { start: end, end }, text: `,${blank || " "}${text}` };
}

/** The text that separates a member from the one before: the blanks and line ends in front of it. */
function blankBefore(source: string, from: number, to: number): string {
  return /\s*$/.exec(source.slice(from, to))![0];
}

/** Takes a member out. What it says is lost, unless `isLossless`. */
export function removal(object: ObjectNode, member: Member, { isLossless = false } = {}): Fix {
  return {
    title: `Remove "${member.key.value}"`,
    edits: removeMembers(object, new Set([member])),
    ...(!isLossless && { isSuggestion: true }),
  };
}

/** Takes an item out. */
export function removeItem(array: ArrayNode, item: Node): TextEdit {
  const { items } = array;
  const i = items.indexOf(item);
  const next = items[i + 1];
  if (next !== undefined) return { span: { start: item.span.start, end: next.span.start }, text: "" };
  const start = i === 0 ? item.span.start : items[i - 1]!.span.end;
  return { span: { start, end: item.span.end }, text: "" };
}

const endOf = ({ key, value }: Member) => (value ?? key).span.end;
