import { humanBytes } from "../../grammar/units/bytes.ts";
import { visible } from "../../grammar/visible-text.ts";
import type { BuildProblem } from "./problem.ts";

/** "Deployment package (.zip file archive) size: 250 MB, unzipped, including layers" (Lambda quotas). */
const MAX_UNPACKED_BYTES = 250 * 1024 * 1024;

/** The part of it that the layer with the runtime for Python and Java takes: 112.7 MB as measured, and a little to grow. */
const LAYER_BYTES = 115_000_000;

/** How many of the largest files are listed. */
const NAMED = 10;

interface Sized {
  readonly name: string;
  readonly bytes: number;
}

/** Largest first, then by name. */
export function bySize<T extends Sized>(files: readonly T[]): T[] {
  return [...files].sort((a, b) => b.bytes - a.bytes || (a.name < b.name ? -1 : 1));
}

/** A line for each of the largest files: its size and its name. */
export function sizesOf(files: readonly Sized[], most = files.length): string[] {
  const largest = bySize(files).slice(0, most);
  const width = largest.reduce((widest, { bytes }) => Math.max(widest, humanBytes(bytes).length), 0);
  return largest.map(({ bytes, name }) => `${humanBytes(bytes).padStart(width)}  ${visible(name)}`);
}

/** The problem if the files are larger than the platform's limit. */
export function checkUnpackedSize(files: readonly Sized[], needsLayer: boolean): BuildProblem | undefined {
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  const limit = MAX_UNPACKED_BYTES - (needsLayer ? LAYER_BYTES : 0);
  if (bytes <= limit) return undefined;
  const lines = sizesOf(files, NAMED);
  const layer = needsLayer ? ` (250 MB without the ${humanBytes(LAYER_BYTES)} of the runtime's layer)` : "";
  return {
    code: "artifact/too-large",
    message: `the deployment is ${humanBytes(bytes)} unpacked, over the platform's limit of ${humanBytes(limit)}${layer}`,
    hint: `exclude unneeded files in .toolignore; tool build --size=folders shows the folders, the largest files are:\n${lines.join("\n")}`,
  };
}
