// The one way in which expected values of test/vectors are written: `npm run t -- --record NAME` runs a test with RECORD=1,
// and each row gets what the test has found in place of what it expects. Read the difference.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { findNodeAtLocation, type JSONPath, type Node, parseTree } from "jsonc-parser";
import { root } from "./cli.ts";

export const isRecording = process.env.RECORD === "1";

type Members = Readonly<Record<string, unknown>>;

/**
 * Returns what a test calls for each row before it compares it: `record(row, { members as they are })`. It does nothing unless
 * recording. Then it sets these members in the row, so that the comparison is right, and in the file when the process ends; a
 * member that is undefined is removed. `content` is all of the file, as the test has read it.
 */
export function recorderOf(name: string, content: object): (row: object, actual: Members) => void {
  if (!isRecording) return () => {};
  const paths = pathsOf(content);
  const changed: { path: JSONPath; actual: Members }[] = [];
  process.once("exit", () => {
    if (changed.length === 0) return;
    const file = join(root, "test/vectors", name);
    // Read again: another test may have written it meanwhile.
    let text = readFileSync(file, "utf8");
    for (const { path, actual } of changed) text = withMembers(text, path, actual);
    writeFileSync(file, text);
  });
  return (row, actual) => {
    const path = paths.get(row);
    if (path === undefined) throw new Error(`a row that ${name} does not have`);
    const before = row as Record<string, unknown>;
    // As it is read back.
    const plain: Record<string, unknown> = {};
    for (const [key, value] of Object.entries(actual)) {
      plain[key] = value === undefined ? undefined : JSON.parse(JSON.stringify(value));
    }
    const keys = Object.keys(plain).filter((key) => !isDeepStrictEqual(before[key], plain[key]));
    if (keys.length === 0) return;
    changed.push({ path, actual: Object.fromEntries(keys.map((key) => [key, plain[key]])) });
    console.log(`recorded: ${name} ${path.join(".")}: ${keys.join(", ")}`);
    for (const key of keys) {
      if (plain[key] === undefined) delete before[key];
      else before[key] = plain[key];
    }
  };
}

/** Where each object and array is. */
function pathsOf(content: object): Map<object, JSONPath> {
  const paths = new Map<object, JSONPath>([[content, []]]);
  for (const [one, path] of paths) {
    for (const [key, value] of Object.entries(one)) {
      if (typeof value === "object" && value !== null)
        paths.set(value, [...path, Array.isArray(one) ? Number(key) : key]);
    }
  }
  return paths;
}

/** The text with other members at a path, in the format that is there: a row in one line stays in one line. */
export function withMembers(text: string, path: JSONPath, members: Members): string {
  const tree = parseTree(text);
  const node = tree && findNodeAtLocation(tree, [...path]);
  if (node === undefined) throw new Error(`nothing is at ${path.join(".")}`);
  const before = valueAt(node, text) as Record<string, unknown>;
  const after = (Array.isArray(before) ? [...before] : { ...before }) as Record<string, unknown>;
  for (const [key, value] of Object.entries(members)) {
    if (value === undefined) delete after[key];
    else after[key] = value;
  }
  return edited(text, node, after);
}

const valueAt = ({ offset, length }: Node, text: string) => JSON.parse(text.slice(offset, offset + length));

function edited(text: string, node: Node, after: unknown): string {
  const old = text.slice(node.offset, node.offset + node.length);
  const base = /^ */.exec(text.slice(text.lastIndexOf("\n", node.offset) + 1))![0];
  const before = valueAt(node, text);
  if (JSON.stringify(before) === JSON.stringify(after)) return text;
  const style = STYLES.find((style) => printed(before, style, base) === old);
  // Members may each have a format of their own; the last is edited first, as what comes before it keeps its place.
  if (style === undefined && isSameShape(before, after)) {
    const keys = Object.keys(after as object).reverse();
    return keys.reduce((so, key) => {
      const child = findNodeAtLocation(node, [Array.isArray(after) ? Number(key) : key])!;
      return edited(so, child, (after as Members)[key]);
    }, text);
  }
  const chosen = style ?? styleNear(old);
  return text.slice(0, node.offset) + printed(after, chosen, base) + text.slice(node.offset + node.length);
}

const isSameShape = (before: unknown, after: unknown) =>
  typeof before === "object" &&
  typeof after === "object" &&
  before !== null &&
  after !== null &&
  Array.isArray(before) === Array.isArray(after) &&
  Object.keys(before).join("\n") === Object.keys(after).join("\n");

/** How many levels are broken into lines, and how the rest is spaced. */
interface Style {
  readonly levels: number;
  readonly isSpaced: boolean;
  readonly isPadded: boolean;
}

const STYLES: readonly Style[] = [0, 1, 2, 3, 4, Number.POSITIVE_INFINITY].flatMap((levels) =>
  [false, true].flatMap((isSpaced) => [false, true].map((isPadded) => ({ levels, isSpaced, isPadded }))),
);

/** For a text that has no format as a whole. */
function styleNear(text: string): Style {
  const levels = text.includes("\n") ? (/\n\s*\S*[[{]\n/.test(text.slice(1)) ? Number.POSITIVE_INFINITY : 1) : 0;
  return { levels, isSpaced: /": /.test(text), isPadded: /\{ "/.test(text) };
}

function printed(value: unknown, style: Style, indent: string): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  const inner = { ...style, levels: style.levels - 1 };
  const parts = Object.entries(value).map(([key, part]) => {
    const colon = style.isSpaced || style.levels > 0 ? ": " : ":";
    return `${Array.isArray(value) ? "" : `${JSON.stringify(key)}${colon}`}${printed(part, inner, `${indent}  `)}`;
  });
  if (parts.length === 0) return `${open}${close}`;
  if (style.levels > 0) return `${open}\n${indent}  ${parts.join(`,\n${indent}  `)}\n${indent}${close}`;
  const pad = style.isPadded && !Array.isArray(value) ? " " : "";
  return `${open}${pad}${parts.join(style.isSpaced ? ", " : ",")}${pad}${close}`;
}
