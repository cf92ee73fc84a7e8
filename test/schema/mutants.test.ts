// Which slips are found where they are, and which of them a fix undoes. `npm run t -- --record mutants` writes the rows of
// vectors/mutants.json again, to be read through: a row that gets worse is a mistake, however good the shares are.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { applyEdits, type Problem } from "../../grammar/problem.ts";
import { parseQuery } from "../../grammar/query/index.ts";
import { parseTemplate } from "../../grammar/template/index.ts";
import { checkConfig, migrateConfig } from "../../schema/index.ts";
import { root } from "../support/cli.ts";
import { type Base, kindsFor, type Mutant, mutate } from "../support/mutants.ts";
import { type Random, randomOf } from "../support/random.ts";
import { richConfig } from "../support/rich-config.ts";
import { slow } from "../support/slow.ts";
import { isRecording } from "../support/vectors.ts";

const SEED = 20;
const COUNT = 1500;

/** The goals of the editor: shares of all mutants. */
const MIN_FOUND = 0.95;
const MIN_RESTORED = 0.6;

const read = (path: string) => readFileSync(join(root, path), "utf8");
const config = (name: string, text: string): Base => ({ name, kind: "config", text });
const examples = readdirSync(join(root, "examples"), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => config(`examples/${name}`, read(`examples/${name}/tool.json`)));
const vectors: { check: { text: string[]; files?: object; problems?: unknown[] }[] } = JSON.parse(
  read("test/vectors/config.json"),
);
// A text that is about the files around it says nothing without them.
const valid = vectors.check
  .filter(({ files }) => files === undefined)
  .map(({ text }) => text.join("\n"))
  .filter((text) => text.length > 60 && problemsOf(config("", text)).length === 0);

const drawn = randomOf(SEED);
const BASES: readonly Base[] = [
  ...examples,
  config("test/fixtures/whole.tool.json", read("test/fixtures/whole.tool.json")),
  ...valid.map((text, i) => config(`test/vectors/config.json ${i}`, text)),
  ...Array.from({ length: 24 }, (_, i) => config(`rich ${i}`, richConfig(drawn))),
  { name: "a query", kind: "query", text: "status >= 500 and duration > 1s\n" },
  {
    name: "another query",
    kind: "query",
    text: '(message contains "timed out" or level >= error) and method in (GET, PUT)\n',
  },
  {
    name: "an error page",
    kind: "template",
    text: read("examples/static-site/errors/error.html"),
  },
];

function problemsOf({ kind, text }: Base): readonly Problem[] {
  if (kind === "config") return checkConfig(text).problems;
  const parsed = kind === "query" ? parseQuery(text) : parseTemplate(text);
  return parsed.ok ? [] : parsed.problems;
}

function draw(bases: readonly Base[], count: number, random: Random): Mutant[] {
  const mutants: Mutant[] = [];
  const seen = new Set<string>();
  // The kinds take turns, so that the rare ones are among the first 300 too.
  const kinds = [...new Set(bases.flatMap(({ kind }) => kindsFor(kind)))];
  for (let i = 0, tries = 0; mutants.length < count && tries < 100 * count; tries++) {
    const kind = kinds[i % kinds.length]!;
    const fitting = bases.filter((base) => kindsFor(base.kind).includes(kind));
    const mutant = mutate(kind, random.pick(fitting), random);
    if (mutant === undefined || seen.has(mutant.text)) {
      if (tries % 40 === 39) i++;
      continue;
    }
    seen.add(mutant.text);
    mutants.push(mutant);
    i++;
  }
  return mutants;
}

interface Judged {
  readonly mutant: Mutant;
  readonly found: boolean;
  readonly restored: "text" | "value" | undefined;
}

function judge(mutant: Mutant): Judged {
  const problems = problemsOf({ ...mutant.base, text: mutant.text });
  const here = problems.filter(({ span }) =>
    mutant.faulty.some(({ start, end }) => span.start <= end && start <= span.end),
  );
  const results = here.flatMap(({ fix }) => (fix === undefined ? [] : applyEdits(mutant.text, fix.edits)));
  const restored = results.includes(mutant.base.text)
    ? "text"
    : results.some((text) => sameValue(mutant.base, text))
      ? "value"
      : undefined;
  return { mutant, found: here.length > 0, restored };
}

/** JSON compares as its values in their order, other texts without their blanks. */
function sameValue({ kind, text }: Base, other: string): boolean {
  if (kind !== "config") return text.replace(/\s+/g, " ") === other.replace(/\s+/g, " ");
  try {
    return JSON.stringify(JSON.parse(text)) === JSON.stringify(JSON.parse(other));
  } catch {
    return false;
  }
}

function recall(t: Pick<Test, "ok" | "comment">, mutants: readonly Mutant[]) {
  const judged = mutants.map(judge);
  const share = (list: readonly unknown[]) => list.length / judged.length;
  const found = judged.filter((one) => one.found);
  const restored = judged.filter((one) => one.restored !== undefined);
  const exact = judged.filter((one) => one.restored === "text");
  t.comment(
    `${judged.length} mutants: ${found.length} found at their place, ${restored.length} restored by a fix (${exact.length} to the byte)`,
  );
  for (const [name, list] of [
    ["missed", judged.filter((one) => !one.found)],
    ["not restored", found.filter((one) => one.restored === undefined)],
  ] as const) {
    const kinds = new Map<string, number>();
    for (const { mutant } of list) kinds.set(mutant.kind, (kinds.get(mutant.kind) ?? 0) + 1);
    t.comment(`${name}: ${[...kinds].map(([kind, count]) => `${kind} ${count}`).join(", ") || "none"}`);
  }
  t.ok(share(found) >= MIN_FOUND, `${(100 * share(found)).toFixed(1)} % are found at their place`);
  t.ok(share(restored) >= MIN_RESTORED, `${(100 * share(restored)).toFixed(1)} % are undone by a fix`);
}

t.test("what the mutants are made of is valid", (t) => {
  for (const base of BASES) t.same(problemsOf(base), [], base.name);
  t.end();
});

t.test("slips are found where they are", slow(), (t) => {
  const mutants = draw(BASES, COUNT, randomOf(SEED));
  t.equal(mutants.length, COUNT);
  recall(t, mutants);
  t.end();
});

/** What becomes of one slip, as a row that can be judged by eye: the kind, the place, what it looks like, what is said. */
function rowOf({ mutant, restored }: Judged, problems: readonly Problem[]): string[] {
  const { kind, base, text, faulty } = mutant;
  const [at] = faulty;
  const start = Math.max(text.lastIndexOf("\n", (at?.start ?? 0) - 1) + 1, (at?.start ?? 0) - 40);
  const slip = text
    .slice(start, Math.max(start + 60, Math.min(at?.end ?? 0, start + 100)))
    .replace(/\s+/g, " ")
    .trim();
  const codes = [...new Set(problems.map(({ code }) => code))].sort().join(", ");
  return [kind, base.name, slip, codes === "" ? "missed" : codes, restored === undefined ? "no fix" : "fixed"];
}

t.test("each of these slips is found and undone as before", slow(), (t) => {
  // None of the vectors: a row that is added there must not draw other slips here.
  const own = randomOf(SEED);
  const bases: readonly Base[] = [
    config("whole.tool.json", read("test/fixtures/whole.tool.json")),
    ...Array.from({ length: 6 }, (_, i) => config(`rich ${i}`, richConfig(own))),
    ...BASES.filter(({ kind }) => kind !== "config"),
  ];
  const rows = draw(bases, 400, own).map((mutant) => {
    const problems = problemsOf({ ...mutant.base, text: mutant.text });
    const here = problems.filter(({ span }) =>
      mutant.faulty.some(({ start, end }) => span.start <= end && start <= span.end),
    );
    return rowOf(judge(mutant), here);
  });
  const path = join(root, "test/vectors/mutants.json");
  if (isRecording) {
    writeFileSync(path, `[\n${rows.map((row) => `  ${JSON.stringify(row)}`).join(",\n")}\n]\n`);
  }
  const recorded: string[][] = JSON.parse(read("test/vectors/mutants.json"));
  t.equal(rows.length, recorded.length);
  for (const [i, row] of rows.entries()) {
    if (JSON.stringify(row) !== JSON.stringify(recorded[i])) t.same(row, recorded[i], `row ${i}`);
  }
  t.end();
});

const corpus = join(root, "../shared/corpus/older-dialect");
const real = existsSync(corpus)
  ? readdirSync(corpus)
      .filter((file) => file.endsWith(".json"))
      .map((file) => config(file, migrateConfig(readFileSync(join(corpus, file), "utf8")).text))
      .filter((base) => problemsOf(base).length === 0)
  : [];
if (real.length === 0 && process.env.TOOL_TEST_REQUIRE === "all") t.fail(`no corpus at ${corpus}`);
t.test("slips in real files are found where they are", { skip: real.length === 0 && "no corpus" }, (t) => {
  recall(t, draw(real, COUNT, randomOf(SEED)));
  t.end();
});
