import fc from "fast-check";
import t from "tap";
import { applyEdits, type Parsed, renderProblem } from "../../../grammar/problem.ts";
import { formatBytes, humanBytes, parseBytes } from "../../../grammar/units/bytes.ts";
import { formatDuration, humanDuration, parseDuration } from "../../../grammar/units/duration.ts";
import { scaleDecimal } from "../../../grammar/units/scale.ts";
import { timesAsLong } from "../../support/processor-time.ts";
import { recorderOf } from "../../support/vectors.ts";
import vectors from "../../vectors/units.json" with { type: "json" };

interface Unit {
  parse(text: string): Parsed<number>;
  format(value: number): string;
  human(value: number): string;
}

const units: Record<keyof typeof vectors, Unit> = {
  duration: { parse: parseDuration, format: formatDuration, human: humanDuration },
  bytes: { parse: parseBytes, format: formatBytes, human: humanBytes },
};

for (const [name, unit] of Object.entries(units)) {
  const rows = vectors[name as keyof typeof vectors];
  const record = recorderOf("units.json", vectors);

  t.test(`${name}: valid`, (t) => {
    for (const row of rows.valid as [string, number, string][]) {
      const result = unit.parse(row[0]);
      if (result.ok) record(row, { 1: result.value, 2: unit.format(result.value) });
      const [text, value, canonical] = row;
      t.same(unit.parse(text), { ok: true, value }, text);
      t.equal(unit.format(value), canonical, `${text}, canonical`);
    }
    t.end();
  });

  t.test(`${name}: invalid`, (t) => {
    for (const row of rows.invalid as [string, string[]][]) {
      const [source] = row;
      const parsed = unit.parse(source);
      const rendered = parsed.ok ? "" : parsed.problems.map((problem) => renderProblem(problem, { source })).join("\n");
      record(row, { 1: rendered.split("\n") });
      t.equal(rendered, row[1].join("\n"), JSON.stringify(source));
    }
    t.end();
  });

  t.test(`${name}: applying every fix of a text leaves fewer problems`, (t) => {
    let fixes = 0;
    for (const [source] of rows.invalid as [string, string[]][]) {
      const parsed = unit.parse(source);
      if (parsed.ok) continue;
      const edits = parsed.problems.flatMap((problem) => problem.fix?.edits ?? []);
      if (edits.length === 0) continue;
      fixes++;
      const again = unit.parse(applyEdits(source, edits));
      t.ok((again.ok ? 0 : again.problems.length) < parsed.problems.length, source);
    }
    t.ok(fixes > 3);
    t.end();
  });

  t.test(`${name}: for people`, (t) => {
    for (const row of rows.human as [number, string][]) {
      record(row, { 1: unit.human(row[0]) });
      t.equal(unit.human(row[0]), row[1], String(row[0]));
    }
    t.end();
  });

  t.test(`${name}: the canonical text reads back`, (t) => {
    fc.assert(
      fc.property(fc.maxSafeNat(), (value) => {
        t.match(unit.parse(unit.format(value)), { ok: true, value });
      }),
      { seed: 1, numRuns: 300 },
    );
    for (const value of [-1, 0.5, Number.NaN, 2 ** 53]) t.throws(() => unit.format(value), /not a whole number/);
    t.end();
  });

  t.test(`${name}: no text makes the parser throw, and every problem lies inside the text`, (t) => {
    const text = fc.string({ unit: fc.constantFrom(..."0159.-+ smhdMkbtg,µ日\u00a0e") });
    fc.assert(
      fc.property(text, (source) => {
        const parsed = unit.parse(source);
        if (parsed.ok) return Number.isSafeInteger(parsed.value) && parsed.value >= 0;
        return parsed.problems.length > 0 && parsed.problems.every((p) => p.span.end <= source.length);
      }),
      { seed: 2, numRuns: 2000 },
    );
    t.end();
  });
}

t.test("a text of any length is refused at once", (t) => {
  for (const piece of ["1 ", "9", "1h", " ", "x", "1.5mb"]) {
    for (const { parse } of Object.values(units)) {
      const long = piece.repeat(200_000);
      const tenth = piece.repeat(20_000);
      t.notOk(parse(long).ok);
      // Quadratic work takes a hundred times as long.
      const times = timesAsLong(
        () => parse(long),
        () => parse(tenth),
        40,
      );
      t.ok(times < 40, `${JSON.stringify(piece)}: ${times.toFixed(1)} times as long as a tenth of it`);
    }
  }
  t.end();
});

t.test("decimals are scaled exactly", (t) => {
  const rows: [string, number, number][] = [
    ["1.005", 1000, 1005],
    ["0.07", 60_000, 4200],
    ["-2.5e3", 1024, -2_560_000],
    [".1", 10, 1],
    ["5", 1, 5],
    ["1e400", 1, Number.POSITIVE_INFINITY],
    ["1e-99999999999999999999999", 1, 0],
    ["0e9999999", 1024, 0],
  ];
  for (const [decimal, factor, value] of rows) t.equal(scaleDecimal(decimal, factor), value, `${decimal} x ${factor}`);
  t.throws(() => scaleDecimal("1.", 1), /no decimal number/);
  t.end();
});
