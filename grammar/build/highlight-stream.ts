import type { HighlightTable } from "../highlight.ts";
import type { HighlightMachine, MachineLeaf } from "./highlight-machine.ts";
import { forJavaScript } from "./highlight-regex.ts";

/**
 * The source of a TypeScript module with `highlight<Start>(source)` for each start of the table: grammar/highlight.ts runs
 * it.
 */
export function highlighterModule({ highlighting, contexts }: HighlightMachine, madeFrom: string): string {
  const numbers = new Map([...contexts.keys()].map((name, index) => [name, index]));
  const table: HighlightTable = [...contexts.values()].map(({ leaves, textType, endsWithLine }) => ({
    leaves: [
      ...(endsWithLine ? [{ regex: "(?=[\\r\\n])", type: "text" as const, leave: true as const }] : []),
      ...leaves.map(leafOf),
    ],
    ...(textType && { textType }),
  }));
  const functions = highlighting.starts.map((start) => {
    const name = `${start[0]!.toUpperCase()}${start.slice(1)}`;
    return `/** The tokens of any text, as they are to look. Pure, linear; together they cover all that is no blank. */
export function highlight${name}(source: string): HighlightToken[] {
  run${name} ??= createHighlighter(table, ${numbers.get(start)});
  return run${name}(source);
}

let run${name}: ((source: string) => HighlightToken[]) | undefined;`;
  });
  return `// Made from ${madeFrom} by grammar/build. Do not edit.
import { createHighlighter, type HighlightTable, type HighlightToken } from "../highlight.ts";

${functions.join("\n\n")}

const table: HighlightTable = ${JSON.stringify(table, null, 2)};
`;

  function leafOf(leaf: MachineLeaf): HighlightTable[number]["leaves"][number] {
    const { source, groups } = forJavaScript(leaf.pattern);
    const literal = (text: string) => forJavaScript({ kind: "text", text }).source;
    const precededBy = leaf.after === undefined ? "" : `(?<=${literal(leaf.after)})`;
    const notPrecededBy = leaf.notAfter === undefined ? "" : `(?<!${literal(leaf.notAfter)})`;
    const types = groups.map((rule) => (rule === "" ? "" : leaf.parts![rule]!.type));
    return {
      regex: `${leaf.isFirst ? "(?<![^])" : ""}${precededBy}${notPrecededBy}${source}`,
      type: leaf.type,
      ...(types.some((type) => type !== "") && { groups: types }),
      ...(leaf.enter !== undefined && { enter: numbers.get(leaf.enter)! }),
      ...(leaf.leave && { leave: leaf.leave }),
    };
  }
}
