// Makes dist/tool-<version>.vsix of the built extension, with vsce. Options after `--` go to it: `--baseImagesUrl <url>` is
// where the pictures of the README are, for galleries show only those that have an address.
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Not among our dependencies: 250 packages, some with install scripts, for what is needed at a release. */
const VSCE = "3.9.2";

/** The limit for what every installation of the extension downloads, and keeps next to earlier versions. */
const MAX_BYTES = 520_000;

const root = fileURLToPath(new URL("../..", import.meta.url));
const extension = join(root, "vscode-extension");
const options = process.argv.slice(2);
const manifest = JSON.parse(readFileSync(join(extension, "package.json"), "utf8"));
const vsix = join(root, `dist/tool-${manifest.version}.vsix`);

const tool = join(root, `node_modules/.cache/vsce-${VSCE}`);
const vsce = join(tool, "node_modules/@vscode/vsce/vsce");
if (!existsSync(vsce)) install();
const hasPictures = options.some((option) => option.startsWith("--baseImagesUrl"));
if (!hasPictures) options.push("--no-rewrite-relative-links");
rmSync(vsix, { force: true });
execFileSync(
  process.execPath,
  [vsce, "package", "--no-dependencies", "--allow-missing-repository", "--out", vsix, ...options],
  { cwd: stage(), stdio: "inherit" },
);

const { size } = statSync(vsix);
console.log(`${vsix}: ${Math.ceil(size / 1000)} KB`);
if (size > MAX_BYTES) {
  console.error(
    `The package is larger than ${MAX_BYTES / 1000} KB: see the list above for what does not belong there.`,
  );
  process.exit(1);
}

/** A folder with the files of the package and no others. Its README has pictures only where they can be shown. */
function stage() {
  const folder = join(root, "dist/extension");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const name of ["package.json", ...manifest.files]) {
    cpSync(join(extension, name), join(folder, name), { recursive: true });
  }
  if (hasPictures) return folder;
  const readme = join(folder, "README.md");
  writeFileSync(readme, readFileSync(readme, "utf8").replace(/^!\[[^\]]*\]\((?!https:)[^)]*\)\n+/gm, ""));
  return folder;
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
