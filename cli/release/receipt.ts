import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { dirname, isAbsolute, join, normalize } from "node:path";
import { ReleaseError } from "./error.ts";
import { isVersion } from "./statement.ts";

/** The files of a version: their sums in hexadecimal by their paths in its folder. */
export interface InstalledVersion {
  readonly version: string;
  /** Absolute. */
  readonly folder: string;
  readonly files: Readonly<Record<string, string>>;
}

/** An installation by install.sh or `tool upgrade`: receipt.json beside the folders of the versions. */
export interface Receipt extends InstalledVersion {
  readonly edition: string;
  readonly kind: string;
  /** `linux-x64` */
  readonly platform: string;
  readonly origin: string;
  /** The path of the symbolic link that people call. */
  readonly command: string;
  /** Symbolic links to the man page and completions. */
  readonly links: readonly string[];
  /** Folders that were made for it, absolute: they go with it if nothing else is in them. Receipts of older scripts have none. */
  readonly folders?: readonly string[];
  /** The version before: it stays, as what runs of it still reads its files. */
  readonly previous?: InstalledVersion;
}

/** The receipt of what a package manager installed: the command that upgrades it. */
export interface ManagedReceipt {
  readonly manager: { readonly name: string; readonly upgrade: string };
}

/**
 * Reads the receipt of a library, the folder that has one folder for each version. Undefined if there is none. Throws a
 * `ReleaseError` if its sum is another one, or if it names anything outside: what it lists is removed one day.
 */
export function readReceipt(library: string): Receipt | ManagedReceipt | undefined {
  const path = join(library, "receipt.json");
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  const receipt = parsed(text);
  if (isManaged(receipt)) return receipt;
  if (!isReceipt(receipt, library) || !hasItsSum(text)) {
    throw new ReleaseError(`${path} is damaged`, "install tool anew with the install script of a release");
  }
  const { sum: _, ...listed } = receipt as Receipt & { readonly sum: string };
  return listed;
}

export const isManaged = (receipt: unknown): receipt is ManagedReceipt => {
  const { manager } = (receipt ?? {}) as Partial<ManagedReceipt>;
  return typeof manager === "object" && typeof manager?.name === "string" && typeof manager.upgrade === "string";
};

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether the members are of the types that they need, and the folders below the library. */
function isReceipt(value: unknown, library: string): value is Receipt {
  if (typeof value !== "object" || value === null) return false;
  const { receipt, edition, kind, platform, origin, command, links, folders, previous } = value as Record<
    string,
    unknown
  >;
  return (
    receipt === 1 &&
    [edition, kind, platform, origin].every((text) => typeof text === "string") &&
    typeof command === "string" &&
    isAbsolute(command) &&
    [links, folders].every((paths) => paths === undefined || isTexts(paths)) &&
    isInstalledVersion(value, library) &&
    (previous === undefined || isInstalledVersion(previous, library))
  );
}

const isTexts = (value: unknown) => Array.isArray(value) && value.every((text) => typeof text === "string");

function isInstalledVersion(value: unknown, library: string): value is InstalledVersion {
  const { version, folder, files } = (value ?? {}) as Record<string, unknown>;
  return (
    typeof version === "string" &&
    isVersion(version) &&
    typeof folder === "string" &&
    dirname(folder) === library &&
    normalize(folder) === folder &&
    typeof files === "object" &&
    files !== null &&
    Object.entries(files).every(([path, sum]) => typeof sum === "string" && isBelow(path))
  );
}

const isBelow = (path: string) => !isAbsolute(path) && !normalize(path).startsWith("..") && normalize(path) === path;

/** The last member of a receipt: the SHA-256 of all text before its line, in hexadecimal. */
const SUM_MEMBER = /^(.*\n) {2}"sum": "([0-9a-f]{64})"\n\}\n$/s;

const sumOf = (text: string) => createHash("sha256").update(text).digest("hex");

function hasItsSum(receipt: string): boolean {
  const [, listed, sum] = SUM_MEMBER.exec(receipt) ?? [];
  return listed !== undefined && sumOf(listed) === sum;
}

/** The text of receipt.json. */
export function receiptText({ links, ...receipt }: Receipt): string {
  const text = JSON.stringify({ receipt: 1, ...receipt, links: links ?? [] }, null, 2);
  const listed = text.replace(/\n\}$/, ",\n");
  return `${listed}  "sum": "${sumOf(listed)}"\n}\n`;
}
