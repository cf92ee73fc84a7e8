import { readFileSync } from "node:fs";
import fc from "fast-check";
import t from "tap";
import { type Problem, renderProblem } from "../../../grammar/problem.ts";
import { Automaton } from "../../../grammar/route/automaton.ts";
import {
  compareRoutes,
  compileRoutes,
  type Location,
  locationCaptures,
  parseLocation,
  parseRoute,
  type Route,
  routeCaptures,
  sameShape,
  substitute,
} from "../../../grammar/route/index.ts";
import { shape } from "../../../grammar/route/order.ts";
import { normalizePath } from "../../../grammar/route/path.ts";
import { printLocation, printRoute } from "../../../grammar/route/print.ts";
import { Trie } from "../../../grammar/route/trie.ts";
import { timesAsLong } from "../../support/processor-time.ts";
import { holds } from "../../support/property.ts";
import { recorderOf } from "../../support/vectors.ts";

type Mode = "optional" | "strict";
type Captures = Record<string, string>;

interface Vectors {
  patterns: { pattern: string; trailingSlash?: Mode; matches: Record<string, Captures>; misses: string[] }[];
  order: { rules: string[]; path: string; trailingSlash?: Mode; expected: string[] }[];
  shapes: [string, string, boolean][];
  printed: [string, string][];
  invalid: { source: string; problems: string[] }[];
  locations: { location: string; captures: Captures; query?: string; expected: string }[];
  invalidLocations: { source: string; problems: string[] }[];
}

const vectors: Vectors = JSON.parse(
  readFileSync(new URL("../../../../test/vectors/route.json", import.meta.url), "utf8"),
);

const record = recorderOf("route.json", vectors);

for (const { pattern, trailingSlash = "strict", matches, misses } of vectors.patterns) {
  t.test(`${pattern} ${trailingSlash === "optional" ? "with an optional trailing slash" : ""}`, (t) => {
    const value = route(pattern);
    const table = compileRoutes([{ route: value, value: 1 }], { trailingSlash });
    for (const [path, captures] of Object.entries(matches)) {
      const match = table.first(path);
      t.ok(match, `matches ${path}`);
      t.same(Object.entries(match?.captures ?? {}), Object.entries(captures), `captures of ${path}`);
      t.same(Object.keys(match?.captures ?? {}), [...routeCaptures(value)]);
      t.same(table.all(path), match ? [match] : []);
    }
    for (const path of misses) t.equal(table.first(path), undefined, `does not match ${JSON.stringify(path)}`);
    t.end();
  });
}

for (const { rules, path, trailingSlash = "strict", expected } of vectors.order) {
  t.test(`${path} among ${rules.join(" ")}`, (t) => {
    for (const order of [rules, [...rules].reverse()]) {
      const table = compileRoutes(rulesOf(order), { trailingSlash });
      t.same(
        table.all(path).map(({ value }) => value),
        expected,
      );
      t.equal(table.first(path)?.value, expected[0]);
    }
    t.end();
  });
}

t.test("of one pattern written twice the earlier rule comes first", (t) => {
  const twice = [
    { route: route("/a"), value: 1 },
    { route: route("/%61"), value: 2 },
  ];
  const matches = compileRoutes(twice, { trailingSlash: "strict" }).all("/a");
  t.same(
    matches.map(({ value }) => value),
    [1, 2],
  );
  t.end();
});

t.test("shapes", (t) => {
  for (const [a, b, same] of vectors.shapes) {
    t.equal(sameShape(route(a), route(b)), same, `${a} ${b}`);
    t.equal(sameShape(route(b), route(a)), same, `${b} ${a}`);
  }
  t.end();
});

t.test("canonical text of patterns", (t) => {
  for (const row of vectors.printed) {
    record(row, { 1: printRoute(route(row[0])) });
    t.equal(printRoute(route(row[0])), row[1], row[0]);
  }
  t.end();
});

for (const row of vectors.invalid) {
  const { source } = row;
  t.test(`invalid pattern ${JSON.stringify(source)}`, (t) => {
    const parsed = parseRoute(source);
    t.notOk(parsed.ok);
    if (!parsed.ok) {
      record(row, { problems: render(parsed.problems, source).split("\n") });
      t.equal(render(parsed.problems, source), row.problems.join("\n"));
    }
    t.end();
  });
}

for (const row of vectors.locations) {
  const { location: source, captures, query } = row;
  t.test(`location ${source} with ${JSON.stringify(captures)} ${query ?? ""}`, (t) => {
    record(row, { expected: substitute(location(source), captures, query) });
    t.equal(substitute(location(source), captures, query), row.expected);
    t.end();
  });
}

for (const row of vectors.invalidLocations) {
  const { source } = row;
  t.test(`invalid location ${JSON.stringify(source)}`, (t) => {
    const parsed = parseLocation(source);
    t.notOk(parsed.ok);
    if (!parsed.ok) {
      record(row, { problems: render(parsed.problems, source).split("\n") });
      t.equal(render(parsed.problems, source), row.problems.join("\n"));
    }
    t.end();
  });
}

t.test("limits", (t) => {
  t.ok(parseRoute(`/${"a".repeat(2047)}`).ok);
  t.ok(parseLocation(`/${"a".repeat(2047)}`).ok);
  const long = `/${"a".repeat(2048)}`;
  for (const parsed of [parseRoute(long), parseLocation(long)]) {
    t.notOk(parsed.ok);
    if (!parsed.ok) t.match(parsed.problems, [{ code: "route/too-long", hint: "at most 2048" }]);
  }
  t.end();
});

t.test("spans point into the source", (t) => {
  const { parts } = route("/a%2Fb/:id/\\*x*");
  t.same(
    parts.map(({ span }) => span),
    [
      { start: 0, end: 7 },
      { start: 7, end: 10 },
      { start: 10, end: 14 },
      { start: 14, end: 15 },
    ],
  );
  const { origin, parts: locationParts, hasQuery } = location("https://h:80/:a?b=:c");
  t.equal(origin, "https://h:80");
  t.equal(hasQuery, true);
  t.same(
    locationParts.map(({ span }) => span),
    [
      { start: 12, end: 13 },
      { start: 13, end: 15 },
      { start: 15, end: 18 },
      { start: 18, end: 20 },
    ],
  );
  t.match(locationCaptures(location("/:a/:b/:a")), [{ name: "a" }, { name: "b" }, { name: "a" }]);
  t.end();
});

t.test("every fix removes its problem", (t) => {
  let fixes = 0;
  for (const [list, parse] of [
    [vectors.invalid, parseRoute],
    [vectors.invalidLocations, parseLocation],
  ] as const) {
    for (const { source } of list) {
      const parsed = parse(source);
      if (parsed.ok) continue;
      for (const { code, fix } of parsed.problems) {
        if (fix === undefined) continue;
        fixes++;
        const [edit] = fix.edits;
        const fixed = source.slice(0, edit!.span.start) + edit!.text + source.slice(edit!.span.end);
        const again = parse(fixed);
        const left = again.ok ? [] : again.problems;
        t.ok(left.length < parsed.problems.length, `${code}: ${JSON.stringify(source)} to ${JSON.stringify(fixed)}`);
      }
    }
  }
  t.ok(fixes > 20);
  t.end();
});

// ---- properties

// Few characters, so that patterns meet their paths, and the ones that are special in one of the two.
const patternText = fc
  .array(
    fc.constantFrom(
      "/",
      "/",
      "a",
      "b",
      "a",
      ".",
      "-",
      ":x",
      ":y",
      ":z",
      "*",
      "*",
      "\\*",
      "%2F",
      "%41",
      "%25",
      "é",
      "🐯",
    ),
    { maxLength: 9 },
  )
  .map((pieces) => pieces.join(""));
const anyRoute = fc
  .tuple(fc.constantFrom("/", "/", "*"), patternText)
  .map((pieces) => parseRoute(pieces.join("")))
  .filter((parsed) => parsed.ok)
  .map((parsed) => (parsed as { value: Route }).value);
const anyPath = fc
  .array(
    fc.constantFrom(
      "/",
      "/",
      "a",
      "b",
      "a",
      ".",
      "-",
      "x",
      "*",
      "%2f",
      "%5C",
      "%41",
      "%",
      "%25",
      "%C3%A9",
      "%FF",
      "é",
      "%F0%9F%90%AF",
      "%zz",
    ),
    { maxLength: 12 },
  )
  .map((pieces) => `/${pieces.join("")}`);
const settings = { numRuns: 3000, seed: 20 };

t.test("the compiled matcher agrees with the naive one", (t) => {
  let matches = 0;
  const property = fc.property(
    fc.array(anyRoute, { minLength: 1, maxLength: 8 }),
    fc.array(anyPath, { minLength: 1, maxLength: 8 }),
    fc.constantFrom<Mode>("optional", "strict"),
    // Random paths meet few patterns, so each pattern is also filled in.
    fc.array(fc.constantFrom("", "a", "b", "aa", "a/b", "%41", "%2f", "a.b", "-", "/", "é"), {
      minLength: 8,
      maxLength: 8,
    }),
    (routes, random, trailingSlash, fillings) => {
      const filled = routes.map(({ parts }) =>
        parts.map((part, i) => (part.kind === "literal" ? part.text : fillings[i % 8])).join(""),
      );
      const paths = [
        ...random,
        ...filled.map((path) => path.replace(/^(?!\/)/, "/")),
        ...filled.map((path) => `/${path}/`),
      ];
      const rules = routes.map((route, value) => ({ route, value }));
      const table = compileRoutes(rules, { trailingSlash });
      const sorted = [...rules].sort((a, b) => compareRoutes(a.route, b.route));
      for (const path of paths) {
        const expected = sorted.flatMap(({ route, value }) => {
          const captures = naiveMatch(route, path, trailingSlash);
          return captures ? [{ value, captures }] : [];
        });
        const actual = table.all(path).map(({ value, captures }) => ({ value, captures: { ...captures } }));
        if (JSON.stringify(actual) !== JSON.stringify(expected)) {
          throw new Error(`${path}: ${JSON.stringify(actual)} is not ${JSON.stringify(expected)}`);
        }
        if (table.first(path)?.value !== expected[0]?.value) throw new Error(`first of ${path}`);
        matches += expected.length;
      }
    },
  );
  holds(t, property, { ...settings, numRuns: 1500 });
  t.ok(matches > 10_000, `${matches} matches`);
  t.end();
});

t.test("a table that forgets its states finds the same", (t) => {
  const property = fc.property(
    fc.array(anyRoute, { minLength: 1, maxLength: 8 }),
    fc.array(anyPath, { minLength: 1, maxLength: 20 }),
    (routes, paths) => {
      const trie = new Trie();
      for (const [i, route] of routes.entries()) trie.insert(shape(route), i, false);
      const whole = new Automaton(trie);
      // Room for one state or two: nearly every step starts over.
      const forgetful = new Automaton(trie, 30);
      for (const path of paths) {
        const { text } = normalizePath(path);
        const same = JSON.stringify(whole.rules(text, false)) === JSON.stringify(forgetful.rules(text, false));
        if (!same) throw new Error(path);
      }
    },
  );
  holds(t, property, { ...settings, numRuns: 500 });
  t.end();
});

t.test("compareRoutes is a total order", (t) => {
  const sign = (a: Route, b: Route) => Math.sign(compareRoutes(a, b));
  const property = fc.property(anyRoute, anyRoute, anyRoute, (a, b, c) => {
    if (sign(a, b) !== -sign(b, a)) throw new Error("not antisymmetric");
    if (sign(a, b) <= 0 && sign(b, c) <= 0 && sign(a, c) > 0) throw new Error("not transitive");
    if ((sign(a, b) === 0) !== (printRoute(a) === printRoute(b))) throw new Error("equal without being the same");
  });
  holds(t, property, settings);
  t.end();
});

t.test("printing and parsing a route gives it back, and never throws on any text", (t) => {
  const anyText = fc.oneof(
    fc.string({ unit: "binary", maxLength: 30 }).map((text) => `/${text}`),
    fc.string({ unit: "binary", maxLength: 30 }),
    fc.string({ unit: fc.constantFrom(..."/:*\\%{}[]()?#a1 +$^|<>2F".split("")), maxLength: 20 }).map((s) => `/${s}`),
    anyRoute.map(({ source }) => source),
  );
  let valid = 0;
  const property = fc.property(anyText, (text) => {
    for (const [parse, print] of [
      [parseRoute, printRoute],
      [parseLocation, printLocation],
    ] as [typeof parseRoute, typeof printRoute][]) {
      const parsed = parse(text);
      if (!parsed.ok) {
        if (parsed.problems.length === 0) throw new Error("invalid without a problem");
        continue;
      }
      valid++;
      const printed = print(parsed.value);
      const again = parse(printed);
      if (!again.ok) throw new Error(`${JSON.stringify(text)} prints as ${JSON.stringify(printed)}, which is invalid`);
      if (withoutSpans(again.value) !== withoutSpans(parsed.value)) throw new Error(`${text} prints as ${printed}`);
      if (print(again.value) !== printed) throw new Error(`${printed} is not canonical`);
    }
  });
  holds(t, property, settings);
  t.ok(valid > 1500, `${valid} valid`);
  t.end();
});

t.test("whatever a client sends, a location stays on its host and in its line", (t) => {
  const origins = ["", "https://x.example"];
  const anyLocation = fc
    .tuple(
      fc.constantFrom(...origins),
      fc.array(fc.constantFrom("/", "/", "a", ":a", ":b", ":splat", "?", "#", "."), { maxLength: 6 }),
    )
    .map(([origin, pieces]) => parseLocation(`${origin}/${pieces.join("")}`))
    .filter((parsed) => parsed.ok)
    .map((parsed) => (parsed as { value: Location }).value);
  const hostile = fc.oneof(
    fc.string({ unit: fc.constantFrom(..."/\\:@.%#?\r\n\t \u0000e2F".split("")), maxLength: 12 }),
    fc.string({ unit: "binary", maxLength: 8 }),
  );
  const property = fc.property(anyLocation, hostile, hostile, hostile, hostile, (location, a, b, splat, query) => {
    const target = substitute(location, { a, b, splat }, query);
    if (!/^[!-~]+$/.test(target) || target.includes("\\")) throw new Error(JSON.stringify(target));
    const url = new URL(target, "https://own.example/here/");
    const host = location.origin === "" ? "own.example" : "x.example";
    if (url.host !== host || url.username !== "" || url.protocol !== "https:") throw new Error(target);
  });
  holds(t, property, settings);
  t.end();
});

t.test("time does not explode: stars, long paths, many states", (t) => {
  const hostile = [
    "*a*a*a*a*b",
    `*${"a*".repeat(300)}b`,
    "/*a:x.:y-:z/*b",
    ...Array.from({ length: 40 }, (_, i) => `*${i}*a*${i + 1}*`),
  ];
  // A table of its own for each, as the states that one path needs are there for the next.
  const match = (path: string) => compileRoutes(rulesOf(hostile), { trailingSlash: "optional" }).all(path);
  const rows = [
    { piece: "a", pieces: 8000, end: "" },
    { piece: "a", pieces: 8000, end: "b" },
    { piece: "0123456789a", pieces: 700, end: "" },
    { piece: "%61", pieces: 2600, end: "b" },
  ];
  for (const { piece, pieces, end } of rows) {
    const path = (count: number) => `/${piece.repeat(count)}${end}`;
    // Linear work takes ten times as long at most, quadratic a hundred times; an exponential matcher would not come back.
    const times = timesAsLong(
      () => match(path(pieces)),
      () => match(path(pieces / 10)),
      40,
    );
    t.ok(times < 40, `${path(pieces).slice(0, 12)}... ${times.toFixed(1)} times as long as a tenth of it`);
  }
  t.end();
});

t.test("states stay within their bound", (t) => {
  const trie = new Trie();
  // Each pattern doubles the sets of places that a path can be at.
  const letters = "abcdefghijklmnopqrstuvwxyz";
  for (let i = 0; i < 24; i++)
    trie.insert(shape(route(`/*${letters[i]}*${letters[i + 1]}*${letters[i + 2]}`)), i, false);
  const maxCells = 20_000;
  const automaton = new Automaton(trie, maxCells);
  const next = fc.sample(fc.string({ unit: fc.constantFrom(...letters.split("")), minLength: 50, maxLength: 100 }), {
    numRuns: 300,
    seed: 1,
  });
  let most = 0;
  for (const text of next) {
    automaton.rules(`/${text}`, true);
    most = Math.max(most, automaton.cells);
  }
  t.ok(most > maxCells / 2, `${most} cells`);
  // The state that crosses the bound is still made.
  t.ok(most < maxCells + 2000, `${most} cells`);
  t.end();
});

// ---- the naive matcher: no automaton, no table, one character after the other, all ways tried, shortest captures first

function naiveMatch(route: Route, path: string, mode: Mode): Captures | undefined {
  if (!path.startsWith("/")) return undefined;
  const units = naiveUnits(path);
  const captures: Captures = {};
  const parts =
    route.parts[0]!.kind === "wildcard" ? [{ kind: "literal", text: "/" } as const, ...route.parts] : route.parts;
  const last = parts.at(-1)!;
  const open = last.kind === "param" || (last.kind === "literal" && !last.text.endsWith("/"));

  const match = (part: number, at: number): boolean => {
    const it = parts[part];
    if (it === undefined) {
      if (at === units.length) return true;
      return mode === "optional" && open && at === units.length - 1 && units[at]!.value === "/";
    }
    if (it.kind === "literal") {
      const wanted = naiveUnits(it.text);
      const same = wanted.every(({ value }, i) => units[at + i]?.value === value);
      return same && match(part + 1, at + wanted.length);
    }
    for (let end = at + (it.kind === "param" ? 1 : 0); end <= units.length; end++) {
      const taken = units.slice(at, end);
      if (it.kind === "param" && taken.some(({ value }) => value === "/")) return false;
      if (!match(part + 1, end)) continue;
      const text = taken.map(({ raw }) => raw).join("");
      if (it.kind === "param") captures[it.name] = text;
      else if (part === parts.length - 1) captures.splat = text;
      return true;
    }
    return false;
  };
  if (!match(0, 0)) return undefined;
  return Object.fromEntries(routeCaptures(route).map((name) => [name, captures[name]!]));
}

/** The characters of a path, each with what it stands for: %41 is "A", %2f is "%2F", %FF is "%FF", % is "%". */
function naiveUnits(path: string): { raw: string; value: string }[] {
  return (path.match(/(?:%[0-9a-f]{2})+|./gisu) ?? []).flatMap((piece) => {
    if (piece.length < 3) return [{ raw: piece, value: piece }];
    const units: { raw: string; value: string }[] = [];
    for (let rest = piece; rest !== ""; ) {
      const length = [12, 9, 6, 3].find((n) => n <= rest.length && isOneCharacter(rest.slice(0, n)));
      const raw = rest.slice(0, length ?? 3);
      const kept = length === undefined || /^%(2f|5c)$/i.test(raw);
      units.push({ raw, value: kept ? raw.toUpperCase() : decodeURIComponent(raw) });
      rest = rest.slice(raw.length);
    }
    return units;
  });
}

function isOneCharacter(encoded: string): boolean {
  try {
    return [...decodeURIComponent(encoded)].length === 1;
  } catch {
    return false;
  }
}

function route(source: string): Route {
  const parsed = parseRoute(source);
  if (!parsed.ok) throw new Error(render(parsed.problems, source));
  return parsed.value;
}

function location(source: string): Location {
  const parsed = parseLocation(source);
  if (!parsed.ok) throw new Error(render(parsed.problems, source));
  return parsed.value;
}

function rulesOf(patterns: readonly string[]): { route: Route; value: string }[] {
  return patterns.map((pattern) => ({ route: route(pattern), value: pattern }));
}

function render(problems: readonly Problem[], source: string): string {
  return problems.map((problem) => renderProblem(problem, { source })).join("\n");
}

function withoutSpans(value: unknown): string {
  return JSON.stringify(value, (key, inner) => (key === "span" || key === "source" ? undefined : inner));
}
