// Small changes of a program, each of which a test should notice. By the positions of the source: types are blanked out
// before it is parsed, and all else stays where it is.
import * as module from "node:module";
import { type Node, parse } from "acorn";

export interface Mutant {
  /** From the root, such as grammar/query/check.ts. */
  readonly file: string;
  readonly operator: string;
  readonly begin: number;
  readonly end: number;
  readonly replacement: string;
}

type Any = Node & Record<string, unknown>;
type Strip = (text: string, options: { mode: "strip" }) => string;
/** Undefined before Node 22.13. */
const strip = (module as unknown as { stripTypeScriptTypes?: Strip }).stripTypeScriptTypes;
export const canStrip = strip !== undefined;

/** The program of a source, its types taken off; each of its characters is where it was. */
export const programOf = (source: string) => strip!(source, { mode: "strip" });

const SWAPPED: Readonly<Record<string, readonly [operator: string, other: string]>> = {
  "<": ["bound", "<="],
  "<=": ["bound", "<"],
  ">": ["bound", ">="],
  ">=": ["bound", ">"],
  "===": ["equality", "!=="],
  "!==": ["equality", "==="],
  "+": ["arithmetic", "-"],
  "-": ["arithmetic", "+"],
  "*": ["arithmetic", "/"],
  "&&": ["logic", "||"],
  "||": ["logic", "&&"],
};

/** All mutants of a source, in its order. */
export function mutantsOf(file: string, source: string): Mutant[] {
  const program = programOf(source);
  const found: Mutant[] = [];
  const add = (operator: string, begin: number, end: number, replacement: string) =>
    found.push({ file, operator, begin, end, replacement });
  const text = ({ start, end }: Node) => source.slice(start, end);
  visit(parse(program, { ecmaVersion: "latest", sourceType: "module" }) as Node as Any, (node) => {
    const child = (name: string) => node[name] as Any;
    switch (node.type) {
      case "BinaryExpression":
      case "LogicalExpression": {
        const [operator, other] = SWAPPED[String(node.operator)] ?? [];
        const [left, right] = [child("left"), child("right")];
        // Between two texts a minus gives nothing that anybody would write.
        const isText = [left, right].some(
          (one) => one.type === "TemplateLiteral" || (one.type === "Literal" && typeof one.value === "string"),
        );
        if (operator !== undefined && !(isText && operator === "arithmetic")) {
          const at = left.end + program.slice(left.end, right.start).indexOf(String(node.operator));
          add(operator, at, at + String(node.operator).length, other!);
        }
        if (node.operator === "??") add("default", left.end, node.end, "");
        break;
      }
      case "IfStatement":
      case "ConditionalExpression": {
        const test = child("test");
        for (const value of ["true", "false"]) add("condition", test.start, test.end, value);
        break;
      }
      case "UnaryExpression":
        if (node.operator === "!") add("negation", node.start, node.start + 1, "");
        break;
      case "ExpressionStatement": {
        const { type } = child("expression");
        if (/^(?:Call|Await|Assignment|Update)Expression$/.test(type) && !/^super\b/.test(text(node)))
          add("statement", node.start, node.end, "{}");
        break;
      }
      case "AwaitExpression":
        add("await", node.start, node.start + "await".length, "void");
        break;
      case "Literal":
        if (typeof node.value === "number") add("number", node.start, node.end, `(${text(node)} + 1)`);
        if (typeof node.value === "boolean") add("boolean", node.start, node.end, String(!node.value));
        if (node.regex !== undefined) loosen(node, text(node), add);
        break;
    }
  });
  return found.sort((a, b) => a.begin - b.begin || a.end - b.end);
}

/** Patterns without their anchors. */
function loosen(node: Node, text: string, add: (operator: string, begin: number, end: number, by: string) => void) {
  const last = text.lastIndexOf("/");
  if (text[1] === "^") add("anchor", node.start + 1, node.start + 2, "");
  if (text[last - 1] === "$" && text[last - 2] !== "\\") add("anchor", node.start + last - 1, node.start + last, "");
}

function visit(node: Any, look: (node: Any) => void): void {
  look(node);
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) {
      if (child !== null && typeof child === "object" && typeof (child as Any).type === "string")
        visit(child as Any, look);
    }
  }
}
