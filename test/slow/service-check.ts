// `tool service check`, as people run it: what it says of whole, damaged and repaired data, beside a service and without
// one.
import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t, { type Test } from "tap";
import { operatorErrorOf } from "../../logservice/admin/data-directory.ts";
import { openEventsStore } from "../../logservice/events/open.ts";
import type { NewEvent } from "../../logservice/events/store.ts";
import { openRecords } from "../../logservice/records/open.ts";
import { addProject } from "../../logservice/records/projects.ts";
import { listening, spawnTool, tool } from "../support/cli.ts";

// Each test has data of its own.
t.jobs = 2;

const events = (from: number, count: number): NewEvent[] =>
  Array.from({ length: count }, (_, i) => ({
    timestamp: new Date(1714557600000 + (from + i) * 1000).toISOString(),
    level: "info",
    message: `number ${from + i}`,
    fields: { i: from + i },
  }));

/** A data directory with a project `shop` of two segments, and the names of its files. */
async function dataIn(t: Test) {
  const folder = mkdtempSync(join(tmpdir(), "service-check-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  await tool(["service", "init", "--data", "data"], { cwd: folder });
  const records = await openRecords(join(folder, "data"));
  const { events_key } = await addProject(
    records.db,
    "default",
    { id: "shop", name: "Shop" },
    new Date().toISOString(),
  );
  await records.close();
  const store = await openEventsStore({ directory: join(folder, "data/events"), reserveBytes: 0 });
  for (let i = 0; i < 2; i++) {
    await store.append(events_key, events(i * 100, 50));
    await store.flush();
  }
  await store.close();
  const [project = ""] = readdirSync(join(folder, "data/events/projects"));
  const home = join(folder, "data/events/projects", project);
  const segments = readdirSync(home)
    .filter((name) => name.endsWith(".parquet"))
    .sort();
  const check = (...flags: string[]) => tool(["service", "check", "--data", "data", ...flags], { cwd: folder });
  return { folder, project, home, segments, check };
}

t.test("whole data: one line, and nothing to do", async (t) => {
  const { check } = await dataIn(t);
  const { code, stdout, stderr } = await check();
  t.match(stdout, /^1 project, 2 segments, \d\.\d kB: no damage found\n$/);
  t.same([code, stderr], [0, "reading all files ...\n"]);
  const json = await check("--format", "json");
  t.match(JSON.parse(json.stdout), { whole: true, projects: 1, segments: 2, running: false, findings: [] });
});

t.test("events that are in the journal only are counted, and their project", async (t) => {
  const { check, folder } = await dataIn(t);
  const store = await openEventsStore({ directory: join(folder, "data/events"), reserveBytes: 0 });
  await store.append("waits", events(1000, 84));
  await store.append("gone", events(2000, 3));
  await store.deleteProject("gone");
  await store.close();
  t.match(
    (await check()).stdout,
    /^unknown {5}journal\n +holds 84 events of a project that the records do not have\n2 projects, 2 segments, \d\.\d kB, 84 events in the journal \(\d+\.\d kB\): 1 file has problems, no event is missing\n$/,
  );
  const json = await check("--format", "json");
  t.match(JSON.parse(json.stdout), { projects: 2, segments: 2, journal: { events: 84, bytes: Number } });
});

t.test("a damaged segment is named, set aside by a repair, and known when it is accepted", async (t) => {
  const { check, home, project, segments } = await dataIn(t);
  const [first = ""] = segments;
  const whole = readFileSync(join(home, first));
  const damaged = Buffer.from(whole);
  damaged[Math.floor(damaged.length / 3)]! ^= 1;
  writeFileSync(join(home, first), damaged);

  const report = await check();
  t.equal(report.code, 1);
  const [, id = ""] = /loss ([0-9a-f]{8})/.exec(report.stdout) ?? [];
  t.equal(
    report.stdout.replaceAll(/\d+\.\d kB/g, "SIZE"),
    `projects/${project} (project shop)\n` +
      `  damaged     ${first}\n` +
      ["is damaged", "50 events, SIZE", "2024-05-01T10:00:00Z to 2024-05-01T10:00:49Z", `loss ${id}`]
        .map((line) => `${" ".repeat(14)}${line}\n`)
        .join("") +
      "1 project, 1 segment, SIZE: 1 file has problems, 1 loss, SIZE\n",
  );
  t.match(report.stderr, /--accept-loss <id>/);
  for (const line of `${report.stdout}${report.stderr}`.split("\n")) t.ok(line.length <= 80, line);
  t.same(readFileSync(join(home, first)), damaged, "looking changes nothing");

  const repaired = await check("--repair");
  t.equal(repaired.code, 1, "the events are still missing");
  t.match(repaired.stderr, /error: events are missing/);
  t.same(readFileSync(join(home, "quarantine", first)), damaged);

  const wrong = await check("--accept-loss", "nothing");
  t.match(wrong.stderr, new RegExp(`error: there is no loss "nothing"\\n {2}there are ${id}\\n`));
  t.equal(wrong.code, 1);
  const accepted = await check("--accept-loss", id);
  t.match(accepted.stdout, new RegExp(`loss ${id}, accepted`));
  t.equal(accepted.code, 0);
  const json = JSON.parse((await check("--format", "json")).stdout);
  t.match(json, {
    whole: true,
    findings: [{ project: "shop", state: "damaged", loss: { id, events: 50, accepted: true } }],
  });

  writeFileSync(join(home, first), whole);
  await check("--repair");
  t.match((await check()).stdout, /^1 project, 2 segments, \d\.\d kB: no damage found\n$/, "the file is back");
});

t.test("what can be made again is, and no event is missing", async (t) => {
  const { check, home, segments } = await dataIn(t);
  rmSync(join(home, "manifest.json"));
  truncateSync(join(home, `${segments[1]}.json`), 10);
  const { code, stdout, stderr } = await check();
  t.equal(code, 1);
  t.match(stdout, /^projects\/\S+ \(project shop\)\n {2}rebuildable manifest\.json\n +is missing\n/);
  t.match(stdout, /2 segments, \d\.\d kB: \d files have problems, no event is missing\n$/);
  t.match(stderr, /--repair rebuilds manifests, summaries and filters/);
  const repaired = await check("--repair");
  t.equal(repaired.code, 0);
  t.match(repaired.stdout, /2 segments, \d\.\d kB: no damage found\n$/);
});

t.test("a folder that is gone, and one of a newer version", async (t) => {
  const { check, folder, home, project } = await dataIn(t);
  renameSync(home, join(folder, "away"));
  const gone = await check();
  t.equal(gone.code, 1);
  t.match(
    gone.stdout,
    new RegExp(
      `projects/${project} \\(project shop\\)\n {2}missing {5}the folder\n +its folder is missing\n +events, size`,
    ),
  );
  renameSync(join(folder, "away"), home);
  writeFileSync(join(home, "manifest.json"), JSON.stringify({ version: 3 }));
  const newer = await check();
  t.same([newer.code, newer.stdout], [1, ""]);
  t.match(
    newer.stderr,
    /manifest\.json was written by a newer version of tool: start that version, or restore a backup/,
  );
});

t.test("beside a service: it looks, and leaves repairs to the service", async (t) => {
  const { check, folder } = await dataIn(t);
  const running = spawnTool(["service", "start", "--data", "data", "--address", "127.0.0.1:0"], { cwd: folder });
  t.teardown(async () => {
    running.kill("SIGKILL");
    await running.ended;
  });
  await listening(running);
  const { code, stdout, stderr } = await check();
  t.match(stdout, /2 segments, \d\.\d kB: no damage found\n$/);
  t.match(stderr, /the service runs \(process \d+\): files that it is working on were left out/);
  t.equal(code, 0);
  const repair = await check("--repair");
  t.equal(repair.code, 1);
  t.match(repair.stderr, /error: the service runs \(process \d+\) and repairs what it finds itself; stop it first/);
});

t.test("events of another service, and of projects that the records do not have", async (t) => {
  const one = await dataIn(t);
  const other = await dataIn(t);
  const start = async (folder: string) => {
    const running = spawnTool(["service", "start", "--data", "data", "--address", "127.0.0.1:0"], { cwd: folder });
    await Promise.race([listening(running).catch(() => {}), running.ended]);
    running.kill("SIGTERM");
    return await running.ended;
  };
  const records = readFileSync(join(one.folder, "data/records.sqlite"));
  for (const { folder } of [one, other]) t.equal((await start(folder)).code, 0);

  const [own, foreign] = [one, other].map(({ folder }) => join(folder, "data/events"));
  renameSync(own!, join(one.folder, "own"));
  renameSync(foreign!, own!);
  const refused = await start(one.folder);
  t.equal(refused.code, 1);
  t.match(refused.stderr, /data\/events has the events of another log service: put its own back, or the records that/);
  const report = await one.check();
  t.equal(report.code, 1);
  t.match(report.stdout, /^foreign {5}folders\.json\n +is of another log service: the service does not start/);
  t.match(report.stderr, /put this service's events back/);
  t.match((await one.check("--repair")).stderr, /has the events of another log service/);
  renameSync(own!, foreign!);
  renameSync(join(one.folder, "own"), own!);
  t.match((await one.check()).stdout, /^1 project, 2 segments, \d\.\d kB: no damage found\n$/);

  // Records from before the project was added.
  writeFileSync(join(one.folder, "data/records.sqlite"), records);
  const opened = await openRecords(join(one.folder, "data"));
  await opened.db.deleteFrom("projects").execute();
  await opened.close();
  const kept = await start(one.folder);
  t.equal(kept.code, 0);
  t.match(kept.stderr, /warn: there are events of projects that the records do not have; they are kept/);
  const unknown = await one.check();
  t.equal(unknown.code, 1);
  t.match(unknown.stdout, new RegExp(`^projects/${one.project}\n {2}unknown {5}the folder\n +the records do not`));
  t.match(unknown.stderr, /the records may be older than the events/);
});

t.test("what the system refuses is said in words", async (t) => {
  const refused = Object.assign(new Error("EACCES: permission denied, scandir '/d'"), { code: "EACCES", path: "/d" });
  const said = (error: unknown) => {
    const { message, hint } = operatorErrorOf("/d/events", error);
    return { message, hint };
  };
  t.same(said(refused), {
    message: "/d cannot be opened: permission denied",
    hint: "run this as the user who owns it",
  });
  t.same(said(new Error("in words already")), { message: "in words already", hint: undefined });
  const { code, stderr } = await tool(["service", "restore", "/nowhere/backup", "--data", "e"], { cwd: t.testdir() });
  t.same([code, stderr], [1, "error: /nowhere/backup does not exist\n"]);
});
