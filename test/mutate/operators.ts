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
type Add = (operator: string, begin: number, end: number, replacement: string) => void;
type Strip = (text: string, options: { mode: "strip" }) => string;
/** Undefined before Node 22.13. */
const strip = (module as unknown as { stripTypeScriptTypes?: Strip }).stripTypeScriptTypes;
export const canStrip = strip !== undefined;

/** The program of a source, its types taken off; each of its characters is where it was. */
export const programOf = (source: string) => strip!(source, { mode: "strip" });

const parsed = (program: string) => parse(program, { ecmaVersion: "latest", sourceType: "module" }) as Node as Any;

/** The source with a change; `undefined` if that is no program. */
export function changed(source: string, { begin, end, replacement }: Mutant): string | undefined {
  const text = source.slice(0, begin) + replacement + source.slice(end);
  try {
    parsed(programOf(text));
    return text;
  } catch {
    return undefined;
  }
}

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
  "/": ["arithmetic", "*"],
  "+=": ["arithmetic", "-="],
  "-=": ["arithmetic", "+="],
  "&&": ["logic", "||"],
  "||": ["logic", "&&"],
};

const METHODS: Readonly<Record<string, string>> = {
  some: "every",
  every: "some",
  startsWith: "endsWith",
  endsWith: "startsWith",
  min: "max",
  max: "min",
};

/** All mutants of a source, in its order. */
export function mutantsOf(file: string, source: string): Mutant[] {
  const program = programOf(source);
  const mutants: Mutant[] = [];
  const add: Add = (operator, begin, end, replacement) => mutants.push({ file, operator, begin, end, replacement });
  visit(parsed(program), (node, parent) => mutantsAt(node, parent, program, add));
  return mutants.sort((a, b) => a.begin - b.begin || a.end - b.end);
}

function mutantsAt(node: Any, parent: Any | undefined, program: string, add: Add): void {
  const child = (name: string) => node[name] as Any;
  const text = program.slice(node.start, node.end);
  const isType = (one: Any, type: string) => one.type === "Literal" && typeof one.value === type;
  switch (node.type) {
    case "BinaryExpression":
    case "LogicalExpression":
    case "AssignmentExpression": {
      const [operator, other] = SWAPPED[String(node.operator)] ?? [];
      const [left, right] = [child("left"), child("right")];
      // Between two texts a minus gives nothing that anybody would write.
      const isText = [left, right].some((one) => one.type === "TemplateLiteral" || isType(one, "string"));
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
      if (/^(?:Call|Await|Assignment|Update)Expression$/.test(type) && !/^super\b/.test(text))
        add("statement", node.start, node.end, "{}");
      break;
    }
    case "ThrowStatement":
      add("statement", node.start, node.end, "{}");
      break;
    case "ReturnStatement": {
      const value = node.argument as Any | null;
      // Booleans and numbers have operators of their own.
      if (value !== null && value.type !== "Literal" && program.slice(value.start, value.end) !== "undefined")
        add("return", value.start, value.end, "undefined");
      break;
    }
    case "ArrayExpression": {
      const [before, last] = (node.elements as Any[]).slice(-2);
      if (last !== undefined) add("element", before?.end ?? last.start, last.end, "");
      else if (before !== undefined) add("element", before.start, before.end, "");
      break;
    }
    case "CallExpression":
    case "MemberExpression": {
      const object = child(node.type === "CallExpression" ? "callee" : "object");
      if (node.optional === true) {
        const at = object.end + program.slice(object.end).indexOf("?.");
        add("optional chain", at, at + 2, node.type === "MemberExpression" && node.computed !== true ? "." : "");
      }
      if (node.type === "CallExpression" && object.type === "MemberExpression") {
        const property = object.property as Any;
        const other = Object.hasOwn(METHODS, String(property.name)) ? METHODS[String(property.name)] : undefined;
        if (object.computed !== true && other !== undefined) add("method", property.start, property.end, other);
      }
      break;
    }
    case "AwaitExpression":
      add("await", node.start, node.start + "await".length, "void");
      break;
    case "Literal":
      if (isType(node, "number")) add("number", node.start, node.end, `(${text} + 1)`);
      if (isType(node, "boolean")) add("boolean", node.start, node.end, String(!node.value));
      if (isType(node, "string") && isForPrograms(node, parent)) add("text", node.start, node.end, '""');
      if (node.regex !== undefined) loosen(node, text, add);
      break;
  }
}

/** Words with a space between them are for people; names of modules and of keys are no values. */
function isForPrograms(node: Any, parent: Any | undefined): boolean {
  const isName = /^(?:Im|Ex)port|^ExpressionStatement$/.test(parent?.type ?? "") || parent?.key === node;
  return !isName && node.value !== "" && !/\S\s+\S/.test(String(node.value));
}

/** Patterns without their anchors. */
function loosen(node: Node, text: string, add: Add) {
  const last = text.lastIndexOf("/");
  if (text[1] === "^") add("anchor", node.start + 1, node.start + 2, "");
  if (text[last - 1] === "$" && text[last - 2] !== "\\") add("anchor", node.start + last - 1, node.start + last, "");
}

function visit(node: Any, look: (node: Any, parent: Any | undefined) => void, parent?: Any): void {
  look(node, parent);
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) {
      if (child !== null && typeof child === "object" && typeof (child as Any).type === "string")
        visit(child as Any, look, node);
    }
  }
}
