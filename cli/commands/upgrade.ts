import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, realpathSync } from "node:fs";
import * as http from "node:http";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import * as tls from "node:tls";
import { fileURLToPath } from "node:url";
import { visible } from "../../grammar/visible-text.ts";
import type { Edition } from "../../schema/statement.ts";
import { type Context, EXIT } from "../context.ts";
import { releaseAccount } from "../edition.ts";
import { interruptible } from "../interruption.ts";
import { byteSize } from "../output/byte-size.ts";
import { deployProgress } from "../output/deploy-progress.ts";
import type { Watched } from "../platform/progress.ts";
import { ReleaseError } from "../release/error.ts";
import {
  downloadFile,
  fetchStatement,
  findRelease,
  type GitHostOptions,
  type ListedRelease,
} from "../release/git-host.ts";
import { installRelease, makeFolder, removeEmpty } from "../release/install-release.ts";
import {
  changedFiles,
  checkWritable,
  type Library,
  libraryOfPrefix,
  libraryOfVersion,
  linkedVersion,
} from "../release/library.ts";
import { isManaged, type ManagedReceipt } from "../release/receipt.ts";
import { isVersion, type ReleaseFile, type ReleaseStatement, versionOfEdition } from "../release/statement.ts";
import { withUpgradeLock } from "../release/upgrade-lock.ts";
import { compareVersions, withoutEdition } from "../release/version-order.ts";
import type { Options } from "../table.ts";

/** release.json beside the bundles of a release. */
interface BundledRelease {
  /** That of the edition. */
  readonly version: string;
  /** That of the release, if it has an account service: the free edition may have another one. */
  readonly release?: string;
  readonly edition: Edition;
  readonly origin: string;
  /** The public keys that may sign a release, in base64. */
  readonly keys: readonly string[];
  readonly platform: string;
  readonly kind: string;
}

/** `tool upgrade`: replaces the installed release by the newest one, or by that of `--target`. */
export async function upgrade(context: Context, options: Options<"upgrade">): Promise<number> {
  const progress = deployProgress(context);
  const interrupted = () => "interrupted: the version that was there stays";
  try {
    return await interruptible(context, { progress, interrupted }, ({ signal }) =>
      upgradeRelease(context, options, { signal, report: progress.report }),
    );
  } catch (error) {
    if (!(error instanceof ReleaseError)) throw error;
    progress.end();
    // A Git host may answer anything.
    return context.fail(visible(error.message), visible(error.hint));
  }
}

async function upgradeRelease(
  context: Context,
  options: Options<"upgrade">,
  { signal, report }: Watched,
): Promise<number> {
  const { io } = context;
  const target = options.target === undefined ? undefined : withoutEdition(options.target);
  if (target !== undefined && !isVersion(target))
    return context.misuse(`${JSON.stringify(options.target)} is not a version`, "write it as 1.2.3");
  // A receipt is read line by line by install.sh.
  if (/\p{Cc}/u.test(options.prefix ?? ""))
    return context.misuse("--prefix has a line end or another control character", "choose another folder");
  const { bundled, library } = installation(context, options);
  // Node 26, which releases bring, has it.
  (http as { setGlobalProxyFromEnv?(): void }).setGlobalProxyFromEnv?.();
  trustAuthoritiesOfSystem();
  const host: GitHostOptions = {
    origin: bundled.origin,
    token: io.env.GIT_HOST_TOKEN || undefined,
    clock: io.clock,
    signal,
  };
  const release = await findRelease(target, host);
  const wanted = await wantedOf(context, release, { bundled, library, host });
  const { edition, version } = wanted;
  const linked = linkedVersion(library);
  const current = linked?.version;
  const isSwitch = library.receipt !== undefined && library.receipt.edition !== edition;
  const from = isSwitch ? (bundled.release ?? bundled.version) : current;
  // The numbers of both editions are independent: then those of the releases are compared, and the same one will do.
  // What the command is not has to be installed, whatever the receipt says.
  const isLinked = linked === library.receipt;
  const order =
    from === undefined || !isLinked
      ? 1
      : isSwitch
        ? compareVersions(release.version, from) || 1
        : compareVersions(version, from);
  const named = isSwitch ? `${version} (${WORDS[edition]})` : version;
  const inPlace = inPlaceOf(
    isSwitch && current !== undefined ? `${current} (${WORDS[editionOf(library, bundled)]})` : current,
  );
  const finish = async (status: Status, text: string) => {
    const document = { status, version, edition, previous: current ?? null, command: library.command };
    await context.print(context.format === "json" ? JSON.stringify(document, null, 2) : text);
  };
  if (order === 0 || (order < 0 && target === undefined)) {
    const newest = order < 0 ? `; the newest release is ${isSwitch ? release.version : version}` : "";
    await finish("current", `tool ${current} is installed already${newest}: ${library.command}`);
    await sayChanged(context, library);
    return EXIT.ok;
  }
  if (options.check) {
    await finish(
      "available",
      `tool ${named} can be installed: tool upgrade${target === undefined ? "" : ` -t ${target}`}`,
    );
    return EXIT.failed;
  }
  const env = programEnv(io.env);
  const statement = wanted.statement ?? (await fetchStatement(release, bundled.keys, host));
  const file = archiveFor(statement, { ...bundled, edition }, env);
  if (order < 0)
    await context.say(`${isSwitch ? release.version : version} is older than ${from}, which is replaced by it`);
  if (options["dry-run"]) {
    const download = `${file.name}, ${byteSize(file.bytes)}`;
    await finish("planned", `would install tool ${named}${inPlace}: ${library.command} (${download})`);
    return EXIT.ok;
  }
  checkWritable(library);
  // As install.sh does: an installation for all is read by all, whatever the person keeps files like.
  io.keepFilesPublic();
  const folders = makeFolder(library.folder);
  const install = { context, options, bundled: { ...bundled, edition }, version, file, release, host, env, report };
  try {
    await withUpgradeLock(library.folder, () => installLocked({ ...install, folders }));
  } catch (error) {
    removeEmpty(folders);
    throw error;
  }
  await finish("installed", `tool ${named} is installed${inPlace}: ${library.command}`);
  return EXIT.ok;
}

interface Install {
  readonly context: Context;
  readonly options: Options<"upgrade">;
  /** With the edition that is to be installed. */
  readonly bundled: BundledRelease;
  readonly version: string;
  readonly file: ReleaseFile;
  readonly release: ListedRelease;
  readonly host: GitHostOptions;
  readonly env: NodeJS.ProcessEnv;
  readonly report: Watched["report"];
  /** Those that were made for the library. */
  readonly folders: readonly string[];
}

/** Downloads and installs the file, with the library's lock held. */
async function installLocked(install: Install): Promise<void> {
  const { context, options, bundled, version, file, release, host, env, report, folders } = install;
  // Another process may have been at work until now.
  const { library } = installation(context, options);
  const { receipt } = library;
  const changed = receipt === undefined ? [] : changedFiles(receipt);
  let phase = "";
  const begin = (next: string) => {
    if (phase !== "") report({ kind: "end", phase });
    phase = next;
    if (next !== "") report({ kind: "begin", phase });
  };
  const onBytes = (bytes: number) =>
    report({ kind: "note", phase, text: `${byteSize(bytes)} of ${byteSize(file.bytes)}`, isDetail: true });
  const unlinked = await installRelease(
    library,
    { ...bundled, version, file },
    {
      download: (path) => downloadFile(release, file, path, { ...host, onBytes }),
      step: (name) => {
        if (name === "download") begin("download");
        if (name === "unpack") begin("install");
      },
      env,
      signal: host.signal,
      folders,
    },
  );
  begin("");
  for (const { path, reason } of unlinked) await context.say(`${path} stays as it is: ${reason}`);
  if (changed.length > 0 && receipt !== undefined) {
    const kept = `${receipt.folder} keeps them until the next upgrade`;
    await context.say(`${filesOf(changed)} of ${receipt.version} had been changed: ${kept}`);
  }
}

/**
 * curl and wget, by which install.sh downloads, know the authorities of the system, such as that of a company's proxy. Node has a
 * list of its own, and reads the system's from 22.19 and 24.5 on.
 */
function trustAuthoritiesOfSystem(): void {
  const { getCACertificates, setDefaultCACertificates } = tls as {
    getCACertificates?(of: "default" | "system"): string[];
    setDefaultCACertificates?(certificates: readonly string[]): void;
  };
  if (getCACertificates === undefined || setDefaultCACertificates === undefined) return;
  setDefaultCACertificates([...getCACertificates("default"), ...getCACertificates("system")]);
}

/** The part of a release that is to be installed. */
interface Wanted {
  readonly edition: Edition;
  /** That of the edition. */
  readonly version: string;
  /** Set if it was needed to tell the version. */
  readonly statement?: ReleaseStatement;
}

/** The account service of this release says which edition; without one there is a single edition. */
async function wantedOf(
  context: Context,
  release: ListedRelease,
  { bundled, library, host }: { bundled: BundledRelease; library: Library; host: GitHostOptions },
): Promise<Wanted> {
  if (releaseAccount === undefined) return { edition: bundled.edition, version: release.version };
  const { editionToInstall } = await import("../pro.ts");
  const edition = await editionToInstall(context, editionOf(library, bundled), releaseAccount);
  const statement = await fetchStatement(release, bundled.keys, host);
  return { edition, version: versionOfEdition(statement, edition), statement };
}

/** The edition that is installed, or that of this command if nothing is. */
const editionOf = ({ receipt }: Library, bundled: BundledRelease): Edition =>
  receipt === undefined ? bundled.edition : receipt.edition === "free" ? "free" : "pro";

const WORDS: Readonly<Record<Edition, string>> = { pro: "Pro", free: "free" };

type Status = "installed" | "current" | "available" | "planned";

const inPlaceOf = (current: string | undefined) => (current === undefined ? "" : ` in place of ${current}`);

const MAX_NAMED = 3;

function filesOf(paths: readonly string[]): string {
  const more = paths.length - MAX_NAMED;
  return `${paths.slice(0, MAX_NAMED).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

async function sayChanged(context: Context, { receipt }: Library): Promise<void> {
  const changed = receipt === undefined ? [] : changedFiles(receipt);
  if (changed.length === 0) return;
  await context.say(`${filesOf(changed)} of it had been changed: the install script of the release installs it anew`);
}

/** The release that runs, and the library to change. Ends the command with the way to upgrade what no release installed. */
function installation(context: Context, { prefix, target }: Options<"upgrade">) {
  const lib = bundleFolder();
  const bundled = readBundled(lib);
  if (bundled === undefined) {
    // By its file: another package may have the name in a registry.
    const file = `tool-${target ?? "VERSION"}.tgz`;
    const npm = `install the package of the release that you want by its address: npm install --global .../${file}`;
    return lib.includes("node_modules")
      ? context.fail("this tool was installed by npm", npm)
      : context.fail("this tool runs from its sources", "git pull && npm ci && npm run build");
  }
  const library =
    prefix === undefined
      ? libraryOfVersion(dirname(lib))
      : libraryOfPrefix(resolve(context.directory, prefix.replace(/^~(?=\/|$)/, context.io.env.HOME ?? homedir())));
  if (library === undefined) {
    return context.fail(
      `${dirname(lib)} was not put there by the install script: nothing says which files may be replaced`,
      "tool upgrade --prefix ~/.local installs the newest version there",
    );
  }
  if (isManaged(library)) return failManaged(context, library);
  return { bundled, library };
}

function failManaged(context: Context, { manager }: ManagedReceipt): never {
  return context.fail(`this tool was installed by ${visible(manager.name)}`, visible(manager.upgrade));
}

/** The folder of the bundles, where release.json is. In the bundle import.meta.url is the path of the command's file. */
function bundleFolder(): string {
  const here = import.meta.url;
  return realpathSync(join(dirname(here.startsWith("file:") ? fileURLToPath(here) : here), ".."));
}

function readBundled(lib: string): BundledRelease | undefined {
  const path = join(lib, "release.json");
  return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : undefined;
}

/** The environment of the programs that are run: none needs the token, and programs of the folder that this is called in are not meant. */
function programEnv({ GIT_HOST_TOKEN: _, ...env }: Readonly<Record<string, string | undefined>>) {
  const folders = (env.PATH ?? "").split(":").filter((folder) => folder.startsWith("/"));
  return { ...env, PATH: folders.join(":") || "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin" };
}

/** The archive for this machine: the smaller one, if xz is there to unpack it. */
function archiveFor(
  { version, files }: ReleaseStatement,
  { edition, platform, kind }: BundledRelease,
  env: NodeJS.ProcessEnv,
): ReleaseFile {
  const fits = files.filter((file) => file.edition === edition && file.system === platform && file.kind === kind);
  const hasXz = spawnSync("xz", ["--version"], { env, stdio: "ignore" }).status === 0;
  const ending = (end: string) => fits.find(({ name }) => name.endsWith(end));
  const file = (hasXz ? ending(".tar.xz") : undefined) ?? ending(".tar.gz");
  if (file !== undefined) return file;
  const others = files.filter((file) => file.system === platform && file.kind === kind);
  if (others.length > 0 && !files.some((file) => file.edition === edition && file.system !== "any")) {
    throw new ReleaseError(`the release ${version} has no ${WORDS[edition]} edition`, "choose another version: -t");
  }
  throw new ReleaseError(`the release ${version} has no archive for ${platform}`, "choose another version: -t");
}
