// The events of a log service as the command reads them: the names of levels are those of the language.
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import t from "tap";
import type { Block } from "../../../cli/logs/line-blocks.ts";
import { followService, type ServiceQuestion, searchService } from "../../../cli/logs/service-log.ts";
import { startTestService } from "../../support/service.ts";

t.test("levels are called as the language calls them, found or followed", async (t) => {
  const service = await startTestService(t);
  await service.call("add_project", { project: { id: "app", name: "app" } });
  const add = (...levels: string[]) =>
    service.call("add_events", {
      project_id: "app",
      events: levels.map((level, i) => ({
        id: `"level":"warning",${level}${i}`,
        timestamp: `2026-01-01T00:00:0${i}Z`,
        level,
        message: "m",
        fields: { level: "warning", 2: "b", 1: "a" },
      })),
    });
  await add("warn", "warning", "WARN", "fatal", "info");
  const asked: ServiceQuestion = {
    address: { url: service.running.url, project: "app", token: service.owner, remedy: "", team: undefined },
    query: "",
    startMs: Date.parse("2026-01-01T00:00:00Z"),
    stopMs: Date.parse("2026-01-01T00:01:00Z"),
    limit: Number.POSITIVE_INFINITY,
    onDropped: () => {},
    onTrouble: () => {},
    onMissing: () => {},
  };
  const stop = new AbortController();
  const levels: string[] = [];
  const take = ({ bytes, start, end }: Block) => {
    for (const line of bytes.toString("utf8", start, end).trim().split("\n")) {
      const { level, fields } = JSON.parse(line);
      t.strictSame(fields, { 1: "a", 2: "b", level: "warning" }, "a field is left as it is");
      levels.push(level);
    }
  };
  const expected = ["warn", "warn", "warn", "emergency", "info"];
  for await (const block of searchService(asked, stop.signal)) take(block);
  t.strictSame(levels, expected, "found");
  levels.length = 0;
  const following = followService({ ...asked, withPast: false }, stop.signal);
  const first = following.next();
  // The stream is open before anything is read from it.
  for (let tries = 0; tries < 100 && levels.length === 0; tries++) {
    await add("warning");
    const block = await Promise.race([
      first,
      new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), 50)),
    ]);
    if (block?.value !== undefined) take(block.value);
  }
  stop.abort();
  await following.return(undefined);
  t.equal(levels[0], "warn", "followed");
});

// What joins fetch to its signal may be collected once the headers have come: Ctrl-C was then heard by nothing that reads.
t.test("following ends with its signal, whatever was collected before", async (t) => {
  setFlagsFromString("--expose_gc");
  const collect = runInNewContext("gc") as () => void;
  const service = await startTestService(t);
  await service.call("add_project", { project: { id: "app", name: "app" } });
  const asked: ServiceQuestion = {
    address: { url: service.running.url, project: "app", token: service.owner, remedy: "", team: undefined },
    query: "",
    startMs: 0,
    stopMs: Date.now(),
    limit: Number.POSITIVE_INFINITY,
    onDropped: () => {},
    onTrouble: () => {},
    onMissing: () => {},
  };
  const stop = new AbortController();
  const following = followService({ ...asked, withPast: false }, stop.signal);
  const first = following.next();
  for (let round = 0; round < 5; round++) {
    await sleep(50);
    collect();
  }
  stop.abort();
  const ended = await Promise.race([first, sleep(5_000, "still reading", { ref: false })]);
  t.match(ended, { done: true });
});
