import type { Problem, Span } from "../../grammar/problem.ts";
import { parseTemplate } from "../../grammar/template/index.ts";
import type { Directory } from "../directory.ts";
import type { Node } from "../json.ts";
import type { ProblemReport } from "../report.ts";
import { unknownVariables } from "./template-variables.ts";

interface Templates {
  readonly folder: string;
  /** Where tool.json names the folder. */
  readonly at: Span;
  readonly variables: Node | undefined;
  readonly directory: Directory;
}

/** The error pages of a folder. */
export function checkTemplates(report: ProblemReport, { folder, at, variables, directory }: Templates) {
  if (directory.kind(folder) !== "directory") return;
  for (const name of templateNames()) {
    const parent = folder.replace(/^(\.\/+)+/, "").replace(/\/+$/, "");
    const path = parent === "." || parent === "" ? name : `${parent}/${name}`;
    if (directory.kind(path) !== "file") continue;
    const text = directory.read(path);
    if (text === undefined) continue;
    report.elsewhere({ path, text }, at, checkTemplate(text, variables));
  }
}

/** The problems of an error page, or of it and the variables of tool.json; these are undefined without a tool.json. */
export function checkTemplate(text: string, variables: Node | undefined): readonly Problem[] {
  const parsed = parseTemplate(text);
  if (!parsed.ok) return parsed.problems;
  return unknownVariables(parsed.value, variables?.type === "object" ? variables : undefined);
}

/** The names that error pages are looked up by: every error status, then the two classes, then all. */
function templateNames(): string[] {
  const codes = Array.from({ length: 200 }, (_, i) => `${400 + i}.html`);
  return [...codes, "4xx.html", "5xx.html", "error.html"];
}
