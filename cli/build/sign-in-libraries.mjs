// The libraries that only a log service with mail or an OpenID provider needs, each in a file of its own: no other command
// has Node scan them.
import { join } from "node:path";
import { build } from "esbuild";

const LIBRARIES = ["nodemailer", "openid-client"];

/** Writes each into a file. */
export async function writeSignInLibraries(outdir, root) {
  for (const name of LIBRARIES) {
    await build({
      stdin: { contents: `export * from ${JSON.stringify(name)};`, resolveDir: root },
      outfile: join(outdir, `${name}.cjs`),
      bundle: true,
      platform: "node",
      target: "node20",
      format: "cjs",
      mainFields: ["module", "main"],
      minify: true,
      logLevel: "warning",
    });
  }
}

/** For the bundles that use them: `folder` is the path of their folder as the bundles see it. */
export function signInLibrariesIn(folder) {
  return {
    name: "sign-in-libraries-by-path",
    setup(pluginBuild) {
      pluginBuild.onResolve({ filter: /^(?:nodemailer|openid-client)$/ }, ({ path }) => ({
        path: `${folder}/${path}.cjs`,
        external: true,
      }));
    },
  };
}
