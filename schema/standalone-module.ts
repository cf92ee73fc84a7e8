import { build } from "esbuild";

/**
 * The text of a module that ajv wrote, with ajv's small run-time pieces folded in, so that no ajv is loaded where it runs.
 * `folder` is where esbuild finds them from.
 */
export async function standaloneModule(code: string, folder: string, banner: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: code, resolveDir: folder, loader: "js" },
    bundle: true,
    format: "esm",
    platform: "neutral",
    mainFields: ["module", "main"],
    minify: true,
    write: false,
    legalComments: "none",
  });
  return `${banner}\n// @ts-nocheck\n${outputFiles[0]!.text}`;
}
