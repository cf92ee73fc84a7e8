// The packages of the AWS SDK that cli/aws imports, as files that the commands' bundles require by path.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

/** Writes one file per imported package into `outdir`. Of a client only the class that has its calls as methods is kept. */
export async function bundleSdk(outdir, root) {
  const imported = new Map();
  const clients = readFileSync(join(root, "cli/aws/clients.ts"), "utf8");
  for (const [, name, specifier] of clients.matchAll(/^import type \{ (\w+) \} from "(@aws-sdk\/[\w-]+)"/gm)) {
    imported.set(specifier, name);
  }
  imported.set("@aws-sdk/credential-providers", "fromNodeProviderChain");
  await Promise.all(
    [...imported].map(([specifier, name]) =>
      build({
        stdin: { contents: `export { ${name} } from ${JSON.stringify(specifier)};`, resolveDir: root },
        bundle: true,
        platform: "node",
        target: "node20",
        format: "cjs",
        outfile: join(outdir, `${specifier.slice("@aws-sdk/".length)}.cjs`),
        mainFields: ["module", "main"],
        minifySyntax: true,
        minifyWhitespace: true,
        supported: { "dynamic-import": false },
        // Which Node a later SDK will need is no news for who deploys an app.
        define: { "process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED": '"true"' },
        logLevel: "warning",
      }),
    ),
  );
}
