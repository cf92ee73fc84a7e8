/** A file in an archive. */
export interface ReleasedFile {
  /** The path, separated by `/`. */
  readonly path: string;
  readonly isExecutable: boolean;
  readonly content: Buffer;
}

/** A folder that an archive names, as it is empty or not everybody's. */
export interface ReleasedFolder {
  /** The path, separated by `/`, without one at its end. */
  readonly path: string;
  readonly mode: number;
  /** The numbers of the user and of the group. */
  readonly owner: number;
}

export type ReleasedEntry = ReleasedFile | ReleasedFolder;

const BLOCK = 512;
/** Sizes of the fields `name` and `prefix`. */
const NAME_BYTES = 100;
const PREFIX_BYTES = 155;

/**
 * The files as a tar of the form ustar (POSIX.1-1988), in pieces. The same files in any order give the same bytes: they are
 * sorted, belong to user 0, and all were changed at `timeS`, seconds since 1970. Folders have entries only if they are given.
 * Throws a RangeError if a path is longer than the form allows, about 250 bytes.
 */
export function* tarPieces(entries: readonly ReleasedEntry[], timeS: number): Generator<Buffer> {
  for (const entry of sorted(entries)) {
    if (!("content" in entry)) {
      const { path, mode, owner } = entry;
      yield header(`${path}/`, { type: "5", mode, owner, bytes: 0, timeS });
      continue;
    }
    const { path, isExecutable, content } = entry;
    yield header(path, { type: "0", mode: isExecutable ? 0o755 : 0o644, owner: 0, bytes: content.length, timeS });
    yield content;
    yield Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK);
  }
  // Two empty blocks end the archive.
  yield Buffer.alloc(2 * BLOCK);
}

const sorted = (entries: readonly ReleasedEntry[]) =>
  [...entries].sort((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)));

interface HeaderFields {
  /** `0` is a file, `5` a folder. */
  readonly type: "0" | "5";
  readonly mode: number;
  /** The number of the user and of the group. */
  readonly owner: number;
  readonly bytes: number;
  readonly timeS: number;
}

function header(path: string, about: HeaderFields): Buffer {
  const block = Buffer.alloc(BLOCK);
  const { name, prefix } = splitPath(path);
  block.write(name, 0);
  octal(block, 100, 8, about.mode);
  octal(block, 108, 8, about.owner);
  octal(block, 116, 8, about.owner);
  octal(block, 124, 12, about.bytes);
  octal(block, 136, 12, about.timeS);
  // The sum counts its own field as blanks.
  block.fill(" ", 148, 156);
  block.write(about.type, 156);
  block.write("ustar\x0000", 257);
  if (about.owner === 0) {
    block.write("root", 265);
    block.write("root", 297);
  }
  block.write(prefix, 345);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return block;
}

function octal(block: Buffer, at: number, width: number, value: number): void {
  block.write(value.toString(8).padStart(width - 1, "0"), at);
}

function splitPath(path: string): { readonly name: string; readonly prefix: string } {
  if (Buffer.byteLength(path) <= NAME_BYTES) return { name: path, prefix: "" };
  for (let at = path.indexOf("/"); at > 0; at = path.indexOf("/", at + 1)) {
    const [prefix, name] = [path.slice(0, at), path.slice(at + 1)];
    if (Buffer.byteLength(name) <= NAME_BYTES && Buffer.byteLength(prefix) <= PREFIX_BYTES) return { name, prefix };
  }
  throw new RangeError(`the path is too long for a tar archive: ${path}`);
}

/** When the first file of a tar archive was changed, in seconds since 1970: when all were, if `tarPieces` made it. */
export const timeOfTar = (tar: Buffer): number => Number.parseInt(tar.toString("latin1", 136, 147), 8);

/**
 * The files of a tar archive, without its other entries. Reads the forms that npm's packages have: ustar, and the path of a pax
 * header (POSIX.1-2001). Throws if it is no tar archive.
 */
export function readTar(tar: Buffer): readonly ReleasedFile[] {
  const files: ReleasedFile[] = [];
  let longPath: string | undefined;
  for (let at = 0; tar[at] !== 0; ) {
    if (at + BLOCK > tar.length) throw new Error("the tar archive ends early");
    const field = (from: number, bytes: number) =>
      tar.toString("utf8", at + from, at + from + bytes).replace(/\0.*$/s, "");
    const bytes = Number.parseInt(field(124, 12), 8);
    if (!field(257, 5).startsWith("ustar") || Number.isNaN(bytes)) throw new Error("not a tar archive");
    const content = tar.subarray(at + BLOCK, at + BLOCK + bytes);
    if (content.length < bytes) throw new Error("the tar archive ends early");
    const type = field(156, 1);
    const prefix = field(345, PREFIX_BYTES);
    const path = longPath ?? (prefix === "" ? field(0, NAME_BYTES) : `${prefix}/${field(0, NAME_BYTES)}`);
    if (type === "x") longPath = paxPath(content.toString());
    else {
      if (type === "0" || type === "") {
        files.push({ path, isExecutable: (Number.parseInt(field(100, 8), 8) & 0o100) !== 0, content });
      }
      longPath = undefined;
    }
    at += BLOCK + Math.ceil(bytes / BLOCK) * BLOCK;
  }
  return files;
}

/** Records are `<length> <key>=<value>\n`. No path of a package has a line end. */
const paxPath = (text: string) => /^\d+ path=(.*)$/m.exec(text)?.[1];
