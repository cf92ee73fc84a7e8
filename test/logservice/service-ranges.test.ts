// Ranges that end with a millisecond, as the web UI asks for them: nothing of the next one, and nothing left out.
import t from "tap";
import { rangeTexts } from "../../logservice/address/view.ts";
import { histogramSteps } from "../../logservice/events/histogram-steps.ts";
import { Rows } from "../../logservice/ui/rows/rows.ts";
import type { Event } from "../../schema/rpc.generated.ts";
import { startTestService } from "../support/service.ts";
import { until } from "../support/until.ts";

const BEGIN = Date.parse("2026-03-01T10:00:00Z");

t.test("a range of whole milliseconds", async (t) => {
  const service = await startTestService(t);
  await service.call("add_project", { project: { id: "app", name: "app" } });
  const events = Array.from({ length: 2_500 }, (_, i) => ({
    timestamp: new Date(BEGIN + i * 240).toISOString(),
    message: `m${i}`,
    level: "info",
  }));
  await service.call("add_events", { project_id: "app", events });
  const ask = async <T>(operation: string, more: object) =>
    (await service.call(operation, { project_id: "app", ...more })).json as T;

  t.test("ends before the next millisecond", async (t) => {
    for (const stop of [".239Z", ".239999Z", ".239999999Z", ".2399999999999Z", ".239999999+00:00"]) {
      const range = { start: new Date(BEGIN).toISOString(), stop: `2026-03-01T10:00:00${stop}` };
      const { events: matches } = await ask<{ events: Event[] }>("search", range);
      t.same(
        matches.map(({ message }) => message),
        ["m0"],
        stop,
      );
    }
  });

  t.test("has the steps that are counted with", async (t) => {
    for (const minutes of [1, 2, 5, 10, 30, 60]) {
      for (const most of [2, 3, 4, 5, 6, 10, 12, 30, 60, 99]) {
        const range = { startMs: BEGIN, stopMs: BEGIN + minutes * 60_000 - 1 };
        const { points } = await ask<{ points: { timestamp: string }[] }>("get_timeseries", {
          ...rangeTexts(range),
          max_points: most,
        });
        const starts = points.map(({ timestamp }) => Date.parse(timestamp));
        const expected = histogramSteps(range.startMs, range.stopMs, most).starts;
        t.same(starts, expected.slice(0, starts.length), `${minutes} min in ${most}`);
      }
    }
  });

  t.test("shows every event in both orders", async (t) => {
    const range = { startMs: BEGIN - 3_600_000, stopMs: BEGIN + 5 * 3_600_000 };
    const { stepMs } = histogramSteps(range.startMs, range.stopMs, 61);
    const steps = async (of: { startMs: number; stopMs: number }, most: number) => {
      const { points } = await ask<{ points: { timestamp: string; count: number }[] }>("get_timeseries", {
        ...rangeTexts(of),
        max_points: most,
      });
      return {
        steps: points.map(({ timestamp, count }) => ({ startMs: Date.parse(timestamp), count })),
        stepMs: histogramSteps(of.startMs, of.stopMs, most).stepMs,
      };
    };
    for (const isOldestFirst of [false, true]) {
      const rows = new Rows(range, (await steps(range, 61)).steps, stepMs, {
        events: (of, { limit, cursor }) => ask("search", { ...rangeTexts(of), limit, ...(cursor && { cursor }) }),
        steps,
        failed: (error) => error && t.fail(String(error)),
      });
      rows.isOldestFirst = isOldestFirst;
      const seen = new Set<string>();
      for (let row = 0; row < rows.total; row++) {
        const event = await until(`row ${row}`, () => rows.at(row));
        seen.add(event.message);
      }
      t.equal(seen.size, 2_500, isOldestFirst ? "the oldest first" : "the newest first");
      t.equal(rows.total, 2_500);
    }
  });
});
