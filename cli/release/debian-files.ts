import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { ReleasedFile } from "./tar.ts";

/** The packages of Debian with what Node and the binaries of the log service are linked with. */
const PACKAGES = ["libc6", "libgcc-s1", "libstdc++6", "libatomic1"];
/** The files of them that are loaded: the C library's modules for names are a part of it, but for DNS in older ones. */
const LIBRARY = /^lib(?:c|m|dl|pthread|rt|resolv|nss_dns|nss_files|gcc_s|stdc\+\+|atomic)\.so\.\d$/;
/** The loader, and where executables of each processor ask for it. */
const LOADERS: Readonly<Record<string, string>> = {
  "ld-linux-x86-64.so.2": "lib64/ld-linux-x86-64.so.2",
  "ld-linux-aarch64.so.1": "lib/ld-linux-aarch64.so.1",
};

export interface DebianFiles {
  readonly files: readonly ReleasedFile[];
  /** By the name of the package. */
  readonly versions: Readonly<Record<string, string>>;
}

/**
 * Parts of Debian for an image without a system: libraries, the certificates of authorities, and the licences of both.
 * Downloads the packages with apt, for the processor `architecture` (`amd64`), and unpacks them with dpkg-deb.
 */
export function debianFiles(architecture: string): DebianFiles {
  const folder = mkdtempSync(join(tmpdir(), "tool-debian-"));
  try {
    const names = [...PACKAGES.map((name) => `${name}:${architecture}`), "ca-certificates"];
    execFileSync("apt-get", ["download", ...names], { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
    const versions: Record<string, string> = {};
    for (const archive of readdirSync(folder).filter((name) => name.endsWith(".deb"))) {
      const fields = execFileSync("dpkg-deb", ["--field", join(folder, archive), "Package", "Version"]);
      const [, name = "", version = ""] = /^Package: (.*)\nVersion: (.*)$/m.exec(fields.toString()) ?? [];
      versions[name] = version;
      execFileSync("dpkg-deb", ["--extract", join(folder, archive), join(folder, "root")]);
    }
    const root = join(folder, "root");
    return { files: [...libraries(root), certificates(root), ...licences(root)], versions };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Each as a file where it is looked for: what a link leads to is named by the version, which nothing asks for. */
function libraries(root: string): readonly ReleasedFile[] {
  // On Debian the links /lib and /usr/lib are one folder; packages have either.
  const files = ["lib", "usr/lib"].flatMap((folder) => walk(root, folder));
  return files.flatMap((path) => {
    const name = basename(path);
    const place = LIBRARY.test(name) ? path.replace(/^usr\//, "") : LOADERS[name];
    return place === undefined ? [] : [{ path: place, isExecutable: true, content: readFileSync(join(root, path)) }];
  });
}

function certificates(root: string): ReleasedFile {
  const folder = join(root, "usr/share/ca-certificates/mozilla");
  const texts = readdirSync(folder)
    .sort()
    .map((name) => readFileSync(join(folder, name), "utf8").trimEnd());
  const content = Buffer.from(`${texts.join("\n")}\n`);
  return { path: "etc/ssl/certs/ca-certificates.crt", isExecutable: false, content };
}

function licences(root: string): readonly ReleasedFile[] {
  return readdirSync(join(root, "usr/share/doc"))
    .sort()
    .map((name) => `usr/share/doc/${name}/copyright`)
    .filter((path) => statSync(join(root, path), { throwIfNoEntry: false })?.isFile())
    .map((path) => ({ path, isExecutable: false, content: readFileSync(join(root, path)) }));
}

/** The paths of the files below a folder, and of links to files. */
function walk(root: string, folder: string): readonly string[] {
  return readdirSync(join(root, folder)).flatMap((name) => {
    const path = `${folder}/${name}`;
    const stats = statSync(join(root, path), { throwIfNoEntry: false });
    if (stats?.isDirectory()) return walk(root, path);
    return stats?.isFile() ? [path] : [];
  });
}
