// esbuild's `build` for what is shipped. If TOOL_METAFILES names a folder, each build also leaves the list of its inputs there:
// a release names the packages that are in its bundles, with their licences (cli/release/notices.ts).
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { build as esbuild } from "esbuild";

export async function bundleNoted(options) {
  const folder = process.env.TOOL_METAFILES;
  if (!folder || !options.bundle) return esbuild(options);
  const result = await esbuild({ ...options, metafile: true });
  const inputs = Object.values(result.metafile.outputs).flatMap(({ inputs }) =>
    Object.keys(inputs).filter((path) => inputs[path].bytesInOutput > 0),
  );
  const text = JSON.stringify([...new Set(inputs)].sort());
  writeFileSync(join(folder, `${createHash("sha256").update(text).digest("hex").slice(0, 16)}.json`), text);
  return result;
}
