// The variables that exceed the 4 KB of a function's configuration: a snapshot that deploy has stored in parts. A version names
// it by its hash, so that an old version never starts with new values.
import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import type { Clock } from "../../grammar/units/clock.ts";
import { CANNOT, getParameters, noVariables } from "./parameter-store.ts";

/** TOOL_VARIABLES of the function: `<hash>/<number of parts>`. */
const SNAPSHOT = /^([0-9a-f]{32})\/([1-9]|1[0-6])$/;

/** 64 KB can unpack to a thousand times that. Linux accepts 2 MB of arguments and variables for a new process. */
const MAX_UNPACKED_BYTES = 1024 * 1024;

/** Limit of Linux for one variable, with name, `=` and the final NUL. Node's error (E2BIG) does not name the variable. */
const MAX_VARIABLE_BYTES = 128 * 1024;

export interface DeployedVariables {
  readonly values: Readonly<Record<string, string>>;
  /** How many parameters hold them. */
  readonly parts: number;
  /** How long reading them took, in milliseconds. */
  readonly durationMs: number;
}

/**
 * Reads the snapshot that TOOL_VARIABLES names: the parts `/tool/<app>/.deployed/<hash>/<n>` are, one after the other, the
 * base64 of the gzip of a JSON object of strings, and the hash is the first half of that JSON's SHA-256. Rejects with an
 * `InitError` that has no value in it.
 */
export async function readVariables(app: string, env: NodeJS.ProcessEnv, clock: Clock): Promise<DeployedVariables> {
  const beginMs = clock.monotonicMs();
  const [, hash, count] = SNAPSHOT.exec(env.TOOL_VARIABLES ?? "") ?? [];
  if (hash === undefined) {
    throw noVariables(`${CANNOT}: TOOL_VARIABLES of the function is not what a deploy writes: deploy the stage again`);
  }
  const names = Array.from({ length: Number(count) }, (_, i) => `/tool/${app}/.deployed/${hash}/${i + 1}`);
  const parts = await getParameters(names, env, clock);
  const missing = names.findIndex((name) => !parts.has(name));
  if (missing !== -1) {
    const part = `part ${missing + 1} of ${names.length}`;
    throw noVariables(`${part} of this version's variables is missing (${names[missing]}): deploy the stage again`);
  }
  const values = await unpacked(names.map((name) => parts.get(name)!).join(""), hash);
  return { values, parts: names.length, durationMs: Math.round(clock.monotonicMs() - beginMs) };
}

/** Errors of gunzip and JSON.parse are not passed on, as they may quote a value. */
async function unpacked(text: string, hash: string): Promise<Readonly<Record<string, string>>> {
  const damaged = (how: string) =>
    noVariables(`this version's variables are damaged: what is stored as ${hash} ${how}: deploy the stage again`);
  // Buffer.from skips other characters.
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(text)) throw damaged("is not base64");
  const json = await promisify(gunzip)(Buffer.from(text, "base64"), { maxOutputLength: MAX_UNPACKED_BYTES }).catch(
    () => {
      throw damaged("does not unpack");
    },
  );
  if (!createHash("sha256").update(json).digest("hex").startsWith(hash)) throw damaged("has another hash");
  const values = parsed(json.toString());
  if (values === undefined) throw damaged("is not an object of strings");
  const large = Object.keys(values).find((name) => Buffer.byteLength(`${name}=${values[name]}`) >= MAX_VARIABLE_BYTES);
  if (large !== undefined) {
    throw noVariables(
      `the variable ${large} has more than the 128 KB that Linux accepts: make it shorter and deploy the stage again`,
    );
  }
  return values;
}

/** Undefined if it is not an object of strings. A NUL is refused here, as Node's error at the app's start quotes the value. */
function parsed(json: string): Readonly<Record<string, string>> | undefined {
  try {
    const values: unknown = JSON.parse(json);
    if (typeof values !== "object" || values === null || Array.isArray(values)) return undefined;
    const areVariables = Object.entries(values).every(
      ([name, value]) => /^[^=\0]+$/.test(name) && typeof value === "string" && !value.includes("\0"),
    );
    return areVariables ? (values as Record<string, string>) : undefined;
  } catch {
    return undefined;
  }
}
