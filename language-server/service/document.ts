import type { Position, Range } from "vscode-languageserver-types";
import type { Span } from "../../grammar/problem.ts";
import { withoutComments } from "../../grammar/query/index.ts";
import { Memory } from "../../schema/index.ts";
import {
  type ArrayNode,
  type Member,
  memberOf,
  type Node,
  type ObjectNode,
  offsetInside,
  type ParsedJson,
  parseJson,
  type StringNode,
  spanInside,
} from "../../schema/json.ts";
import { eachLanguage, type LanguagePlace } from "../../schema/languages.ts";
import { memberSchema, resolve, rootSchema, type Schema } from "../../schema/shape.ts";
import { LinePositions } from "./lines.ts";

/** Kind of a text: `config` a tool.json, `query` a *.logq file, `template` an error page, `ignore` a .toolignore. */
export type DocumentKind = "config" | "query" | "template" | "ignore";

export type NodePath = readonly (string | number)[];

/** The node under the cursor, and its place in the tree. */
export interface TreePlace {
  /** The innermost node: a value, or the key itself where `isKey`. */
  readonly node: Node;
  /** The member that the node is the key or the value of. */
  readonly member: Member | undefined;
  readonly isKey: boolean;
  /** From the root to the value (for a key: to its value). */
  readonly path: NodePath;
  /** The part of the schema for the value; empty if there is none. */
  readonly schema: Schema;
}

/** A string or key in one of the languages that the schema marks with `x-language`. */
export interface EmbeddedString {
  /** Such as `query` or `route`: the values of `x-language` in schema/tool.schema.json. */
  readonly language: string;
  readonly node: StringNode;
  readonly isKey: boolean;
  readonly path: NodePath;
  readonly schema: Schema;
  /** Decoded: what the language reads. */
  readonly value: string;
  /** The range in the document of a range in the value. */
  toText(span: Span): Span;
  /** The offset in the value of an offset in the document. */
  toValue(offset: number): number;
}

/** A member of a section, such as one redirect: the key that names it and its value. */
export interface SectionEntry {
  readonly key: StringNode;
  readonly value: Node | undefined;
}

export interface DocumentSource {
  readonly uri: string;
  readonly version: number;
  readonly text: string;
  readonly kind: DocumentKind;
}

/**
 * One version of a text, and what is made of it: each once, when first asked for. A change makes another document.
 * Trees are shared and never changed.
 */
export class ToolDocument implements DocumentSource {
  readonly uri: string;
  readonly version: number;
  readonly text: string;
  readonly kind: DocumentKind;
  /** Results that earlier versions computed; each version hands them on to the next. */
  readonly memory: Memory;
  #lines: LinePositions | undefined;
  #query: string | undefined;
  #parsed: ParsedJson | undefined;
  #strings: readonly EmbeddedString[] | undefined;

  constructor({ uri, version, text, kind }: DocumentSource, memory = new Memory()) {
    this.uri = uri;
    this.version = version;
    this.text = text;
    this.kind = kind;
    this.memory = memory;
    memory.begin();
  }

  /** The name of the file, without its folder. */
  get name(): string {
    return decodeURIComponentSafely(this.uri.slice(this.uri.lastIndexOf("/") + 1));
  }

  /** The query of a query file: its text with blanks in place of comments. */
  get query(): string {
    this.#query ??= withoutComments(this.text);
    return this.#query;
  }

  /** The tolerant tree; undefined if the text is empty, or not JSON at all. */
  get root(): Node | undefined {
    return this.parsed.root;
  }

  /** The tolerant tree with what is wrong about the JSON; nothing for texts of another kind. */
  get parsed(): ParsedJson {
    this.#parsed ??= this.kind === "config" ? parseJson(this.text) : { root: undefined, problems: [], repaired: [] };
    return this.#parsed;
  }

  offsetAt(position: Position): number {
    this.#lines ??= new LinePositions(this.text);
    return this.#lines.offsetAt(position);
  }

  positionAt(offset: number): Position {
    this.#lines ??= new LinePositions(this.text);
    return this.#lines.positionAt(offset);
  }

  rangeOf({ start, end }: Span): Range {
    return { start: this.positionAt(start), end: this.positionAt(end) };
  }

  /** The place at an offset; both ends of a value belong to it. Undefined outside of the root. */
  pathAt(offset: number): TreePlace | undefined {
    const root = this.root;
    if (root === undefined || !touches(root.span, offset)) return undefined;
    let place: TreePlace = { node: root, member: undefined, isKey: false, path: [], schema: rootSchema };
    for (;;) {
      const inner = step(place, offset);
      if (inner === undefined) return place;
      place = inner;
      if (place.isKey) return place;
    }
  }

  /** The value at a path, and what the schema says about it. */
  nodeAt(path: NodePath): { readonly node: Node | undefined; readonly schema: Schema } {
    let node = this.root;
    for (const name of path) {
      node =
        typeof name === "number"
          ? node?.type === "array"
            ? node.items[name]
            : undefined
          : memberOf(node, name)?.value;
    }
    return { node, schema: schemaAt(path) };
  }

  /** Every string and key that is in a language, in the order of the text. */
  strings(): readonly EmbeddedString[] {
    if (this.#strings !== undefined) return this.#strings;
    const strings: EmbeddedString[] = [];
    const { root } = this;
    if (root !== undefined) {
      eachLanguage(root, rootSchema, (language, node, { path, schema, isKey }) => {
        strings.push(new StringInText(this.text, language, node, { path: [...path], schema, isKey }));
      });
    }
    this.#strings = strings;
    return strings;
  }

  /** The string in a language whose quotes enclose the offset. Found without all the others. */
  embeddedAt(offset: number): EmbeddedString | undefined {
    const place = this.pathAt(offset);
    if (place?.node.type !== "string") return undefined;
    const { node, isKey, path, schema } = place;
    if (offset < node.content.start || offset > node.content.end) return undefined;
    const language = isKey ? schemaAt(path.slice(0, -1)).propertyNames?.["x-language"] : schema["x-language"];
    return language === undefined ? undefined : new StringInText(this.text, language, node, place);
  }

  /** A section of the configuration, such as `section("redirects")`. */
  section(name: string): Member | undefined {
    return memberOf(this.root, name);
  }

  /** The redirect and rewrite rules: pattern and rule. */
  routes(): readonly SectionEntry[] {
    return entriesOf(this.section("redirects")?.value);
  }

  /** The header rules: pattern and headers. */
  headers(): readonly SectionEntry[] {
    return entriesOf(this.section("headers")?.value);
  }

  actions(): readonly ObjectNode[] {
    return objectsOf(this.section("actions")?.value);
  }

  alerts(): readonly ObjectNode[] {
    return objectsOf(this.section("alerts")?.value);
  }

  stages(): readonly SectionEntry[] {
    return entriesOf(this.section("stages")?.value);
  }

  /** The hooks of the app, without those of stages. */
  hooks(): readonly SectionEntry[] {
    return entriesOf(this.section("hooks")?.value);
  }

  /** The alerts of the log service: name and alert. */
  logAlerts(): readonly SectionEntry[] {
    return entriesOf(memberOf(this.section("logs")?.value, "alerts")?.value);
  }

  /** The notifications of the log service: name and notification. */
  notifications(): readonly SectionEntry[] {
    return entriesOf(memberOf(this.section("logs")?.value, "notifications")?.value);
  }

  /** The saved queries: name and query. */
  queries(): readonly SectionEntry[] {
    return entriesOf(memberOf(this.section("logs")?.value, "queries")?.value);
  }
}

/** A class, because a long text has many thousands of them. */
class StringInText implements EmbeddedString {
  readonly language: string;
  readonly node: StringNode;
  readonly isKey: boolean;
  readonly path: NodePath;
  readonly schema: Schema;
  readonly #text: string;

  constructor(text: string, language: string, node: StringNode, { path, schema, isKey }: LanguagePlace) {
    this.#text = text;
    this.language = language;
    this.node = node;
    this.isKey = isKey;
    this.path = path;
    this.schema = schema;
  }

  get value(): string {
    return this.node.value;
  }

  // Functions that can be passed on without their string.
  get toText(): (span: Span) => Span {
    return (span) => spanInside(this.#text, this.node, span);
  }

  get toValue(): (offset: number) => number {
    return (offset) => offsetInside(this.#text, this.node, offset);
  }
}

/** The part of the schema for the value at a path; empty if there is none. */
export function schemaAt(path: NodePath): Schema {
  let schema: Schema = rootSchema;
  for (const name of path) {
    schema = typeof name === "number" ? resolve(schema.items ?? {}) : memberSchema(schema, name);
  }
  return schema;
}

function step({ node, path, schema }: TreePlace, offset: number): TreePlace | undefined {
  if (node.type === "array") {
    const i = lastBefore(node.items, ({ span }) => span.start, offset);
    // If two touch, as in [1,2] with the cursor before 2, it is the one that begins here.
    const item = node.items[i];
    if (item === undefined || !touches(item.span, offset)) return undefined;
    return { node: item, member: undefined, isKey: false, path: [...path, i], schema: resolve(schema.items ?? {}) };
  }
  if (node.type !== "object") return undefined;
  const member = node.members[lastBefore(node.members, ({ key }) => key.span.start, offset)];
  if (member === undefined) return undefined;
  const inner = {
    member,
    path: [...path, member.key.value],
    schema: memberSchema(schema, member.key.value),
  };
  if (touches(member.key.span, offset)) return { ...inner, node: member.key, isKey: true };
  if (member.value === undefined || !touches(member.value.span, offset)) return undefined;
  return { ...inner, node: member.value, isKey: false };
}

const touches = ({ start, end }: Span, offset: number) => start <= offset && offset <= end;

/** The index of the last element that starts at or before the offset; -1 if none does. They are in text order. */
export function lastBefore<T>(list: readonly T[], startOf: (element: T) => number, offset: number): number {
  let low = -1;
  let high = list.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (startOf(list[middle]!) <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}

function entriesOf(node: Node | undefined): readonly SectionEntry[] {
  return node?.type === "object" ? node.members : [];
}

function objectsOf(node: Node | undefined): readonly ObjectNode[] {
  return (node as ArrayNode | undefined)?.type === "array"
    ? (node as ArrayNode).items.filter((item) => item.type === "object")
    : [];
}

/** File names may hold a percent sign that starts no byte. */
function decodeURIComponentSafely(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
