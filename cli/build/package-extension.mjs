// Makes dist/tool-<version>.vsix of the built extension, with vsce. Options behind `--` go to it, such as the
// --baseImagesUrl that a gallery needs to show the pictures of the README.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Not among our dependencies: 250 packages, some with install scripts, for what is needed at a release. */
const VSCE = "3.9.2";

/** What everybody who installs the extension has to load, and keeps beside the versions before. */
const MAX_BYTES = 500_000;

const root = fileURLToPath(new URL("../..", import.meta.url));
const vsce = join(root, `node_modules/.cache/vsce-${VSCE}/node_modules/@vscode/vsce/vsce`);
if (!existsSync(vsce)) install();

const extension = join(root, "vscode-extension");
const { version } = JSON.parse(readFileSync(join(extension, "package.json"), "utf8"));
const vsix = join(root, `dist/tool-${version}.vsix`);
const options = process.argv.slice(2);
// Without an address where the pictures are, links stay as they are.
if (!options.some((option) => /^--base(Images|Content)Url\b/.test(option))) options.push("--no-rewrite-relative-links");
execFileSync(
  process.execPath,
  [vsce, "package", "--no-dependencies", "--allow-missing-repository", "--out", vsix, ...options],
  { cwd: extension, stdio: "inherit" },
);

const { size } = statSync(vsix);
console.log(`${vsix}: ${Math.ceil(size / 1000)} KB`);
if (size > MAX_BYTES) {
  console.error(
    `The package is larger than ${MAX_BYTES / 1000} KB: see the list above for what does not belong there.`,
  );
  process.exit(1);
}

/** Once, below node_modules/.cache, where nothing of ours resolves packages; no script of a package runs. */
function install() {
  const folder = join(root, `node_modules/.cache/vsce-${VSCE}`);
  mkdirSync(folder, { recursive: true });
  const npm = process.platform === "win32" ? "npm.cmd" : "npm";
  execFileSync(
    npm,
    ["install", "--prefix", ".", "--ignore-scripts", "--omit=optional", "--no-save", "--no-package-lock"].concat(
      "--loglevel=error",
      `@vscode/vsce@${VSCE}`,
    ),
    { cwd: folder, stdio: "inherit", shell: process.platform === "win32" },
  );
}
