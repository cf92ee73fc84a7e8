// Backups of what is written to at that moment, restored and looked at: what was acknowledged before a backup began is in
// it once, batches are whole, and a backup that is not whole is no backup.
import { existsSync, mkdtempSync, readdirSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { cp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import t, { type Test } from "tap";
import { copyEvents } from "../../logservice/events/copy.ts";
import { openEventsStore } from "../../logservice/events/open.ts";
import { type RpcClient, rpcClient } from "../../schema/rpc-client.ts";
import { listening, spawnTool, tool } from "../support/cli.ts";
import { batchCounts } from "../support/events/crash-loop.ts";
import { until } from "../support/until.ts";

const COPIES = 12;
const BATCH = 20;

function folderOf(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), "service-backup-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

t.test("events are copied while they become segments and those are merged", async (t) => {
  const folder = folderOf(t);
  const directory = join(folder, "events");
  const store = await openEventsStore({ directory, reserveBytes: 0 });
  let acknowledged = 0;
  let isOver = false;
  const append = async (number: number) => {
    const batch = Array.from({ length: BATCH }, (_, i) => ({
      timestamp: new Date(1714557600000 + number * 10 + i).toISOString(),
      level: "info",
      message: "x",
      fields: { number, i },
    }));
    await store.append("app", batch, { idempotencyKey: `batch ${number}` });
  };
  const writing = (async () => {
    while (!isOver) {
      await Promise.all(Array.from({ length: 5 }, (_, i) => append(acknowledged + i)));
      acknowledged += 5;
    }
  })();
  const upkeep = (async () => {
    while (!isOver) {
      await store.flush();
      await store.compact();
      // With nothing to do it would keep everything else from its turn.
      await nextTurn();
    }
  })();
  const copies: { readonly path: string; readonly batches: number }[] = [];
  for (let i = 0; i < COPIES; i++) {
    const flushes = store.metrics().flushes_total!;
    await until("another flush", () => store.metrics().flushes_total! > flushes);
    const copy = { path: join(folder, `copy-${i}`), batches: acknowledged };
    await copyEvents(directory, copy.path, () => {});
    copies.push(copy);
  }
  // Else nothing went away under a copy.
  await until("a merge", () => store.metrics().merges_total! > 0);
  isOver = true;
  await Promise.all([writing, upkeep]);
  await store.close();

  for (const { path, batches } of copies) {
    const copy = await openEventsStore({ directory: path, reserveBytes: 0 });
    try {
      const { journal_torn_bytes_total: torn, journal_quarantined_total: damaged } = copy.metrics();
      t.strictSame([torn, damaged], [0, 0], "a journal of whole batches");
      const counts = await batchCounts(copy);
      const lost = Array.from({ length: batches }, (_, i) => i).filter((number) => !counts.has(number));
      t.strictSame(lost, [], `of ${batches} batches none is lost`);
      const odd = [...counts].filter(([, count]) => count !== BATCH);
      t.strictSame(odd, [], "all are whole and there once");
      const retried = { timestamp: new Date().toISOString(), level: "info", message: "again", fields: {} };
      const retries = Array.from({ length: batches }, (_, number) =>
        copy.append("app", [retried], { idempotencyKey: `batch ${number}` }),
      );
      await Promise.all(retries);
      t.equal((await copy.projectStats("app")).eventsTotal, counts.size * BATCH, "their keys are known");
    } finally {
      await copy.close();
    }
  }
});

/** The service on a folder, and its owner's client. */
async function serve(t: Test, folder: string, data: string, token: string) {
  const running = spawnTool(["service", "start", "--data", data, "--address", "127.0.0.1:0"], { cwd: folder });
  t.teardown(async () => {
    running.kill("SIGKILL");
    await running.ended;
  });
  return { running, client: rpcClient({ url: await listening(running), token }) };
}

const EVER = { start: "2020-01-01T00:00:00Z", stop: "2100-01-01T00:00:00Z" };

/** How many events there are of each batch. */
async function batchesOf(client: RpcClient, project_id: string): Promise<Map<string, number>> {
  const query = "SELECT message, count(*)::int AS events FROM events WHERE level = 'info' GROUP BY message";
  const { results } = await client.call("query", { project_id, query });
  return new Map((results as { message: string; events: number }[]).map(({ message, events }) => [message, events]));
}

t.test("the service, by the command", async (t) => {
  const folder = folderOf(t);
  const run = (...argv: string[]) => tool(["service", ...argv], { cwd: folder });
  const { token } = JSON.parse((await run("init", "--data", "data", "--format", "json")).stdout);
  const { client, running } = await serve(t, folder, "data", token);
  const { id: project_id } = await client.call("add_project", { project: { name: "app" } });
  const debug = (message: string) => Array(10_000).fill({ level: "debug", message });
  // Enough for a segment of the real size.
  for (let i = 0; i < 10; i++) await client.call("add_events", { project_id, events: debug(`debug ${i}`) });
  const projects = join(folder, "data/events/projects");
  await until("a segment", () =>
    readdirSync(projects, { recursive: true }).some((name) => /\.parquet$/.test(`${name}`)),
  );

  let acknowledged = 0;
  let searches = 0;
  let isOver = false;
  const writing = (async () => {
    while (!isOver) {
      const events = Array(7).fill({ level: "info", message: `batch ${acknowledged}` });
      await client.call("add_events", { project_id, events });
      acknowledged++;
    }
  })();
  const changing = (async () => {
    while (!isOver) {
      await client.call("add_search", { search: { project_id, name: `search ${searches}`, query: "error" } });
      searches++;
    }
  })();
  const backups: { readonly name: string; readonly batches: number; readonly searches: number }[] = [];
  for (const name of ["one", "two", "three"]) {
    const [batches, searched] = [acknowledged, searches];
    await until("some more", () => acknowledged > batches + 5 && searches > searched + 5);
    const begun = { name, batches: acknowledged, searches };
    const { code, stdout, stderr } = await run("backup", name, "--data", "data", "--format", "json");
    t.equal(code, 0, stderr);
    t.match(JSON.parse(stdout), { path: join(folder, name), files: Number, bytes: Number });
    backups.push(begun);
  }
  isOver = true;
  await Promise.all([writing, changing]);
  t.match(await run("backup", "one", "--data", "data"), { code: 1, stderr: /one already exists\n {2}name a folder/ });
  const inside = await run("backup", "data/copies/one", "--data", "data");
  t.match(inside, { code: 1, stderr: /one is inside of the data directory itself\n {2}name a folder outside of / });
  t.notOk(existsSync(join(folder, "data/copies")));
  if (process.platform === "linux")
    t.match(await run("backup", "/proc/copies/one", "--data", "data"), {
      code: 1,
      stderr: /cannot copy .*\/proc\/copies/,
    });
  t.strictSame(
    readdirSync(folder).filter((name) => name.startsWith(".")),
    [],
    "nothing half is left",
  );
  running.kill("SIGTERM");
  t.equal((await running.ended).code, 0);

  for (const { name, batches, searches } of backups) {
    const restored = await run("restore", name, "--data", `of-${name}`);
    t.equal(restored.code, 0, restored.stderr);
    const { client, running } = await serve(t, folder, `of-${name}`, token);
    const eventCounts = await batchesOf(client, project_id);
    const lost = Array.from({ length: batches }, (_, i) => `batch ${i}`).filter((batch) => !eventCounts.has(batch));
    t.strictSame(lost, [], `of ${batches} batches none is lost`);
    t.strictSame(
      [...eventCounts].filter(([, events]) => events !== 7),
      [],
      "all are whole and there once",
    );
    const { count } = await client.call("get_count", { project_id, query: "debug", ...EVER });
    t.equal(count, 100_000, "what was in segments");
    const kept = new Set((await client.call("get_searches", { project_id })).searches.map(({ name }) => name));
    for (let i = 0; i < searches; i++) if (!kept.has(`search ${i}`)) t.fail(`search ${i} is lost`);
    running.kill("SIGTERM");
    await running.ended;
  }

  t.match(await run("check", "--backup", "one"), { code: 0, stdout: /^\d+ files, .*: no damage found\n$/, stderr: "" });
  const filesOf = (name: string) => readdirSync(join(folder, "one/events/projects", name));
  const segments = readdirSync(join(folder, "one/events/projects")).find((name) =>
    filesOf(name).some((file) => file.endsWith(".parquet")),
  )!;
  const files = filesOf(segments);
  const parquet = join("events/projects", segments, files.find((name) => name.endsWith(".parquet"))!);
  const rows: [title: string, harm: (backup: string) => void, stderr: RegExp][] = [
    ["without a segment", (at) => rmSync(join(at, parquet)), /is incomplete: .*\.parquet is missing\n/],
    ["without a summary", (at) => rmSync(join(at, `${parquet}.json`)), /is incomplete: .*\.json is missing\n/],
    [
      "with half a segment",
      (at) => truncateSync(join(at, parquet), 1000),
      /\.parquet is damaged: it has 1000 bytes instead of \d+\n/,
    ],
    [
      "with half a manifest",
      (at) => truncateSync(join(at, "events/projects", segments, "manifest.json"), 9),
      /manifest\.json is damaged/,
    ],
    ["without records", (at) => rmSync(join(at, "records.sqlite")), /is incomplete: .*\/records\.sqlite is missing\n/],
    [
      "with damaged records",
      (at) => writeFileSync(join(at, "records.sqlite"), "x".repeat(9000)),
      /records\.sqlite is damaged: /,
    ],
    ["without the key", (at) => rmSync(join(at, "secrets.key")), /is incomplete: .*\/secrets\.key is missing\n/],
    [
      "without a project's folder",
      (at) => rmSync(join(at, "events/projects", segments), { recursive: true }),
      /is incomplete: .* is missing \(and \d+ more: tool service check --backup .*\)\n {2}restore another one: /,
    ],
  ];
  for (const [title, harm, stderr] of rows) {
    await cp(join(folder, "one"), join(folder, "harmed"), { recursive: true });
    harm(join(folder, "harmed"));
    t.match(await run("check", "--backup", "harmed"), { code: 1, stdout: /^(missing|damaged) {4}/ }, title);
    const outcome = await run("restore", "harmed", "--data", "of-harmed");
    t.equal(outcome.code, 1, title);
    t.match(outcome.stderr, stderr, title);
    t.notOk(
      readdirSync(folder).some((name) => name.includes("of-harmed")),
      `${title}: nothing is made`,
    );
    rmSync(join(folder, "harmed"), { recursive: true });
  }
});
