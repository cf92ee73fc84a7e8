import { createHash } from "node:crypto";
import { accessSync, constants, existsSync, lstatSync, readFileSync, readlinkSync, realpathSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { ReleaseError } from "./error.ts";
import { type InstalledVersion, isManaged, type ManagedReceipt, type Receipt, readReceipt } from "./receipt.ts";

/** A place that versions are installed in: as install.sh chooses it for a prefix or for BINDIR. */
export interface Library {
  /** The folder that has one folder for each version, and the receipt. Absolute. */
  readonly folder: string;
  /** The path of the command, a symbolic link into it. Absolute. */
  readonly command: string;
  /** Undefined if nothing is installed there. */
  readonly receipt: Receipt | undefined;
}

/**
 * The library of a prefix: that in `lib/tool` with its command in `bin`, or that in `.tool` if BINDIR was given such a folder.
 */
export function libraryOfPrefix(prefix: string): Library | ManagedReceipt {
  const beside = join(prefix, ".tool");
  return existsSync(join(beside, "receipt.json"))
    ? libraryAt(beside, join(prefix, "tool"))
    : libraryAt(join(prefix, "lib/tool"), join(prefix, "bin/tool"));
}

/** The library that has a version in a folder. Undefined if there is no receipt: nothing says what may be replaced. */
export function libraryOfVersion(folder: string): Library | ManagedReceipt | undefined {
  const library = libraryAt(dirname(realpathSync(folder)), undefined);
  return library;
}

function libraryAt(folder: string, command: string): Library | ManagedReceipt;
function libraryAt(folder: string, command: undefined): Library | ManagedReceipt | undefined;
function libraryAt(folder: string, command: string | undefined): Library | ManagedReceipt | undefined {
  const receipt = readReceipt(folder);
  if (isManaged(receipt)) return receipt;
  const path = receipt?.command ?? command;
  return path === undefined ? undefined : { folder, command: path, receipt };
}

/** The folder of a version. The numbers of both editions are independent, so that the same one may be there of each. */
export const folderOfVersion = ({ folder }: Library, { edition, version }: { edition: string; version: string }) =>
  join(folder, edition === "pro" ? version : `${edition}-${version}`);

/** The folder of the version that the command is a link to; undefined if it is no link into the library. */
export function linkedFolder({ folder, command }: Library): string | undefined {
  const target = linkTarget(command);
  if (target === undefined) return undefined;
  // bin/tool is in it.
  const version = resolve(realDirectory(dirname(command)), target, "../..");
  return relative(realDirectory(folder), realDirectory(version)).startsWith("..") ? undefined : version;
}

/**
 * The version that the command is: that of the receipt, or the one before it, as a run that was killed had written the receipt
 * and not linked the command. Undefined if it is neither.
 */
export function linkedVersion(library: Library): InstalledVersion | undefined {
  const { receipt } = library;
  const linked = linkedFolder(library);
  if (receipt === undefined || linked === undefined) return undefined;
  const isLinked = ({ folder }: InstalledVersion) => realDirectory(folder) === realDirectory(linked);
  return [receipt, ...(receipt.previous === undefined ? [] : [receipt.previous])].find(isLinked);
}

/** The text of the link of the command to a version: relative, so that the prefix can be moved as a whole. */
export const linkText = ({ command }: Library, version: string) =>
  relative(
    realDirectory(dirname(command)),
    join(realDirectory(dirname(version)), version.slice(dirname(version).length + 1), "bin/tool"),
  );

function realDirectory(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

export function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

/** Throws a `ReleaseError` if the library cannot be changed, or if the command is that of something else. */
export function checkWritable(library: Library): void {
  for (const folder of [library.folder, dirname(library.command)]) {
    if (!canWrite(folder)) {
      throw new ReleaseError(
        `${folder} is not writable`,
        "run sudo tool upgrade, or tool upgrade --prefix ~/.local, which installs it for you alone",
      );
    }
  }
  const isThere = lstatSync(library.command, { throwIfNoEntry: false }) !== undefined;
  if (isThere && linkedFolder(library) === undefined) {
    throw new ReleaseError(
      `${library.command} exists, and no release of tool put it there`,
      "remove it, or choose another --prefix",
    );
  }
}

/** Whether a folder, or the one that it would be made in, can be written to. */
function canWrite(folder: string): boolean {
  let path = folder;
  while (!existsSync(path)) path = dirname(path);
  try {
    accessSync(path, constants.W_OK | constants.X_OK);
    return lstatSync(realpathSync(path)).isDirectory();
  } catch {
    return false;
  }
}

/** The files of a version that are not as they were installed, by their paths in its folder. */
export function changedFiles({ folder, files }: InstalledVersion): string[] {
  return Object.entries(files)
    .filter(([path, sum]) => sumOf(join(folder, path)) !== sum)
    .map(([path]) => path);
}

/** The sum of a file in hexadecimal; undefined if it cannot be read. */
export function sumOf(path: string): string | undefined {
  try {
    return createHash("sha256").update(readFileSync(path)).digest("hex");
  } catch {
    return undefined;
  }
}
