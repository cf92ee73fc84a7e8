import type { EmbeddedString, ToolDocument } from "./document.ts";

/** The strings of a tool.json that name a file or a directory of the project. */
export function pathsIn(document: ToolDocument): readonly EmbeddedString[] {
  return document.strings().filter(({ language, value }) => language === "path" && value !== "");
}

/** The address of a path that is relative to a document's folder; undefined if the document has no folder. */
export function uriOfPath(documentUri: string, path: string): string | undefined {
  // Each segment is encoded, so that a "#" or "?" in a file's name is a part of it.
  const relative = path.split("/").map(encodeURIComponent).join("/");
  try {
    return new URL(relative, documentUri).href;
  } catch {
    // "untitled:Untitled-1" is the base of nothing.
    return undefined;
  }
}

/**
 * The path of an address as seen from a document's folder, with `/`; undefined if it is outside of that folder. The
 * folder itself is ".".
 */
export function pathOfUri(documentUri: string, uri: string): string | undefined {
  const folder = normalUri(documentUri)?.replace(/[^/]*$/, "");
  const target = normalUri(uri);
  if (folder === undefined || target === undefined) return undefined;
  if (`${target}/` === folder || target === folder) return ".";
  if (!target.startsWith(folder)) return undefined;
  return decodeURIComponent(target.slice(folder.length)).replace(/\/+$/, "");
}

/** An address in the one form that all of a file's have: clients encode differently ("C%3A", "c:"). Undefined for none. */
export function normalUri(uri: string): string | undefined {
  try {
    const { protocol, host, pathname } = new URL(uri);
    const path = decodeURIComponent(pathname).replace(/^\/[A-Z]:/, (drive) => drive.toLowerCase());
    return `${protocol}//${host}${path.split("/").map(encodeURIComponent).join("/")}`;
  } catch {
    return undefined;
  }
}
