import type { Fix, Problem } from "../grammar/problem.ts";
import type { Node } from "./json.ts";
import { memberSchema, resolve, rootSchema, type Schema } from "./keywords.ts";
import { placeholder } from "./placeholders.ts";

/** The problems of a text's syntax, with a value to write for each setting that has none. */
export function withValues(source: string, root: Node | undefined, problems: readonly Problem[]): readonly Problem[] {
  const lacking = problems.filter(({ code, fix }) => code === "config/value-expected" && fix === undefined);
  if (lacking.length === 0 || root === undefined) return problems;
  const fixes = new Map<Problem, Fix>();
  walk(root, rootSchema, []);
  return problems.map((problem) => {
    const fix = fixes.get(problem);
    return fix === undefined ? problem : { ...problem, hint: problem.hint ?? fix.title.replace("Write", "write"), fix };
  });

  function walk(node: Node, schema: Schema, path: readonly string[]) {
    if (node.type === "array") {
      for (const [i, item] of node.items.entries()) walk(item, resolve(schema.items ?? {}), [...path, String(i)]);
    }
    if (node.type !== "object") return;
    for (const { key, value } of node.members) {
      const inner = memberSchema(schema, key.value);
      const place = [...path, key.value];
      if (value !== undefined) {
        walk(value, inner, place);
        continue;
      }
      const problem = lacking.find(
        ({ span }) => span.start >= key.span.start && isBeside(source, key.span.end, span.start),
      );
      const text = placeholder(root!, node, place, inner) ?? (inner.type === "object" ? "{}" : undefined);
      if (problem === undefined || text === undefined) continue;
      const hasColon = source[problem.span.start] === ":";
      const at = problem.span.end + (hasColon && source[problem.span.end] === " " ? 1 : 0);
      const edit = { span: { start: at, end: at }, text: hasColon ? text : `: ${text}` };
      fixes.set(problem, { title: `Write ${text}`, edits: [edit], isSuggestion: true });
    }
  }
}

/** Whether nothing but blanks is between a key and the place of its problem, which may be the key itself. */
const isBeside = (source: string, keyEnd: number, start: number) =>
  start < keyEnd || source.slice(keyEnd, start).trim() === "";
