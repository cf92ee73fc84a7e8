import { createPublicKey, type KeyObject } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { MakeReleaseError } from "./make-release-error.ts";
import { isVersion, pinnedKeyOf, privateKeyOf } from "./statement.ts";
import { KINDS, type Kind, SYSTEMS, type System } from "./systems.ts";

export const USAGE = `usage: npm run release -- <version> --out DIR --origin URL --key FILE
  --out DIR       the folder for v<version>, which is not there yet
  --origin URL    the project's address in the API of its Git host, such as https://api.host.example/repos/acme/tool
  --key FILE      the Ed25519 key that signs, PKCS#8 in PEM
  --pin FILE      the public key, in PEM, of another key that may sign a later release; may be repeated
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
  readonly edition: string;
  readonly systems: readonly System[];
  readonly kinds: readonly Kind[];
  readonly withXz: boolean;
}

/** Reads the arguments and the keys that they name. Relative paths are below `directory`. Throws a `MakeReleaseError`. */
export function readReleaseOptions(argv: readonly string[], directory: string): ReleaseOptions {
  const { values, positionals } = parsed(argv);
  const [version, ...more] = positionals;
  if (version === undefined || more.length > 0) throw misuse("name the version, and nothing else beside the options");
  if (!isVersion(version)) {
    throw misuse(
      `${JSON.stringify(version)} is not a version of Semantic Versioning without build metadata, such as 1.2.3 or 1.3.0-rc.1`,
    );
  }
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
    edition: "pro",
    systems: chosen(SYSTEMS, values.only, "--only", ({ name }) => name),
    kinds: chosen(KINDS, values.kind, "--kind", (name) => name),
    withXz: !values["no-xz"],
  };
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
    const make = `openssl genpkey -algorithm ed25519 -out ${flag === "--pin" ? "key.pem, then openssl pkey -in key.pem -pubout" : "key.pem"}`;
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
