// `npm run release -- <version> --out DIR --origin URL --key FILE`: makes all files of a release in DIR/v<version>.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PlatformError } from "../platform/error.ts";
import { Inputs, inputsCache, nodeInput, readPinnedNode } from "./inputs.ts";
import { makeRelease } from "./make-release.ts";
import { MakeReleaseError } from "./make-release-error.ts";
import { readReleaseOptions, USAGE } from "./options.ts";
import { SYSTEMS } from "./systems.ts";

/** For the process that the pinned Node runs. */
const IS_PINNED = "TOOL_RELEASE_PINNED";

async function main(argv: readonly string[], root: string): Promise<number> {
  const note = (text: string) => console.error(text);
  try {
    const options = readReleaseOptions(argv, root);
    if (process.env[IS_PINNED] === undefined) return inPinnedNode(argv, root, note);
    const folder = await makeRelease({ ...options, root, note });
    console.log(folder);
    return 0;
  } catch (error) {
    if (error instanceof PlatformError) {
      note(`error: ${error.message}\n  ${error.hint ?? ""}`);
      return 1;
    }
    if (!(error instanceof MakeReleaseError)) throw error;
    note(`error: ${error.message}`);
    if (error.isMisuse) note(USAGE);
    return error.isMisuse ? 2 : 1;
  }
}

/**
 * Runs this again by the Node that the archives bring: what is compressed depends on the zlib in it. It is downloaded first, for
 * this machine.
 */
function inPinnedNode(argv: readonly string[], root: string, note: (text: string) => void): number {
  const machine = SYSTEMS.find(({ os, cpu }) => os === process.platform && cpu === process.arch);
  if (machine === undefined || machine.os === "win32") {
    throw new MakeReleaseError(`a release cannot be made on ${process.platform} ${process.arch}: use Linux or macOS`);
  }
  const pinned = readPinnedNode(root);
  const cache = inputsCache(root);
  const folder = join(cache, `node-${pinned.node}`);
  if (!existsSync(join(folder, "node"))) {
    const files = new Inputs(cache, note).files(nodeInput(pinned, machine));
    const made = mkdtempSync(join(cache, "node-"));
    writeFileSync(join(made, "node"), files.find(({ path }) => path === "bin/node")!.content, { mode: 0o755 });
    rmSync(folder, { recursive: true, force: true });
    renameSync(made, folder);
  }
  // First in PATH: npm and the build's steps run by it, too.
  const env = { ...process.env, [IS_PINNED]: "1", PATH: `${folder}:${process.env.PATH}` };
  const { status } = spawnSync(join(folder, "node"), [import.meta.filename, ...argv], {
    stdio: "inherit",
    env,
    cwd: root,
  });
  return status ?? 1;
}
process.exitCode = await main(process.argv.slice(2), process.cwd());
