// The libraries that only a log service needs, some of them only with mail, an OpenID provider, payments or records on
// PostgreSQL, each in a small file of its own: no other command has Node scan them.
import { join } from "node:path";
import { bundleNoted as build } from "./esbuild.mjs";

/** Each with what is used of it. */
const LIBRARIES = {
  kysely:
    "{ DEFAULT_MIGRATION_TABLE, Kysely, Migrator, PostgresDialect, PostgresIntrospector, PostgresQueryCompiler, SqliteDialect }",
  nodemailer: "{ createTransport }",
  "openid-client": "*",
  pg: "{ Pool, types }",
  stripe: "{ Stripe }",
};

/** Writes each into a file. */
export async function writeServiceLibraries(outdir, root) {
  for (const [name, used] of Object.entries(LIBRARIES)) {
    await build({
      stdin: { contents: `export ${used} from ${JSON.stringify(name)};`, resolveDir: root },
      outfile: join(outdir, `${name}.cjs`),
      bundle: true,
      platform: "node",
      target: "node20",
      format: "cjs",
      mainFields: ["module", "main"],
      minify: true,
      // The driver of PostgreSQL in C, which nobody installs.
      external: ["pg-native"],
      plugins: [withoutTables],
      logLevel: "warning",
    });
  }
}

/** nodemailer's tables of mail providers, which we do not name, and of the types of attachments, which our mails do not have. */
const withoutTables = {
  name: "without-tables",
  setup(pluginBuild) {
    pluginBuild.onLoad({ filter: /nodemailer\/dist\/\w+\/well-known\/services\.js$/ }, () => ({
      contents: "export const services = {};",
    }));
    pluginBuild.onLoad({ filter: /nodemailer\/dist\/\w+\/mime-funcs\/mime-types\.js$/ }, () => ({
      contents:
        'export const detectMimeType = () => "application/octet-stream"; export const detectExtension = () => "bin";',
    }));
  },
};

/** For the bundles that use them: `folder` is the path of their folder as the bundles see it. */
export function serviceLibrariesIn(folder) {
  return {
    name: "service-libraries-by-path",
    setup(pluginBuild) {
      pluginBuild.onResolve({ filter: /^(?:kysely|nodemailer|openid-client|pg|stripe)$/ }, ({ path }) => ({
        path: `${folder}/${path}.cjs`,
        external: true,
      }));
    },
  };
}
