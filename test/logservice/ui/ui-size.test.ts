// The files of the web UI that a browser loads and that are installed: a limit for each file, in compressed kilobytes.
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { root } from "../../support/cli.ts";

const folder = join(root, "dist/bin/ui");
const assets = join(folder, "assets");
const names = readdirSync(assets);
const manifest = JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8"));
const first: readonly string[] = [manifest.script, manifest.style, ...manifest.preload];

/** The document and the icon, which are not among the files. */
const OTHER_REQUESTS = 2;
const MAX_REQUESTS = 6;
const MAX_FIRST_KB = 100;
/** Raw and compressed twice. Not counted for dist/bin, which has a limit of its own. */
const MAX_INSTALLED_KB = 1_630;

/** By the beginning of the name; what is not listed is a late page or a part of one. */
const MAX_KB: Readonly<Record<string, number>> = {
  // Loaded when somebody types. A third of it is the engine that finds mistakes in regular expressions, a fifth is Ohm.
  worker: 150,
  // uPlot, for queries with stages over time.
  lines: 30,
  style: 14,
};
const MAX_LATE_KB = 20;

const kilobytesOf = (name: string) => statSync(join(assets, name)).size / 1_000;

t.test(`the first load has at most ${MAX_FIRST_KB} KB in ${MAX_REQUESTS} requests`, (t) => {
  t.ok(first.length + OTHER_REQUESTS <= MAX_REQUESTS, first.join(", "));
  const sum = first.reduce((sum, name) => sum + kilobytesOf(`${name}.gz`), 0);
  t.ok(sum > 30, "there is a build");
  t.ok(sum <= MAX_FIRST_KB, `${sum.toFixed(1)} KB gzipped`);
  t.end();
});

t.test("nothing else is asked for before the page is shown", (t) => {
  const imported = (name: string): string[] =>
    [...readFileSync(join(assets, name), "utf8").matchAll(/(?:from|import) ?"\.\/([^"]+\.js)"/g)].map(([, to]) => to!);
  for (const name of first.filter((name) => name.endsWith(".js")))
    for (const to of imported(name)) t.ok(first.includes(to), `${name} imports ${to}`);
  t.notMatch(readFileSync(join(assets, manifest.style), "utf8"), /@import|url\((?!["']?data:)/, "of the style sheet");
  t.end();
});

t.test("no change on the page makes the browser look at all of it again", (t) => {
  const selectors = readFileSync(join(assets, manifest.style), "utf8").match(/[^{}]*:has\([^{}]*(?=\{)/g) ?? [];
  const isOfLegend = (selector: string) => selector.split(",").every((one) => /\.u-series[^ ]*:has/.test(one));
  t.ok(selectors.length > 0, "the legend of a chart has some");
  t.same(
    selectors.filter((one) => !isOfLegend(one)),
    [],
    "usePageMark says it instead",
  );
  t.end();
});

t.test("each file has its limit", (t) => {
  for (const name of names.filter((name) => /\.(js|css)$/.test(name))) {
    const [kind] = name.split("-");
    const most = first.includes(name) ? MAX_FIRST_KB : (MAX_KB[kind!] ?? MAX_LATE_KB);
    const size = kilobytesOf(`${name}.gz`);
    t.ok(size <= most, `${name}: ${size.toFixed(1)} KB of ${most}`);
    t.match(name, /-[A-Z0-9]{8}\.(js|css)$/, "the name changes with the content");
    const isSmall = kilobytesOf(name) < 1;
    for (const coding of ["gz", "br"]) {
      if (!existsSync(join(assets, `${name}.${coding}`))) t.fail(`${name}.${coding} is missing`);
      else if (!isSmall) t.ok(kilobytesOf(`${name}.${coding}`) < kilobytesOf(name) / 1.5, `${name}.${coding}`);
    }
  }
  t.end();
});

t.test("all that is installed", (t) => {
  const sum = names.reduce((sum, name) => sum + kilobytesOf(name), 0);
  t.ok(sum <= MAX_INSTALLED_KB, `${sum.toFixed(0)} KB`);
  t.end();
});
