import { realpath } from "node:fs/promises";
import { basename, isAbsolute, join, relative, resolve, sep } from "node:path";
import { look } from "./file-cache.ts";

export interface StaticOptions {
  readonly type: "server" | "static";
  /** The project's folder, absolute. */
  readonly directory: string;
  /** Below it: what is served. */
  readonly dir: string;
  /** URL prefix, with or without slashes around it; empty for none. */
  readonly prefix: string;
}

/** What a path stands for. `path` of a file is real: no link is left in it. */
export type Found =
  | { readonly kind: "file"; readonly path: string }
  /** A directory with an index.html, asked without its slash. */
  | { readonly kind: "directory" };

/**
 * The path of the file that a request path would name, with its links, whether it is there or not and may be served or
 * not: `findFile` says that. Undefined where there is none such.
 */
export function namedPath(path: string, options: StaticOptions): string | undefined {
  const segments = segmentsOf(path, options.prefix);
  if (segments === undefined) return undefined;
  const named = join(options.directory, options.dir, ...segments);
  if (segments.at(-1) !== "") return named;
  return options.type === "static" ? join(named, "index.html") : undefined;
}

/**
 * The file that a request path names, inside the served directory and nowhere else: links are followed first and judged
 * by where they lead. Undefined for all that is not served, so that nobody learns whether it exists.
 */
export async function findFile(path: string, options: StaticOptions): Promise<Found | undefined> {
  const segments = segmentsOf(path, options.prefix);
  if (segments === undefined) return undefined;
  const slash = segments.at(-1) === "";
  const named = join(options.directory, options.dir, ...segments);
  // In front of a server most paths name nothing: that should cost next to nothing.
  const stats = look(named);
  if (stats === undefined) return undefined;
  const root = await realpath(resolve(options.directory, options.dir)).catch(() => undefined);
  if (root === undefined) return undefined;

  if (stats.isDirectory() && options.type === "static") {
    const index = await servedFile(join(root, ...segments, "index.html"), root, options);
    if (index === undefined) return undefined;
    return slash ? { kind: "file", path: index } : { kind: "directory" };
  }
  if (!stats.isFile() || slash) return undefined;
  const file = await servedFile(join(root, ...segments), root, options);
  return file === undefined ? undefined : { kind: "file", path: file };
}

/** The real path of a file that may be served. */
export async function servedFile(path: string, root: string, options: StaticOptions): Promise<string | undefined> {
  const real = await realpath(path).catch(() => undefined);
  if (real === undefined || !look(real)?.isFile()) return undefined;
  const below = relative(root, real);
  if (below === "" || below === ".." || below.startsWith(`..${sep}`) || isAbsolute(below)) return undefined;
  const segments = below.split(sep);
  if (segments.some(isHidden)) return undefined;
  return isOfTheProject(real, segments, root, options) ? undefined : real;
}

/** Decoded segments below the prefix; the last is empty for a path that ends in a slash. */
function segmentsOf(path: string, prefix: string): string[] | undefined {
  const inner = prefix.replace(/^\/+|\/+$/g, "");
  const start = inner === "" ? "/" : `/${inner}/`;
  if (!path.startsWith(start)) return undefined;
  const segments: string[] = [];
  for (const raw of path.slice(start.length).split("/")) {
    let segment: string;
    try {
      segment = decodeURIComponent(raw);
    } catch {
      return undefined;
    }
    // An encoded slash or backslash would be a way up that the segments do not show.
    if (/[/\\\0]/.test(segment) || segment === "." || segment === ".." || isHidden(segment)) return undefined;
    segments.push(segment);
  }
  // `//evil` and `/a//b` name no file.
  return segments.slice(0, -1).includes("") ? undefined : segments;
}

/** `.well-known` is made to be asked for (RFC 8615); every other dotfile is private until somebody renames it. */
function isHidden(segment: string): boolean {
  return segment.startsWith(".") && segment !== ".well-known";
}

/** Of a server app that serves its own project folder: sources, manifests and what a build leaves. */
const PRIVATE_AT_ROOT = /^(package.*\.json|go\.(mod|sum)|requirements\.txt|(main|app)\..*|server(\.jar)?|out\.zip)$/i;

function isOfTheProject(real: string, segments: readonly string[], root: string, options: StaticOptions): boolean {
  // Compared without case: some file systems do so as well.
  const name = basename(real).toLowerCase();
  if (segments.length === 1 && (name === "tool.json" || name === ".toolignore")) return true;
  if (options.type === "static" || resolve(options.directory, options.dir) !== resolve(options.directory)) return false;
  if (segments.some((segment) => segment.toLowerCase() === "node_modules")) return true;
  return name.endsWith(".map") || (segments.length === 1 && PRIVATE_AT_ROOT.test(name)) || root === real;
}
