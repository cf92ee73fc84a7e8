// Which files of a project a static folder may show, by their names alone. One definition for the proxy and the checks.

/**
 * Files that a page shows. Scripts are not among them: in the folder of a server app they are its sources. Names rather
 * than types, because tables of types know `.ts` as a video.
 */
const SHOWN_BY_PAGES =
  /\.(?:html?|xhtml|css|webmanifest|wasm|svg|png|apng|jpe?g|gif|webp|avif|ico|cur|bmp|tiff?|jxl|heic|woff2?|ttf|otf|eot|mp3|m4a|aac|oga|ogg|opus|wav|flac|weba|mp4|m4v|webm|ogv|mov|vtt)$/;

/** They have types that many other files have, too. */
const SHOWN_BY_NAME = new Set(["robots.txt", "sitemap.xml"]);

/** Whether a server app that names no directory of its own serves this file of its project's folder. */
export function isShownByPages(path: string): boolean {
  const segments = path.toLowerCase().split("/");
  if (segments.includes("node_modules")) return false;
  // Made to be asked for (RFC 8615).
  if (segments[0] === ".well-known") return true;
  const name = segments.at(-1)!.replace(/\.(?:br|gz)$/, "");
  return SHOWN_BY_NAME.has(name) || SHOWN_BY_PAGES.test(name);
}

/** Files that are rarely meant for everyone: named where they would be served. */
const PRIVATE: readonly { readonly kind: string; readonly name: RegExp }[] = [
  { kind: "key", name: /^id_(?:rsa|dsa|ecdsa|ed25519)$|\.(?:pem|key|p12|pfx|jks|keystore|ppk|kdbx)$/i },
  {
    kind: "database",
    name: /\.(?:sqlite3?|db3?|mdb|duckdb|sql|dump|bak)(?:\.(?:gz|br|zip))?$|\.sqlite3?-(?:wal|shm)$/i,
  },
  {
    kind: "manifest",
    name: /^(?:package(?:-lock)?\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|go\.(?:mod|sum)|requirements[\w.-]*\.txt|pipfile(?:\.lock)?|pyproject\.toml|poetry\.lock|composer\.(?:json|lock)|gemfile(?:\.lock)?|cargo\.(?:toml|lock)|pom\.xml|build\.gradle(?:\.kts)?|shard\.(?:yml|lock)|docker-compose[\w.-]*\.ya?ml|dockerfile)$/i,
  },
];

/** The kind of private file that a name means, in words for people; undefined for all others. */
export function privateKind(name: string): string | undefined {
  return PRIVATE.find((kind) => kind.name.test(name))?.kind;
}
