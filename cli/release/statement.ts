import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from "node:crypto";
import { ReleaseError } from "./error.ts";

/**
 * The statement that a release signs: its version and the name, size and sum of each of its files. `text` is the file RELEASE:
 *
 *     tool-release 1
 *     version 1.2.3
 *     edition free 1.1.0
 *     file pro linux-x64 tool 6f1e... 104857600 tool_1.2.3_linux_x64.tar.xz
 *
 * ASCII words separated by one blank, lines that end in LF, files sorted by name. An edition without a line has the version of
 * the release.
 */
export interface ReleaseStatement {
  /** SemVer without build metadata and without the edition: `1.2.3`, `1.3.0-rc.1`. */
  readonly version: string;
  /** The versions of editions that have one of their own, by their names. */
  readonly versions: Readonly<Record<string, string>>;
  readonly files: readonly ReleaseFile[];
}

export interface ReleaseFile {
  /** `pro` or `free`. */
  readonly edition: string;
  /** `linux-x64`, or `any` for a file that is for all systems. */
  readonly system: string;
  /** `tool`, or `tool-cli` for an archive without the log service. */
  readonly kind: string;
  /** Hexadecimal, in small letters. */
  readonly sha256: string;
  readonly bytes: number;
  readonly name: string;
}

/** The version of an edition in a release: what its command says, without the name of the edition. */
export const versionOfEdition = ({ version, versions }: Omit<ReleaseStatement, "files">, edition: string): string =>
  Object.hasOwn(versions, edition) ? versions[edition]! : version;

/** The text of RELEASE. Throws if a part would not be read back as it is. */
export function writeStatement({ version, versions, files }: ReleaseStatement): string {
  const sorted = [...files].sort((a, b) => (a.name < b.name ? -1 : 1));
  const lines = sorted.map(({ edition, system, kind, sha256, bytes, name }) =>
    ["file", edition, system, kind, sha256, bytes, name].join(" "),
  );
  const editions = Object.entries(versions).map((words) => ["edition", ...words].join(" "));
  const text = `${[`${MAGIC} ${FORMAT}`, `version ${version}`, ...editions, ...lines].join("\n")}\n`;
  parseStatement(text);
  return text;
}

/** Reads the text of RELEASE, once its signature is verified. Throws a `ReleaseError` if it is not one. */
export function parseStatement(text: string): ReleaseStatement {
  if (text.length > MAX_LENGTH) throw wrong(`RELEASE has more than ${MAX_LENGTH} characters`);
  const [first = "", ...lines] = text.split("\n");
  const format = new RegExp(`^${MAGIC} (\\d{1,9})$`).exec(first)?.[1];
  if (format === undefined) throw wrong(`RELEASE begins with ${quoted(first)}, not with "${MAGIC}"`);
  if (format !== FORMAT) {
    throw wrong(
      `RELEASE has the format ${format}, and this version reads ${FORMAT}`,
      "install tool anew with the install script of the release",
    );
  }
  if (lines.pop() !== "") throw wrong("RELEASE ends within a line");
  const named: string[] = [];
  const versions = new Map<string, string>();
  const files: ReleaseFile[] = [];
  for (const line of lines) {
    if (!LINE.test(line)) throw wrong(`RELEASE has a line that is not words of ASCII: ${quoted(line)}`);
    if (/^version(?: |$)/.test(line)) named.push(VERSION_LINE.exec(line)?.[1] ?? refuse(line));
    else if (/^edition(?: |$)/.test(line)) {
      const [, edition, version] = EDITION_LINE.exec(line) ?? refuse(line);
      if (versions.has(edition!)) throw wrong(`RELEASE names the version of the edition ${edition} twice`);
      versions.set(edition!, version!);
    }
    // Other first words are for later versions.
    else if (/^file(?: |$)/.test(line)) files.push(fileOfLine(line));
  }
  const [version, another] = named;
  if (version === undefined || another !== undefined) throw wrong("RELEASE does not name one version");
  const unsorted = files.find(({ name }, i) => i > 0 && files[i - 1]!.name >= name);
  if (unsorted !== undefined) throw wrong(`RELEASE has ${unsorted.name} twice or out of order`);
  return { version, versions: Object.fromEntries(versions), files };
}

const REPORT = "run it again; if it stays so, report it to the project and install nothing";

/** A text that is no RELEASE, or not the one that was asked for. */
const wrong = (message: string, hint = REPORT) => new ReleaseError(message, hint);

const MAGIC = "tool-release";
const FORMAT = "1";
/** A release has some twenty files of about 150 characters. */
const MAX_LENGTH = 262_144;

const LINE = /^[!-~]+(?: [!-~]+)*$/;
const VERSION = String.raw`(?:0|[1-9]\d{0,8})(?:\.(?:0|[1-9]\d{0,8})){2}(?:-[0-9A-Za-z]+(?:[.-][0-9A-Za-z]+)*)?`;
const VERSION_LINE = new RegExp(`^version (${VERSION})$`);
const EDITION_LINE = new RegExp(`^edition ([a-z]+) (${VERSION})$`);
/** Names are those of files beside each other, never paths. At most 2^40 bytes or so: sizes are exact numbers. */
const FILE_LINE =
  /^file ([a-z]+) ([a-z0-9]+(?:-[a-z0-9]+)?) ([a-z]+(?:-[a-z]+)*) ([0-9a-f]{64}) (0|[1-9]\d{0,12}) ([0-9A-Za-z][0-9A-Za-z._-]{0,127})$/;

/** Whether a text is a version as releases have it, without `v` before it and `-pro` after it. */
export const isVersion = (text: string) => text.length <= 64 && new RegExp(`^${VERSION}$`).test(text);

function fileOfLine(line: string): ReleaseFile {
  const [, edition, system, kind, sha256, bytes, name] = FILE_LINE.exec(line) ?? refuse(line);
  return { edition: edition!, system: system!, kind: kind!, sha256: sha256!, bytes: Number(bytes), name: name! };
}

function refuse(line: string): never {
  throw wrong(`RELEASE has a line that is not understood: ${quoted(line)}`);
}

const quoted = (text: string) => JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}...` : text);

/** The private key of a PKCS#8 file in PEM. Throws if it is not an Ed25519 key. */
export function privateKeyOf(pem: string): KeyObject {
  const key = createPrivateKey(pem);
  if (key.asymmetricKeyType !== "ed25519") throw new Error("the key is not an Ed25519 key");
  return key;
}

/** The 32 bytes of an Ed25519 key's public part in base64, as releases and installations pin it. */
export function pinnedKeyOf(key: KeyObject): string {
  const { x = "" } = (key.type === "private" ? createPublicKey(key) : key).export({ format: "jwk" });
  return Buffer.from(x, "base64url").toString("base64");
}

/** The forms of a pinned key that programs read: a line for ssh-keygen, and SPKI in base64, which is PEM without its marks. */
export function formsOf(pinned: string): { readonly ssh: string; readonly spki: string } {
  const raw = rawKey(pinned);
  return {
    ssh: `${SSH_TYPE} ${sshKey(raw).toString("base64")}`,
    spki: Buffer.concat([SPKI_PREFIX, raw]).toString("base64"),
  };
}

/** RFC 8410, 4: the algorithm and the heads of the bit string. */
const SPKI_PREFIX = Buffer.from("302a300506032b6570032100", "hex");
const SSH_TYPE = "ssh-ed25519";

function rawKey(pinned: string): Buffer {
  const raw = Buffer.from(pinned, "base64");
  if (raw.length !== 32 || raw.toString("base64") !== pinned)
    throw new Error(`${quoted(pinned)} is not an Ed25519 key of 32 bytes in base64`);
  return raw;
}

/** RFC 8709, 4. */
const sshKey = (raw: Buffer) => Buffer.concat([sshString(SSH_TYPE), sshString(raw)]);

/** RFC 4251, 5: the length in four bytes, then the bytes. */
function sshString(bytes: string | Buffer): Buffer {
  const content = Buffer.from(bytes as string);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(content.length);
  return Buffer.concat([length, content]);
}

/** The purpose of a signature for `ssh-keygen -Y`, so that one for something else does not count. */
export const SIGNATURE_NAMESPACE = "tool-release";

export interface Signatures {
  /** RELEASE.ed25519: 64 bytes, for `openssl pkeyutl -verify -pubin -rawin` and Node. */
  readonly ed25519: Buffer;
  /** RELEASE.sig, for `ssh-keygen -Y verify`. */
  readonly ssh: string;
}

/** Signs the text in both forms by an Ed25519 key. The same text and key give the same bytes. */
export function signStatement(text: string, key: KeyObject): Signatures {
  const hash = createHash("sha512").update(text).digest();
  // OpenSSH's PROTOCOL.sshsig: what is signed, and what is written.
  const head = (marks: (string | Buffer)[]) => Buffer.concat([Buffer.from("SSHSIG"), ...marks.map(sshString)]);
  const signature = sign(null, head([SIGNATURE_NAMESPACE, "", "sha512", hash]), key);
  const blob = Buffer.concat([
    Buffer.from("SSHSIG"),
    Buffer.from([0, 0, 0, 1]),
    ...[
      sshKey(rawKey(pinnedKeyOf(key))),
      SIGNATURE_NAMESPACE,
      "",
      "sha512",
      Buffer.concat([sshString(SSH_TYPE), sshString(signature)]),
    ].map(sshString),
  ]);
  return { ed25519: sign(null, Buffer.from(text), key), ssh: armored(blob) };
}

/** As ssh-keygen writes it, in lines of 70 characters. */
const armored = (blob: Buffer) =>
  [
    "-----BEGIN SSH SIGNATURE-----",
    ...blob.toString("base64").match(/.{1,70}/g)!,
    "-----END SSH SIGNATURE-----",
    "",
  ].join("\n");

/**
 * The statement of a RELEASE that one of the pinned keys signed. `version` is the one that was asked for. Throws a
 * `ReleaseError` if no key signed it, if it is no RELEASE, or if it is that of another version.
 */
export function verifiedStatement(
  text: Uint8Array,
  {
    signature,
    keys,
    version,
  }: { readonly signature: Uint8Array; readonly keys: readonly string[]; readonly version: string },
): ReleaseStatement {
  const isSigned = keys.some((pinned) =>
    verify(
      null,
      text,
      createPublicKey({ key: Buffer.from(formsOf(pinned).spki, "base64"), format: "der", type: "spki" }),
      signature,
    ),
  );
  if (!isSigned) throw wrong("the signature of the release is not by a key that this installation trusts");
  // latin1: a byte beyond ASCII stays one character, which no line may have.
  const statement = parseStatement(Buffer.from(text).toString("latin1"));
  if (statement.version !== version) {
    throw wrong(`the release that was asked for is ${version}, and what is signed is ${statement.version}`);
  }
  return statement;
}
