import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Lock } from "./inputs.ts";
import type { ReleasedFile } from "./tar.ts";

/** The limit for what each installation downloads, packed, beside the packages with binaries. */
export const MAX_PACKAGE_BYTES = 4_000_000;

/** The fields of the project's package.json that the package has. */
interface Manifest {
  readonly name: string;
  readonly description: string;
  readonly license: string;
  readonly engines: object;
  readonly bin: object;
  readonly optionalDependencies: Readonly<Record<string, string>>;
}

export interface NpmPackage {
  readonly root: string;
  /** The folder of the bundles, `dist/bin`. */
  readonly bundles: string;
  readonly version: string;
  readonly lock: Lock;
  /** The licences of what is bundled. */
  readonly notices: string;
}

/**
 * The files of the package for npm, in the folder `package` as npm wants it. Its package.json is not the project's: what is
 * bundled is no dependency, only the packages with binaries are, as optional ones of the versions that are tested; it has no scripts, and no `private`, which
 * keeps the project's folder from being published by accident. The layer, 53 MB, is not in it: a deploy that needs it makes it.
 */
export function npmPackageFiles({ root, bundles, version, lock, notices }: NpmPackage): readonly ReleasedFile[] {
  const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as Manifest;
  const { name, description, license, engines, bin } = manifest;
  const optionalDependencies = Object.fromEntries(
    Object.keys(manifest.optionalDependencies).map((one) => [one, lock[`node_modules/${one}`]!.version]),
  );
  const published = { name, version, description, license, engines, bin, optionalDependencies };
  const made = (path: string, text: string): ReleasedFile => ({
    path,
    isExecutable: false,
    content: Buffer.from(text),
  });
  return [
    made("package/package.json", `${JSON.stringify(published, null, 2)}\n`),
    made("package/LICENSE", readFileSync(join(root, "LICENSE"), "utf8")),
    made("package/README.md", readFileSync(join(root, "README.md"), "utf8")),
    made("package/NOTICES", notices),
    ...bundleFiles(bundles).map((file) => ({ ...file, path: `package/dist/bin/${file.path}` })),
  ];
}

/** The files of the command: bundles, the web UI of the log service, and what a deployment carries. */
export function bundleFiles(bundles: string): readonly ReleasedFile[] {
  return readdirSync(bundles, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => {
      const file = join(entry.parentPath, entry.name);
      const path = file.slice(bundles.length + 1).replaceAll("\\", "/");
      return { path, isExecutable: /^(?:cli|runtime\/bootstrap)\.cjs$/.test(path), content: readFileSync(file) };
    });
}
