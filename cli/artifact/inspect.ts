import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { humanBytes } from "../../grammar/units/bytes.ts";
import { visible } from "../../grammar/visible-text.ts";
import { readProjectText } from "../../language-server/node-project-file.ts";
import { type Config, type Inference, type Injection, servesStatic, withDefaults } from "../../schema/index.ts";
import { fileHead, foreignBinaries, foreignTarget } from "./binaries.ts";
import type { Collected, FoundFile } from "./collect.ts";
import type { BuildProblem } from "./problem.ts";

/** The files that will not run on the platform, and those that may not, found before anything is uploaded. */
export interface Findings {
  readonly problems: readonly BuildProblem[];
  readonly warnings: readonly BuildProblem[];
}

const PLATFORM = "the platform is Linux on x86-64";

/** Fewer development packages are not reported. */
const MIN_DEVELOPMENT_BYTES = 10_000_000;

export function inspect(
  { files, leftOut }: Collected,
  {
    config,
    inference,
    directory,
  }: { readonly config: Config; readonly inference: Inference; readonly directory: string },
): Findings {
  const problems: BuildProblem[] = [];
  const warnings: BuildProblem[] = [];
  const byName = new Map(files.map((file) => [file.name, file]));
  const requireFile = (name: string, message: string) => {
    if (byName.has(name)) return;
    const left = leftOut.find(({ path }) => path === name || (path.endsWith("/") && name.startsWith(path)));
    const hint =
      left === undefined
        ? "the file does not exist: does the build create it?"
        : `${left.path} is left out: ${left.reason}`;
    problems.push({ code: "artifact/missing-file", message, hint });
  };

  const program = programOf(inference.command ?? "");
  if (program !== undefined) {
    requireFile(program, `${inference.command} starts the server, and ${program} is not in the deployment`);
  }
  for (const { file } of [...(config.inject?.head ?? []), ...(config.inject?.body ?? [])] as Injection[]) {
    if (file !== undefined) requireFile(plain(file), `inject puts ${file} into pages, and it is not in the deployment`);
  }
  const site = inference.type === "static" ? plain(config.static?.dir ?? ".").replace(/\/+$/, "") : undefined;
  const empty = site === undefined ? undefined : emptySite(site, { files, leftOut });
  if (empty !== undefined) problems.push(empty);
  const started = program === undefined ? undefined : byName.get(program);
  const foreignProgram = started?.kind === "file" ? foreignTarget(fileHead(started.path)) : undefined;
  if (foreignProgram !== undefined) {
    problems.push({
      code: "artifact/foreign-binary",
      message: `${program} is a program for ${foreignProgram}, and ${PLATFORM}`,
      hint: "build it for the platform: for Go, GOOS=linux GOARCH=amd64",
    });
  }
  const foreign = foreignBinaries(files);
  if (foreign.length > 0) {
    const [{ name, target }] = foreign as [(typeof foreign)[0]];
    const more = foreign.length === 1 ? "" : `, as are ${foreign.length - 1} more like it`;
    warnings.push({
      code: "artifact/foreign-binary",
      message: `${name} is for ${target}${more}, and ${PLATFORM}`,
      hint: name.startsWith(".pypath/")
        ? "install libraries by the inferred build, or as it does: tool run build"
        : "install the packages for it, such as in hooks.prebuild: npm ci --os=linux --cpu=x64 --libc=glibc",
    });
  }
  const absent = inference.runtime === "node" ? absentPackages(byName, directory) : [];
  if (absent.length > 0) {
    const left = leftOut.find(({ path }) => path === "node_modules/");
    warnings.push({
      code: "artifact/missing-packages",
      message: `package.json depends on ${named(absent)}, which ${absent.length === 1 ? "is" : "are"} not in the deployment`,
      hint:
        left === undefined
          ? "npm install adds what is missing; what a bundle contains belongs to devDependencies"
          : `${left.path} is left out: ${left.reason}`,
    });
  }
  const databases = inference.type === "static" ? [] : files.filter(({ name }) => isDatabase(name));
  if (databases.length > 0) {
    const [{ name }] = databases as [FoundFile];
    const others = databases.length - 1;
    const more = others === 0 ? "" : others === 1 ? ", as is one more" : `, as are ${others} more`;
    warnings.push({
      code: "artifact/database",
      message: `${name} is deployed with the rows that it has now${more}, and what an instance writes to it is lost`,
      hint:
        visible(name) === name
          ? `keep data in a database service; a line ${name} in .toolignore leaves it out`
          : "keep data in a database service; a line in .toolignore leaves it out if its name has no hidden characters",
    });
  }
  const development = developmentPackages(files, directory);
  if (development !== undefined) warnings.push(development);
  if (servesStatic(withDefaults({ ...config, type: inference.type }, { env: {} }))) {
    const hidden = leftOut.find(({ path }) => /(^|\/)\.well-known\/$/.test(path));
    if (hidden !== undefined) {
      warnings.push({
        code: "artifact/well-known",
        message: `${hidden.path} is excluded: dotfile`,
        hint: "write the line !.well-known into .toolignore to take it along",
      });
    }
  }
  return { problems, warnings };
}

/** The problem of a static site none of whose files is in the deployment. */
function emptySite(site: string, { files, leftOut }: Pick<Collected, "files" | "leftOut">): BuildProblem | undefined {
  if (files.some(({ name }) => site === "" || site === "." || name.startsWith(`${site}/`))) return undefined;
  const isHidden = (path: string) => /^\.|\/\./.test(path.slice(site.length));
  const left =
    leftOut.find(({ path }) => path.endsWith("/") && `${site}/`.startsWith(path)) ??
    leftOut.find(({ path }) => path.startsWith(`${site}/`) && !isHidden(path));
  return {
    code: "artifact/empty-site",
    message: `static.dir is ${site}, and the deployment has no file of it`,
    hint:
      left === undefined
        ? "does the build create it? Write the command that does as hooks.build"
        : `${left.path} is left out: ${left.reason}`,
  };
}

/** The project's file that a simple command starts; undefined if the command needs a shell to interpret it. */
function programOf(command: string): string | undefined {
  const words = command.replace(/^exec /, "").split(" ");
  if (!/^[\w./ =:@-]+$/.test(command)) return undefined;
  if (words[0]!.startsWith("./")) return plain(words[0]!);
  if (words[0] === "npm" && (words[1] === "start" || words[1] === "run")) return "package.json";
  const script = /^(?:node|python3?|java -jar) ([\w./-]+\.(?:[cm]?js|py|jar))(?: |$)/.exec(words.join(" "))?.[1];
  return script === undefined || script.startsWith("/") ? undefined : plain(script);
}

/** A database in a file. Those of packages are parts of programs. */
function isDatabase(name: string): boolean {
  return /\.(?:sqlite3?|db3?|duckdb)$/i.test(name) && !/(?:^|\/)(?:node_modules|\.pypath|vendor)\//.test(name);
}

function plain(path: string): string {
  return path.replace(/^(\.\/+)+/, "");
}

/** As many as fit two lines of a narrow terminal. */
const MAX_NAMED = 5;

function named(packages: readonly string[]): string {
  const more = packages.length - MAX_NAMED;
  return more > 0 ? `${packages.slice(0, MAX_NAMED).join(", ")} and ${more} more` : packages.join(", ");
}

/** The dependencies of package.json that the deployment has no folder of. */
function absentPackages(files: ReadonlyMap<string, FoundFile>, directory: string): string[] {
  // Yarn resolves packages from archives.
  if (!files.has("package.json") || [".pnp.cjs", ".pnp.js"].some((name) => existsSync(join(directory, name))))
    return [];
  const { dependencies, optionalDependencies } = packageOf(directory);
  const folders = new Set<string>();
  for (const name of files.keys()) {
    const folder = /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(name)?.[1];
    if (folder !== undefined) folders.add(folder);
  }
  return Object.keys(dependencies).filter((name) => !(name in optionalDependencies) && !folders.has(name));
}

function packageOf(directory: string): Readonly<Record<"dependencies" | "optionalDependencies", object>> {
  const none = { dependencies: {}, optionalDependencies: {} };
  try {
    const { dependencies, optionalDependencies } = JSON.parse(readProjectText(join(directory, "package.json")));
    return { dependencies: Object(dependencies ?? {}), optionalDependencies: Object(optionalDependencies ?? {}) };
  } catch {
    // Whatever is wrong with it, npm or node say so better.
    return none;
  }
}

/** A warning if packages that npm has marked as development-only take much of the space. */
function developmentPackages(files: readonly FoundFile[], directory: string): BuildProblem | undefined {
  const folders = developmentFolders(directory);
  if (folders.size === 0) return undefined;
  const packages = new Set<string>();
  let bytes = 0;
  let allBytes = 0;
  for (const file of files) {
    allBytes += file.bytes;
    const folder = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file.name)?.[0];
    if (folder === undefined || !folders.has(folder)) continue;
    packages.add(folder);
    bytes += file.bytes;
  }
  if (bytes < MIN_DEVELOPMENT_BYTES) return undefined;
  return {
    code: "artifact/development-packages",
    message: `${humanBytes(bytes)} of ${humanBytes(allBytes)} are ${packages.size} development packages`,
    hint: 'exclude them: "postbuild": "npm prune --omit=dev" in hooks, with "clean": "npm install" to restore them',
  };
}

function developmentFolders(directory: string): Set<string> {
  try {
    const { packages } = JSON.parse(readFileSync(join(directory, "node_modules/.package-lock.json"), "utf8"));
    return new Set(Object.keys(packages).filter((folder) => packages[folder].dev === true));
  } catch {
    // Other package managers write no such list.
    return new Set();
  }
}
