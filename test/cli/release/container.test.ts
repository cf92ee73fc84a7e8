// The image of the log service as an OCI layout: what its documents name is there, and the same parts give the same bytes.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import t from "tap";
import { writeImage } from "../../../cli/release/container.ts";
import { readTar } from "../../../cli/release/tar.ts";
import { shell } from "../../support/cli.ts";

const sha256 = (bytes: Buffer) => `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
const file = (path: string, text: string) => ({ path, isExecutable: false, content: Buffer.from(text) });

const PARTS = {
  ...{ version: "1.2.3", cpu: "x64", timeS: 1_790_000_000 },
  system: [file("lib/libc.so.6", "a library"), file("etc/ssl/certs/ca-certificates.crt", "certificates")],
  archive: [
    file("lib/cli.cjs", "the command"),
    { path: "node/bin/node", isExecutable: true, content: Buffer.from("node") },
  ],
};

interface Named {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

t.test("an image is what its documents say", async (t) => {
  const out = join(t.testdir({}), "image");
  const digest = writeImage(out, PARTS);
  const named: string[] = [];
  const blob = ({ digest, size }: Named) => {
    const bytes = readFileSync(join(out, "blobs", digest.replace(":", "/")));
    t.same([sha256(bytes), bytes.length], [digest, size], digest);
    named.push(digest);
    return bytes;
  };
  t.same(JSON.parse(readFileSync(join(out, "oci-layout"), "utf8")), { imageLayoutVersion: "1.0.0" });
  const index = JSON.parse(readFileSync(join(out, "index.json"), "utf8"));
  t.equal(index.manifests.length, 1);
  t.match(index.manifests[0], { digest, platform: { os: "linux", architecture: "amd64" } });
  const manifest = JSON.parse(blob(index.manifests[0]).toString());
  const config = JSON.parse(blob(manifest.config).toString());
  const tars: Buffer[] = manifest.layers.map((layer: Named) => gunzipSync(blob(layer)));
  t.same(tars.map(sha256), config.rootfs.diff_ids, "the layers, unpacked");
  t.equal(config.history.length, tars.length, "a line of history for each");
  t.same(
    readdirSync(join(out, "blobs/sha256")).sort(),
    named.map((one) => one.slice(7)).sort(),
    "nothing else is there",
  );
  t.same(
    tars.flatMap((tar) => readTar(tar)).map(({ path }) => path),
    [
      ...["etc/group", "etc/nsswitch.conf", "etc/passwd", "etc/ssl/certs/ca-certificates.crt", "lib/libc.so.6"],
      ...["tool/lib/cli.cjs", "tool/node/bin/node"],
    ],
  );
  t.match(config.config, {
    User: "65532:65532",
    Entrypoint: ["/tool/node/bin/node", "/tool/lib/cli.cjs"],
    Volumes: { "/data": {} },
    ExposedPorts: { "5000/tcp": {} },
    Cmd: ["service", "start", "--data", "/data", "--address", "0.0.0.0:5000"],
  });
  t.ok(config.config.Env.includes("TOOL_PLAIN_HTTP=1"), "its command would refuse the address otherwise");
  // As the program that unpacks layers reads them.
  const listing = await shell(
    `gzip -dc ${out}/blobs/${manifest.layers[0].digest.replace(":", "/")} | tar --numeric-owner -tvf -`,
  );
  t.match(listing.stdout, /^drwx------ 65532\/65532 +0 .* data\/$/m);
  t.match(listing.stdout, /^drwxrwxrwt 0\/0 +0 .* tmp\/$/m);
  t.match(listing.stdout, /^-rw-r--r-- 0\/0 .* etc\/passwd$/m);
});

t.test("the same parts give the same image in any order, others another", (t) => {
  const folder = t.testdir({});
  const made = (name: string, parts: Parameters<typeof writeImage>[1]) => writeImage(join(folder, name), parts);
  const first = made("a", PARTS);
  t.equal(made("b", { ...PARTS, system: PARTS.system.toReversed(), archive: PARTS.archive.toReversed() }), first);
  t.not(made("c", { ...PARTS, archive: [file("lib/cli.cjs", "another")] }), first);
  t.not(made("d", { ...PARTS, timeS: PARTS.timeS + 1 }), first);
  t.end();
});
