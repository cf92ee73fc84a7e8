// The cost of making an archive, compared with yazl, archiver and the system's zip: node dist/test/bench/artifact.js
//
// 12,700 files of 74 MB, copied from this project's packages. Each is a process of its own, timed by the clock from its
// start to its end, in turns; medians. The rivals are installed where nothing else finds them: node_modules/.cache/rivals.
import { execFileSync, spawnSync } from "node:child_process";
import {
  appendFileSync,
  copyFileSync,
  createWriteStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { cleanEnv, cliPath, root } from "../support/cli.ts";
import { randomOf } from "../support/random.ts";
import { median, spread } from "./query/statistics.ts";

const FILES = 12_700;
const BYTES = 74_000_000;
const ROUNDS = Number(process.env.ROUNDS ?? 5);
const rivals = join(root, "node_modules/.cache/rivals");

export async function main(print: (line: string) => void): Promise<void> {
  if (!existsSync(join(rivals, "node_modules/archiver"))) {
    mkdirSync(rivals, { recursive: true });
    const words = ["install", "--silent", "--no-save", "--prefix", rivals, "yazl@3", "archiver@7"];
    execFileSync("npm", words, { stdio: "inherit" });
  }
  const folder = mkdtempSync(join(tmpdir(), "tool-bench-"));
  try {
    const project = join(folder, "project");
    print(`${copyFiles(project)}`);
    const zip = join(folder, "out.zip");
    const env = cleanEnv({ XDG_CACHE_HOME: join(folder, "cache") });
    const forget = () => rmSync(join(folder, "cache"), { recursive: true, force: true });
    const build = `"${process.execPath}" "${cliPath}" build > "${zip}"`;
    const rival = (name: string) =>
      `"${process.execPath}" "${fileURLToPath(import.meta.url)}" ${name} "${project}" "${zip}"`;
    const subjects: { name: string; prepare: () => void; command: string }[] = [
      { name: "tool build, nothing known", prepare: forget, command: build },
      {
        name: "tool build, one file changed",
        prepare: () => appendFileSync(join(project, "app.js"), "//\n"),
        command: build,
      },
      { name: "tool build, nothing changed", prepare: () => {}, command: build },
      { name: "yazl", prepare: () => {}, command: rival("yazl") },
      { name: "archiver", prepare: () => {}, command: rival("archiver") },
      { name: "system zip", prepare: () => rmSync(zip, { force: true }), command: `zip -qr "${zip}" .` },
    ];
    const times = new Map<string, number[]>(subjects.map(({ name }) => [name, []]));
    const sizes = new Map<string, number>();
    for (let round = 0; round < ROUNDS; round++) {
      for (const { name, prepare, command } of subjects) {
        prepare();
        const begin = performance.now();
        const { status, stderr } = spawnSync("sh", ["-c", command], { cwd: project, env, encoding: "utf8" });
        if (status !== 0) throw new Error(`${name} ended with ${status}: ${stderr}`);
        times.get(name)!.push((performance.now() - begin) / 1000);
        sizes.set(name, statSync(zip).size);
      }
    }
    const own = median(times.get("tool build, nothing known")!);
    for (const [name, seconds] of times) {
      const ratio = (median(seconds) / own).toFixed(2);
      print(
        `${name}: ${median(seconds).toFixed(2)} ${spread(seconds)} s, ${ratio}x, ${(sizes.get(name)! / 1e6).toFixed(1)} MB`,
      );
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Files of our packages by chance, small ones changed for larger ones until there are enough bytes. */
function copyFiles(project: string): string {
  const packages = join(root, "node_modules");
  const all = readdirSync(packages, { withFileTypes: true, recursive: true }).flatMap((entry) => {
    const path = join(entry.parentPath, entry.name);
    return entry.isFile() && !path.includes("/.cache/") ? [{ path, bytes: statSync(path).size }] : [];
  });
  const { below } = randomOf(1);
  const rest = all.filter(({ bytes }) => bytes < 2_000_000);
  const chosen = Array.from({ length: FILES }, () => rest.splice(below(rest.length), 1)[0]!);
  let bytes = chosen.reduce((sum, file) => sum + file.bytes, 0);
  while (Math.abs(bytes - BYTES) > 50_000) {
    const at = below(chosen.length);
    const other = below(rest.length);
    const change = rest[other]!.bytes - chosen[at]!.bytes;
    if (Math.abs(bytes + change - BYTES) >= Math.abs(bytes - BYTES)) continue;
    [chosen[at], rest[other]] = [rest[other]!, chosen[at]!];
    bytes += change;
  }
  for (const { path } of chosen) {
    const copy = join(project, "node_modules", path.slice(packages.length));
    mkdirSync(dirname(copy), { recursive: true });
    copyFileSync(path, copy);
  }
  writeFileSync(join(project, "tool.json"), '{ "name": "bench" }');
  writeFileSync(join(project, "app.js"), "");
  return `${chosen.length} files, ${(bytes / 1e6).toFixed(1)} MB`;
}

async function zipAs(name: string, project: string, zip: string): Promise<void> {
  const load = createRequire(join(rivals, "package.json"));
  const output = createWriteStream(zip);
  const written = new Promise<void>((resolve) => output.once("close", resolve));
  if (name === "archiver") {
    const archive = load("archiver")("zip", { zlib: { level: 6 } });
    archive.pipe(output);
    archive.directory(project, false);
    await archive.finalize();
  } else {
    const archive = new (load("yazl").ZipFile)();
    archive.outputStream.pipe(output);
    for (const entry of readdirSync(project, { withFileTypes: true, recursive: true })) {
      if (!entry.isFile()) continue;
      const path = join(entry.parentPath, entry.name);
      archive.addFile(path, path.slice(project.length + 1));
    }
    archive.end();
  }
  await written;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [name, project, zip] = process.argv.slice(2);
  if (name === undefined) await main((line) => console.log(line));
  else await zipAs(name, project!, zip!);
}
