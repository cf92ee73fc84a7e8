// The colours of the web UI are told apart on each ground that they are on, in light and in dark (WCAG 2.2, 1.4.3 and 1.4.11).
import { readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { root } from "../../support/cli.ts";
import { contrast } from "../../support/contrast.ts";

const STYLE = readFileSync(join(root, "logservice/ui/style/colors.css"), "utf8");
const COLORS: Readonly<Record<string, readonly [light: string, dark: string]>> = Object.fromEntries(
  [...STYLE.matchAll(/--([a-z-]+): light-dark\((#[0-9a-f]+), (#[0-9a-f]+)\);/g)].map(([, name, light, dark]) => [
    name!,
    [light!, dark!],
  ]),
);

/** Words of texts, and where each may be: levels and parts of queries are in rows that are chosen or below the pointer. */
const TEXTS = ["ink", "soft", "faint", "accent", "string", "number", "key", "word"];
const LEVELS = ["debug", "info", "notice", "warning", "error", "critical"];
const GROUNDS = ["bg", "panel", "hover", "tint", "error-tint", "warning-tint", "good-tint"];
const BARS = ["bar", "bar-debug", "bar-warning", "bar-error", "bar-critical"];
/** Colours that only divide or adorn: nobody has to see them to use the page. */
const ADORNING = ["line", "tint-line"];

const ROWS: readonly (readonly [colors: readonly string[], grounds: readonly string[], least: number])[] = [
  [[...TEXTS, ...LEVELS], GROUNDS, 4.5],
  [["on-accent"], ["accent"], 4.5],
  [["edge", ...BARS], ["bg", "panel"], 3],
];

for (const [i, scheme] of ["light", "dark"].entries()) {
  t.test(`contrast in ${scheme}`, (t) => {
    for (const [colors, grounds, least] of ROWS)
      for (const color of colors)
        for (const ground of grounds) {
          const ratio = contrast(COLORS[color]![i]!, COLORS[ground]![i]!);
          t.ok(ratio >= least, `${color} on ${ground}: ${ratio.toFixed(3)} of ${least}`);
        }
    t.end();
  });
}

t.test("each colour is checked", (t) => {
  const listedColors = new Set([...ROWS.flatMap(([colors, grounds]) => [...colors, ...grounds]), ...ADORNING]);
  t.same(
    Object.keys(COLORS).filter((name) => !listedColors.has(name)),
    [],
  );
  t.end();
});
