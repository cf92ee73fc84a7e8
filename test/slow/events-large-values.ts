// Questions about fields whose values are as large as events get, with a column and without: the engine does not have the
// memory to group some hundreds of them, and the answers are the same.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { parseQuery } from "../../grammar/query/index.ts";
import { openEventsStore } from "../../logservice/events/open.ts";
import { largeEvent, largeText } from "../support/events/large.ts";

const COUNT = 560;
const never = new AbortController().signal;
const field = (name: string) => ({ at: "fields", path: [name] }) as const;

for (const [kind, isNumber] of [
  ["with a column", () => false],
  ["without a column", (i: number) => i % 50 === 0],
] as const) {
  t.test(`large values ${kind}`, async (t) => {
    const directory = await mkdtemp(join(tmpdir(), "events-large-values-"));
    const store = await openEventsStore({ directory, reserveBytes: 0 });
    t.teardown(async () => {
      await store.close();
      await rm(directory, { recursive: true });
    });
    const numbers = Array.from({ length: COUNT }, (_, i) => i);
    for (const i of numbers) await store.append("app", [largeEvent(i, isNumber(i) ? i : largeText(i))]);
    await store.flush();
    t.equal(store.metrics().newest_events, 0, "all are in segments");
    for (const [text, from] of [
      ["", 0],
      ["number > 5", 6],
    ] as const) {
      const query = parseQuery(text);
      if (!query.ok) throw new Error(text);
      const range = { project: "app", startMs: 0, stopMs: 4e12, query: query.value };
      const selected = numbers.filter((i) => i >= from);
      const texts = selected
        .filter((i) => !isNumber(i))
        .map(largeText)
        .sort();
      const label = text || "everything";
      for (const limit of [3, COUNT]) {
        const { values } = await store.stringFieldStats({ ...range, field: field("text"), limit, signal: never });
        t.ok(
          values.length === Math.min(limit, texts.length) &&
            values.every(
              ({ value, count, percent }, i) => value === texts[i] && count === 1 && percent === 1 / texts.length,
            ),
          `${label}: ${limit} values`,
        );
      }
      t.strictSame(
        (await store.booleanFieldStats({ ...range, field: field("text"), signal: never })).values,
        [],
        `${label}: truths`,
      );
      const selectedNumbers = selected.filter(isNumber);
      const { min, max } = await store.numericFieldStats({ ...range, field: field("text"), signal: never });
      t.strictSame([min, max], [selectedNumbers.at(0) ?? null, selectedNumbers.at(-1) ?? null], `${label}: numbers`);
      const { fields } = await store.discoveredFields({ ...range, signal: never });
      t.strictSame(
        fields.map(({ name, type, count }) => `${name} ${type} ${count}`).sort(),
        [
          `number number ${selected.length}`,
          `tags string ${selected.length}`,
          `text string ${texts.length}`,
          ...(selectedNumbers.length > 0 ? [`text number ${selectedNumbers.length}`] : []),
        ].sort(),
        `${label}: fields`,
      );
      t.equal((await store.count({ ...range, signal: never })).count, selected.length, `${label}: count`);
    }
  });
}
