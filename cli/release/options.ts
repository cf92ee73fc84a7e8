import { createPublicKey, type KeyObject } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { isLoopback } from "../../grammar/address/loopback.ts";
import { type Edition, rawStatementKey } from "../../schema/statement.ts";
import type { ReleaseAccount } from "../edition.ts";
import { MakeReleaseError } from "./make-release-error.ts";
import { isVersion, pinnedKeyOf, privateKeyOf } from "./statement.ts";
import { KINDS, type Kind, SYSTEMS, type System } from "./systems.ts";

export const USAGE = `usage: npm run release -- <version> --out DIR --origin URL --key FILE
  --out DIR       the folder for v<version>, which is not there yet
  --origin URL    the project's address in the API of its Git host, such as https://api.host.example/repos/acme/tool
  --key FILE      the Ed25519 key that signs, PKCS#8 in PEM
  --pin FILE      the public key, in PEM, of another key that may sign a later release; may be repeated
  --account URL   makes the free edition, too, and has Pro ask this account service, such as https://account.example.com
  --account-key FILE      the public key, in PEM, of the account service's statements
  --free-version VERSION  the version of the free edition (default: <version>, which is that of Pro)
  --only SYSTEM   for a trial: only this system (${SYSTEMS.map(({ name }) => name).join(", ")}); may be repeated
  --kind KIND     for a trial: only these archives (${KINDS.join(", ")}); may be repeated
  --no-xz         for a trial: without the .tar.xz, which take most of the time`;

export interface ReleaseOptions {
  readonly version: string;
  /** The folder that is made: DIR/v<version>. */
  readonly folder: string;
  /** Without a slash at the end. */
  readonly origin: string;
  readonly key: KeyObject;
  /** The public keys that installations trust, in base64; that of `key` first. */
  readonly pins: readonly string[];
  /** The editions that are made of each system and kind, Pro first. */
  readonly editions: readonly EditionOfRelease[];
  readonly systems: readonly System[];
  readonly kinds: readonly Kind[];
  readonly withXz: boolean;
}

/** One edition of a release: what its bundles are built for. */
export interface EditionOfRelease {
  readonly edition: Edition;
  /** Its own: the numbers of free and Pro are independent. That of Pro is the release's. */
  readonly version: string;
  /** Undefined if everything is on, and nobody is asked. */
  readonly account: ReleaseAccount | undefined;
}

/** Reads the arguments and the keys that they name. Relative paths are below `directory`. Throws a `MakeReleaseError`. */
export function readReleaseOptions(argv: readonly string[], directory: string): ReleaseOptions {
  const { values, positionals } = parsed(argv);
  const [version, ...more] = positionals;
  if (version === undefined || more.length > 0) throw misuse("name the version, and nothing else beside the options");
  checkVersion(version);
  const needed = (name: "out" | "origin" | "key") => values[name] ?? fail(`--${name} is missing`);
  const folder = join(resolve(directory, needed("out")), `v${version}`);
  if (existsSync(folder)) {
    throw new MakeReleaseError(
      `${folder} is there already: remove it, or name another --out. What was published stays as it is`,
    );
  }
  const key = readKey("--key", resolve(directory, needed("key")), privateKeyOf);
  const pins = [
    pinnedKeyOf(key),
    ...values.pin.map((file) => pinnedKeyOf(readKey("--pin", resolve(directory, file), publicKeyOf))),
  ];
  return {
    version,
    folder,
    origin: readOrigin(needed("origin")),
    key,
    pins: [...new Set(pins)],
    editions: readEditions(version, values, directory),
    systems: chosen(SYSTEMS, values.only, "--only", ({ name }) => name),
    kinds: chosen(KINDS, values.kind, "--kind", (name) => name),
    withXz: !values["no-xz"],
  };
}

/** Without build metadata, and without the name of an edition, which the build appends. */
function checkVersion(version: string, flag = ""): void {
  if (isVersion(version) && !version.endsWith("-pro")) return;
  throw misuse(
    `${flag}${JSON.stringify(version)} is not a version of Semantic Versioning without build metadata, such as 1.2.3 or 1.3.0-rc.1`,
  );
}

interface EditionValues {
  readonly account?: string | undefined;
  readonly "account-key"?: string | undefined;
  readonly "free-version"?: string | undefined;
}

/** Pro alone, with everything on; or both editions, where there is a service at which people subscribe. */
function readEditions(version: string, values: EditionValues, directory: string): readonly EditionOfRelease[] {
  const { account: url, "account-key": keyFile, "free-version": freeVersion } = values;
  if (url === undefined && keyFile === undefined) {
    if (freeVersion === undefined) return [{ edition: "pro", version, account: undefined }];
    throw misuse("--free-version needs --account: the free edition is made only where people can subscribe");
  }
  if (keyFile === undefined) throw misuse("--account needs --account-key, which says whose statements are believed");
  if (url === undefined) throw misuse("--account-key needs --account, the service whose statements it verifies");
  if (freeVersion !== undefined) checkVersion(freeVersion, "--free-version ");
  const key = rawStatementKey(readKey("--account-key", resolve(directory, keyFile), publicKeyOf));
  const account = { url: readAccount(url), key };
  return [
    { edition: "pro", version, account },
    { edition: "free", version: freeVersion ?? version, account },
  ];
}

/** The bundles must have the service's origin as it states it, to the letter. */
function readAccount(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isSafe = url?.protocol === "https:" || (url?.protocol === "http:" && isLoopback(url.hostname));
  if (url === undefined || !isSafe || url.origin !== text) {
    throw misuse(
      `--account ${JSON.stringify(text)} is not the origin of a service, such as https://account.example.com`,
    );
  }
  return text;
}

function parsed(argv: readonly string[]) {
  const text = { type: "string" } as const;
  const list = { type: "string", multiple: true, default: [] as string[] } as const;
  try {
    return parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        out: text,
        origin: text,
        key: text,
        pin: list,
        account: text,
        "account-key": text,
        "free-version": text,
        only: list,
        kind: list,
        "no-xz": { type: "boolean", default: false },
      },
    });
  } catch (error) {
    throw misuse((error as Error).message);
  }
}

const misuse = (message: string) => new MakeReleaseError(message, { isMisuse: true });

function fail(message: string): never {
  throw misuse(message);
}

function readOrigin(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isAddress = url !== undefined && /^https?:$/.test(url.protocol) && url.search === "" && url.hash === "";
  if (!isAddress || url.username !== "" || url.password !== "") {
    throw misuse(`--origin ${JSON.stringify(text)} is not an address such as https://api.host.example/repos/acme/tool`);
  }
  return text.replace(/\/+$/, "");
}

function readKey(flag: string, file: string, read: (pem: string) => KeyObject): KeyObject {
  let pem: string;
  try {
    pem = readFileSync(file, "utf8");
  } catch (error) {
    throw new MakeReleaseError(`${flag}: ${file} cannot be read: ${(error as Error).message}`, { cause: error });
  }
  try {
    return read(pem);
  } catch (error) {
    const make = `openssl genpkey -algorithm ed25519 -out ${flag !== "--key" ? "key.pem, then openssl pkey -in key.pem -pubout" : "key.pem"}`;
    throw new MakeReleaseError(`${flag}: ${file} has no Ed25519 key in PEM, as ${make} makes it`, { cause: error });
  }
}

function publicKeyOf(pem: string): KeyObject {
  if (/PRIVATE KEY/.test(pem)) throw new Error("a private key");
  const key = createPublicKey(pem);
  if (key.asymmetricKeyType !== "ed25519") throw new Error("the key is not an Ed25519 key");
  return key;
}

function chosen<T>(
  all: readonly T[],
  names: readonly string[],
  flag: string,
  nameOf: (one: T) => string,
): readonly T[] {
  const wrong = names.find((name) => !all.some((one) => nameOf(one) === name));
  if (wrong !== undefined) throw misuse(`${flag} ${JSON.stringify(wrong)}: there are ${all.map(nameOf).join(", ")}`);
  return names.length === 0 ? all : all.filter((one) => names.includes(nameOf(one)));
}
