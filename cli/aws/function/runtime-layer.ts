import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { PlatformError } from "../../platform.ts";
import type { Archive } from "./upload.ts";

/** The archive that `npm run build:layer` makes. */
export interface RuntimeLayerFile extends Archive {
  readonly sha256Hex: string;
}

/** Reads what is known about the layer; its bytes only where they are uploaded. */
export function runtimeLayerFile(): RuntimeLayerFile {
  const folder = layerFolder();
  try {
    const { sha256, bytes } = JSON.parse(readFileSync(join(folder, "tool-runtime.json"), "utf8"));
    const sha256Base64 = Buffer.from(sha256, "hex").toString("base64");
    return { zip: join(folder, "tool-runtime.zip"), sha256Hex: sha256, sha256Base64, bytes };
  } catch (error) {
    throw new PlatformError(
      "runtime/absent",
      "this installation lacks the runtime for Python and Java",
      `npm run build:layer makes it, in ${folder}`,
      { cause: error },
    );
  }
}

/** dist/layer. In the bundle import.meta.url is the path of the command's file, in dist/bin/commands. */
function layerFolder(): string {
  const here = import.meta.url;
  return here.startsWith("file:")
    ? join(dirname(new URL(here).pathname), "../../../layer")
    : join(dirname(here), "../../layer");
}
