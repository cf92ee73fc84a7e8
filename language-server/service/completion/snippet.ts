import { resolve, type Schema } from "../../../schema/shape.ts";

/** A value as JSON and as a snippet, each scalar in it a place to fill in. */
export interface TextAndSnippet {
  readonly text: string;
  readonly snippet: string;
}

/** Writes a value as it is usually written: an object that contains others on several lines, all else on one line. */
export function write(value: unknown, schema: Schema): TextAndSnippet {
  let stop = 0;
  const text = print(value, schema, "", (plain) => plain);
  const snippet = print(value, schema, "", (plain, part) => {
    stop++;
    return placeholder(stop, plain, part);
  });
  return { text, snippet: stop === 0 ? `${escapeSnippet(text)}$0` : snippet };
}

/** A key and its value. */
export function writeMember(key: string, value: unknown, schema: Schema): TextAndSnippet {
  const name = JSON.stringify(key);
  const written = write(value, schema);
  return { text: `${name}: ${written.text}`, snippet: `${escapeSnippet(name)}: ${written.snippet}` };
}

type Leaf = (plain: string, schema: Schema) => string;

function print(value: unknown, part: Schema, indent: string, leaf: Leaf): string {
  const schema = resolve(part);
  const deeper = `${indent}\t`;
  if (Array.isArray(value)) {
    if (value.length === 0) return leaf("[]", schema);
    const items = value.map((item) => print(item, schema.items ?? {}, value.some(isObject) ? deeper : indent, leaf));
    if (!value.some(isObject)) return `[${items.join(", ")}]`;
    return `[\n${items.map((item) => deeper + item).join(",\n")}\n${indent}]`;
  }
  if (isObject(value)) {
    const entries = Object.entries(value);
    if (entries.length === 0) return leaf("{}", schema);
    const nested = entries.some(([, inner]) => isObject(inner) || (Array.isArray(inner) && inner.some(isObject)));
    const members = entries.map(([key, inner]) => {
      const property = schema.properties?.[key];
      const free = property === undefined;
      const name = JSON.stringify(key);
      const of = property ?? (typeof schema.additionalProperties === "object" ? schema.additionalProperties : {});
      // Names that the user chooses are places to fill in too.
      return `${free ? leaf(name, {}) : name}: ${print(inner, of, nested ? deeper : indent, leaf)}`;
    });
    if (!nested) return `{ ${members.join(", ")} }`;
    return `{\n${members.map((member) => deeper + member).join(",\n")}\n${indent}}`;
  }
  return leaf(JSON.stringify(value), schema);
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function placeholder(stop: number, plain: string, schema: Schema): string {
  if (plain === "[]") return `[$${stop}]`;
  if (plain === "{}") return `{$${stop}}`;
  if (schema.enum !== undefined && plain.startsWith('"')) {
    const first = JSON.parse(plain) as string;
    const words = [first, ...schema.enum.filter((word) => word !== first)];
    return `"\${${stop}|${words.map(escapeChoice).join(",")}|}"`;
  }
  if (plain === "true" || plain === "false") return `\${${stop}|${plain},${plain === "true" ? "false" : "true"}|}`;
  if (plain.startsWith('"')) return `"\${${stop}:${escapeSnippet(plain.slice(1, -1))}}"`;
  return `\${${stop}:${escapeSnippet(plain)}}`;
}

/** The snippet syntax of the protocol: `$`, `}` and the backslash mean something. */
export const escapeSnippet = (text: string) => text.replace(/[$}\\]/g, "\\$&");
const escapeChoice = (text: string) => text.replace(/[$}\\,|]/g, "\\$&");
