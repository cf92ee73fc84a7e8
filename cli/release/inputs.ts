import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { MakeReleaseError } from "./make-release-error.ts";
import type { System } from "./systems.ts";
import { type ReleasedFile, readTar } from "./tar.ts";

/** A package of npm that becomes part of a release. */
export interface Input {
  readonly name: string;
  readonly version: string;
  /** The sum of its tarball: `sha512-` and base64. */
  readonly integrity: string;
}

/** The content of inputs.json: Node's version, and the integrity of the package that has it for each system. */
export interface PinnedNode {
  readonly node: string;
  readonly integrity: Readonly<Record<string, string>>;
}

export const readPinnedNode = (root: string): PinnedNode =>
  JSON.parse(readFileSync(join(root, "cli/release/inputs.json"), "utf8"));

export function nodeInput({ node, integrity }: PinnedNode, { nodePackage }: System): Input {
  return { name: nodePackage, version: node, integrity: integrity[nodePackage]! };
}

/** A package as package-lock.json has it. */
export interface LockedPackage {
  readonly version: string;
  readonly integrity: string;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** By the path of their folder: `node_modules/libsql`. */
export type Lock = Readonly<Record<string, LockedPackage>>;

/**
 * The packages with binaries, and those that they need, for a system: what npm would install there of the optional dependencies
 * of the project. By the path of their folder.
 */
export function nativeInputs(lock: Lock, { os, cpu }: System): ReadonlyMap<string, Input> {
  // That a package is for another libc is in some names alone.
  const isFor = (path: string, locked: LockedPackage) =>
    (locked.os?.includes(os) ?? true) && (locked.cpu?.includes(cpu) ?? true) && !/-musl\w*$/.test(path);
  const inputs = new Map<string, Input>();
  const add = (name: string, from: string): void => {
    const path = resolvePackage(lock, name, from);
    const locked = path === undefined ? undefined : lock[path];
    if (path === undefined || locked === undefined)
      throw new MakeReleaseError(`package-lock.json lacks ${name}: run npm install`);
    if (inputs.has(path) || !isFor(path, locked)) return;
    inputs.set(path, { name, version: locked.version, integrity: locked.integrity });
    for (const needed of Object.keys({ ...locked.dependencies, ...locked.optionalDependencies })) add(needed, path);
  };
  for (const name of Object.keys(lock[""]?.optionalDependencies ?? {})) add(name, "");
  return inputs;
}

/** As Node looks for it: beside the package, then in each folder above. */
function resolvePackage(lock: Lock, name: string, from: string): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(folder.lastIndexOf("/node_modules/"), 0))) {
    const path = folder === "" ? `node_modules/${name}` : `${folder}/node_modules/${name}`;
    if (lock[path] !== undefined) return path;
    if (folder === "") return undefined;
  }
}

/**
 * The files of packages, without the folder that npm puts around them. Their tarballs are downloaded by npm once, and kept in
 * `cache`; one whose sum is not the pinned one is refused.
 */
export class Inputs {
  readonly #cache: string;
  readonly #note: (text: string) => void;
  /** All that were asked for, by name and version. */
  readonly used = new Map<string, Input>();

  constructor(cache: string, note: (text: string) => void) {
    this.#cache = cache;
    this.#note = note;
  }

  files(input: Input): readonly ReleasedFile[] {
    this.used.set(`${input.name}@${input.version}`, input);
    return readTar(gunzipSync(this.#tarball(input))).map((file) => ({
      ...file,
      path: file.path.slice(file.path.indexOf("/") + 1),
    }));
  }

  #tarball({ name, version, integrity }: Input): Buffer {
    const file = join(this.#cache, `${name.replace(/^@/, "").replace("/", "-")}-${version}.tgz`);
    if (!existsSync(file)) {
      this.#note(`downloading ${name} ${version}`);
      mkdirSync(this.#cache, { recursive: true });
      const folder = mkdtempSync(join(this.#cache, "npm-"));
      try {
        const words = ["pack", "--json", "--prefer-offline", "--loglevel=error", "--pack-destination", folder];
        const printed = execFileSync("npm", [...words, `${name}@${version}`], { encoding: "utf8", cwd: folder });
        renameSync(join(folder, packedName(printed)), file);
      } catch (error) {
        throw new MakeReleaseError(`npm cannot download ${name} ${version}: what it printed is above`, {
          cause: error,
        });
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    }
    const tarball = readFileSync(file);
    const sum = `sha512-${createHash("sha512").update(tarball).digest("base64")}`;
    if (sum !== integrity) {
      rmSync(file);
      throw new MakeReleaseError(
        `the package ${name} ${version} is not the pinned one: its integrity is ${sum}, and ${integrity} is pinned. It was removed; run this again, and check the registry that npm uses if it stays so`,
      );
    }
    return tarball;
  }
}

/** `npm pack --json` prints an array, or since npm 12 an object by package. */
function packedName(printed: string): string {
  const [packed] = Object.values(JSON.parse(printed) as Record<string, { readonly filename: string }>);
  return packed!.filename;
}

/** Where downloads of a project's folder are kept. */
export const inputsCache = (root: string) => join(root, "node_modules/.cache/release");
