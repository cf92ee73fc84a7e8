// Data directories that are not as the service left them: what each command says, and that nothing is made worse.
import { chmodSync, copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { mkdir, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t, { type Test } from "tap";
import { FIRST_TEAM } from "../../logservice/records/accounts-migration.ts";
import { addNotification } from "../../logservice/records/notifications.ts";
import { openRecords } from "../../logservice/records/open.ts";
import { openDatabase } from "../../logservice/records/sqlite.ts";
import { rpcClient } from "../../schema/rpc-client.ts";
import { listening, spawnTool, tool } from "../support/cli.ts";
import { startTestService } from "../support/service.ts";

const PAGE_BYTES = 4_096;

function folderOf(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), "tool-damage-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

/** A data directory with a project that has an event and a notification, as a service that has ended leaves it. */
async function dataIn(t: Test, folder: string): Promise<{ data: string; token: string }> {
  const { stdout } = await tool(["service", "init", "--data", "data", "--team", FIRST_TEAM, "--format", "json"], {
    cwd: folder,
  });
  const { token } = JSON.parse(stdout) as { token: string };
  await serving(t, folder, async (url) => {
    const client = rpcClient({ url, token });
    const { id: project_id } = await client.call("add_project", { project: { name: "shop" } });
    await client.call("add_events", { project_id, events: [{ level: "info", message: "kept" }] });
    const slack = { project_id, type: "slack" as const, name: "ops", slack_webhook_url: "https://hooks.example.com/a" };
    await client.call("add_notification", { notification: slack });
  });
  // As an earlier start had it, with a mail server.
  const records = await openRecords(join(folder, "data"));
  const email = { project_id: "shop", type: "email" as const, name: "mail", email_addresses: ["a@b.c"] };
  await addNotification(records, FIRST_TEAM, email, new Date().toISOString());
  await records.close();
  return { data: join(folder, "data"), token };
}

/** Runs `tool service start` meanwhile; what it wrote on stderr. */
async function serving(t: Test, folder: string, use: (url: string) => Promise<void>): Promise<string> {
  const running = spawnTool(["service", "start", "--data", "data", "--address", "127.0.0.1:0"], { cwd: folder });
  t.teardown(async () => {
    running.kill("SIGKILL");
    await running.ended;
  });
  await use(await listening(running));
  running.kill("SIGTERM");
  const { code, stderr } = await running.ended;
  t.equal(code, 0, stderr);
  return stderr;
}

const START = ["service", "start", "--data", "data", "--address", "127.0.0.1:0"];
/** The line of a start about the notification by email. */
const UNTOLD = "warn: alerts cannot be told by email: no --smtp\n";
const TOKENS = ["service", "token", "ls", "--data", "data"];
const BACKUP = ["service", "backup", "copy", "--data", "data"];
const INIT = ["service", "init", "--data", "data"];

t.test("records that are damaged", async (t) => {
  const folder = folderOf(t);
  const { data } = await dataIn(t, folder);
  const path = join(data, "records.sqlite");
  const whole = readFileSync(path);
  const remedy = `  move ${data} aside and restore a backup: tool service restore <backup> --data ${data}\n`;
  const rows: [what: string, damage: () => Promise<void>, message: string][] = [
    ["empty", () => writeFile(path, ""), `${path} is damaged: it is empty`],
    ["another format", () => writeFile(path, "no database ".repeat(500)), `${path} is damaged: file is not a database`],
    ["cut", () => truncate(path, whole.length - 2 * PAGE_BYTES), `${path} is damaged: `],
    [
      "a page of zeros",
      () => writeFile(path, Buffer.from(whole).fill(0, 3 * PAGE_BYTES, 4 * PAGE_BYTES)),
      `${path} is damaged: `,
    ],
    [
      "no table",
      async () => {
        await rm(path);
        const database = await openDatabase(path);
        database.pragma("user_version = 1");
        database.close();
      },
      `${path} is damaged: it holds no records`,
    ],
    [
      "an index that is another's",
      async () => {
        const database = await openDatabase(path);
        database.exec("pragma writable_schema = on");
        database.exec(
          "update sqlite_schema set rootpage = (select rootpage from sqlite_schema where name = 'searches_by_project') where name = 'notifications_by_project'",
        );
        database.close();
      },
      `${path} is damaged: `,
    ],
    [
      "a folder",
      () =>
        rm(path)
          .then(() => mkdir(path))
          .then(() => undefined),
      `${path} is damaged: it is a folder`,
    ],
    [
      "another program's",
      async () => {
        await rm(path);
        const database = await openDatabase(path);
        database.exec("create table cookies (name text)");
        database.close();
      },
      `${path} is a database of another program`,
    ],
  ];
  for (const [what, damage, message] of rows) {
    await damage();
    const before = statSync(path).isFile() ? readFileSync(path).toString("base64") : "";
    for (const argv of [START, TOKENS, BACKUP]) {
      const { code, stdout, stderr } = await tool(argv, { cwd: folder });
      const label = `${what}: tool ${argv.join(" ")}`;
      t.same([code, stdout], [1, ""], label);
      if (message.endsWith(": ")) t.ok(stderr.startsWith(`error: ${message}`), stderr);
      else t.equal(stderr, `error: ${message}\n${remedy}`, label);
      t.ok(stderr.endsWith(`\n${remedy}`), stderr);
      t.equal(stderr.trimEnd().split("\n").length, 2, "one sentence and what to do");
    }
    if (before !== "") t.ok(readFileSync(path).toString("base64") === before, `${what}: the file is as it was`);
    await rm(path, { recursive: true });
    for (const end of ["-wal", "-shm"]) await rm(path + end, { force: true });
    await writeFile(path, whole);
  }
  t.notOk(existsSync(join(folder, "copy")));
  t.equal((await tool(TOKENS, { cwd: folder })).code, 0, "and whole again it opens");
});

t.test("records of a newer version", async (t) => {
  const folder = folderOf(t);
  const { data } = await dataIn(t, folder);
  const database = await openDatabase(join(data, "records.sqlite"));
  database.exec("insert into kysely_migration values ('9999-01-teleport', '2099-01-01T00:00:00Z')");
  database.close();
  for (const argv of [START, TOKENS, BACKUP]) {
    const { code, stderr } = await tool(argv, { cwd: folder });
    t.equal(code, 1);
    t.equal(stderr, `error: ${data}/records.sqlite was written by a newer version of tool\n  upgrade tool\n`);
  }
});

t.test("files that this user may not open", async (t) => {
  const directory = folderOf(t);
  await (await openRecords(directory)).close();
  if (process.getuid?.() === 0) {
    // Root may open everything: the rest runs as nobody, who may come this far.
    chmodSync(directory, 0o777);
    const nobody = 65_534;
    t.teardown(() => process.seteuid?.(0));
    process.seteuid?.(nobody);
  } else chmodSync(join(directory, "records.sqlite"), 0);
  await t.rejects(openRecords(directory), {
    name: "RecordsError",
    message: `${directory}/records.sqlite cannot be opened: permission denied`,
    hint: "run this as the user who owns it",
  });
});

t.test("records or events that are missing", async (t) => {
  const folder = folderOf(t);
  const { data } = await dataIn(t, folder);
  t.equal(statSync(join(data, "events")).mode & 0o777, 0o700);
  const remedy = `  move ${data} aside and restore a backup: tool service restore <backup> --data ${data}\n`;
  const [path, aside] = [join(data, "records.sqlite"), join(folder, "records.sqlite")];
  copyFileSync(path, aside);
  await rm(path);
  for (const argv of [START, TOKENS, BACKUP, INIT]) {
    const { code, stdout, stderr } = await tool(argv, { cwd: folder });
    t.same([code, stdout], [1, ""], argv.join(" "));
    t.equal(stderr, `error: ${path} is missing, but there are events\n${remedy}`);
  }
  t.notOk(existsSync(path), "and no new ones are made");
  copyFileSync(aside, path);
  await rm(join(data, "events"), { recursive: true });
  for (const argv of [START, BACKUP]) {
    const { code, stdout, stderr } = await tool(argv, { cwd: folder });
    t.same([code, stdout], [1, ""], argv.join(" "));
    t.equal(
      stderr,
      `error: ${data}/events is missing\n${remedy}  or create the empty folder to continue without the events\n`,
    );
  }
  t.notOk(existsSync(join(data, "events")));
  await mkdir(join(data, "events"));
  await serving(t, folder, async () => {});

  const fresh = folderOf(t);
  t.equal((await tool(INIT, { cwd: fresh })).code, 0);
  await rm(join(fresh, "data/events"), { recursive: true });
  await serving(t, fresh, async () => {});
  t.pass("without projects nothing can be missing");
});

t.test("the key of the secrets", async (t) => {
  const folder = folderOf(t);
  const { data, token } = await dataIn(t, folder);
  const path = join(data, "secrets.key");
  const key = readFileSync(path);
  t.equal(statSync(path).mode & 0o777, 0o600);
  const warning = [
    `warning: ${path} does not open the secrets of these notifications:`,
    '  shop: "ops" (slack)',
    "  put the old file back from a backup, or set the secrets again by update_notification\n",
  ].join("\n");

  t.equal(await serving(t, folder, async () => {}), UNTOLD, "nothing is said of one that opens all");

  const check = () => tool(["service", "check", "--data", "data"], { cwd: folder });
  t.equal((await check()).code, 0);
  await rm(path);
  const lost = await check();
  t.equal(lost.code, 1);
  t.match(
    lost.stdout,
    /^missing {5}secrets\.key\n +does not open the secrets of these notifications: shop: "ops" \(slack\)\n/m,
  );
  t.match(lost.stdout, /: 1 file has problems, no event is missing\n$/);
  t.match(lost.stderr, /put secrets\.key back from a backup, or set the secrets again by update_notification\n$/);
  t.notOk(existsSync(path), "a check makes none");
  const stderr = await serving(t, folder, async (url) => {
    const client = rpcClient({ url, token });
    const list = async () => (await client.call("get_notifications", { project_id: "shop" })).notifications;
    const [mail, ops] = await list();
    t.match(mail, { name: "mail", email_addresses: ["a@b.c"] });
    t.match(ops, { name: "ops", type: "slack", slack_webhook_url: "" });
    t.match(
      (await client.call("get_notification", { project_id: "shop", notification_id: ops!.id })).notification,
      ops!,
    );
    const change = { id: ops!.id, project_id: "shop" };
    await t.rejects(client.call("update_notification", { notification: { ...change, name: "on call" } }), {
      message: "notification.slack_webhook_url: is required",
    });
    t.same(
      readdirSync(data).filter((name) => name.startsWith("secrets")),
      ["secrets.key"],
    );
  });
  t.equal(stderr, UNTOLD + warning);
  const made = readFileSync(path);
  t.same([made.length, made.equals(key)], [32, false], "a new key is made");
  t.equal(statSync(path).mode & 0o777, 0o600);

  await writeFile(path, key);
  t.equal(await serving(t, folder, async () => {}), UNTOLD, "with the old file back all open");
  await writeFile(path, Buffer.alloc(32, 7));
  t.match((await check()).stdout, /^damaged {5}secrets\.key\n/m);
  const replaced = await serving(t, folder, async (url) => {
    const client = rpcClient({ url, token });
    const [, ops] = (await client.call("get_notifications", { project_id: "shop" })).notifications;
    const slack_webhook_url = "https://hooks.example.com/b";
    await client.call("update_notification", { notification: { id: ops!.id, project_id: "shop", slack_webhook_url } });
    t.match((await client.call("get_notifications", { project_id: "shop" })).notifications[1], {
      slack_webhook_url: "https://hooks.example.com/****",
    });
  });
  t.equal(replaced, UNTOLD + warning, "a key of others");
  t.equal(await serving(t, folder, async () => {}), UNTOLD, "set again it opens");

  for (const bytes of [0, 16, 33]) {
    await writeFile(path, Buffer.alloc(bytes, 1));
    for (const argv of [START, TOKENS]) {
      const { code, stderr } = await tool(argv, { cwd: folder });
      t.equal(code, 1);
      t.equal(
        stderr,
        `error: ${path} has ${bytes} bytes instead of 32\n  put it back from a backup, or move it away to continue with a new key, which opens none of the secrets stored so far\n`,
      );
    }
    t.equal(statSync(path).size, bytes, "it is never overwritten");
  }
});

t.test("a notification whose secret does not open may be removed", async (t) => {
  const service = await startTestService(t);
  const project_id = (await service.call("add_project", { project: { name: "p" } })).json.id;
  const notification = { project_id, type: "webhook", name: "n", webhook_url: "https://example.com/hook" };
  const notification_id = (await service.call("add_notification", { notification })).json.id;
  await service.records.db.updateTable("notifications").set({ webhook_url: "v1.AAAA" }).execute();
  t.match((await service.call("get_notifications", { project_id })).json.notifications, [{ webhook_url: "" }]);
  t.equal((await service.call("remove_notification", { project_id, notification_id })).status, 204);
});
