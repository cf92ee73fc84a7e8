// A Git host with the releases of a project, over TLS: its API at localhost, and its files at another address, to which it
// redirects, as the public ones do.
import { spawnSync } from "node:child_process";
import { createHash, type KeyObject } from "node:crypto";
import { readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { type ReleaseFile, signStatement, writeStatement } from "../../cli/release/statement.ts";
import type { Edition } from "../../schema/statement.ts";
import { root } from "./cli.ts";

const fixture = (name: string) => join(root, "test/fixtures", name);
/** The certificate of the host, which is its own authority. */
export const CERTIFICATE = fixture("localhost.cert.pem");

/** The system of the machine that runs the tests. */
export const SYSTEM = `${process.platform}-${process.arch}`;

interface Test {
  teardown(handler: () => Promise<void>): void;
}

export interface ReleaseHost {
  /** The project's address in the API. */
  readonly origin: string;
  /** The address of the host's pages, where the project is acme/tool. */
  readonly pages: string;
  /** By version, the files by their names; the first is the latest. */
  readonly releases: Map<string, Map<string, Buffer>>;
  /** The requests so far. `host` is `api`, or `files` for the other address. */
  readonly requests: { readonly host: string; readonly path: string; readonly authorization?: string }[];
  /** Answers in place of the host if it is set and returns true. `path` begins after the project's address. */
  instead: ((path: string, response: ServerResponse, request: IncomingMessage) => boolean) | undefined;
}

const PROJECT = "/repos/acme/tool";
/** The project's pages, of which two redirect: to the page of the newest release, and to a file of one. */
const PAGES = "/acme/tool/releases";

/** Serves releases until the test ends; its API at `wantedPort`, which releases that were made for it name, or at any. */
export async function startReleaseHost(t: Test, wantedPort = 0): Promise<ReleaseHost> {
  const releases: ReleaseHost["releases"] = new Map();
  const requests: ReleaseHost["requests"] = [];
  const serve = async (
    host: string,
    answer: (path: string, response: ServerResponse, request: IncomingMessage) => void,
    port = 0,
  ) => {
    const tls = { cert: readFileSync(CERTIFICATE), key: readFileSync(fixture("localhost.key.pem")) };
    const server = createServer(tls, (request, response) => {
      const path = decodeURIComponent(request.url!).replace(PROJECT, "");
      const { authorization } = request.headers;
      requests.push({ host, path, ...(authorization !== undefined && { authorization }) });
      if (state.instead?.(path, response, request) !== true) answer(path, response, request);
    });
    await new Promise<void>((done) => server.listen(port, "127.0.0.1", done));
    t.teardown(
      () =>
        new Promise((done) => {
          server.closeAllConnections();
          server.close(() => done());
        }),
    );
    return (server.address() as AddressInfo).port;
  };
  const fileOf = (path: string) => {
    const [, version = "", name = ""] = /^\/(?:download|releases\/assets)\/v([^/]+)\/(.+)$/.exec(path) ?? [];
    return releases.get(version)?.get(name);
  };
  const filesPort = await serve("files", (path, response) => {
    const file = fileOf(path);
    response.statusCode = file === undefined ? 404 : 200;
    response.end(file);
  });
  const redirect = (path: string, response: ServerResponse) => {
    const location = `https://127.0.0.1:${filesPort}${path.replace("/releases/assets", "/download")}`;
    response.writeHead(302, { location }).end();
  };
  const apiPort: number = await serve(
    "api",
    (path, response) => {
      if (path === `${PAGES}/latest` && releases.size > 0) {
        const location = `https://localhost:${apiPort}${PAGES}/tag/v${[...releases.keys()][0]}`;
        return void response.writeHead(302, { location }).end();
      }
      const file = path.replace(PAGES, "").replace(/^\/latest\/download/, `/download/v${[...releases.keys()][0]}`);
      if (fileOf(file) !== undefined) return redirect(file, response);
      const match = /^\/releases\/(?:latest|tags\/v(.+))$/.exec(path);
      const version = match?.[1] ?? [...releases.keys()][0];
      const files = match === null || version === undefined ? undefined : releases.get(version);
      if (files === undefined) return void response.writeHead(404).end('{"message":"Not Found"}');
      const address = `https://localhost:${apiPort}`;
      const assets = [...files.keys()].map((name, id) => ({
        url: `${address}${PROJECT}/releases/assets/v${version}/${name}`,
        id,
        name,
        uploader: { login: 'a "b" \\ c', url: `${address}/users/a` },
        browser_download_url: `${address}/download/v${version}/${name}`,
      }));
      const body = {
        url: `${address}/x`,
        tag_name: `v${version}`,
        body: '"assets": [{"name": "RELEASE"}], \\',
        assets,
        draft: false,
      };
      // In both spellings of JSON.
      response.end(match![1] === undefined ? JSON.stringify(body, null, 2) : JSON.stringify(body));
    },
    wantedPort,
  );
  const state: ReleaseHost = {
    origin: `https://localhost:${apiPort}${PROJECT}`,
    pages: `https://localhost:${apiPort}`,
    releases,
    requests,
    instead: undefined,
  };
  return state;
}

/** Answers with a body that never ends, until nobody reads it. */
export function answerWithoutEnd(response: ServerResponse): void {
  const chunk = Buffer.alloc(65_536, "x");
  const more = () => {
    while (!response.destroyed && response.write(chunk));
    if (!response.destroyed) response.once("drain", more);
  };
  more();
}

/** A release in which one byte of a file is another one. */
export function withChangedByte(release: ReadonlyMap<string, Buffer>, name: string, at: number, byte: number) {
  const changed = Buffer.from(release.get(name)!);
  changed[at]! ^= byte;
  return new Map([...release, [name, changed]]);
}

export interface ReleaseOptions {
  readonly version: string;
  readonly key: KeyObject;
  readonly kind?: string;
  /** The files of the archive, by their paths in its folder; all can be executed. */
  readonly files: Readonly<Record<string, string | Buffer>>;
  /** Entries of the tar after them, whatever they are. */
  readonly more?: readonly TarEntry[];
  /** `pro` unless told otherwise. */
  readonly edition?: Edition;
  /** The version of the edition, if it is not that of the release. */
  readonly own?: string;
  /** Parts of the statement in place of the truth. */
  readonly says?: Partial<ReleaseFile> & { readonly version?: string };
}

/** An entry of a tar, as it is in its header. */
export interface TarEntry {
  /** With the folder of the archive as `*`; up to 100 bytes, of which any may be NUL. */
  readonly name: string;
  /** `0` is a file. */
  readonly type: string;
  /** Where a link leads. */
  readonly link?: string;
  readonly content?: string;
}

/** The files of a small release for this machine. */
export function releaseOf(options: ReleaseOptions): Map<string, Buffer> {
  return releaseOfAll([options]);
}

/** The files of a release with several editions, for this machine. The first one has its version and its key. */
export function releaseOfAll(editions: readonly ReleaseOptions[]): Map<string, Buffer> {
  const [{ version, key, says }] = editions as [ReleaseOptions];
  const parts = editions.map(archivesOf);
  const release = new Map(parts.flatMap(({ archives }) => [...archives]));
  const versions = Object.fromEntries(
    editions.flatMap(({ edition, own }) => (edition === undefined || own === undefined ? [] : [[edition, own]])),
  );
  const listed = parts.flatMap(({ listed }) => listed);
  resign(release, writeStatement({ version: says?.version ?? version, versions, files: listed }), key);
  return release;
}

function archivesOf({
  version,
  own = version,
  edition = "pro",
  kind = "tool",
  files,
  more = [],
  says = {},
}: ReleaseOptions) {
  const name = edition === "pro" ? kind : kind.replace("tool", `tool-${edition}`);
  const folder = `${name}_${own}_${SYSTEM.replace("-", "_")}`;
  const tar = tarOf(folder, files, more);
  const xz = spawnSync("xz", ["-0", "-c"], { input: tar, maxBuffer: 1 << 28 });
  const archives = new Map([[`${folder}.tar.gz`, gzipSync(tar)]]);
  if (xz.status === 0) archives.set(`${folder}.tar.xz`, xz.stdout);
  const { version: _, ...other } = says;
  const listed = [...archives].map(([name, bytes]) => {
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    return { edition, system: SYSTEM, kind, sha256, bytes: bytes.length, name, ...other };
  });
  return { archives, listed };
}

/** Puts another text in the place of a release's statement, signed as that is. */
export function resign(release: Map<string, Buffer>, text: string, key: KeyObject): void {
  const { ssh, ed25519 } = signStatement(text, key);
  release.set("RELEASE", Buffer.from(text)).set("RELEASE.sig", Buffer.from(ssh)).set("RELEASE.ed25519", ed25519);
}

/** Files in a folder as a tar: POSIX's ustar, whose names have up to 100 characters. */
function tarOf(folder: string, files: Readonly<Record<string, string | Buffer>>, more: readonly TarEntry[]): Buffer {
  const parts: Buffer[] = [];
  const add = (name: string, type: string, content: Buffer, link = "") => {
    const head = Buffer.alloc(512);
    const octal = (value: number, size: number) => `${value.toString(8).padStart(size - 1, "0")}\0`;
    head.write(name, 0);
    head.write(octal(0o755, 8), 100);
    head.write(octal(0, 8) + octal(0, 8) + octal(content.length, 12) + octal(0, 12), 108);
    head.write(`        ${type}${link}`, 148);
    head.write("ustar\x0000", 257);
    head.write(
      octal(
        head.reduce((sum, byte) => sum + byte),
        7,
      ),
      148,
    );
    parts.push(head, content, Buffer.alloc(-content.length & 511));
  };
  const folders = new Set([folder]);
  for (const path of Object.keys(files)) {
    const names = `${folder}/${path}`.split("/").slice(0, -1);
    for (let i = 1; i <= names.length; i++) folders.add(names.slice(0, i).join("/"));
  }
  for (const name of folders) add(`${name}/`, "5", Buffer.alloc(0));
  for (const [path, content] of Object.entries(files)) add(`${folder}/${path}`, "0", Buffer.from(content as string));
  for (const { name, type, link, content = "" } of more)
    add(name.replaceAll("*", folder), type, Buffer.from(content), link?.replaceAll("*", folder));
  return Buffer.concat([...parts, Buffer.alloc(1024)]);
}
