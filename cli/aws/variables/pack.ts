// Which variables are in the function's configuration, and which in the snapshot beside it. Pure.
import { createHash } from "node:crypto";
import { gunzipSync, gzipSync } from "node:zlib";
import { largestVariables, MAX_VARIABLES_BYTES, variablesSize, withCommas } from "../../../schema/index.ts";
import { PlatformError } from "../../platform/error.ts";
import type { VariableValues } from "../../platform/variables.ts";
import { slices } from "./stored-value.ts";

/** Names the snapshot in the function's configuration: `<hash>/<number of parts>`. The runtime reads it. */
export const SNAPSHOT_VARIABLE = "TOOL_VARIABLES";

/** The most that a snapshot may take, packed: the runtime reads 16 parameters in two calls. */
const MAX_SNAPSHOT_BYTES = 65_536;

/** The most that the runtime unpacks: 64 KB can be a thousand times that, and a process takes 2 MB of variables. */
const MAX_UNPACKED_BYTES = 1024 * 1024;

/** The length of the longest value of `SNAPSHOT_VARIABLE`. */
const LONGEST_NAME = `${"0".repeat(32)}/16`;

export interface PackedVariables {
  /** The function's variables; without `SNAPSHOT_VARIABLE`, which is known when the snapshot is stored. */
  readonly environment: VariableValues;
  readonly snapshot: Snapshot | undefined;
}

/** Variables that the function's configuration has no room for. It never changes: other values are another snapshot. */
export interface Snapshot {
  readonly names: readonly string[];
  /** Size of the names and values as JSON, in bytes. */
  readonly bytes: number;
  /** The first half of the SHA-256 of the JSON, hexadecimal. */
  readonly hash: string;
  /** Base64 of the gzipped JSON, in pieces that each fit one parameter. */
  readonly parts: readonly string[];
}

/**
 * Puts the stored variables beside the ones that are fixed, as far as they fit into the function's configuration; the
 * largest ones are left for the snapshot. Throws a PlatformError if they are too large for that, too.
 */
export function packVariables(stage: string, fixed: VariableValues, stored: VariableValues): PackedVariables {
  const environment: Record<string, string> = { ...fixed, ...stored };
  if (variablesSize(environment) <= MAX_VARIABLES_BYTES) return { environment, snapshot: undefined };
  const spilled: Record<string, string> = {};
  const largestFirst = Object.entries(stored)
    .map(([name, value]) => ({ name, value, bytes: variablesSize({ [name]: value }) }))
    .sort((a, b) => b.bytes - a.bytes || (a.name < b.name ? -1 : 1));
  for (const { name, value } of largestFirst) {
    spilled[name] = value;
    delete environment[name];
    const bytes = variablesSize({ ...environment, [SNAPSHOT_VARIABLE]: LONGEST_NAME });
    if (bytes <= MAX_VARIABLES_BYTES) return { environment, snapshot: snapshotOf(stage, spilled) };
  }
  throw new PlatformError(
    "function/variables-size",
    `the variables of ${stage} in tool.json take ${withCommas(variablesSize(environment))} bytes with their names, and a function has ${withCommas(MAX_VARIABLES_BYTES)} for them`,
    `move the largest to tool env, or into a file of the project: ${largestVariables(environment)}`,
  );
}

function snapshotOf(stage: string, values: VariableValues): Snapshot {
  const names = Object.keys(values).sort();
  const text = JSON.stringify(Object.fromEntries(names.map((name) => [name, values[name]])));
  const packed = gzipSync(text, { level: 9 }).toString("base64");
  const bytes = Buffer.byteLength(text);
  if (packed.length > MAX_SNAPSHOT_BYTES || bytes > MAX_UNPACKED_BYTES) {
    const size =
      bytes > MAX_UNPACKED_BYTES
        ? `${withCommas(bytes)} bytes, and the limit is ${withCommas(MAX_UNPACKED_BYTES)}`
        : `${withCommas(packed.length)} bytes when packed, and the limit is ${withCommas(MAX_SNAPSHOT_BYTES)}`;
    throw new PlatformError(
      "function/variables-size",
      `the variables of ${stage} that do not fit into the function's configuration take ${size}`,
      `move the largest into files of the project, or into a store that the app reads itself: ${largestVariables(values)}`,
    );
  }
  return { names, bytes, hash: hashOf(text), parts: slices(packed) };
}

/** The values of a snapshot; undefined if the parts are not those of this hash. */
export function unpackSnapshot(hash: string, parts: readonly string[]): VariableValues | undefined {
  const packed = parts.join("");
  // As strict as the runtime: Buffer.from skips other characters.
  if (packed.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(packed)) return undefined;
  try {
    const text = gunzipSync(Buffer.from(packed, "base64"), { maxOutputLength: MAX_UNPACKED_BYTES }).toString();
    return hashOf(text) === hash ? (JSON.parse(text) as VariableValues) : undefined;
  } catch {
    return undefined;
  }
}

const hashOf = (text: string) => createHash("sha256").update(text).digest("hex").slice(0, 32);

/** Reads `SNAPSHOT_VARIABLE`; undefined if a version has no snapshot. */
export function readSnapshotName(
  environment: VariableValues | undefined,
): { readonly hash: string; readonly count: number } | undefined {
  const [, hash, count] = /^([0-9a-f]{32})\/(\d{1,2})$/.exec(environment?.[SNAPSHOT_VARIABLE] ?? "") ?? [];
  return hash === undefined ? undefined : { hash, count: Number(count) };
}
