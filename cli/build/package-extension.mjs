// Makes dist/tool-<version>.vsix of the built extension, with vsce. Options after `--` go to it, but one:
//   --repository <url>  where this project is published, such as https://github.com/OWNER/tool. Galleries link to it, show the
//                       README's pictures from there, and the walkthrough's install line names its releases.
// `--baseImagesUrl <url>` is another place of the pictures: galleries show only those that have an address.
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { packedManifest } from "./extension-manifest.mjs";

/** Not among our dependencies: 250 packages, some with install scripts, for what is needed at a release. */
const VSCE = "3.9.2";

/** The limit for what every installation of the extension downloads, and keeps next to earlier versions. */
const MAX_BYTES = 640_000;

const root = fileURLToPath(new URL("../..", import.meta.url));
const extension = join(root, "vscode-extension");
const manifest = JSON.parse(readFileSync(join(extension, "package.json"), "utf8"));
const [repository, options] = readOptions(process.argv.slice(2));
const vsix = join(root, `dist/tool-${manifest.version}.vsix`);

const tool = join(root, `node_modules/.cache/vsce-${VSCE}`);
const vsce = join(tool, "node_modules/@vscode/vsce/vsce");
if (!existsSync(vsce)) install();
const hasPictures = options.some((option) => option.startsWith("--baseImagesUrl"));
if (!hasPictures) options.push("--no-rewrite-relative-links");
if (repository === undefined) options.push("--allow-missing-repository");
rmSync(vsix, { force: true });
execFileSync(process.execPath, [vsce, "package", "--no-dependencies", "--out", vsix, ...options], {
  cwd: stage(),
  stdio: "inherit",
});

const { size } = statSync(vsix);
console.log(`${vsix}: ${Math.ceil(size / 1000)} KB`);
if (size > MAX_BYTES) {
  console.error(
    `The package is larger than ${MAX_BYTES / 1000} KB: see the list above for what does not belong there.`,
  );
  process.exit(1);
}

/** The address of the project, without a slash at its end, and the options of vsce. */
function readOptions(words) {
  const at = words.indexOf("--repository");
  if (at < 0) return [undefined, words];
  const address = words[at + 1]?.replace(/(?:\.git)?\/?$/, "");
  if (!/^https:\/\/[^/]+\/./.test(address ?? "")) {
    console.error("--repository wants an address, such as https://github.com/OWNER/tool");
    process.exit(2);
  }
  const others = words.toSpliced(at, 2);
  if (!others.some((option) => option.startsWith("--baseImagesUrl"))) {
    others.push("--baseImagesUrl", `${address}/raw/v${manifest.version}/vscode-extension`);
  }
  return [address, others];
}

/** A folder with the files of the package and no others. Its README has pictures only where they can be shown. */
function stage() {
  const folder = join(root, "dist/extension");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const name of manifest.files) cpSync(join(extension, name), join(folder, name), { recursive: true });
  cpSync(join(root, "LICENSE"), join(folder, "LICENSE.txt"));
  writeFileSync(join(folder, "package.json"), JSON.stringify(packedManifest(manifest, repository), null, 2));
  if (repository !== undefined) {
    edit(join(folder, "walkthrough/install.md"), (text) =>
      text
        .replace(", where `RELEASES` is the address of its releases", "")
        .replace('"$RELEASES', `"${repository}/releases`),
    );
  }
  if (!hasPictures) {
    edit(join(folder, "README.md"), (text) => text.replace(/^!\[[^\]]*\]\((?!https:)[^)]*\)\n+/gm, ""));
  }
  return folder;
}

function edit(path, change) {
  writeFileSync(path, change(readFileSync(path, "utf8")));
}

/** Once, below node_modules/.cache, where nothing of ours resolves packages; no script of a package runs. */
function install() {
  mkdirSync(tool, { recursive: true });
  const words = ["install", "--prefix", ".", "--ignore-scripts", "--omit=optional", "--no-save", "--no-package-lock"];
  const isWindows = process.platform === "win32";
  execFileSync(isWindows ? "npm.cmd" : "npm", [...words, "--loglevel=error", `@vscode/vsce@${VSCE}`], {
    cwd: tool,
    stdio: "inherit",
    shell: isWindows,
  });
}
