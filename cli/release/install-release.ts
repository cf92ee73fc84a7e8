import { type ChildProcess, spawn } from "node:child_process";
import {
  closeSync,
  copyFileSync,
  createReadStream,
  existsSync,
  fsync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, relative, sep } from "node:path";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { createGunzip } from "node:zlib";
import { type CheckedArchive, checkedTar, MAX_TAR_BYTES } from "./checked-tar.ts";
import { ReleaseError } from "./error.ts";
import { folderOfVersion, type Library, linkedFolder, linkTarget, linkText, sumOf } from "./library.ts";
import { type InstalledVersion, type Receipt, receiptText } from "./receipt.ts";
import type { ReleaseFile } from "./statement.ts";
import { withoutEdition } from "./version-order.ts";

export interface NewVersion {
  /** That of the edition. */
  readonly version: string;
  readonly edition: string;
  readonly kind: string;
  readonly platform: string;
  readonly origin: string;
  /** The archive of this machine. */
  readonly file: ReleaseFile;
}

export interface Installing {
  /** Writes the archive to a path. */
  download(path: string): Promise<void>;
  /** Told before each change of the library: what is to be changed. */
  step(name: string): void;
  /** The environment of programs that are run. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
  /** Folders that were made for the library: they go with it. */
  readonly folders?: readonly string[];
  /** Size of what the archive unpacks to, at most. */
  readonly maxUnpackedBytes?: number;
}

/** Folders that are being filled; of a process that was killed they are left. */
const NEW = ".new.";

/**
 * Installs a version beside the one that is there, under the library's lock. The command works after each step: it is the old
 * one until its link is renamed, then the new one. If the new one does not answer, the old one is back. Throws a
 * `ReleaseError`; nothing is changed then. The version before stays, the one before that goes. Resolves to the links of the
 * man page and completions that could not be made.
 */
export async function installRelease(
  library: Library,
  wanted: NewVersion,
  installing: Installing,
): Promise<readonly Unlinked[]> {
  const { step, signal } = installing;
  let staging: string | undefined;
  try {
    removeLeft(library);
    step("make a folder for it");
    staging = mkdtempSync(join(library.folder, NEW));
    const archive = join(staging, wanted.file.name);
    step("download");
    await installing.download(archive);
    step("unpack");
    const unpacked = join(staging, "unpacked");
    mkdirSync(unpacked);
    await unpack(archive, unpacked, installing);
    const folder = join(unpacked, folderOfArchive(wanted.file.name));
    await checkAnswer(join(folder, "bin/tool"), wanted, installing);
    signal.throwIfAborted();
    step("write it to the disk");
    await flushTree(folder);
    return await replace(library, wanted, folder, { ...installing, staging });
  } catch (error) {
    throw explained(error, library);
  } finally {
    const left = staging;
    // The next run removes it if this one cannot.
    if (left !== undefined) tried(() => rmSync(left, { recursive: true, force: true }));
  }
}

/** A link that could not be made, and why. */
interface Unlinked {
  readonly path: string;
  readonly reason: string;
}

/** Enough for the journal of a file system to write several at once. */
const FLUSHED_AT_ONCE = 32;

/**
 * Waits until what is in a folder is on the disk: after a power cut the link, which is renamed later, could be the new one and
 * the files that it leads to empty.
 */
async function flushTree(folder: string): Promise<void> {
  const below = readdirSync(folder, { recursive: true, encoding: "utf8" }).map((path) => join(folder, path));
  const paths = [...below, folder].filter((path) => !lstatSync(path).isSymbolicLink());
  for (let at = 0; at < paths.length; at += FLUSHED_AT_ONCE)
    await Promise.all(paths.slice(at, at + FLUSHED_AT_ONCE).map(flush));
}

async function flush(path: string): Promise<void> {
  const file = openSync(path, "r");
  try {
    await promisify(fsync)(file);
  } finally {
    closeSync(file);
  }
}

/**
 * Removes what runs left that were killed: their folders, but for one that the command is in, as install.sh runs it from there for a
 * moment; locks that they took away; and links that they had not renamed.
 */
function removeLeft(library: Library): void {
  const linked = linkedFolder(library);
  const isLeft = (path: string) => linked === undefined || relative(path, linked).startsWith("..");
  for (const path of namesLike(join(library.folder, NEW)).filter(isLeft))
    rmSync(path, { recursive: true, force: true });
  for (const path of namesLike(join(library.folder, ".lock."))) rmSync(path, { force: true });
  const places = [library.command, ...placesOfShare(library).map(({ path }) => path)];
  for (const path of places.flatMap((place) => namesLike(`${place}${NEW}`)))
    if (linkedFolder({ ...library, command: path }) !== undefined) rmSync(path, { force: true });
}

/** The paths in a folder that begin with this one; none if the folder is not there. */
function namesLike(path: string): string[] {
  const folder = dirname(path);
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder).filter((name) => name.startsWith(basename(path)));
  return names.map((name) => join(folder, name));
}

/** By the system's tar, which gets what was checked; xz by its program, gzip by Node. */
async function unpack(archive: string, folder: string, installing: Installing): Promise<void> {
  const { signal, env, maxUnpackedBytes: maxBytes = MAX_TAR_BYTES } = installing;
  const name = basename(archive);
  const checked: CheckedArchive = { name, folder: folderOfArchive(name), maxBytes };
  const tar = spawn("tar", ["-xof", "-"], { cwd: folder, env, stdio: ["pipe", "ignore", "pipe"], signal });
  const said = text(tar.stderr);
  const ended = endOf(tar);
  const reading = archive.endsWith(".gz")
    ? pipeline(createReadStream(archive), createGunzip(), checkedTar(checked), tar.stdin, { signal })
    : unxz(archive, { signal, env, checked, to: tar.stdin });
  const read = await reading.then(
    () => undefined,
    (error: unknown) => error,
  );
  const code = await ended;
  signal.throwIfAborted();
  if (code === 0 && read === undefined) return;
  if (read instanceof ReleaseError) throw read;
  const lines = (await said).trim().split("\n");
  const why = lines.at(-1) || (read instanceof Error ? read.message : "tar was ended");
  throw new ReleaseError(
    `${name} cannot be unpacked in ${dirname(dirname(folder))}: ${lines.find((line) => /No space|too large/.test(line)) ?? why}`,
    "check that there is room, then run this again",
    { cause: read },
  );
}

/** The exit code of a process; an error if it did not start or was interrupted. */
const endOf = (child: ChildProcess) =>
  new Promise<number | null | Error>((done) => void child.once("error", done).once("close", done));

/** The folder that all of an archive is in. */
const folderOfArchive = (name: string) => name.replace(/\.tar\.[gx]z$/, "");

interface Unxz {
  readonly signal: AbortSignal;
  readonly env: Installing["env"];
  readonly checked: CheckedArchive;
  readonly to: NodeJS.WritableStream;
}

async function unxz(archive: string, { checked, to, ...options }: Unxz): Promise<void> {
  const xz = spawn("xz", ["-dc", archive], { ...options, stdio: ["ignore", "pipe", "ignore"] });
  const ended = endOf(xz);
  await pipeline(xz.stdout, checkedTar(checked), to, { signal: options.signal });
  const code = await ended;
  if (code !== 0) throw new Error(`xz ended with ${code}`);
}

/** A new command that says nothing for so long never will. */
const ANSWER_MS = 60_000;

async function checkAnswer(
  command: string,
  { version, edition }: NewVersion,
  { env, signal }: Installing,
): Promise<void> {
  const child = spawn(command, ["version"], { env, signal, timeout: ANSWER_MS, stdio: ["ignore", "pipe", "pipe"] });
  const said = Promise.all([text(child.stdout), text(child.stderr)]);
  const failure = await endOf(child);
  signal.throwIfAborted();
  const [stdout, stderr] = failure instanceof Error ? ["", failure.message] : await said;
  if (failure !== 0) {
    throw new ReleaseError(
      `tool ${version} does not run here: ${stderr.trim().split("\n").at(-1)}`,
      "the version that was there stays; choose another one: -t",
    );
  }
  const answer = stdout.trim();
  if ((edition === "pro" ? withoutEdition(answer) : answer) !== version)
    throw new ReleaseError(`the new command says that it is ${answer}, not ${version}`, "report it to the project");
}

async function replace(
  library: Library,
  wanted: NewVersion,
  unpacked: string,
  installing: Installing & { readonly staging: string },
): Promise<readonly Unlinked[]> {
  const { step, staging } = installing;
  const { version, edition, kind, platform, origin } = wanted;
  const folder = folderOfVersion(library, wanted);
  const versions = knownVersions(library);
  const linked = linkedFolder(library);
  const previous =
    versions.find((it) => it.folder === linked && it.folder !== folder) ?? versions.find((it) => it.folder !== folder);
  const files = sumsOf(unpacked);
  const receiptFile = join(library.folder, "receipt.json");
  const old = { folder: join(staging, "old"), receipt: join(staging, "receipt.json"), link: join(staging, "link") };
  const before = linkTarget(library.command);
  // Made now, as going back may find no room.
  if (library.receipt !== undefined) copyFileSync(receiptFile, old.receipt);
  if (before !== undefined) symlinkSync(before, old.link);
  const undo: (() => void)[] = [];
  const folders = [...(library.receipt?.folders ?? []), ...(installing.folders ?? [])];
  let links: ReturnType<typeof shareLinks> = [];
  try {
    if (existsSync(folder)) {
      // The version before, or one of a run that was killed: the command is in another one.
      step("move the folder that is in its place");
      renameSync(folder, old.folder);
      undo.unshift(() => renameSync(old.folder, folder));
    }
    step("move it to its place");
    renameSync(unpacked, folder);
    // The staging folder goes with it.
    undo.unshift(() => renameSync(folder, join(staging, "refused")));
    await flush(library.folder);
    links = shareLinks(library, folder);
    // The receipt lists those that were not there.
    step("make the folders of the links");
    const made: string[] = [];
    undo.unshift(() => removeEmpty(made));
    made.push(...makeFolder(dirname(library.command)));
    // One that cannot be made is told with its link.
    for (const { path } of links) tried(() => made.push(...makeFolder(dirname(path))));
    folders.push(...made);
    const receipt: Receipt = {
      ...{ version, edition, kind, platform, origin, command: library.command, folder, files },
      links: links.map(({ path }) => path),
      ...(folders.length > 0 && { folders: [...new Set(folders)].sort() }),
      ...(previous !== undefined && {
        previous: { version: previous.version, folder: previous.folder, files: previous.files },
      }),
    };
    // While the receipt still lists it.
    for (const outdated of versions.filter((it) => it.folder !== folder && it.folder !== previous?.folder)) {
      step("remove the version before the last");
      removeVersion(outdated);
    }
    // Before the link: what is there can be removed by it, whichever of both the command is.
    step("write the receipt");
    undo.unshift(() =>
      library.receipt === undefined ? rmSync(receiptFile, { force: true }) : renameSync(old.receipt, receiptFile),
    );
    writeReceipt(staging, receiptFile, receipt);
    step("link the command");
    undo.unshift(() =>
      before === undefined ? rmSync(library.command, { force: true }) : restoreLink(library, before, old.link),
    );
    replaceLink(library.command, linkText(library, folder));
    step("ask the command");
    await checkAnswer(library.command, wanted, installing);
  } catch (error) {
    for (const back of undo) tried(back);
    throw error;
  }
  return links.flatMap(({ path, target }) => {
    step("link the man page and completions");
    const error = tried(() => {
      mkdirSync(dirname(path), { recursive: true });
      replaceLink(path, target);
    });
    return error === undefined ? [] : [{ path, reason: diskReason(error) ?? error.message }];
  });
}

/** Renames the link that was made for it; on another file system than the library's the command gets a new one. */
function restoreLink({ command }: Library, target: string, kept: string): void {
  if (tried(() => renameSync(kept, command)) !== undefined) replaceLink(command, target);
}

/** Makes a folder with those above it; the paths of those that were not there, from above. */
export function makeFolder(path: string): readonly string[] {
  const first = mkdirSync(path, { recursive: true });
  if (first === undefined) return [];
  const made = [path];
  while (made[0] !== first) made.unshift(dirname(made[0]!));
  return made;
}

/** Removes folders that `makeFolder` made, but for those that have anything in them. */
export function removeEmpty(folders: readonly string[]): void {
  for (const path of folders.toReversed()) tried(() => rmdirSync(path));
}

/** The error with which some work ends, if it does. */
function tried(work: () => void): Error | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return error as Error;
  }
}

/** The versions that the receipt lists and that are there, the current one first. */
function knownVersions({ receipt }: Library): InstalledVersion[] {
  if (receipt === undefined) return [];
  return [receipt, ...(receipt.previous === undefined ? [] : [receipt.previous])].filter(({ folder }) =>
    existsSync(folder),
  );
}

function sumsOf(folder: string): Record<string, string> {
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
  const files = paths.filter((path) => !lstatSync(join(folder, path)).isDirectory());
  return Object.fromEntries(files.map((path) => [path.split(sep).join("/"), sumOf(join(folder, path))!]));
}

function writeReceipt(staging: string, path: string, receipt: Receipt): void {
  const beside = join(staging, "receipt.new.json");
  writeFileSync(beside, receiptText(receipt), { mode: 0o644 });
  renameSync(beside, path);
}

/** By rename, so that there is always one. */
function replaceLink(path: string, target: string): void {
  const beside = `${path}.new.${process.pid}`;
  rmSync(beside, { force: true });
  symlinkSync(target, beside);
  renameSync(beside, path);
}

/** Where the system looks for a man page and completions, and which file goes there; the same table as in install.sh. */
const SHARE: Readonly<Record<string, string>> = {
  "share/man/man1/tool.1": "share/man/man1/tool.1",
  "share/bash-completion/completions/tool": "share/completions/tool.bash",
  "share/zsh/site-functions/_tool": "share/completions/_tool",
  "share/fish/vendor_completions.d/tool.fish": "share/completions/tool.fish",
};

/** Without a prefix the system looks nowhere. */
function placesOfShare({ folder }: Library): { readonly path: string; readonly source: string }[] {
  const prefix = dirname(dirname(folder));
  if (folder !== join(prefix, "lib/tool")) return [];
  return Object.entries(SHARE).map(([place, source]) => ({ path: join(prefix, place), source }));
}

/** Links that are ours, or to be made where nothing is. */
function shareLinks(library: Library, folder: string): { readonly path: string; readonly target: string }[] {
  return placesOfShare(library)
    .map(({ path, source }) => ({ path, target: join(folder, source) }))
    .filter(({ path, target }) => {
      const isOurs = linkTarget(path)?.startsWith(`${library.folder}${sep}`) ?? false;
      return existsSync(target) && (isOurs || tried(() => lstatSync(path)) !== undefined);
    });
}

/** The files that were installed, and the folders that are empty then. */
function removeVersion({ folder, files }: InstalledVersion): void {
  for (const path of Object.keys(files)) rmSync(join(folder, path), { force: true });
  const below = readdirSync(folder, { recursive: true, encoding: "utf8" }).map((path) => join(folder, path));
  for (const path of [
    ...below
      .filter((path) => lstatSync(path).isDirectory())
      .sort()
      .reverse(),
    folder,
  ]) {
    try {
      rmdirSync(path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOTEMPTY") throw error;
    }
  }
}

/** Errors of the disk, in words. */
function explained(error: unknown, { folder }: Library): unknown {
  const reason = diskReason(error);
  if (reason === undefined) return error;
  const stays = "then run this again; the version that was there stays";
  return reason === NO_ROOM
    ? new ReleaseError(`there is no room in ${folder}`, `make some, ${stays}`, { cause: error })
    : new ReleaseError(`${folder} cannot be changed: ${reason}`, `check the disk, ${stays}`, { cause: error });
}

const NO_ROOM = "there is no room";
/** Calls that fail for reasons of their own, with words of their own. */
const OF_OTHERS = /^(?:connect|read|spawn|kill|getaddrinfo)/;

/** Why a call of the file system failed; undefined if the error is another one. */
function diskReason(error: unknown): string | undefined {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (code === "ENOSPC" || code === "EDQUOT" || code === "EFBIG") return NO_ROOM;
  return code === undefined || syscall === undefined || OF_OTHERS.test(syscall)
    ? undefined
    : `${syscall} failed (${code})`;
}
