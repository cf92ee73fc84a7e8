// The extension as people get it: the .vsix, packed again when something of it has changed.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { root } from "./cli.ts";
import { withoutLoaders } from "./without-loaders.ts";

/** The path of the .vsix. Throws with what was printed where it cannot be packed. */
export function packExtension(): string {
  const folder = join(root, "vscode-extension");
  const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const vsix = join(root, `dist/tool-${version}.vsix`);
  if (writtenMs(vsix) > newestMs(folder)) return vsix;
  const { status, stdout, stderr } = spawnSync(...withoutLoaders("npm", ["run", "--silent", "package:extension"]), {
    cwd: root,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`the extension was not packed: ${stdout}${stderr}`);
  return vsix;
}

function newestMs(folder: string): number {
  const files = readdirSync(folder, { withFileTypes: true, recursive: true }).filter((entry) => entry.isFile());
  return Math.max(...files.map(({ parentPath, name }) => writtenMs(join(parentPath, name))));
}

function writtenMs(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
