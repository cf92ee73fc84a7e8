// A registry of npm that has a few packages, made of files: what npm asks it for is counted.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";

interface Test {
  testdir(): string;
  teardown(handler: () => Promise<void>): void;
}

export interface NpmRegistry {
  readonly url: string;
  /** By package. */
  readonly integrity: Readonly<Record<string, string>>;
  /** Paths of the requests so far. */
  readonly requests: readonly string[];
}

/** Packs each package by npm itself, and serves the tarballs until the test ends. */
export async function startNpmRegistry(
  t: Test,
  folder: string,
  packages: Readonly<Record<string, Readonly<Record<string, string>>>>,
): Promise<NpmRegistry> {
  const tarballs = new Map<string, Buffer>();
  const integrity: Record<string, string> = {};
  for (const [name, files] of Object.entries(packages)) {
    const source = join(folder, name);
    const manifest = { name, version: "1.0.0", os: ["linux"] };
    for (const [path, text] of Object.entries({ ...files, "package.json": JSON.stringify(manifest) })) {
      mkdirSync(dirname(join(source, path)), { recursive: true });
      writeFileSync(join(source, path), text);
    }
    const words = ["pack", "--json", "--ignore-scripts", "--cache", join(folder, "npm")];
    const [packed] = JSON.parse(
      execFileSync("npm", words, { cwd: source, stdio: ["ignore", "pipe", "ignore"] }).toString(),
    );
    integrity[name] = packed.integrity;
    tarballs.set(
      `/${name}/-/${name.slice(name.indexOf("/") + 1)}-1.0.0.tgz`,
      readFileSync(join(source, packed.filename)),
    );
  }
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(request.url!);
    const tarball = tarballs.get(decodeURIComponent(request.url!));
    response.statusCode = tarball === undefined ? 404 : 200;
    response.end(tarball);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  t.teardown(
    () =>
      new Promise((done) => {
        server.closeAllConnections();
        server.close(() => done());
      }),
  );
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, integrity, requests };
}
