import { humanBytes } from "../../grammar/units/bytes.ts";
import { visible } from "../../grammar/visible-text.ts";

interface Sized {
  /** With `/` between names, and at the end of a folder. */
  readonly name: string;
  readonly bytes: number;
}

/** A folder, or a file if `children` is undefined. */
interface Item {
  readonly name: string;
  bytes: number;
  files: number;
  readonly children: Map<string, Item> | undefined;
}

/** A folder with a smaller share of all bytes is one line. */
const OPENED_SHARE = 0.05;
/** The most lines of a folder, the largest first; one more sums up the rest. */
const MAX_LINES = 10;

/**
 * Lines that show where the bytes are: each folder with its size and number of files, and below it its contents, the
 * largest first. `isWhole` shows every file.
 */
export function sizesByFolder(files: readonly Sized[], { isWhole }: { readonly isWhole: boolean }): string[] {
  const root: Item = { name: "", bytes: 0, files: 0, children: new Map() };
  for (const { name, bytes } of files) add(root, name, bytes);
  const rows: [size: string, rest: string][] = [];
  list(root, "");
  const width = Math.max(0, ...rows.map(([size]) => size.length));
  return rows.map(([size, rest]) => `${size.padStart(width)}  ${rest}`);

  function list(folder: Item, indent: string): void {
    const items = [...folder.children!.values()].sort((a, b) => b.bytes - a.bytes || (a.name < b.name ? -1 : 1));
    // One file more is shown rather than summed up as "1 more".
    const largest = isWhole || items.length <= MAX_LINES + 1 ? items : items.slice(0, MAX_LINES);
    for (const item of largest) {
      const count = item.files === 1 ? "1 file" : `${item.files} files`;
      const isFolder = item.children !== undefined && item.children.size > 0;
      rows.push([humanBytes(item.bytes), `${indent}${visible(item.name)}${isFolder ? ` (${count})` : ""}`]);
      if (isFolder && (isWhole || item.bytes >= root.bytes * OPENED_SHARE)) list(item, `${indent}  `);
    }
    const rest = items.slice(largest.length);
    if (rest.length === 0) return;
    rows.push([humanBytes(rest.reduce((sum, { bytes }) => sum + bytes, 0)), `${indent}and ${rest.length} more`]);
  }
}

function add(root: Item, name: string, bytes: number): void {
  let folder = root;
  const names = name.split(/(?<=\/)(?=.)/);
  for (const [i, part] of names.entries()) {
    folder.bytes += bytes;
    folder.files++;
    const isFolder = i < names.length - 1 || part.endsWith("/");
    const item = folder.children!.get(part) ?? {
      name: part,
      bytes: 0,
      files: 0,
      children: isFolder ? new Map() : undefined,
    };
    folder.children!.set(part, item);
    folder = item;
  }
  folder.bytes += bytes;
  folder.files++;
}
