// The packages of the AWS SDK that cli/aws imports, as files that the commands' bundles require by path: a client in its
// own, and what all clients share in one.
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { buildWithShared } from "./shared-code.mjs";

/** The name of the file of a package, without its end. */
export const sdkFileOf = (specifier) =>
  specifier
    .replace(/^@aws-sdk\//, "")
    .replace(/^@/, "")
    .replaceAll("/", "-");

/** Writes one file per imported package into `outdir`. Keeps only the class of a client that has its calls as methods. */
export async function bundleSdk(outdir, root) {
  const imported = new Map();
  const clients = readFileSync(join(root, "cli/aws/clients.ts"), "utf8");
  for (const [, name, specifier] of clients.matchAll(/^import type \{ (\w+) \} from "(@aws-sdk\/[\w-]+)"/gm)) {
    imported.set(specifier, name);
  }
  imported.set("@aws-sdk/credential-providers", "fromNodeProviderChain");
  // The clients keep the files that they have read in its module.
  imported.set("@smithy/core/config", "externalDataInterceptor");
  rmSync(outdir, { recursive: true, force: true });
  await buildWithShared({
    root,
    outdir,
    entryPoints: [...imported.keys()].map((specifier) => ({
      in: `only:${specifier}`,
      out: sdkFileOf(specifier),
    })),
    imports: /^(?:@aws-sdk|@smithy|@aws)\//,
    shared: [{ name: "core", holds: /^node_modules\/@(?:smithy|aws|aws-sdk)\/(?!client-)/ }],
    isOwn: /^node_modules\/@aws-sdk\/(?:client-|middleware-sdk-|checksums\/)/,
    options: {
      bundle: true,
      platform: "node",
      target: "node20",
      format: "cjs",
      outExtension: { ".js": ".cjs" },
      mainFields: ["module", "main"],
      minifySyntax: true,
      minifyWhitespace: true,
      minifyIdentifiers: true,
      supported: { "dynamic-import": false },
      // The SDK would warn users of `tool` about the Node version that a later SDK needs.
      define: { "process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED": '"true"' },
      plugins: [onlyExports(imported, root)],
      logLevel: "warning",
    },
  });
}

/** `only:PACKAGE` is the one export of a package that is used. */
function onlyExports(imported, root) {
  return {
    name: "only-exports",
    setup(pluginBuild) {
      pluginBuild.onResolve({ filter: /^only:/ }, ({ path }) => ({
        path: path.slice("only:".length),
        namespace: "only",
      }));
      pluginBuild.onLoad({ filter: /.*/, namespace: "only" }, ({ path }) => ({
        contents: `export { ${imported.get(path)} } from ${JSON.stringify(path)};`,
        resolveDir: root,
      }));
    },
  };
}
