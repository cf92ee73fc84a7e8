// The most valuable rows of test/slow/events-damage.ts: a store of which one thing was damaged while nobody used it.
import { cpSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { openEventsStore } from "../../../logservice/events/open.ts";
import { runCase } from "../../support/events/damage.ts";
import { fileRows, folderRows, nameRows, newerRows, olderRows } from "../../support/events/damage-rows.ts";
import { buildRichStore, type RichStore } from "../../support/events/rich-store.ts";
import { slow } from "../../support/slow.ts";
import { until } from "../../support/until.ts";

const NAMES = [
  "a manifest: gone",
  "a manifest: one from before a merge",
  "a manifest: of a newer version",
  "a merged segment: a bit flipped, place 1 of 20",
  "a project's folder: gone",
  "an ended journal file: gone",
  "the current journal file: a bit flipped, place 11 of 20",
  "a project's folder: doubled as K~N.bak",
];

let built: Promise<RichStore> | undefined;
const richStore = () => (built ??= buildRichStore());
t.teardown(async () => (await built)?.remove());

const rows = [...fileRows.flatMap(([, rows]) => rows), ...folderRows, ...nameRows, ...newerRows, ...olderRows];
for (const name of NAMES) {
  t.test(name, { ...slow() }, async (t) => {
    const row = rows.find((one) => one.name === name);
    t.strictSame(row && (await runCase(await richStore(), row)), []);
  });
}

t.test("a listed folder that is gone, or empty, while the journal still has all of its project", async (t) => {
  const event = (message: string) => ({
    timestamp: "2024-05-01T10:00:00Z",
    level: "info" as const,
    message,
    fields: {},
  });
  const open = (directory: string) => openEventsStore({ directory, reserveBytes: 0, log: () => {} });
  for (const fault of ["gone", "empty", "gone, with later events in segments alone"]) {
    const directory = join(t.testdir(), "events");
    let store = await open(directory);
    await store.append("other", [event("before")]);
    await store.flush();
    await store.append("app", [event("one"), event("two")]);
    await store.close();
    // As a crash leaves it that comes after the folder is listed, and before the journal's file may go.
    for (const name of ["journal", "journal.json"]) {
      cpSync(join(directory, name), join(directory, `${name}.kept`), { recursive: true });
    }
    store = await open(directory);
    if (fault.includes("later")) await store.append("app", [event("three")]);
    await store.flush();
    await store.close();
    for (const name of ["journal", "journal.json"]) {
      rmSync(join(directory, name), { recursive: true });
      cpSync(join(directory, `${name}.kept`), join(directory, name), { recursive: true });
    }
    const folder = readdirSync(join(directory, "projects")).find((name) => name.startsWith("app~"))!;
    for (const name of fault === "empty" ? readdirSync(join(directory, "projects", folder)) : [""])
      rmSync(join(directory, "projects", folder, name), { recursive: true });
    store = await open(directory);
    const { eventsTotal, missingBytes } = await store.projectStats("app");
    t.same([eventsTotal, missingBytes > 0], [2, fault.includes("later")], fault);
    await store.close();
  }
});

t.test(
  "a listed folder that is gone, or empty, when its first events left the journal before it was made",
  async (t) => {
    const batch = (count: number) =>
      Array.from({ length: count }, (_, i) => ({
        timestamp: "2024-05-01T10:00:00Z",
        level: "info" as const,
        message: `number ${i}`,
        fields: {},
      }));
    for (const fault of ["gone", "empty"]) {
      const directory = join(t.testdir(), fault);
      const open = () => openEventsStore({ directory, reserveBytes: 0, flushEvents: 100, log: () => {} });
      let store = await open();
      // The second batch is accepted before the folder is made, for the first one.
      await Promise.all([store.append("app", batch(100)), store.append("app", batch(50))]);
      await until("the first flush", () => store.metrics().flushes_total === 1);
      const projects = join(directory, "projects");
      const folder = join(projects, readdirSync(projects)[0]!);
      const number = Number(folder.split("~")[1]);
      t.ok(number > 101, `its number is ${number}`);
      await store.append("app", batch(10));
      await store.close();
      for (const name of fault === "empty" ? readdirSync(folder) : [""])
        rmSync(join(folder, name), { recursive: true });
      for (const start of ["first", "second"]) {
        store = await open();
        const { eventsTotal } = await store.projectStats("app");
        const lost = store.losses().map(({ reason }) => reason);
        t.strictSame(
          [eventsTotal, lost],
          [10, [fault === "gone" ? "its folder is missing" : "its folder was emptied"]],
          `${fault}, the ${start} start`,
        );
        await store.close();
      }
    }
  },
);
