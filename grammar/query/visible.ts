import { HIDDEN } from "../hidden.ts";
import type { Span } from "../problem.ts";
import type { Field, Pipeline } from "./ast.ts";
import { encodeString, escapeOf } from "./literals.ts";
import { printField } from "./print.ts";
import { readPipeline } from "./read.ts";

/**
 * The query without characters that nobody sees: in texts, regular expressions and names they become escapes that mean the
 * same, elsewhere, where they mean nothing, they go. Blanks and tabs stay, and a line ends with a line feed. For boxes that
 * show a query from anywhere: one that turns its order around would look like another. Pure, and for every text; the same
 * again gives the same.
 */
export function visibleQuery(text: string): string {
  let source = text.replace(/\r\n?/g, "\n");
  if (!ODD.test(source)) return source;
  let read = readPipeline(source);
  if (read === undefined) {
    source = escapedByLook(source);
    // The characters that are left are in words, and the grammar takes some of them there.
    read = ODD.test(source) ? readPipeline(source) : undefined;
  }
  if (read !== undefined) source = escapedByTree(read);
  return source.replace(EVERY_ODD, "");
}

/** Each text, expression, name and word that has hidden characters, written anew where it is. */
function escapedByTree({ source, query, pipes }: Pipeline): string {
  // Names that stages give their columns cannot be written with escapes: they lose the characters wherever they are named.
  const aliases = new Set<string>();
  for (const pipe of pipes) {
    if ("aggregates" in pipe) for (const { as } of pipe.aggregates) if (as !== undefined) aliases.add(as.name);
  }
  const edits: { readonly span: Span; readonly text: string }[] = [];
  const visit = (node: unknown, stars: boolean): void => {
    if (typeof node !== "object" || node === null) return;
    const { span, kind } = node as Leaf;
    const own = span === undefined ? "" : source.slice(span.start, span.end);
    // Lists have no span of their own.
    if (span !== undefined && !ODD.test(own)) return;
    const text = writtenAnew(node as Leaf, own, stars, aliases);
    if (text === undefined) for (const part of Object.values(node)) visit(part, kind !== "contains");
    else edits.push({ span: span!, text });
  };
  visit([query.expr, pipes], true);
  let written = "";
  let from = 0;
  for (const { span, text } of edits.sort((a, b) => a.span.start - b.span.start)) {
    written += source.slice(from, span.start) + text;
    from = span.end;
  }
  return written + source.slice(from);
}

/** Undefined for what has such parts. Without `stars` a star in a word stands for itself. */
function writtenAnew(node: Leaf, own: string, stars: boolean, aliases: ReadonlySet<string>): string | undefined {
  if (node.kind === "string") return escapedByLook(own);
  if (node.kind === "word") return `"${encodeString(node.chunks!, stars)}"`;
  if (node.flags !== undefined) return escapedByLook(own, "regex");
  if (node.path === undefined || node.call !== undefined) return undefined;
  const [first] = node.path;
  const isAlias = node.path.length === 1 && first?.kind === "key" && aliases.has(first.key);
  return isAlias ? own : printField(node as Field);
}

/** The properties of the nodes that are written anew. */
interface Leaf {
  readonly kind?: string;
  readonly span?: Span;
  readonly chunks?: readonly string[];
  readonly flags?: string;
  readonly path?: Field["path"];
  readonly call?: Field["call"];
}

/**
 * A text that is no query (yet): what looks as if it were in quotes or in a regular expression gets escapes, the rest is as it
 * was. With `begin`, the text is one regular expression.
 */
function escapedByLook(source: string, begin: Place = ""): string {
  let written = "";
  let inside: Place = "";
  let classAt = 0;
  for (let at = 0; at < source.length; at++) {
    const char = String.fromCodePoint(source.codePointAt(at)!);
    at += char.length - 1;
    if (char === "\n") inside = "";
    if (ODD.test(char)) {
      if (inside === "") written += char;
      else written += inside === "text" ? escapeOf(char) : `\\x{${char.codePointAt(0)!.toString(16)}}`;
      continue;
    }
    if (char === "\\" && inside !== "") {
      const next = source.codePointAt(at + 1);
      const escaped = next === undefined ? "" : String.fromCodePoint(next);
      // A backslash before a hidden one escapes nothing: that becomes an escape itself.
      if (ODD.test(escaped) || escaped === "") continue;
      if (escaped === "\n") inside = "";
      written += char + escaped;
      at += escaped.length;
      continue;
    }
    if (inside === "class" && char === "[") {
      // [:alpha:] does not end the class that it is in.
      const name = NAMED_CLASS.exec(source.slice(at, at + 64))?.[0] ?? char;
      written += name;
      at += name.length - 1;
      continue;
    }
    if (inside === "regex" && char === "[") {
      inside = "class";
      classAt = at;
    } else if (inside === "class") {
      // The first one stands for itself.
      if (char === "]" && !/^\[\^?$/.test(source.slice(classAt, at))) inside = "regex";
    } else if (inside !== "") {
      if (char === (inside === "text" ? '"' : "/")) inside = "";
    } else if (char === '"') {
      inside = "text";
    } else if (
      char === "/" &&
      ((begin === "regex" && at === 0) || beginsRegex(source.slice(Math.max(0, at - 256), at)))
    ) {
      inside = "regex";
    }
    written += char;
  }
  return written;
}

type Place = "" | "text" | "regex" | "class";

/** Only after the operator a regular expression begins; a tilde may be a part of a word, as in a path below a home folder. */
function beginsRegex(before: string): boolean {
  return /~[ \t\n]*$/.test(before) && !/(?:[=<>(,]|\bcontains|\bCONTAINS)[ \t\n]*[^\s"()=<>!,|]*~$/.test(before);
}

const NAMED_CLASS = /^\[:\^?[A-Za-z]*:\]/;

/** Hidden, and no blank that a query may have. */
const ODD = new RegExp(`(?![\\t\\n])[${HIDDEN}]`, "u");
const EVERY_ODD = new RegExp(ODD.source, "gu");
