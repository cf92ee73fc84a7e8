// Faults of a Git host, or of somebody in its place. The install script and `tool upgrade` refuse each, in the same words
// but for a few.
import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { answerWithoutEnd, type ReleaseHost, type ReleaseOptions, resign, SYSTEM } from "./release-host.ts";

export interface GitHostFault {
  readonly name: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly prepare: (world: { readonly host: ReleaseHost }) => unknown;
  /** The beginning of what is printed, with `:PORT` for ports. */
  readonly stderr: string;
}

export interface FaultyRelease {
  readonly by: "script" | "command";
  /** The newest version of the host, which is to be installed. */
  readonly version: string;
  readonly key: KeyObject;
  /** The files of that version, with these parts in place of its own. */
  readonly release: (more: Partial<ReleaseOptions>) => Map<string, Buffer>;
}

const TOKEN = "ghp_0123456789abcdefXYZ";
const API = /^\/releases/;
const ARCHIVE = /\.tar/;
const PAGE = "https://localhost:PORT/repos/acme/tool/releases/latest";

/** Answers at these paths in place of the host. */
export const answering =
  (path: RegExp, status: number, body = "", headers: Record<string, string> = {}): GitHostFault["prepare"] =>
  ({ host }) => {
    host.instead = (at, response) => path.test(at) && !!response.writeHead(status, headers).end(body);
  };

/** Bodies at these paths never end. */
export const withoutEnd =
  (path: RegExp): GitHostFault["prepare"] =>
  ({ host }) => {
    host.instead = (at, response) => {
      if (!path.test(at)) return false;
      answerWithoutEnd(response);
      return true;
    };
  };

/** The transfer of the archive breaks after its first byte. */
export const breaking: GitHostFault["prepare"] = ({ host }) => {
  host.instead = (path, response) => {
    if (!ARCHIVE.test(path)) return false;
    response.writeHead(200, { "content-length": "100000" }).write("x", () => response.destroy());
    return true;
  };
};

/** The rows, for one of the two that install. */
export function gitHostFaults({ by, version, key, release }: FaultyRelease): readonly GitHostFault[] {
  const isScript = by === "script";
  const archive = `tool_${version}_${SYSTEM.replace("-", "_")}.tar.xz`;
  const address = `https://localhost:PORT/download/v${version}`;
  const signature = isScript ? "RELEASE.sig" : "RELEASE.ed25519";
  /** The script says which archive it downloads, the command how long it took. */
  const downloading = (mb = 0) => (isScript ? `downloading ${archive} (${mb} MB)\n` : "");
  const releasing =
    (more: Partial<ReleaseOptions>): GitHostFault["prepare"] =>
    ({ host }) =>
      host.releases.set(version, release(more));
  const changed = (how: "size" | "sum") =>
    `error: ${archive} is not the file that was signed: its ${how} differs\n  run this again; if it stays so, report it to the project\n`;
  return [
    {
      name: "403 without a token",
      prepare: answering(API, 403),
      stderr: `error: the Git host refuses the request (403 Forbidden): its limit for requests without a token is reached
  set GIT_HOST_TOKEN to a token of yours, or run this again in an hour
`,
    },
    {
      name: "403 with a token",
      prepare: answering(API, 403),
      env: { GIT_HOST_TOKEN: TOKEN },
      stderr: `error: the Git host refuses the request (403): GIT_HOST_TOKEN may not read the releases, or its own limit is reached
  use another token, or run this again in an hour
`,
    },
    {
      name: "401",
      prepare: answering(API, 401),
      env: { GIT_HOST_TOKEN: TOKEN },
      stderr: "error: the Git host does not accept GIT_HOST_TOKEN (401)\n  set a token that is valid, or none\n",
    },
    {
      name: "no release",
      prepare: ({ host }) => host.releases.clear(),
      stderr: `error: https://localhost:PORT/repos/acme/tool has no release
  check that the project is there; a private one needs GIT_HOST_TOKEN
`,
    },
    {
      name: "an answer that is not JSON",
      prepare: answering(API, 200, '{"a" <'),
      stderr: "error: the Git host's answer is not understood\n  run this again later\n",
    },
    {
      name: "a redirect to what is not https",
      prepare: answering(API, 302, "", { location: "http://127.0.0.1/x" }),
      stderr: "error: the Git host names an address that is not https: http://127.0.0.1/x\n",
    },
    {
      name: "redirects without end",
      prepare: answering(API, 302, "", { location: "/repos/acme/tool/releases/latest" }),
      stderr: `error: ${PAGE} redirects more than ${isScript ? "five" : "5"} times\n  run this again later\n`,
    },
    {
      name: "a list of releases without end",
      prepare: withoutEnd(API),
      stderr: isScript
        ? `error: the download of ${PAGE} failed: curl: (23)`
        : `error: ${PAGE} has more than 4194304 bytes\n  run this again later\n`,
    },
    {
      name: "a RELEASE without end",
      prepare: withoutEnd(/RELEASE$/),
      stderr: isScript
        ? `error: the download of ${address}/RELEASE failed: curl: (23)`
        : `error: ${address}/RELEASE has more than 4194304 bytes\n  run this again later\n`,
    },
    {
      name: "an archive without end",
      prepare: withoutEnd(ARCHIVE),
      stderr: isScript
        ? `${downloading()}error: the download of ${address}/${archive} failed: curl: (23)`
        : changed("size"),
    },
    {
      name: "a transfer that breaks",
      prepare: breaking,
      stderr: `${downloading()}error: the download of ${address}/${archive} failed: `,
    },
    {
      name: "an archive that is shorter",
      prepare: releasing({ says: { bytes: 9_000_000 } }),
      stderr: `${downloading(9)}error: ${archive} is incomplete: `,
    },
    {
      name: "an archive with another sum",
      prepare: releasing({ says: { sha256: "0".repeat(64) } }),
      stderr: `${downloading()}${changed("sum")}`,
    },
    {
      name: "a signature by another key",
      prepare: releasing({ key: generateKeyPairSync("ed25519").privateKey }),
      stderr: isScript
        ? `error: the signature of the release ${version} is wrong
  do not install it; download this script anew, and if it stays so, report it to the project
`
        : `error: the signature of the release is not by a key that this installation trusts
  run it again; if it stays so, report it to the project and install nothing
`,
    },
    {
      name: "a signature of another version",
      prepare: releasing({ says: { version: "1.0.9" } }),
      stderr: isScript
        ? `error: version ${version} was asked for, and what is signed is 1.0.9
  report it to the project and install nothing
`
        : `error: the release that was asked for is ${version}, and what is signed is 1.0.9\n`,
    },
    {
      name: "a statement of a later kind",
      prepare: ({ host }) => resign(host.releases.get(version)!, `tool-release 2\nversion ${version}\n`, key),
      stderr: isScript
        ? `error: the release ${version} is of a later kind than this script
  download the script anew: it is one of the files of the release
`
        : `error: RELEASE has the format 2, and this version reads 1
  install tool anew with the install script of the release
`,
    },
    {
      name: "a release without a signature",
      prepare: ({ host }) => host.releases.get(version)!.delete(signature),
      stderr: `error: the release ${version} has no file ${signature}\n  choose another ${isScript ? "VERSION" : "version: -t"}\n`,
    },
    {
      name: "a release for another system",
      prepare: releasing({ says: { system: "aix-ppc64" } }),
      stderr: `error: the release ${version} has no archive for ${SYSTEM}\n`,
    },
    {
      name: "a version that does not run here",
      prepare: releasing({ files: { "bin/tool": "#!/bin/sh\necho no GLIBC_2.28 >&2\nexit 127\n" } }),
      stderr: `${downloading()}error: tool ${version} does not run here: no GLIBC_2.28\n  `,
    },
  ];
}
