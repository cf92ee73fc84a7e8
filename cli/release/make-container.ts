// `npm run container -- --archive FILE --out DIR`: makes an image of the log service from an archive of a release for Linux.
import { existsSync, readFileSync } from "node:fs";
import { basename, resolve } from "node:path";
import { parseArgs } from "node:util";
import { gunzipSync } from "node:zlib";
import { writeImage } from "./container.ts";
import { debianFiles } from "./debian-files.ts";
import { readTar, timeOfTar } from "./tar.ts";

const USAGE = `usage: npm run container -- --archive FILE --out DIR
  --archive FILE  tool_<version>_linux_<x64|arm64>.tar.gz of a release
  --out DIR       the folder for the image, as an OCI layout, which is not there yet`;

/** `tool_1.2.3_linux_x64.tar.gz`; an archive without the log service has another name. */
const ARCHIVE = /^tool(?:-free)?_(.+)_linux_(x64|arm64)\.tar\.gz$/;

/** The log service uses neither the layer for Python and Java, nor the launcher, which is a script of a shell. */
const UNUSED = /^(?:layer|share|bin)\//;

function main(argv: readonly string[]): number {
  let values: { archive?: string; out?: string };
  try {
    ({ values } = parseArgs({ args: [...argv], options: { archive: { type: "string" }, out: { type: "string" } } }));
  } catch (error) {
    return misuse((error as Error).message);
  }
  const { archive, out } = values;
  if (archive === undefined || out === undefined) return misuse("name an archive and a folder");
  const [, version, cpu] = ARCHIVE.exec(basename(archive)) ?? [];
  if (version === undefined || cpu === undefined) return misuse(`${archive} is no archive of a release for Linux`);
  if (!existsSync(archive)) return misuse(`there is no ${archive}`);
  if (existsSync(out)) return misuse(`${out} is there already: remove it, or name another folder`);
  const tar = gunzipSync(readFileSync(archive));
  const files = readTar(tar)
    .map((file) => ({ ...file, path: file.path.slice(file.path.indexOf("/") + 1) }))
    .filter(({ path }) => !UNUSED.test(path));
  const { files: system, versions } = debianFiles(cpu === "x64" ? "amd64" : cpu);
  const digest = writeImage(resolve(out), { version, cpu, timeS: timeOfTar(tar), system, archive: files });
  for (const [name, of] of Object.entries(versions)) console.error(`with ${name} ${of}`);
  console.log(digest);
  return 0;
}

function misuse(message: string): number {
  console.error(`error: ${message}\n${USAGE}`);
  return 2;
}

process.exitCode = main(process.argv.slice(2));
