// A data directory that the first version of the events store wrote (test/fixtures/make-first-store.mjs): it was killed,
// with events in its journal, and its files have no checksums.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import t, { type Test } from "tap";
import type { Manifest } from "../../../logservice/events/duckdb/manifest.ts";
import { readWithChecksum } from "../../../logservice/events/durable.ts";
import { openEventsStore } from "../../../logservice/events/open.ts";
import type { EventsStore, NewEvent } from "../../../logservice/events/store.ts";
import { root } from "../../support/cli.ts";
import { slow } from "../../support/slow.ts";

interface Fixture {
  readonly files: Readonly<Record<string, string>>;
  readonly events: Readonly<Record<string, readonly NewEvent[]>>;
}
const fixture = JSON.parse(readFileSync(join(root, "test/fixtures/first-store.json"), "utf8")) as Fixture;
const projects = Object.keys(fixture.events);
/** An hour after it was killed: keys are known for a day. */
const nowMs = () => Date.parse("2025-06-01T01:00:00Z");
const never = new AbortController().signal;

function copied(t: { teardown(done: () => void): void }): string {
  const directory = mkdtempSync(join(tmpdir(), "events-first-"));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  for (const [path, content] of Object.entries(fixture.files)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), Buffer.from(content, "base64"));
  }
  return directory;
}

async function opened(directory: string) {
  const lines: string[] = [];
  const log = (level: string, message: string) => void lines.push(`${level} ${message}`);
  return { store: await openEventsStore({ directory, reserveBytes: 0, log, nowMs }), lines };
}

/** Returns the results of a search of everything, without ids that the store made. */
async function answered(store: EventsStore, project: string): Promise<unknown[]> {
  const range = { project, startMs: 0, stopMs: 4e12, query: undefined };
  const contents: unknown[] = [];
  let cursor: string | undefined;
  do {
    const page = await store.search({ ...range, limit: 100, order: "ascending", cursor, signal: never });
    contents.push(...page.events.map(({ id, ...event }) => ({ ...(id.startsWith("own-") && { id }), ...event })));
    if (page.stats.missingBytes > 0) contents.push(`${page.stats.missingBytes} bytes are missing`);
    cursor = page.cursor;
  } while (cursor !== undefined);
  const { count } = await store.count({ ...range, signal: never });
  if (count !== contents.length) contents.push(`a count of ${count}`);
  return contents;
}

async function holdsAll(
  t: Pick<Test, "equal" | "strictSame">,
  store: EventsStore,
  name: string,
  unproven: readonly string[] = [],
): Promise<void> {
  for (const project of projects) {
    const contents = await answered(store, project);
    const remarks = contents.filter((one) => /^\d+ bytes are missing$/.test(String(one)));
    t.equal(remarks.length > 0, unproven.includes(project), `${name}: ${project} is said to lack some`);
    const events = contents.filter((one) => !remarks.includes(one));
    // The count is right, and no remark is an event.
    if (remarks.length > 0) t.equal(events.pop(), `a count of ${fixture.events[project]!.length}`);
    t.strictSame(events, fixture.events[project], `${name}: ${project}`);
  }
  const losses = store.losses().map(({ project, isPossible }) => ({ project, isPossible }));
  t.strictSame(
    losses.sort((a, b) => (a.project < b.project ? -1 : 1)),
    unproven.toSorted().map((project) => ({ project, isPossible: true })),
    `${name}: losses`,
  );
}

const manifestOf = (directory: string, project: string) => {
  const folder = readdirSync(join(directory, "projects")).find((name) => name.startsWith(`${project}~`))!;
  return join(directory, "projects", folder, "manifest.json");
};

t.test("everything is answered, and sent again it counts once", async (t) => {
  const directory = copied(t);
  for (const name of ["first start", "second start"]) {
    const { store, lines } = await opened(directory);
    await holdsAll(t, store, name);
    const app = fixture.events.app!;
    await store.append("app", app.slice(0, 50), { idempotencyKey: "first app" });
    await store.append("app", app.slice(224, 244), { idempotencyKey: "late app" });
    await store.append(
      "app",
      app.filter(({ id }) => id !== undefined),
    );
    await store.flush();
    await holdsAll(t, store, `${name}, flushed`);
    t.strictSame(lines, [], `${name}: log`);
    await store.close();
  }
});

t.test("ended after a file was read and before its summary was written again: no alarm", async (t) => {
  const directory = copied(t);
  const first = await opened(directory);
  await first.store.scrub();
  await first.store.close();
  for (const [path, content] of Object.entries(fixture.files)) {
    if (path.endsWith(".parquet.json")) writeFileSync(join(directory, path), Buffer.from(content, "base64"));
  }
  for (const name of ["first start", "second start"]) {
    const { store, lines } = await opened(directory);
    await holdsAll(t, store, name);
    t.strictSame(lines, [], `${name}: log`);
    await store.close();
  }
});

for (const [name, isMerged] of [
  ["a scrub", false],
  ["a merge and a scrub", true],
] as const)
  t.test(`${name}: it has checksums, and the manifest can be made again from then on`, async (t) => {
    const directory = copied(t);
    const first = await opened(directory);
    if (isMerged) {
      await first.store.flush();
      await first.store.compact();
    }
    await first.store.scrub();
    await holdsAll(t, first.store, "after a scrub");
    await first.store.close();
    for (const project of projects) {
      const path = manifestOf(directory, project);
      const manifest = readWithChecksum(readFileSync(path, "utf8")) as Manifest;
      t.equal(manifest.version, 2);
      t.ok(manifest.segments.length > 0, `${manifest.segments.length} segments`);
      for (const { file, integrity, intervals } of manifest.segments) {
        t.type(integrity?.sum, "number", `${file} has a sum`);
        t.ok(intervals !== undefined && intervals.length > 0, `${file} has intervals`);
        const [head = ""] = readFileSync(join(dirname(path), `${file}.json`), "utf8").split("\n");
        t.strictSame(
          (JSON.parse(head) as { segment: { sum: number } }).segment.sum,
          integrity?.sum,
          `${file}.json names it`,
        );
      }
      rmSync(path);
    }
    for (const name of ["without manifests", "again"]) {
      const { store } = await opened(directory);
      await holdsAll(t, store, name);
      await store.close();
    }
  });

t.test("without manifests before anything else", slow(), async (t) => {
  for (const removed of [["app"], ["web"], projects]) {
    const directory = copied(t);
    for (const project of removed) rmSync(manifestOf(directory, project));
    for (const name of ["first start", "second start"]) {
      const { store } = await opened(directory);
      // All are there, and nothing proves it: the first version counted them nowhere else.
      await holdsAll(t, store, `${removed.join(" and ")}, ${name}`, removed);
      await store.flush();
      await store.compact();
      await holdsAll(t, store, `${removed.join(" and ")}, ${name}, flushed and merged`, removed);
      await store.close();
    }
  }
});
