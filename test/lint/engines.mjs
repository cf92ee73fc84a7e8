// All that package-lock.json installs runs on the oldest Node that package.json promises. `npm run lint` runs it.
import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import semver from "semver";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");

/**
 * Packages whose new versions will want a newer Node without a new major version. The AWS SDK's want Node 22 from January 2027
 * on, and nobody knows yet by which number, so that only patches of the tested version are let in.
 */
const PINNED = /^@aws-sdk\//;

/** Packages that do not run on the oldest Node, and ranges that would let in such ones. */
export function engineFaults({ engines, dependencies, devDependencies, optionalDependencies }, { packages }) {
  const oldest = semver.minVersion(engines.node);
  const tooNew = Object.entries(packages)
    .filter(([path, { engines }]) => path !== "" && !semver.satisfies(oldest, engines?.node ?? "*"))
    .map(([path, { version, engines }]) => {
      const name = path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
      return `package-lock.json: ${name} ${version} needs Node ${engines.node}, and package.json promises ${oldest}: keep an older version`;
    });
  const tooWide = Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies })
    .filter(([name, range]) => PINNED.test(name) && semver.intersects(range, `>=${nextMinor(range)}`))
    .map(([name, range]) => {
      return `package.json: ${name} ${range} lets in versions that need a newer Node: write ~${semver.minVersion(range)}`;
    });
  return [...tooNew, ...tooWide];
}

const nextMinor = (range) => semver.inc(semver.minVersion(range), "minor");

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const read = (name) => JSON.parse(readFileSync(join(root, name), "utf8"));
  const faults = engineFaults(read("package.json"), read("package-lock.json"));
  for (const fault of faults) console.error(fault);
  process.exitCode = faults.length > 0 ? 1 : 0;
}
