import { type Directory, isLogPart, logParts, type PartOf, type Profiles, partOf } from "../../schema/index.ts";
import { memberOf } from "../../schema/json.ts";
import type { CloudAnswer, CloudQuestion } from "./cloud.ts";
import { type DocumentKind, ToolDocument } from "./document.ts";
import { pathOfUri, uriOfPath } from "./paths.ts";
import type { EditorSettings } from "./settings.ts";
import type { TrafficNow } from "./traffic.ts";
import type { TrafficQuestion } from "./traffic-question.ts";

/** A document's folder, as far as features may know it. The server provides it; each part may be missing. */
export interface Project {
  /** The folder of tool.json, with a slash at the end. */
  readonly uri?: string;
  readonly directory?: Directory;
  /** The names in a folder of the project, `.` for the project itself; empty if it cannot be read. */
  listFiles?(folder: string): readonly ProjectFile[];
  /** The credentials profiles of the machine, each with its region. */
  profiles?(): Profiles;
  /** The names in the AWS account of its credentials, as far as they were asked for; never waits. */
  cloudNames?(question: CloudQuestion): CloudAnswer;
  /** The traffic of its rules and stages, as far as it was asked for; never waits. */
  traffic?(question: TrafficQuestion | undefined, source: EditorSettings["traffic"]): TrafficNow | undefined;
  /** The project's tool.json: as it is in the editor, else as it is saved. */
  config?(): ToolDocument | undefined;
  /** A configuration of the project by its path, as it is in the editor; undefined if it is not open. */
  openFile?(path: string): ToolDocument | undefined;
}

export interface ProjectFile {
  readonly name: string;
  readonly kind: "file" | "directory";
}

/**
 * The kind of a file, by its name: tool.json or *.tool.json, *.logq, .toolignore, what `logs.include` names, and in the
 * folder of error pages the names that they are looked up by. Undefined for all others: editors send any JSON or HTML file.
 */
export function documentKindOf(uri: string, languageId: string, project: Project): DocumentKind | undefined {
  const slash = uri.lastIndexOf("/");
  const name = uri.slice(slash + 1);
  if (languageId === "toolquery" || name.endsWith(".logq")) return "query";
  if (languageId === "toolignore" || name === ".toolignore") return "ignore";
  if (languageId === "tooltemplate") return "template";
  if (name === "tool.json" || name.endsWith(".tool.json")) return "config";
  if (name.endsWith(".json") && isPart(uri, project)) return "config";
  if (isTemplateName(name) && uri.slice(0, slash + 1) === errorPagesUri(project)) return "template";
  return undefined;
}

function isPart(uri: string, project: Project): boolean {
  const path = pathIn(uri, project);
  return path !== undefined && isLogPart(project.config?.()?.root, path);
}

/** The tool.json that a document is a part of; undefined if it is none that `logs.include` names. */
export function partOfProject(uri: string, project: Project): PartOf | undefined {
  const path = pathIn(uri, project);
  const root = project.config?.()?.root;
  return path !== undefined && isLogPart(root, path) ? partOf(root, path, project.directory) : undefined;
}

/**
 * The other files that share their names with a document: tool.json, and what its `logs.include` names. None for a document
 * that is not among these itself.
 */
export function filesBeside(document: ToolDocument, project: Project): ToolDocument[] {
  const config = project.config?.();
  if (config === undefined || project.directory === undefined) return [];
  if (document.uri !== config.uri && !isPart(document.uri, project)) return [];
  const parts = logParts(config.root, project.directory).flatMap(({ path, text }) => {
    const uri = uriOfPath(config.uri, path);
    const open = project.openFile?.(path);
    return open ?? (uri === undefined ? [] : new ToolDocument({ uri, version: 0, text, kind: "config" }));
  });
  const own = pathFrom(project, document);
  return [config, ...parts].filter((file) => pathFrom(project, file) !== own);
}

/** The path of a document as a sentence names it. */
export function pathFrom({ uri }: Project, document: ToolDocument): string {
  return (uri !== undefined && pathOfUri(uri, document.uri)) || document.name;
}

/** The path of a file from the folder of tool.json. */
function pathIn(uri: string, project: Project): string | undefined {
  if (project.uri === undefined || !uri.startsWith(project.uri)) return undefined;
  try {
    return decodeURIComponent(uri.slice(project.uri.length));
  } catch {
    // A percent sign that starts no byte.
    return undefined;
  }
}

/** The names that error pages are looked up by: a status, a class of them, or all. */
function isTemplateName(name: string): boolean {
  return /^(?:[45]\d\d|[45]xx|error)\.html$/.test(name);
}

/** The folder of error pages, with a slash at the end; undefined without a tool.json, or if they are turned off. */
export function errorPagesUri(project: Project): string | undefined {
  const { uri } = project;
  const document = project.config?.();
  if (uri === undefined || document === undefined) return undefined;
  const settings = document.section("error_pages")?.value;
  const disable = memberOf(settings, "disable")?.value;
  if (disable?.type === "boolean" && disable.value) return undefined;
  const dir = memberOf(settings, "dir")?.value;
  const path = dir?.type === "string" ? dir.value : ".";
  const parts = path.split("/").filter((part) => part !== "" && part !== ".");
  if (parts.includes("..")) return undefined;
  return uri + parts.map((part) => `${encodeURIComponent(part)}/`).join("");
}
