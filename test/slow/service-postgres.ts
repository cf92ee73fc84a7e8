// The log service with its records on a real PostgreSQL from the command line, as people run it.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t, { type Test } from "tap";
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
  t.same([again.code, again.stderr.split("\n")[0]], [
    1,
    `error: ${join(cwd, "other")}/secrets.key is missing: the secrets in the records are sealed by a key`,
  ]);
  const added = await served({ cwd }, on, token, "add_project", { project: { name: "shop" } });
  t.match(added, { status: 200, json: { id: "shop" }, code: 0 });
  const env = { TOOL_RECORDS: records, TOOL_RECORDS_PASSWORD: "of nobody" };
  const found = await served({ cwd, env }, ["--data", "data"], token, "get_projects", {});
  t.match(found, { status: 200, json: { projects: [{ id: "shop" }] }, code: 0 }, "by the environment");
  const rows: readonly (readonly [argv: readonly string[], stdout: RegExp])[] = [
    [["service", "token", "add", "--scope", "events:write"], /^lgs_\w{38}\n$/],
    [["service", "token", "ls"], /^tok_\w+ {2}all scopes .* owner\ntok_\w+ {2}events:write {2}never used\n$/],
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
  tool service init makes them
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
