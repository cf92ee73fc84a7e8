import { didYouMean } from "../../grammar/did-you-mean.ts";
import { type Problem, quote } from "../../grammar/problem.ts";
import type { Expr, Path, Template, TemplateNode } from "../../grammar/template/index.ts";
import type { ObjectNode } from "../json.ts";

/** The meaning of `.` at a place: the root, the variables, or something that nobody knows. */
type Dot = "root" | "variables" | "unknown";

/**
 * A warning for each variable that an error page reads and tool.json does not define. `{{if .Variables.logo}}` asks
 * whether there is one, so there, and in what it guards, only a slip of a name that is defined counts.
 */
export function unknownVariables({ nodes }: Template, variables: ObjectNode | undefined): Problem[] {
  const variableNames = variables?.members.map(({ key }) => key.value) ?? [];
  const problems: Problem[] = [];
  walk(nodes, "root", DOCUMENTED);
  return problems;

  function walk(list: readonly TemplateNode[], dot: Dot, guarded: ReadonlySet<string>) {
    for (const node of list) {
      if (node.kind === "output")
        read(node.expr, dot, hasFallback(node.expr) ? guardedNames(node.expr, dot, guarded) : guarded);
      else if (node.kind === "if") {
        for (const { condition, body } of node.branches) walk(body, dot, guard(condition, dot, guarded));
        walk(node.otherwise, dot, guarded);
      } else if (node.kind === "with") {
        const inner = guard(node.expr, dot, guarded);
        walk(node.body, dotOf(node.expr, dot), inner);
        walk(node.otherwise, dot, guarded);
      }
    }
  }

  /** Reads a condition, and answers the names that are asked for from there on. */
  function guard(expr: Expr, dot: Dot, guarded: ReadonlySet<string>): ReadonlySet<string> {
    const inner = guardedNames(expr, dot, guarded);
    read(expr, dot, inner);
    return inner;
  }

  function read(expr: Expr, dot: Dot, guarded: ReadonlySet<string>) {
    for (const path of paths(expr)) {
      const name = variableOf(path, dot);
      if (name === undefined || variableNames.includes(name.text)) continue;
      const near = didYouMean(name.text, variableNames);
      if (near === undefined && guarded.has(name.text)) continue;
      const hint =
        near !== undefined
          ? `did you mean ${quote(near)}?`
          : variableNames.length === 0
            ? `add it to "variables" of "error_pages" in tool.json`
            : `"variables" of "error_pages" has ${variableNames.map(quote).join(", ")}`;
      // The name's own span may begin with its dot.
      const span = { start: name.span.end - name.text.length, end: name.span.end };
      problems.push({
        code: "template/unknown-variable",
        severity: "warning",
        message: `there is no variable ${quote(name.text)}`,
        hint,
        span,
        ...(near !== undefined &&
          /^[A-Za-z_]\w*$/.test(near) && { fix: { title: `Change to ${near}`, edits: [{ span, text: near }] } }),
      });
    }
  }
}

/** Names that the reference documents for every page: one may do without them. */
const DOCUMENTED: ReadonlySet<string> = new Set(["color", "support_email"]);

/** `{{or .Variables.title "Sorry"}}` does without the variable. */
const hasFallback = (expr: Expr) => expr.kind === "call" && /^(?:and|or|not)$/.test(expr.name.text);

function guardedNames(expr: Expr, dot: Dot, guarded: ReadonlySet<string>): ReadonlySet<string> {
  return new Set([...guarded, ...paths(expr).flatMap((path) => variableOf(path, dot)?.text ?? [])]);
}

function paths(expr: Expr): Path[] {
  if (expr.kind === "path") return [expr];
  return expr.kind === "call" ? expr.args.flatMap(paths) : [];
}

function dotOf(expr: Expr, dot: Dot): Dot {
  if (expr.kind !== "path") return "unknown";
  if (expr.names.length === 0) return expr.fromRoot ? "root" : dot;
  const [first] = expr.names;
  const fromTop = expr.fromRoot || dot === "root";
  return fromTop && expr.names.length === 1 && first!.text === "Variables" ? "variables" : "unknown";
}

/** The variable that a path names: `.Variables.x`, or `.x` inside of `{{with .Variables}}`. */
function variableOf({ names, fromRoot }: Path, dot: Dot): Path["names"][number] | undefined {
  const top = fromRoot ? "root" : dot;
  if (top === "variables") return names[0];
  return top === "root" && names[0]?.text === "Variables" ? names[1] : undefined;
}
