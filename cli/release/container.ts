import { createHash } from "node:crypto";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { type ReleasedEntry, tarPieces } from "./tar.ts";

/** Contents of an image. */
export interface ImageParts {
  readonly version: string;
  /** The processor, as Node calls it: `x64` or `arm64`. */
  readonly cpu: string;
  /** Seconds since 1970: the time of every file, and of the image. */
  readonly timeS: number;
  /** Libraries of the system and certificates. Rarely changed, so they are a layer of their own. */
  readonly system: readonly ReleasedEntry[];
  /** The files of an archive of the release, below its top folder. */
  readonly archive: readonly ReleasedEntry[];
}

/** The user that the service runs as, by number, as there is no `useradd` in the image. */
const USER = 65_532;
const HOME = "/tool";
const DATA = "/data";
const PORT = 5000;

const ENVIRONMENT: Readonly<Record<string, string>> = {
  PATH: `${HOME}/node/bin`,
  HOME: DATA,
  SSL_CERT_FILE: "/etc/ssl/certs/ca-certificates.crt",
  // The loopback of a container is reached from nowhere: a proxy that speaks TLS is outside of it.
  TOOL_PLAIN_HTTP: "1",
};

/** The folders of files that programs look up. */
const ACCOUNT_FILES: Readonly<Record<string, string>> = {
  "etc/passwd": `root:x:0:0:root:/:/sbin/nologin\ntool:x:${USER}:${USER}:tool:${DATA}:/sbin/nologin\n`,
  "etc/group": `root:x:0:\ntool:x:${USER}:\n`,
  // The C library asks a name server first otherwise, and never reads /etc/hosts.
  "etc/nsswitch.conf": "hosts: files dns\n",
};

/**
 * Writes an image of the log service as an OCI layout (github.com/opencontainers/image-spec, image-layout.md) into a new folder
 * `out`. It holds no shell: the entry point is Node. Returns the digest of its manifest. The same parts give the same bytes.
 */
export function writeImage(out: string, parts: ImageParts): string {
  const { version, cpu, timeS } = parts;
  rmSync(out, { recursive: true, force: true });
  mkdirSync(join(out, "blobs/sha256"), { recursive: true });
  const blob = (mediaType: string, content: Buffer) => {
    const hex = createHash("sha256").update(content).digest("hex");
    writeFileSync(join(out, "blobs/sha256", hex), content);
    return { mediaType, digest: `sha256:${hex}`, size: content.length };
  };
  const document = (mediaType: string, value: object) => blob(mediaType, Buffer.from(JSON.stringify(value)));

  const accounts = Object.entries(ACCOUNT_FILES).map(([path, text]) => file(path, text));
  const folders = [folder("data", 0o700, USER), folder("tmp", 0o1777)];
  const base = [...parts.system, ...accounts, ...folders];
  const inHome = parts.archive.map((entry) => ({ ...entry, path: `${HOME.slice(1)}/${entry.path}` }));
  const layers = [base, inHome].map((entries) => {
    const tar = Buffer.concat([...tarPieces(entries, timeS)]);
    const layer = blob("application/vnd.oci.image.layer.v1.tar+gzip", gzipSync(tar));
    return { ...layer, diffId: `sha256:${createHash("sha256").update(tar).digest("hex")}` };
  });

  const created = new Date(timeS * 1000).toISOString();
  const architecture = cpu === "x64" ? "amd64" : cpu;
  const labels = {
    "org.opencontainers.image.title": "tool log service",
    "org.opencontainers.image.version": version,
    "org.opencontainers.image.created": created,
    "org.opencontainers.image.licenses": "MIT",
  };
  const config = document("application/vnd.oci.image.config.v1+json", {
    created,
    architecture,
    os: "linux",
    config: {
      User: `${USER}:${USER}`,
      ExposedPorts: { [`${PORT}/tcp`]: {} },
      Env: Object.entries(ENVIRONMENT).map(([name, value]) => `${name}=${value}`),
      Entrypoint: ["/tool/node/bin/node", "/tool/lib/cli.cjs"],
      Cmd: ["service", "start", "--data", DATA, "--address", `0.0.0.0:${PORT}`],
      Volumes: { [DATA]: {} },
      WorkingDir: DATA,
      Labels: labels,
      StopSignal: "SIGTERM",
    },
    rootfs: { type: "layers", diff_ids: layers.map(({ diffId }) => diffId) },
    history: [
      { created, created_by: "libraries of Debian, certificates" },
      { created, created_by: `tool ${version}` },
    ],
  });
  const manifest = document("application/vnd.oci.image.manifest.v1+json", {
    schemaVersion: 2,
    mediaType: "application/vnd.oci.image.manifest.v1+json",
    config,
    layers: layers.map(({ diffId: _, ...layer }) => layer),
    annotations: labels,
  });
  const index = {
    schemaVersion: 2,
    mediaType: "application/vnd.oci.image.index.v1+json",
    manifests: [
      {
        ...manifest,
        platform: { architecture, os: "linux" },
        annotations: { "org.opencontainers.image.ref.name": version },
      },
    ],
  };
  writeFileSync(join(out, "index.json"), JSON.stringify(index));
  writeFileSync(join(out, "oci-layout"), JSON.stringify({ imageLayoutVersion: "1.0.0" }));
  return manifest.digest;
}

const file = (path: string, text: string): ReleasedEntry => ({ path, isExecutable: false, content: Buffer.from(text) });

const folder = (path: string, mode: number, owner = 0): ReleasedEntry => ({ path, mode, owner });
