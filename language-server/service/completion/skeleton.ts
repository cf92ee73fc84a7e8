import { inferRuntime } from "../../../schema/index.ts";
import type { ToolDocument } from "../document.ts";
import type { Project } from "../project.ts";
import { type CompletionCandidate, KIND } from "./candidate.ts";
import { nameOf } from "./good-values.ts";
import { escapeSnippet } from "./snippet.ts";

/** Whether nothing is written yet: the whole configuration is offered. */
export function isBlank(document: ToolDocument): boolean {
  return document.kind === "config" && /^\ufeff?\s*$/.test(document.text);
}

/** A first tool.json for a blank file: the folder's name, and what the project in it seems to be. */
export function skeletonCandidate(project: Project): CompletionCandidate {
  const { words, settings } = seems(project);
  const name = nameOf(project) ?? "app";
  const { type, ...others } = settings;
  const members = (write: { name: string; type: string }) =>
    [
      `"name": "${write.name}"`,
      `"type": "${write.type}"`,
      ...Object.entries(others).map(([key, value]) => `"${key}": ${oneLine(value)}`),
    ]
      .map((member) => `\n\t${member}`)
      .join(",");
  const choice = [type, type === "server" ? "static" : "server"].join(",");
  return {
    label: `{ "name": "${name}", "type": "${type}" }`,
    kind: KIND.value,
    text: `{${members({ name, type })}\n}`,
    snippet: `{${members({ name: `\${1:${escapeSnippet(name)}}`, type: `\${2|${choice}|}` })}\n\\}`,
    detail: words,
    rank: 0,
    preselect: true,
  };
}

interface Seems {
  readonly words: string;
  readonly settings: {
    readonly type: "server" | "static";
    readonly proxy?: { readonly command: string };
    readonly static?: { readonly dir: string };
  };
}

/** The type of app that the files of a folder suggest; a server by default, as everywhere else. */
function seems(project: Project): Seems {
  const { directory } = project;
  if (directory === undefined) return { words: "a server", settings: { type: "server" } };
  const { runtime, marker, type, command } = inferRuntime(directory, { name: "" }, { development: false });
  if (type === "static") return { words: "a static site: index.html", settings: { type: "static" } };
  const isFile = (path: string) => directory.kind(path) === "file";
  // A package.json that starts nothing is often that of a site which is built.
  if (marker !== undefined && !(marker === "package.json" && command === "node app.js" && !isFile("app.js"))) {
    return { words: `a server: ${marker}, ${runtime}, started by ${command}`, settings: { type: "server" } };
  }
  const entry = ENTRIES.find(([file]) => isFile(file));
  if (entry !== undefined) {
    const [file, program] = entry;
    return {
      words: `a server: ${file}`,
      settings: { type: "server", proxy: { command: `${program} ${file}` } },
    };
  }
  const dir = SITES.find((name) => isFile(`${name}/index.html`));
  if (dir !== undefined) {
    return { words: `a static site: ${dir}/index.html`, settings: { type: "static", static: { dir } } };
  }
  if (marker === "package.json" && buildsSite(directory.read("package.json"))) {
    const built = project.listFiles?.(".").find(({ name, kind }) => kind === "directory" && SITES.includes(name))?.name;
    const words = "a static site: the build of package.json";
    return { words, settings: { type: "static", static: { dir: built ?? "dist" } } };
  }
  return { words: "a server", settings: { type: "server" } };
}

/** Programs by their usual names, if no marker file says how the app starts. */
const ENTRIES: readonly (readonly [file: string, program: string])[] = [
  ["server.js", "node"],
  ["server.mjs", "node"],
  ["server.cjs", "node"],
  ["index.js", "node"],
  ["index.mjs", "node"],
  ["main.js", "node"],
  ["app.mjs", "node"],
];

/** Folders that sites are built into, or kept in. */
const SITES: readonly string[] = ["dist", "build", "public", "out", "_site", "static", "site"];

function buildsSite(text: string | undefined): boolean {
  try {
    const { scripts } = JSON.parse(text ?? "{}") as { scripts?: { build?: unknown } };
    return typeof scripts?.build === "string";
  } catch {
    return false;
  }
}

function oneLine(value: object): string {
  const members = Object.entries(value).map(([key, inner]) => `${JSON.stringify(key)}: ${JSON.stringify(inner)}`);
  return `{ ${members.join(", ")} }`;
}
