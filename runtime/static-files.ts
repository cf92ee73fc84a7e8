import { realpath } from "node:fs/promises";
import { join, resolve } from "node:path";
import { lookup } from "mrmime";
import { look } from "./file-cache.ts";
import { isHidden, type ServedFolder, type ServedFolderOptions } from "./served-folder.ts";

export interface StaticOptions extends ServedFolderOptions {
  /** URL prefix, with or without slashes around it; empty for none. */
  readonly prefix: string;
  /** A file that exists and was requested, but is not served, makes an entry, once. */
  readonly namesRefused?: boolean | undefined;
}

/** The thing that a path names. `path` of a file is real: no link is left in it. */
export type StaticMatch =
  | { readonly kind: "file"; readonly path: string }
  /** A directory with an index.html, requested without its slash. */
  | { readonly kind: "directory" }
  /** There is such a file. The client must not learn that: it gets the answer for a missing file. */
  | { readonly kind: "refused"; readonly reason: string };

/**
 * The path of the file that a request path would name, with its links, whether it is there or not and may be served or
 * not: `findFile` says that. Undefined if there is none.
 */
export function namedPath(path: string, options: StaticOptions): string | undefined {
  const segments = segmentsOf(path, options.prefix);
  if (segments === undefined || segments.some(isHidden)) return undefined;
  const named = join(options.directory, options.dir, ...segments);
  if (segments.at(-1) !== "") return named;
  return options.type === "static" ? join(named, "index.html") : undefined;
}

/**
 * The file that a request path names, inside the served directory and nowhere else: links are followed first and judged
 * by where they lead.
 */
export async function findFile(
  path: string,
  options: StaticOptions,
  folder: ServedFolder,
): Promise<StaticMatch | undefined> {
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
    const index = await judged(join(root, ...segments, "index.html"), segments);
    return index?.kind === "file" && !slash ? { kind: "directory" } : index;
  }
  if (!stats.isFile() || slash) return undefined;
  return judged(join(root, ...segments), segments);

  async function judged(file: string, segments: readonly string[]): Promise<StaticMatch | undefined> {
    const hidden = segments.find(isHidden);
    if (hidden !== undefined) return { kind: "refused", reason: `${hidden} begins with a dot` };
    const real = await realpath(file).catch(() => undefined);
    if (real === undefined || !look(real)?.isFile()) return undefined;
    const reason = folder.refusal(real, root!);
    return reason === undefined ? { kind: "file", path: real } : { kind: "refused", reason };
  }
}

/** The real path of a file that may be served. */
export async function servedFile(path: string, root: string, folder: ServedFolder): Promise<string | undefined> {
  const real = await realpath(path).catch(() => undefined);
  if (real === undefined || !look(real)?.isFile()) return undefined;
  return folder.refusal(real, root) === undefined ? real : undefined;
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
    if (/[/\\\0]/.test(segment) || segment === "." || segment === "..") return undefined;
    segments.push(segment);
  }
  // `//evil` and `/a//b` name no file.
  return segments.slice(0, -1).includes("") ? undefined : segments;
}

/** Text that is not `text/*`: without a charset some programs read it as Latin-1. */
const TEXT = /^(text\/|application\/(javascript|json|xml|manifest\+json|ld\+json|xhtml\+xml)$|image\/svg\+xml$)/;

/** The Content-Type of a file by its name's ending. */
export function contentTypeOf(path: string): string {
  const type = lookup(path) ?? "application/octet-stream";
  return TEXT.test(type) ? `${type}; charset=utf-8` : type;
}
