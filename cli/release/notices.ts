import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Input, Lock } from "./inputs.ts";
import { type LicensedPackage, standardLicenseText } from "./license-texts.ts";
import { MakeReleaseError } from "./make-release-error.ts";
import type { ReleasedFile } from "./tar.ts";

/** A work of others that a release contains. */
export interface Component extends LicensedPackage {
  /** The texts of the licence and of notices that go with it; empty if the package has none. */
  readonly texts: readonly string[];
  /** The sum of its tarball: `sha512-` and base64. */
  readonly integrity: string;
}

/** `LICENSE`, `LICENSE.md`, `LICENCE-MIT`, `COPYING`, `NOTICE.txt` */
const LICENSE_FILE = /^(?:licen[cs]e|copying|notice)s?(?:[.-].*)?$/i;

/**
 * The packages that the bundles contain, by the lists of inputs that `cli/build/esbuild.mjs` left in a folder. Throws for one
 * without a licence, and for one that is not what package-lock.json has.
 */
export function bundledComponents(root: string, metafiles: string, lock: Lock): readonly Component[] {
  const folders = new Set<string>();
  for (const name of readdirSync(metafiles)) {
    for (const input of JSON.parse(readFileSync(join(metafiles, name), "utf8")) as string[]) {
      // The innermost package of a path, which may begin with the name of a plugin.
      const folder = /node_modules\/(?:.*node_modules\/)?(?:@[^/]+\/)?[^/]+/.exec(input)?.[0];
      if (folder !== undefined) folders.add(folder);
    }
  }
  return [...folders].sort().map((folder) => {
    const manifest = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
    const { version, integrity } = lock[folder] ?? {};
    if (integrity === undefined || version !== manifest.version) {
      throw new MakeReleaseError(`${folder} is not what package-lock.json says: run npm ci, then this again`);
    }
    const texts = readdirSync(join(root, folder))
      .filter((name) => LICENSE_FILE.test(name))
      .sort()
      .map((name) => readFileSync(join(root, folder, name), "utf8"));
    return component(manifest, texts, integrity);
  });
}

/** A package that is in the release with its files. */
export function packageComponent({ integrity }: Input, files: readonly ReleasedFile[]): Component {
  const text = (file: ReleasedFile) => file.content.toString();
  const manifest = files.find(({ path }) => path === "package.json")!;
  const texts = files.filter(({ path }) => !path.includes("/") && LICENSE_FILE.test(path));
  return component(JSON.parse(text(manifest)), texts.map(text), integrity);
}

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license?: unknown;
  /** `Jo Doe <jo@example.com> (https://example.com)`, or an object with its parts. */
  readonly author?: string | { readonly name?: string };
}

function component(
  { name, version, license, author = "" }: Manifest,
  texts: readonly string[],
  integrity: string,
): Component {
  if (typeof license !== "string")
    throw new MakeReleaseError(`the package ${name} ${version} has no licence in its package.json`);
  const by = typeof author === "string" ? author : (author.name ?? "");
  return { name, version, license, author: by.replace(/[<(].*/, "").trim(), texts: texts.map(normalized), integrity };
}

const normalized = (text: string) => text.replaceAll("\r\n", "\n").trim();

const byName = (a: Component, b: Component) => {
  const [left, right] = [a, b].map(({ name, version }) => `${name}@${version}`);
  return left! < right! ? -1 : left === right ? 0 : 1;
};

/** Once each, sorted. */
export function distinct(components: readonly Component[]): readonly Component[] {
  return [...new Map(components.map((one) => [`${one.name}@${one.version}`, one])).values()].sort(byName);
}

/** The text of NOTICES: each licence once, under the packages that have it. `root` is the project's folder. */
export function noticesText(components: readonly Component[], root: string): string {
  const byText = new Map<string, Component[]>();
  for (const one of components) {
    const text = one.texts.join("\n\n") || standardLicenseText(root, one);
    byText.set(text, [...(byText.get(text) ?? []), one]);
  }
  const line = "=".repeat(80);
  const head = "tool contains the following works of others, under their licences.\n";
  const parts = [...byText].map(([text, some]) => {
    const names = some.map(({ name, version, license }) => `${name} ${version} (${license})`);
    return `${line}\n${names.join("\n")}\n${line}\n\n${text}\n`;
  });
  return [head, ...parts].join("\n");
}

export interface BillOfMaterials {
  readonly version: string;
  readonly license: string;
  /** Hexadecimal; the same commit gives the same text. */
  readonly commit: string;
  readonly timeS: number;
}

/** The bill of materials in CycloneDX 1.6 (ECMA-424). */
export function billOfMaterials(components: readonly Component[], about: BillOfMaterials): string {
  const { version, license, commit, timeS } = about;
  const main = `tool@${version}`;
  const bom = {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    serialNumber: `urn:uuid:${uuidOf(`${commit} ${version}`)}`,
    version: 1,
    metadata: {
      timestamp: new Date(timeS * 1000).toISOString().replace(".000Z", "Z"),
      component: { type: "application", "bom-ref": main, name: "tool", version, licenses: licensesOf(license) },
    },
    components: components.map((one) => {
      const [, group, name] = /^(?:(@[^/]+)\/)?(.+)$/.exec(one.name)!;
      return {
        type: "library",
        "bom-ref": purl(one),
        ...(group !== undefined && { group }),
        name,
        version: one.version,
        purl: purl(one),
        hashes: [
          { alg: "SHA-512", content: Buffer.from(one.integrity.slice("sha512-".length), "base64").toString("hex") },
        ],
        licenses: licensesOf(one.license),
      };
    }),
    dependencies: [{ ref: main, dependsOn: components.map(purl) }],
  };
  return `${JSON.stringify(bom, null, 2)}\n`;
}

/** Package URL of the type npm: the `@` of a scope is written as `%40`. */
const purl = ({ name, version }: Component) => `pkg:npm/${name.replace("@", "%40")}@${encodeURIComponent(version)}`;

const licensesOf = (license: string) =>
  / (?:AND|OR|WITH) /.test(license) ? [{ expression: license }] : [{ license: { id: license } }];

/** A UUID of version 8 (RFC 9562) that is made of a text. */
function uuidOf(text: string): string {
  const hex = createHash("sha256").update(text).digest("hex");
  const variant = ((Number.parseInt(hex[16]!, 16) & 3) | 8).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join("-");
}
