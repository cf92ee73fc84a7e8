// The signed text of a release, held against OpenSSH's and OpenSSL's own verification.
import { spawnSync } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import {
  formsOf,
  isVersion,
  parseStatement,
  pinnedKeyOf,
  privateKeyOf,
  type ReleaseStatement,
  SIGNATURE_NAMESPACE,
  signStatement,
  verifiedStatement,
  versionOfEdition,
  writeStatement,
} from "../../../cli/release/statement.ts";
import { requires } from "../../support/require.ts";

const SUM = "0123456789abcdef".repeat(4);
const STATEMENT: ReleaseStatement = {
  version: "1.2.3",
  versions: {},
  files: [
    { edition: "pro", system: "any", kind: "tool", sha256: SUM, bytes: 7, name: "install.sh" },
    {
      edition: "pro",
      system: "linux-x64",
      kind: "tool-cli",
      sha256: SUM,
      bytes: 0,
      name: "tool-cli_1.2.3_linux_x64.tar.gz",
    },
    {
      edition: "pro",
      system: "linux-x64",
      kind: "tool",
      sha256: SUM,
      bytes: 9_000_000_000,
      name: "tool_1.2.3_linux_x64.tar.xz",
    },
  ],
};
const TEXT = `tool-release 1
version 1.2.3
file pro any tool ${SUM} 7 install.sh
file pro linux-x64 tool-cli ${SUM} 0 tool-cli_1.2.3_linux_x64.tar.gz
file pro linux-x64 tool ${SUM} 9000000000 tool_1.2.3_linux_x64.tar.xz
`;
const { privateKey } = generateKeyPairSync("ed25519");
const key = pinnedKeyOf(privateKey);

t.test("a statement is written sorted, and read as it was", (t) => {
  t.equal(writeStatement(STATEMENT), TEXT);
  t.equal(writeStatement({ ...STATEMENT, files: [...STATEMENT.files].reverse() }), TEXT);
  t.same(parseStatement(TEXT), STATEMENT);
  const both = { ...STATEMENT, versions: { free: "1.1.0" } };
  t.equal(writeStatement(both), TEXT.replace("file", "edition free 1.1.0\nfile"));
  t.same(parseStatement(writeStatement(both)), both);
  t.equal(versionOfEdition(both, "free"), "1.1.0");
  t.equal(versionOfEdition(both, "pro"), "1.2.3");
  t.equal(versionOfEdition(both, "constructor"), "1.2.3", "an edition without a line has that of the release");
  t.end();
});

const file = (more: Partial<Record<"edition" | "system" | "kind" | "sum" | "bytes" | "name", string>>) => {
  const { edition = "pro", system = "linux-x64", kind = "tool", sum = SUM, bytes = "7", name = "tool.gz" } = more;
  return `tool-release 1\nversion 1.2.3\nfile ${edition} ${system} ${kind} ${sum} ${bytes} ${name}\n`;
};

t.test("what is read, and what is refused", (t) => {
  const unknown = (line: string) => `RELEASE has a line that is not understood: ${JSON.stringify(line)}`;
  const rows: [text: string, message?: string][] = [
    [TEXT],
    [file({})],
    [file({ system: "any" })],
    ["tool-release 1\nversion 1.3.0-rc.1\n"],
    ["tool-release 1\nversion 1.2.3\nexpires 2030-01-01\nfiles 3\n"],
    ["tool-release 1\nversion 1.2.3\nedition free 1.1.0-rc.1\n"],
    [
      "tool-release 1\nversion 1.2.3\nedition free 1.1.0\nedition free 1.1.0\n",
      "RELEASE names the version of the edition free twice",
    ],
    ["tool-release 1\nversion 1.2.3\nedition\n", unknown("edition")],
    ["tool-release 1\nversion 1.2.3\nedition free\n", unknown("edition free")],
    ["tool-release 1\nversion 1.2.3\nedition free v1.1.0\n", unknown("edition free v1.1.0")],
    ["tool-release 1\nversion 1.2.3\nedition ../x 1.1.0\n", unknown("edition ../x 1.1.0")],
    ["tool-release 1\nedition free 1.1.0\n", "RELEASE does not name one version"],
    ["tool-release 2\nversion 1.2.3\n", "RELEASE has the format 2, and this version reads 1"],
    ["tool-release 10\nversion 1.2.3\n", "RELEASE has the format 10, and this version reads 1"],
    ["", 'RELEASE begins with "", not with "tool-release"'],
    ["tool-release  1\nversion 1.2.3\n", 'RELEASE begins with "tool-release  1", not with "tool-release"'],
    ["tool-release 1 \nversion 1.2.3\n", 'RELEASE begins with "tool-release 1 ", not with "tool-release"'],
    ["<html>\n", 'RELEASE begins with "<html>", not with "tool-release"'],
    ["tool-release 1\nversion 1.2.3", "RELEASE ends within a line"],
    ["tool-release 1\n", "RELEASE does not name one version"],
    ["tool-release 1\nversion 1.2.3\nversion 1.2.3\n", "RELEASE does not name one version"],
    ["tool-release 1\nversion 1.2.3-pro.\n", unknown("version 1.2.3-pro.")],
    ["tool-release 1\nversion v1.2.3\n", unknown("version v1.2.3")],
    ["tool-release 1\nversion 1.02.3\n", unknown("version 1.02.3")],
    ["tool-release 1\nversion\n", unknown("version")],
    ["tool-release 1\nversion 1.2.3 x\n", unknown("version 1.2.3 x")],
    ["tool-release 1\nversion 1.2.3\n\n", 'RELEASE has a line that is not words of ASCII: ""'],
    ["tool-release 1\r\nversion 1.2.3\r\n", 'RELEASE begins with "tool-release 1\\r", not with "tool-release"'],
    ["tool-release 1\nversion 1.2.3\r\n", 'RELEASE has a line that is not words of ASCII: "version 1.2.3\\r"'],
    ["tool-release 1\nversion 1.2.3\nnote é\n", 'RELEASE has a line that is not words of ASCII: "note é"'],
    ["tool-release 1\nversion 1.2.3\nnote  x\n", 'RELEASE has a line that is not words of ASCII: "note  x"'],
    ["tool-release 1\nversion 1.2.3\nfile\n", unknown("file")],
    ...["../tool", "a/b", ".tool", "-tool", "a\\b"].map((name): [string, string] => [
      file({ name }),
      unknown(`file pro linux-x64 tool ${SUM} 7 ${name}`),
    ]),
    ...(
      [
        { name: "a".repeat(129) },
        { bytes: "07" },
        { bytes: "-1" },
        { bytes: "1e3" },
        { sum: SUM.toUpperCase() },
        { sum: SUM.slice(1) },
      ] as const
    ).map((wrong): [string, string] => [file(wrong), "RELEASE has a line that is not understood"]),
    [`${file({})}${file({}).split("\n")[2]}\n`, "RELEASE has tool.gz twice or out of order"],
    [`${file({})}${file({ name: "a.gz" }).split("\n")[2]}\n`, "RELEASE has a.gz twice or out of order"],
    ["x".repeat(300_000), "RELEASE has more than 262144 characters"],
  ];
  for (const [text, message] of rows) {
    const name = JSON.stringify(text.slice(0, 160));
    try {
      parseStatement(text);
      t.equal(message, undefined, name);
    } catch (error) {
      t.ok((error as Error).message.startsWith(message ?? "is read"), `${name}: ${(error as Error).message}`);
    }
  }
  t.throws(() => writeStatement({ ...STATEMENT, version: "1.2" }), /not understood/);
  for (const version of ["1.2.3", "0.0.0", "1.2.3-rc.1", "1.2.3-pro"]) t.ok(isVersion(version), version);
  for (const version of ["", "1.2", "v1.2.3", "1.2.3\n", "1.2.3+b", "1.2.3/..", "1.2.3 ", `1.2.3-${"a".repeat(64)}`])
    t.notOk(isVersion(version), JSON.stringify(version));
  t.end();
});

/** The bytes with each of them changed in turn. */
function* changes(bytes: Buffer): Generator<Buffer> {
  for (let i = 0; i < bytes.length; i++) {
    const changed = Buffer.from(bytes);
    changed[i]! ^= 1 << (i % 8);
    yield changed;
  }
}

t.test("Node accepts the text that a pinned key signed, and none with a byte changed", (t) => {
  const { ed25519 } = signStatement(TEXT, privateKey);
  const other = pinnedKeyOf(generateKeyPairSync("ed25519").publicKey);
  const text = Buffer.from(TEXT);
  const options = { signature: ed25519, keys: [other, key], version: "1.2.3" };
  t.same(verifiedStatement(text, options), STATEMENT);
  const untrusted = { message: "the signature of the release is not by a key that this installation trusts" };
  t.throws(() => verifiedStatement(text, { ...options, keys: [other] }), untrusted);
  t.throws(() => verifiedStatement(text, { ...options, keys: [] }), untrusted);
  t.throws(() => verifiedStatement(text, { ...options, signature: ed25519.subarray(1) }), untrusted);
  t.throws(() => verifiedStatement(text, { ...options, version: "1.2.4" }), {
    message: "the release that was asked for is 1.2.4, and what is signed is 1.2.3",
  });
  const isRefused = (work: () => unknown) => {
    try {
      work();
      return false;
    } catch (error) {
      return (error as Error).message === untrusted.message;
    }
  };
  const accepted = [
    ...[...changes(text)].filter((changed) => !isRefused(() => verifiedStatement(changed, options))),
    ...[...changes(ed25519)].filter(
      (signature) => !isRefused(() => verifiedStatement(text, { ...options, signature })),
    ),
  ];
  t.same(accepted, []);
  t.throws(() => formsOf(key.slice(1)), /is not an Ed25519 key/);
  t.throws(
    () => privateKeyOf(generateKeyPairSync("x25519").privateKey.export({ format: "pem", type: "pkcs8" }).toString()),
    {
      message: "the key is not an Ed25519 key",
    },
  );
  t.end();
});

/** A short one: each of its bytes costs a process. */
const SHORT = "tool-release 1\nversion 1.2.3\n";

t.test("ssh-keygen -Y verify accepts it, and none with a byte changed", { skip: requires("ssh-keygen") }, (t) => {
  const folder = t.testdir({ signers: `release@tool ${formsOf(key).ssh}\n` });
  const verify = (text: Buffer, signature: string, namespace = SIGNATURE_NAMESPACE) => {
    writeFileSync(join(folder, "RELEASE.sig"), signature);
    const words = ["-Y", "verify", "-f", join(folder, "signers"), "-I", "release@tool", "-n", namespace];
    return spawnSync("ssh-keygen", [...words, "-s", join(folder, "RELEASE.sig")], { input: text }).status === 0;
  };
  t.ok(verify(Buffer.from(TEXT), signStatement(TEXT, privateKey).ssh));
  const { ssh } = signStatement(SHORT, privateKey);
  const short = Buffer.from(SHORT);
  t.ok(verify(short, ssh));
  t.notOk(verify(short, ssh, "git"), "for something else");
  const blob = Buffer.from(ssh.replace(/-----.*-----|\n/g, ""), "base64");
  const armored = (bytes: Buffer) => ssh.replace(/(?<=-----\n)[^-]*/, `${bytes.toString("base64")}\n`);
  t.ok(verify(short, armored(blob)), "what is changed is well-formed otherwise");
  t.same([...changes(short)].filter((text) => verify(text, ssh)).map(String), []);
  t.same(
    [...changes(blob)].filter((bytes) => verify(short, armored(bytes))).map((bytes) => bytes.toString("hex")),
    [],
  );
  t.end();
});

t.test("openssl pkeyutl accepts it, and none with a byte changed", { skip: requires("openssl") }, (t) => {
  const pem = `-----BEGIN PUBLIC KEY-----\n${formsOf(key).spki}\n-----END PUBLIC KEY-----\n`;
  const folder = t.testdir({ "key.pem": pem });
  const path = (name: string) => join(folder, name);
  const verify = (text: Buffer, signature: Buffer) => {
    writeFileSync(path("RELEASE"), text);
    writeFileSync(path("RELEASE.ed25519"), signature);
    const words = ["pkeyutl", "-verify", "-pubin", "-inkey", path("key.pem"), "-rawin", "-in", path("RELEASE")];
    return spawnSync("openssl", [...words, "-sigfile", path("RELEASE.ed25519")]).status === 0;
  };
  t.ok(verify(Buffer.from(TEXT), signStatement(TEXT, privateKey).ed25519));
  const { ed25519 } = signStatement(SHORT, privateKey);
  const short = Buffer.from(SHORT);
  t.ok(verify(short, ed25519));
  t.same([...changes(short)].filter((text) => verify(text, ed25519)).map(String), []);
  t.same(
    [...changes(ed25519)].filter((signature) => verify(short, signature)).map((bytes) => bytes.toString("hex")),
    [],
  );
  t.end();
});

t.test("a key of ssh-keygen and one of openssl are read in the same form", { skip: requires("openssl") }, (t) => {
  const folder = t.testdir();
  const made = spawnSync("openssl", ["genpkey", "-algorithm", "ed25519", "-out", join(folder, "key.pem")]);
  t.equal(made.status, 0);
  const spki = spawnSync("openssl", ["pkey", "-in", join(folder, "key.pem"), "-pubout"], { encoding: "utf8" }).stdout;
  const pem = spawnSync("openssl", ["pkey", "-in", join(folder, "key.pem")], { encoding: "utf8" }).stdout;
  t.equal(formsOf(pinnedKeyOf(privateKeyOf(pem))).spki, spki.split("\n")[1]);
  t.end();
});
