import { readFileSync } from "node:fs";
import { join } from "node:path";
import { MakeReleaseError } from "./make-release-error.ts";

/** A package of others and what it says of its licence. */
export interface LicensedPackage {
  readonly name: string;
  readonly version: string;
  /** As package.json has it: an SPDX identifier or an expression of them. */
  readonly license: string;
  /** As package.json has it, without addresses; empty if it names nobody. */
  readonly author: string;
}

/** The files of texts, below `cli/release/licenses`, for packages that bring none. */
const FILES: Readonly<Record<string, readonly string[]>> = {
  "Apache-2.0": ["Apache-2.0.txt"],
  MIT: ["MIT.txt"],
};
/** The licence in the package.json of Bun is that of its own part alone. */
const BUN = /^@oven\/bun-/;
const BUN_FILES = ["bun.txt", "MIT.txt", "LGPL-2.0.txt", "LGPL-2.1.txt"];

/**
 * The text of the licence of a package that brings none: the standard one of the licence that it names, with its author.
 * Throws a `MakeReleaseError` for a licence that has no text in the project, whose folder is `root`.
 */
export function standardLicenseText(root: string, { name, version, license, author }: LicensedPackage): string {
  const files = BUN.test(name) ? BUN_FILES : FILES[license];
  if (files === undefined) {
    throw new MakeReleaseError(
      `the package ${name} ${version} brings no text of its licence, ${license}: add one to cli/release/licenses and license-texts.ts`,
    );
  }
  const texts = files.map((file) => readFileSync(join(root, "cli/release/licenses", file), "utf8").trim());
  const copyright = BUN.test(name) || author === "" ? [] : [`Copyright (c) ${author}`];
  return [...copyright, ...texts].join("\n\n");
}
