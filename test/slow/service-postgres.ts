// The log service with its records on a real PostgreSQL from the command line, as people run it.
import { existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Kysely } from "kysely";
import t, { type Test } from "tap";
import { addToken } from "../../logservice/access/tokens.ts";
import { addLateMinutes, dueLateMinutes } from "../../logservice/alerts/late-minutes.ts";
import { addNotification, getNotification } from "../../logservice/records/notifications.ts";
import { openRecords, type Records } from "../../logservice/records/open.ts";
import { ensureUser } from "../../logservice/records/people.ts";
import { openPostgresRecords } from "../../logservice/records/postgres/open.ts";
import { readPostgresAddress } from "../../logservice/records/postgres/place.ts";
import { addProject } from "../../logservice/records/projects.ts";
import { damagedRows } from "../../logservice/records/row-sums.ts";
import { setRole } from "../../logservice/records/teams.ts";
import { listening, type SpawnOptions, spawnTool, tool } from "../support/cli.ts";
import { requiresPostgres, type TestPostgres, testPostgres } from "../support/postgres.ts";
import { sendTo } from "../support/service.ts";

const skip = requiresPostgres();

function folderOf(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), "tool-service-pg-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

/** Starts the service, calls an operation and stops it. Returns the status and the answer. */
async function served(options: SpawnOptions, argv: readonly string[], token: string, operation: string, body: object) {
  const running = spawnTool(["service", "start", "--address", "127.0.0.1:0", ...argv], options);
  const { port } = new URL(await listening(running));
  const { status, json } = await sendTo(Number(port), {
    path: `/${operation}`,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  running.kill("SIGTERM");
  const { code } = await running.ended;
  return { status, json, code };
}

/** The words for a database in messages. */
const named = ({ socket }: TestPostgres, name: string) => `the database ${name} at ${socket}`;

t.test("a service has its records in PostgreSQL from the first command on", { skip }, async (t) => {
  const cwd = folderOf(t);
  const server = await testPostgres();
  const records = await server.database("logs");
  const on = ["--data", "data", "--records", records];
  const init = await tool(["service", "init", ...on, "--owner", "ann@example.com", "--format", "json"], { cwd });
  t.equal(init.code, 0, init.stderr);
  const { token } = JSON.parse(init.stdout);
  t.same(readdirSync(join(cwd, "data")).sort(), ["events", "records-elsewhere", "secrets.key"]);
  t.equal(readFileSync(join(cwd, "data/records-elsewhere"), "utf8"), `${named(server, "logs")}\n`);
  const again = await tool(["service", "init", "--data", "other", "--records", records], { cwd });
  t.same(
    [again.code, again.stderr.split("\n")[0]],
    [1, `error: ${join(cwd, "other")}/secrets.key is missing: the secrets in the records are sealed by a key`],
  );
  const added = await served({ cwd }, on, token, "add_project", { project: { name: "shop" } });
  t.match(added, { status: 200, json: { id: "shop" }, code: 0 });
  const env = { TOOL_RECORDS: records, TOOL_RECORDS_PASSWORD: "of nobody" };
  const answer = await served({ cwd, env }, ["--data", "data"], token, "get_projects", {});
  t.match(answer, { status: 200, json: { projects: [{ id: "shop" }] }, code: 0 }, "by the environment");
  const rows: readonly (readonly [argv: readonly string[], stdout: RegExp])[] = [
    [["service", "token", "add", "--scope", "events:write"], /^lgs_\w{38}\n$/],
    [
      ["service", "token", "ls"],
      /^ID +SCOPES +USED +ENDS +DESCRIPTION\ntok_\w+ {2}all .* never +owner\ntok_\w+ {2}events:write {2}never +never\n$/,
    ],
    [["service", "owner", "add", "bob@example.com"], /\/sign-in\//],
    [["service", "sign-in", "ann@example.com"], /\/sign-in\//],
    [["service", "check"], /: no damage found\n$/],
  ];
  for (const [argv, stdout] of rows) {
    const ran = await tool([...argv, ...on], { cwd });
    t.equal(ran.code, 0, `${argv.join(" ")}: ${ran.stderr}`);
    t.match(ran.stdout, stdout, argv.join(" "));
  }
  t.notOk(existsSync(join(cwd, "data/records.sqlite")));
});

t.test("records that are elsewhere, or not, are said", { skip }, async (t) => {
  const cwd = folderOf(t);
  const server = await testPostgres();
  const records = await server.database("said");
  const data = join(cwd, "data");
  await tool(["service", "init", "--data", "data", "--records", records], { cwd });
  await tool(["service", "init", "--data", "own"], { cwd });
  writeFileSync(join(cwd, "other.key"), Buffer.alloc(32, 7));
  const missing = records.replace("/said?", "/missing?");
  const rows: readonly (readonly [argv: readonly string[], stderr: string])[] = [
    [
      ["start", "--data", "data"],
      `error: the records of ${data} are in ${named(server, "said")}
  give its address by --records, or in TOOL_RECORDS; a backup of them is made by pg_dump
`,
    ],
    [
      ["init", "--data", "data"],
      `error: the records of ${data} are in ${named(server, "said")}
  give its address by --records, or in TOOL_RECORDS; a backup of them is made by pg_dump
`,
    ],
    [
      ["init", "--data", "data", "--records", records],
      `error: ${named(server, "said")} is already the data directory of a log service
  tool service token add makes more tokens
`,
    ],
    [
      ["backup", "--data", "data", "copy"],
      `error: the records of ${data} are in ${named(server, "said")}
  give its address by --records, or in TOOL_RECORDS; a backup of them is made by pg_dump
`,
    ],
    [
      ["start", "--data", "own", "--records", records],
      `error: ${join(cwd, "own")} has its records in records.sqlite, not in PostgreSQL
  leave out --records and TOOL_RECORDS, or name the data directory of another service
`,
    ],
    [
      ["start", "--data", "nowhere", "--records", records],
      `error: ${join(cwd, "nowhere")} is not a data directory of a log service
  tool service init --data nowhere creates one
`,
    ],
    [
      ["start", "--data", "data", "--records", records, "--key-file", "other.key"],
      `error: ${join(cwd, "other.key")} is not the key of these records
  copy the file from another process, or put it back from a backup: all processes need the same key
`,
    ],
    [
      ["start", "--data", "data", "--records", await server.database("empty")],
      `error: ${named(server, "empty")} has no records of a service
  tool service init makes them, tool service migrate copies those of a data directory
`,
    ],
    [
      ["token", "ls", "--data", "data", "--records", missing],
      `error: ${named(server, "missing")} does not exist
  make it: createdb --encoding UTF8 missing
`,
    ],
  ];
  for (const [argv, stderr] of rows) {
    const ran = await tool(["service", ...argv], { cwd });
    t.same([ran.code, ran.stdout, ran.stderr], [1, "", stderr], argv.slice(0, 3).join(" "));
  }
});

/** Every row of all tables, but for those that a database has of itself. */
async function rowsOf(records: Records): Promise<Readonly<Record<string, readonly string[]>>> {
  const db = records.db as unknown as Kysely<Record<string, Record<string, unknown>>>;
  const all: Record<string, readonly string[]> = {};
  for (const { name } of await records.db.introspection.getTables()) {
    const rows = await db.selectFrom(name).selectAll().execute();
    const texts = rows.map((row) => JSON.stringify(Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1))));
    all[name] = texts.filter((text) => !/"(key_fingerprint|copied_at|events_position)"/.test(text)).sort();
  }
  return all;
}

t.test("the records of a data directory are copied", { skip }, async (t) => {
  const cwd = folderOf(t);
  const server = await testPostgres();
  const data = join(cwd, "data");
  const { stdout } = await tool(["service", "init", "--data", "data", "--format", "json"], { cwd });
  const { token } = JSON.parse(stdout);
  const source = await openRecords(data);
  const now = "2026-11-29T12:00:00.000Z";
  const [{ id: team }] = (await source.db.selectFrom("teams").select("id").execute()) as [{ id: string }];
  await addProject(source.db, team, { id: "shop", name: "Shop" }, now);
  const project = { team_id: team, id: "shop" };
  const hook = {
    project_id: "shop",
    type: "webhook",
    name: "hook",
    webhook_url: "https://example.com/secret",
  } as const;
  const notification = await addNotification(source, team, hook, now);
  const user = await ensureUser(source.db, { email: "ann@example.com", emailKey: "ann@example.com" }, now);
  await setRole(source.db, { team_id: team, user_id: user.id, role: "owner" }, now);
  for (let at = 0; at < 1_200; at++)
    await source.db
      .insertInto("accepted_losses")
      .values({ id: `loss ${at}`, at: now })
      .execute();
  await addLateMinutes(source.db, "k", [1, 2, 3], 0);
  await addToken(source.db, { team, description: "of a build", scopes: [] }, now);
  await source.close();
  const bytesOf = (name: string) => readFileSync(join(data, name)).toString("base64");
  const before = ["records.sqlite", "secrets.key"].map(bytesOf);
  const records = await server.database("moved");
  const migrate = ["service", "migrate", "--from", "data", "--records", records];
  const first = await tool([...migrate, "--format", "json"], { cwd });
  t.equal(first.code, 0, first.stderr);
  t.match(JSON.parse(first.stdout), { tables: 25 });
  const again = await tool(migrate, { cwd });
  t.same([again.code, again.stdout], [0, ""], again.stderr);
  t.match(again.stderr, /^copied 1\d{3} rows of 25 tables; /);
  t.same(["records.sqlite", "secrets.key"].map(bytesOf), before, "the directory is as it was");
  const place = readPostgresAddress(records, undefined);
  if (!place.ok) throw new Error(place.problems[0]);
  const copy = await openPostgresRecords(place.value, join(data, "secrets.key"));
  const opened = await openRecords(data);
  t.same(await rowsOf(copy), await rowsOf(opened));
  t.match(await getNotification(copy, project, notification), { webhook_url: "https://example.com/secret" });
  t.same(await damagedRows(copy.db), [], "checksums are those of the rows");
  await addLateMinutes(copy.db, "k", [4], 0);
  t.same(
    (await dueLateMinutes(copy.db, 3, 60_000)).map(({ sequence }) => sequence),
    [4],
    "numbers go on",
  );
  await copy.close();
  await opened.close();
  renameSync(join(data, "records.sqlite"), join(cwd, "before.sqlite"));
  const answer = await served({ cwd }, ["--data", "data", "--records", records], token, "get_projects", {});
  t.match(answer, { status: 200, json: { projects: [{ id: "shop" }] }, code: 0 });
  renameSync(join(cwd, "before.sqlite"), join(data, "records.sqlite"));
  const late = await tool(migrate, { cwd });
  t.same(
    [late.code, late.stderr],
    [1, `error: ${named(server, "moved")} has the records of a service already\n  name a database without any\n`],
  );
});

t.test("records are copied of a service that does not run, into a database without any", { skip }, async (t) => {
  const cwd = folderOf(t);
  const server = await testPostgres();
  for (const data of ["data", "other"]) await tool(["service", "init", "--data", data], { cwd });
  const records = await server.database("one");
  const migrate = (from: string) => tool(["service", "migrate", "--from", from, "--records", records], { cwd });
  const running = spawnTool(["service", "start", "--data", "data", "--address", "127.0.0.1:0"], { cwd });
  await listening(running);
  t.match(await migrate("data"), {
    code: 1,
    stderr: /^error: the service runs there \(process \d+\)\n {2}stop it first/,
  });
  running.kill("SIGTERM");
  await running.ended;
  t.match(await migrate("data"), { code: 0 });
  t.match(await migrate("other"), {
    code: 1,
    stderr: `error: ${join(cwd, "other", "secrets.key")} is not the key of these records`,
  });
});
