import type { CompletionItem } from "vscode-languageserver-types";
import { memberOf } from "../../../schema/json.ts";
import type { ToolDocument } from "../document.ts";
import { actionBefore, TEMPLATE_FIELDS, TEMPLATE_FUNCTIONS, TEMPLATE_KEYWORDS } from "../template-words.ts";
import { KIND } from "./candidate.ts";

/** Between the braces of an error page: statements, functions, fields and the project's variables. */
export function completeTemplate(
  document: ToolDocument,
  offset: number,
  config: ToolDocument | undefined,
): CompletionItem[] {
  const action = actionBefore(document.text, offset);
  // Within a string there is nothing to complete.
  if (action === undefined || (action.text.replace(/\\./g, "").match(/"/g)?.length ?? 0) % 2 === 1) return [];
  const typed = /[\w.$]*$/.exec(action.text)![0];
  const rest = /^\w*/.exec(document.text.slice(offset))![0];
  const dot = typed.lastIndexOf(".");
  const range = (start: number) => document.rangeOf({ start, end: offset + rest.length });
  const item = (label: string, kind: CompletionItem["kind"], documentation: string, start: number): CompletionItem => ({
    label,
    ...(kind !== undefined && { kind }),
    documentation,
    filterText: label,
    textEdit: { range: range(start), newText: label },
  });
  const fieldsStart = offset - typed.length + dot;
  if (dot >= 0) {
    const owner = typed.slice(0, dot);
    if (owner === ".Variables" || owner === "$.Variables") {
      return variables(config).map((name) => item(`.${name}`, KIND.field, "A variable of tool.json.", fieldsStart));
    }
    if (owner !== "" && owner !== "$") return [];
    return Object.entries(TEMPLATE_FIELDS).map(([name, text]) => item(`.${name}`, KIND.field, text, fieldsStart));
  }
  const start = offset - typed.length;
  const isFirst = /^-?\s*$/.test(action.text.slice(0, action.text.length - typed.length));
  const keywords = isFirst ? Object.entries(TEMPLATE_KEYWORDS) : [];
  const all = [
    ...Object.entries(TEMPLATE_FIELDS).map(([name, text]) => item(`.${name}`, KIND.field, text, start)),
    ...keywords.map(([name, text]) => item(name, KIND.keyword, text, start)),
    ...TEMPLATE_FUNCTIONS.map(({ name, documentation }) => item(name, KIND.function, documentation, start)),
  ];
  return all.map((completion, i) => ({ ...completion, sortText: String(i).padStart(3, "0") }));
}

/** The variables that the built-in page knows, and those of the project that a template can name. */
function variables(config: ToolDocument | undefined): string[] {
  const own = memberOf(config?.section("error_pages")?.value, "variables")?.value;
  const names = own?.type === "object" ? own.members.map(({ key }) => key.value) : [];
  return [...new Set([...names, "color", "support_email"])].filter((name) => /^[A-Za-z_]\w*$/.test(name));
}
