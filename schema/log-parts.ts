import type { Directory } from "./directory.ts";
import { memberOf, type Node, parseByLines } from "./json.ts";

/** The sections of `logs` whose entries have names: those of the log service. */
export const LOG_SECTIONS = ["queries", "alerts", "notifications"] as const;

export type LogSection = (typeof LOG_SECTIONS)[number];

/** A file that `logs.include` of a tool.json names. */
export interface LogPart {
  /** Relative to the folder of tool.json. */
  readonly path: string;
  readonly text: string;
}

/** Which files have an entry of each name: tool.json first, then the included ones by their path. */
export type LogNames = Readonly<Record<LogSection, ReadonlyMap<string, readonly string[]>>>;

/** An included file is checked as a part of the tool.json that names it. */
export interface PartOf {
  /** The tree of tool.json. */
  readonly root: Node | undefined;
  /** The path of the part. */
  readonly path: string;
  readonly names: LogNames;
}

/** The part at a path of a project. */
export function partOf(root: Node | undefined, path: string, directory: Directory | undefined): PartOf {
  return { root, path, names: logNamesOf(root, directory) };
}

/** Whether a link at a path leads out of the project, as `..` would. */
export const leadsOut = (path: string, directory: Directory) => directory.leadsOutOf?.(".", path) === true;

/** The files that `logs.include` names, by their paths. Those that cannot be read, or are elsewhere, are left out. */
export function logParts(root: Node | undefined, directory: Directory): LogPart[] {
  const paths = new Set(includePatterns(root).flatMap((pattern) => pathsOf(pattern, directory).paths));
  return [...paths].sort().flatMap((path) => {
    const text = path === "tool.json" || leadsOut(path, directory) ? undefined : directory.read(path);
    return text === undefined ? [] : [{ path, text }];
  });
}

/** Whether `logs.include` names the file at a path. */
export function isLogPart(root: Node | undefined, path: string): boolean {
  return path !== "tool.json" && includePatterns(root).some((pattern) => matches(pattern.split("/"), path.split("/")));
}

/** Paths of the files of a pattern that are there, in no order. `isCut`: there are more, which are left out. */
export function pathsOf(
  pattern: string,
  directory: Directory,
): { readonly paths: readonly string[]; readonly isCut: boolean } {
  let folders = [""];
  let isCut = false;
  const parts = pattern.replace(/^(?:\.\/)+/, "").split("/");
  for (const [at, part] of parts.entries()) {
    const isLast = at === parts.length - 1;
    const kind = isLast ? "file" : "directory";
    folders = folders.flatMap((folder) => {
      const path = (name: string) => (folder === "" ? name : `${folder}/${name}`);
      if (!part.includes("*")) return directory.kind(path(part)) === kind ? [path(part)] : [];
      const entries = directory.list?.(folder === "" ? "." : folder) ?? [];
      return entries
        .filter((entry) => entry.kind === kind && matchesPart(part, entry.name))
        .map(({ name }) => path(name));
    });
    // A pattern in a folder of thousands is a mistake.
    isCut ||= folders.length > MAX_PARTS;
    folders = folders.slice(0, MAX_PARTS);
  }
  return { paths: folders, isCut };
}

/** Files of a pattern, and folders on the way to them. */
export const MAX_PARTS = 100;

/** Which names the sections of tool.json and of the files that it includes have. */
export function logNamesOf(root: Node | undefined, directory: Directory | undefined): LogNames {
  const parts = directory === undefined ? [] : logParts(root, directory);
  const files = [
    { path: "tool.json", root },
    ...parts.map(({ path, text }) => ({ path, root: parseByLines(text).root })),
  ];
  const names = { queries: new Map(), alerts: new Map(), notifications: new Map() } as Record<
    LogSection,
    Map<string, string[]>
  >;
  for (const file of files) {
    for (const section of LOG_SECTIONS) {
      for (const name of namesIn(file.root, section)) {
        names[section].set(name, [...(names[section].get(name) ?? []), file.path]);
      }
    }
  }
  return names;
}

function namesIn(root: Node | undefined, section: LogSection): readonly string[] {
  const entries = memberOf(memberOf(root, "logs")?.value, section)?.value;
  return entries?.type === "object" ? [...new Set(entries.members.map(({ key }) => key.value))] : [];
}

function includePatterns(root: Node | undefined): string[] {
  const include = memberOf(memberOf(root, "logs")?.value, "include")?.value;
  const items = include?.type === "array" ? include.items : [];
  // A path that leads out of the project is reported, and never looked at.
  return items.flatMap((item) =>
    item.type === "string" && !/^[/~]|^[A-Za-z]:|\\|\0|(?:^|\/)\.\.(?:\/|$)/.test(item.value) ? item.value : [],
  );
}

function matches([part, ...parts]: readonly string[], [name, ...names]: readonly string[]): boolean {
  if (part === ".") return matches(parts, name === undefined ? [] : [name, ...names]);
  if (part === undefined || name === undefined) return part === name;
  return matchesPart(part, name) && matches(parts, names);
}

/** `*` is any text but that a name which begins with a dot is written out. */
function matchesPart(part: string, name: string): boolean {
  if (!part.includes("*")) return part === name;
  if (name.startsWith(".") && !part.startsWith(".")) return false;
  const [first = "", ...rest] = part.split("*");
  if (!name.startsWith(first)) return false;
  let at = first.length;
  for (const [index, text] of rest.entries()) {
    const place = index === rest.length - 1 ? name.length - text.length : name.indexOf(text, at);
    if (place < at || !name.startsWith(text, place)) return false;
    at = place + text.length;
  }
  return true;
}
