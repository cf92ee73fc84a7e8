// Which files are tests: test/<room>/<subject>.test.ts, and all of the folders whose files are tests as a whole.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Folders whose files are slow, or need programs of others, as a whole. */
export const WHOLE_FOLDERS = ["slow", "clients", "peers"];
/** The files that the folder of the stand-in's peers has beside its tests. */
const NO_TESTS = /^test\/peers\/(?:servers|smoke)\.ts$/;
const TEST = new RegExp(`^test/(?:.*\\.test|(?:${WHOLE_FOLDERS.join("|")})/[^/]+)\\.ts$`);

/** Files of editors, such as the links with which Emacs locks a file: .#units.test.ts. */
const HIDDEN = /(?:^|\/)\.[^/]*$/;

/** Whether a path from the root, with slashes, is that of a test. */
export const isTest = (path) => TEST.test(path) && !NO_TESTS.test(path) && !HIDDEN.test(path);

/** A file of which `npm test` runs all tests but those that test/support/slow.ts marks. */
export const isUsual = (test) => test.endsWith(".test.ts");

/** Whether test/support/slow.ts marks some tests of a file. */
export const hasSlow = (root, test) =>
  /from "(?:\.{1,2}\/)+support\/slow\.ts"/.test(readFileSync(join(root, test), "utf8"));

/** The tests in a folder, as paths from the root; in `test` itself those of the usual files. */
export function testsIn(root, folder) {
  const paths = readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .map((name) => `${folder}/${name.replaceAll("\\", "/")}`)
    .filter(isTest);
  return (folder === "test" ? paths.filter(isUsual) : paths).sort();
}

/** As `npm run t` and people name it: units, slow/oidc. */
export const nameOf = (test) => /([^/]+)\.test\.ts$/.exec(test)?.[1] ?? test.replace(/^test\/(.*)\.ts$/, "$1");
