// What a project's retention hides: events that have expired and are in the journal, or in a segment with newer ones.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { openEventsStore } from "../../../logservice/events/open.ts";
import type { EventRange, NewEvent } from "../../../logservice/events/store.ts";
import { slow } from "../../support/slow.ts";

const DAY_MS = 86_400_000;
const NOW_MS = Date.parse("2026-05-10T12:00:00Z");
const never = new AbortController().signal;

const event = (ageMs: number): NewEvent => ({
  timestamp: new Date(NOW_MS - ageMs).toISOString(),
  level: "info",
  message: String(ageMs),
  fields: ageMs > DAY_MS ? { age: ageMs, old: true, kind: "old" } : { age: ageMs, kind: "new" },
});

/** The third is as old as may be. */
const AGES = [0, 3_600_000, DAY_MS, DAY_MS + 1, 40 * DAY_MS, 300 * DAY_MS];

const range: EventRange = {
  project: "app",
  startMs: NOW_MS - 400 * DAY_MS,
  stopMs: NOW_MS,
  query: undefined,
};

for (const place of ["the journal", "one segment", "segments and the journal"] as const) {
  t.test(`expired events in ${place} are in no answer`, place === "one segment" ? slow() : {}, async (t) => {
    const directory = await mkdtemp(join(tmpdir(), "retention-"));
    let nowMs = NOW_MS;
    const store = await openEventsStore({ directory, nowMs: () => nowMs, reserveBytes: 0 });
    t.teardown(async () => {
      await store.close();
      await rm(directory, { recursive: true });
    });
    for (const project of ["app", "other"]) {
      await store.append(project, AGES.slice(0, 5).map(event));
      if (place !== "the journal") await store.flush();
      await store.append(project, AGES.slice(5).map(event));
      if (place === "one segment") await store.flush();
    }
    await store.compact();

    const answers = async (project: string) => {
      const asked = { ...range, project };
      const { events } = await store.search({ ...asked, limit: 100, order: "descending", signal: never });
      const { count } = await store.count({ ...asked, signal: never });
      const { points } = await store.timeseries({ ...asked, maxPoints: 1_000, signal: never });
      const levels = await store.levelTimeseries({ ...asked, maxPoints: 1_000, signal: never });
      const { fields } = await store.discoveredFields({ ...asked, signal: never });
      const kinds = await store.stringFieldStats({
        ...asked,
        field: { at: "fields", path: ["kind"] },
        limit: 10,
        signal: never,
      });
      const numbers = await store.numericFieldStats({
        ...asked,
        field: { at: "fields", path: ["age"] },
        signal: never,
      });
      const sql = JSON.parse(
        (await store.sql({ project, text: "select count(*) as n from events", signal: never })).resultsJson,
      );
      return {
        found: events.map(({ message }) => Number(message)),
        count,
        sum: points.reduce((sum, { count }) => sum + count, 0),
        points: points.length,
        byLevel: levels.points.reduce((sum, { counts }) => sum + (counts.info ?? 0), 0),
        fields: fields.map(({ name }) => name).sort(),
        kinds: kinds.values.map(({ value }) => value).sort(),
        max: numbers.max,
        sql: sql[0].n,
      };
    };
    const all = await answers("app");
    t.match(all, { found: AGES, count: 6, sum: 6, byLevel: 6, kinds: ["new", "old"], max: 300 * DAY_MS, sql: 6 });

    store.setRetention("app", 1);
    const kept = await answers("app");
    t.same(kept.found, AGES.slice(0, 3));
    t.match(kept, { count: 3, sum: 3, points: all.points, byLevel: 3, kinds: ["new"], max: DAY_MS, sql: 3 });
    t.notOk(kept.fields.some((name) => name.includes("old")));
    t.same(await answers("other"), all, "another project keeps everything");

    nowMs += 2 * 3_600_000;
    t.match(await answers("app"), { found: AGES.slice(0, 2), count: 2, sql: 2 }, "time goes on");
    store.setRetention("app", 0);
    nowMs = NOW_MS;
    t.equal((await answers("app")).count, 6, "what is still there is seen again");
  });
}
