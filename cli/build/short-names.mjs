import { readFileSync } from "node:fs";
import { transform } from "esbuild";

/** Names of a generated parser say nothing in a stack trace, and each start reads them. */
export const shortNamesInParsers = {
  name: "short-names-in-parsers",
  setup(pluginBuild) {
    pluginBuild.onLoad({ filter: /-parser\.generated\.ts$/ }, async ({ path }) => ({
      contents: (await transform(readFileSync(path, "utf8"), { loader: "ts", minify: true })).code,
      loader: "js",
    }));
  },
};
