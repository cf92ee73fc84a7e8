import { ReleaseError } from "./error.ts";

/** Size of what an archive unpacks to, at most. The largest that there is has less than a quarter of it. */
export const MAX_TAR_BYTES = 2_147_483_648;

const BLOCK = 512;
/** The hint of each refusal: no release has such an archive, whoever signed it. */
const REPORT = "report it to the project and install nothing; the version that was there stays";

/** The archive whose tar is read. */
export interface CheckedArchive {
  /** The name of the archive's file, for messages. */
  readonly name: string;
  /** The folder that all of it is in. */
  readonly folder: string;
  readonly maxBytes: number;
}

/**
 * Passes a tar archive on, no entry before it was looked at: the form is ustar, with files and folders of one folder alone,
 * each once, as `tarPieces` writes them. The program that unpacks reads the rest of what a tar may have (links, devices, names
 * in headers of their own) in its own way. Throws a `ReleaseError` at the first entry that is another one.
 */
export function checkedTar({ name, folder, maxBytes }: CheckedArchive) {
  return async function* (source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    const paths = new Set<string>();
    let bytes = 0;
    /** Bytes of the entry's content that are to come, with those that fill its last block. */
    let contentLeft = 0;
    let hasEnded = false;
    let begun: Buffer = Buffer.alloc(0);
    for await (const chunk of source) {
      bytes += chunk.length;
      if (bytes > maxBytes) {
        throw new ReleaseError(`${name} unpacks to more than ${Math.floor(maxBytes / 1_000_000)} MB`, REPORT);
      }
      const data = begun.length === 0 ? chunk : Buffer.concat([begun, chunk]);
      let at = 0;
      while (at < data.length) {
        if (contentLeft > 0) {
          const taken = Math.min(contentLeft, data.length - at);
          contentLeft -= taken;
          at += taken;
          continue;
        }
        if (data.length - at < BLOCK) break;
        const block = data.subarray(at, at + BLOCK);
        at += BLOCK;
        if (block.every((byte) => byte === 0)) {
          hasEnded = true;
          continue;
        }
        const entry = entryOf(block);
        if (hasEnded || entry.bytes === undefined || !isBelow(entry.path, folder) || paths.has(entry.path)) {
          throw new ReleaseError(`${name} has an entry that no archive of a release has: ${entry.path}`, REPORT);
        }
        paths.add(entry.path);
        contentLeft = Math.ceil(entry.bytes / BLOCK) * BLOCK;
      }
      if (at > 0) yield data.subarray(0, at);
      begun = data.subarray(at);
    }
  };
}

interface Entry {
  readonly path: string;
  /** Undefined if it is neither a file nor a folder, or has anything that `tarPieces` does not write. */
  readonly bytes: number | undefined;
}

function entryOf(block: Buffer): Entry {
  const text = (from: number, length: number) => block.toString("latin1", from, from + length);
  const [name, prefix] = [text(0, 100), text(345, 155)].map((field) => field.replace(/\0+$/, "")) as [string, string];
  const type = text(156, 1);
  const path = `${prefix === "" ? "" : `${prefix}/`}${name}`.replace(type === "5" ? /\/$/ : /$^/, "");
  const number = (from: number, length: number) => {
    const digits = /^([0-7]+)[\0 ]*$/.exec(text(from, length))?.[1];
    return digits === undefined ? Number.NaN : Number.parseInt(digits, 8);
  };
  // The sum counts its own field as blanks.
  const sum = block.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 32 : byte), 0);
  const size = number(124, 12);
  const isPlain =
    text(257, 8) === "ustar\x0000" &&
    number(148, 8) === sum &&
    number(100, 8) <= 0o777 &&
    (type === "0" || (type === "5" && size === 0)) &&
    /^\0*$/.test(text(157, 100));
  return { path, bytes: isPlain && size >= 0 ? size : undefined };
}

/** Whether a path is the folder or in it, of characters that all programs and terminals show alike. */
function isBelow(path: string, folder: string): boolean {
  const [first, ...names] = path.split("/");
  return (
    first === folder && /^[ -[\]-~]+$/.test(path) && names.every((name) => name !== "" && name !== "." && name !== "..")
  );
}
