import { checkConfig, inferRuntime } from "../../../schema/index.ts";
import { memberOf } from "../../../schema/json.ts";
import type { NodePath, ToolDocument } from "../document.ts";
import type { Project } from "../project.ts";

/** A command that may be written, and where it comes from. */
export interface CommandOffer {
  readonly command: string;
  /** The script that it runs, or `inferred`; undefined for an example. */
  readonly detail?: string;
}

/** The place of a command in a document. */
interface CommandPlace {
  readonly document: ToolDocument;
  readonly project: Project;
  /** From the root to the command, or to the section that holds it. */
  readonly path: NodePath;
}

/** The scripts of package.json, then what the tool would run by itself, then examples: those that can be run here. */
export function commandOffers(place: CommandPlace, examples: readonly string[]): CommandOffer[] {
  const { project, path } = place;
  const offers: CommandOffer[] = scripts(project).map(({ name, command }) => ({
    command: name === "start" ? "npm start" : `npm run ${name}`,
    detail: command,
  }));
  const { directory } = project;
  const key = path.findLast((name) => typeof name === "string");
  if (directory !== undefined && ["command", "build", "clean"].includes(String(key))) {
    const inferred = inferRuntime(directory, { name: "" }, { development: path[1] === "development" });
    const command = inferred[key as "command" | "build" | "clean"];
    // Its marker file says how it is made.
    const isMade = inferred.marker !== undefined;
    if (command !== undefined && (isMade || isThere(project, command))) offers.push({ command, detail: "inferred" });
  }
  offers.push(...examples.filter((command) => isThere(project, command)).map((command) => ({ command })));
  return offers.filter(
    ({ command }, i) => offers.findIndex((other) => other.command === command) === i && canRun(place, command),
  );
}

/** Whether the file or the script that a command runs is in the project; true if it runs neither, or nobody can look. */
function isThere(project: Project, command: string): boolean {
  const { directory } = project;
  const file = /^(?:\.\/|(?:node|python3?)\s+)([\w./-]+)/.exec(command)?.[1];
  if (directory === undefined) return true;
  if (file !== undefined) return directory.kind(file) === "file";
  const script = /^npm (?:run )?([\w:-]+)/.exec(command)?.[1];
  return script === undefined || script === "ci" || scripts(project).some(({ name }) => name === script);
}

/** Commands for a section that has one: what starts the app, or builds it. */
export function goodCommands({ document, project, path }: CommandPlace): string[] {
  const inner = path.at(-1) === "hooks" ? ["build"] : path.at(-1) === "proxy" ? ["command"] : ["proxy", "command"];
  const offers = commandOffers({ document, project, path: [...path, ...inner] }, []);
  const usual = path.at(-1) === "hooks" ? "npm run build" : path[1] === "development" ? "npm run dev" : "npm start";
  const commands = offers.map(({ command }) => command);
  return commands.includes(usual) ? [usual, ...commands] : commands;
}

/** Whether the check that follows has nothing to say of a command: what it runs is there, or may be built. */
function canRun({ document, project, path }: CommandPlace, command: string): boolean {
  const { directory } = project;
  if (directory === undefined) return true;
  const hooks = document.section("hooks")?.value;
  const isBuilt = ["prebuild", "build", "postbuild"].some((name) => memberOf(hooks, name) !== undefined);
  // The rest of the document is of no interest, and may be long.
  const settings = [...path]
    .reverse()
    .reduce<unknown>((inner, name) => (typeof name === "number" ? [inner] : { [name]: inner }), command) as Record<
    string,
    object
  >;
  const config = {
    name: "app",
    ...settings,
    ...(isBuilt && { hooks: { prebuild: "true", ...settings.hooks } }),
  };
  const { problems } = checkConfig(JSON.stringify(config), { directory, triesFixes: false });
  return problems.every(({ code }) => !/^config\/(missing-(program|script)|command)$/.test(code));
}

/** The scripts of the project's package.json. */
export function scripts(project: Project): { readonly name: string; readonly command: string }[] {
  const text = project.directory?.read("package.json");
  if (text === undefined) return [];
  try {
    const scripts: unknown = (JSON.parse(text) as { scripts?: unknown } | null)?.scripts;
    if (typeof scripts !== "object" || scripts === null) return [];
    return Object.entries(scripts).flatMap(([name, command]) => (typeof command === "string" ? { name, command } : []));
  } catch {
    // Being edited: there are no scripts for the moment.
    return [];
  }
}
