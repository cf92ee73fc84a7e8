// Alerts over events of which some are lost: none fires and none resolves by what nobody can know.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { previewAlert } from "../../../logservice/alerts/preview.ts";
import type { Upkeep } from "../../../logservice/events/open.ts";
import type { EventsStore } from "../../../logservice/events/store.ts";
import { alertIn, BEGIN_MS, MINUTE_MS, openWorld } from "../../support/alerts/world.ts";
import { cut, empty, flip, overwrite, remove } from "../../support/events/faults.ts";

const at = (minute: number) => BEGIN_MS + minute * MINUTE_MS;

const FAULTS: readonly (readonly [name: string, damage: (path: string) => void])[] = [
  ["removed", remove],
  ["emptied", empty],
  ["cut", (path) => cut(path, 0.5)],
  ["overwritten", (path) => overwrite(path, "no segment ".repeat(100))],
  ["its beginning flipped", (path) => flip(path, 2, 3)],
];

for (const [name, damage] of FAULTS) {
  t.test(`a segment is ${name}`, async (t) => {
    let store: (EventsStore & Upkeep) | undefined;
    const world = await openWorld(t, {
      engine: "duckdb",
      around: (events) => {
        store = events as EventsStore & Upkeep;
        return events;
      },
    });
    const loud = await world.add();
    const quiet = await world.add({ name: "dead-man's switch", operator: "<", threshold: 1 });
    const grouped = await world.add({ query: "error | count by level" });
    const evaluator = world.evaluator();
    for (const minute of [0, 1, 2]) await world.log(at(minute), 3);
    await store!.flush();
    await world.runUntil(evaluator, at(1));
    for (const minute of [3, 4]) await world.log(at(minute), 3);
    const kinds = async (id: string) =>
      (await world.deliveries()).filter((row) => row.alert_id === id).map((row) => row.kind);
    const all = () => Promise.all([loud, quiet, grouped].map(kinds));
    t.same(await all(), [["triggered"], [], ["triggered"]]);

    const folder = join(world.directory, "events");
    const paths = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) =>
      path.endsWith(".parquet"),
    );
    t.equal(paths.length, 1);
    damage(join(folder, paths[0]!));
    await store!.scrub();
    await world.runUntil(evaluator, at(3));
    for (const id of [loud, quiet, grouped]) {
      const { failure, triggered, state } = await world.alert(id);
      t.match(
        [failure, triggered, state],
        [/^events of the interval are missing \(\d+ bytes\)$/, id !== quiet, /ok|triggered/],
      );
    }
    t.same(await all(), [["triggered"], [], ["triggered"]], "two slots fail, and nobody is told");
    await world.runUntil(evaluator, at(5));
    t.same(await all(), [["triggered"], [], ["triggered"]], "whole slots again");
    t.equal((await world.alert(loud)).failure, "");
    await world.runUntil(evaluator, at(6));
    t.same(await all(), [["triggered", "resolved"], ["triggered"], ["triggered", "resolved"]], "as it was");

    const preview = (change: object) => {
      const alert = { ...alertIn(world.project_id, world.notification_id), ...change };
      const range = { startMs: at(0), stopMs: at(6), signal: new AbortController().signal };
      return previewAlert(world.events, world.events_key, alert, range);
    };
    for (const change of [{}, { query: "error | count" }, { operator: "<", threshold: 1 }]) {
      const { intervals, missingBytes, episodes } = await preview(change);
      t.same([intervals, episodes.length], [3, 1], JSON.stringify(change));
      t.ok(missingBytes > 0);
    }
    store!.acceptLosses(new Set(store!.losses().map(({ id }) => id)));
    const { intervals, missingBytes } = await preview({});
    t.same([intervals, missingBytes], [6, 0], "what is accepted is no event");
    t.same(world.failures, []);
  });
}

t.test("a replay over a downtime leaves out the slots with missing events alone", async (t) => {
  let store: (EventsStore & Upkeep) | undefined;
  const world = await openWorld(t, {
    engine: "duckdb",
    around: (events) => {
      store = events as EventsStore & Upkeep;
      return events;
    },
  });
  await world.add({ operator: "<", threshold: 1 });
  const evaluator = world.evaluator();
  for (let minute = 0; minute < 30; minute++) await world.log(at(minute), 1);
  await world.runUntil(evaluator, at(2));
  await store!.flush();
  const folder = join(world.directory, "events");
  const [path] = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((one) => one.endsWith(".parquet"));
  remove(join(folder, path!));
  for (let minute = 30; minute < 40; minute++) await world.log(at(minute), 1);
  world.clock.nowMs = at(40) + 45_000;
  await evaluator.pass();
  const { alerts_evaluated_total, alerts_evaluations_failed_total } = evaluator.metrics();
  t.same([alerts_evaluated_total, alerts_evaluations_failed_total], [40, 28]);
  const lines = (await world.deliveryLines()).map((line) => line.replace(/\d+ bytes/, "n bytes"));
  t.same(lines, [
    "failed 12:05 null events of the interval are missing (n bytes)",
    "resolved 12:31 null it can be evaluated again",
  ]);
});
