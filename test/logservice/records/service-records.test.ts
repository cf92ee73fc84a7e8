// Records, tokens and the description of the interface, beyond what every operation has in common.

import { spawnSync } from "node:child_process";
import { once } from "node:events";
import fs, {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Validator } from "@seriousme/openapi-schema-validator";
import { Ajv2020 } from "ajv/dist/2020.js";
import { sql } from "kysely";
import t from "tap";
import { systemClock } from "../../../grammar/units/clock.ts";
import { MAX_REFUSALS, Refusals } from "../../../logservice/access/refusals.ts";
import { isTokenText, newToken, tokenHash } from "../../../logservice/access/token.ts";
import { addToken } from "../../../logservice/access/tokens.ts";
import { createDataDirectory } from "../../../logservice/admin/create.ts";
import {
  operatorErrorOf,
  refuseLostEvents,
  requireDataDirectory,
  withRecords,
} from "../../../logservice/admin/data-directory.ts";
import { lockDirectory } from "../../../logservice/events/lock.ts";
import { FIRST_TEAM } from "../../../logservice/records/accounts-migration.ts";
import { unreadableFile } from "../../../logservice/records/check.ts";
import { instanceId, makeInstanceId } from "../../../logservice/records/instance.ts";
import { readOrMakeKey } from "../../../logservice/records/key-file.ts";
import { getNotification } from "../../../logservice/records/notifications.ts";
import { openRecords, type Records } from "../../../logservice/records/open.ts";
import { ensureUser, isInTeam, personIn, teamsOf } from "../../../logservice/records/people.ts";
import { newId } from "../../../logservice/records/row.ts";
import { damagedRows, summed } from "../../../logservice/records/row-sums.ts";
import { openSeal } from "../../../logservice/records/seal.ts";
import { openSqlite } from "../../../logservice/records/sqlite.ts";
import type { MembershipRow, Role, TokenRow } from "../../../logservice/records/tables.ts";
import { firstOwnerOf, listMembers, setRole } from "../../../logservice/records/teams.ts";
import { once as onceInTransaction, transact } from "../../../logservice/records/transact.ts";
import { readNewEvent } from "../../../logservice/rpc/read-events.ts";
import { openApi } from "../../../schema/openapi.ts";
import { projectIdOf } from "../../../schema/project-id.ts";
import type { Operations, Scope } from "../../../schema/rpc.generated.ts";
import { rpcSchema } from "../../../schema/rpc-schema.generated.ts";
import { clockAt } from "../../support/clock-at.ts";
import { HANG_MS } from "../../support/hang.ts";
import { requiresFile, rowsAtRest } from "../../support/records.ts";
import { requires } from "../../support/require.ts";
import { SCOPES, startTestService } from "../../support/service.ts";
import { until } from "../../support/until.ts";

t.test("the published schema of OpenAPI 3.1 accepts the description", async (t) => {
  const { valid, errors } = await new Validator().validate(openApi(rpcSchema, "1.2.3") as Record<string, unknown>);
  t.ok(valid, JSON.stringify(errors));
  const broken = { ...(openApi(rpcSchema, "1.2.3") as Record<string, unknown>), paths: { x: { post: 5 } } };
  t.notOk((await new Validator().validate(broken)).valid, "and not everything");
});

t.test("records on a full disk open without the memory that processes share, for one process", async (t) => {
  const directory = mkdtempSync(join(tmpdir(), "records-full-"));
  const real = fs.promises.statfs;
  const restore = () => {
    fs.promises.statfs = real;
    syncBuiltinESMExports();
  };
  t.teardown(() => {
    restore();
    rmSync(directory, { recursive: true, force: true });
  });
  for (const bavail of [32 * 1024 - 1, 32 * 1024]) {
    const own = join(directory, `a folder?name=#${bavail}`);
    mkdirSync(own);
    const shared = join(own, "records.sqlite-shm");
    fs.promises.statfs = (async () => ({ bavail, bsize: 1 })) as unknown as typeof fs.promises.statfs;
    syncBuiltinESMExports();
    const records = await openRecords(own);
    const isShared = bavail === 32 * 1024;
    t.same([records.isShared, existsSync(shared)], [isShared, isShared], `${bavail} bytes`);
    restore();
    await makeInstanceId(records.db);
    t.type(await instanceId(records.db), "string", "with room it is written to");
    await records.close();
  }
});

const ofFile = { skip: requiresFile() };

t.test("records that were exchanged or removed under the running service take no changes", ofFile, async (t) => {
  const directory = mkdtempSync(join(tmpdir(), "tool-replaced-"));
  t.teardown(() => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }));
  let now = Date.parse("2026-11-22T12:00:00Z");
  const service = await startTestService(t, { directory, nowMs: () => now });
  const { json } = await service.call("add_project", { project: { name: "before" } });
  const [path, away] = [join(directory, "records.sqlite"), join(directory, "away.sqlite")];
  const ready = async () => {
    const response = await fetch(`${service.running.url}/_ready`);
    return [response.status, ((await response.json()) as { status?: string; message?: string }).message ?? "ready"];
  };
  const said =
    "records.sqlite was replaced or removed under the running service: stop the service, put the file back and start it again; nothing was changed";
  const events = [{ timestamp: "2026-11-22T12:00:00Z", level: "info", message: "one", fields: {} }];
  const rows: readonly (readonly [name: string, act: () => void, status: number])[] = [
    ["as it was opened", () => {}, 200],
    ["removed", () => renameSync(path, away), 503],
    ["a copy in its place", () => copyFileSync(away, path), 503],
    ["put back", () => renameSync(away, path), 200],
  ];
  for (const [name, act, status] of rows) {
    act();
    // The use of the token is to be noted again.
    now += 3_600_000;
    const project = await service.call("add_project", { project: { name } });
    const batch = await service.call("add_events", { project_id: json.id, events });
    t.same([project.status, batch.status], [status, status === 200 ? 204 : status], name);
    if (status === 503) t.same([project.json.message, batch.json.message], [said, said], name);
    t.same(await ready(), [status, status === 503 ? said : "ready"], name);
    t.equal((await service.call("get_projects")).status, 200, `${name}: reads are answered`);
  }
});

t.test("events whose folder was exchanged or removed under the running service are not added to", async (t) => {
  const directory = mkdtempSync(join(tmpdir(), "tool-folder-replaced-"));
  t.teardown(() => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }));
  const service = await startTestService(t, { directory, engine: "duckdb" });
  const { json } = await service.call("add_project", { project: { name: "shop" } });
  const [path, away] = [join(directory, "events"), join(directory, "away")];
  const said =
    "the folder of the events was replaced or removed under the running service: stop the service, put the folder back and start it again; nothing was changed";
  const events = [{ level: "info", message: "one" }];
  const rows: readonly (readonly [name: string, act: () => void, status: number])[] = [
    ["as it was opened", () => {}, 200],
    ["without its lock", () => rmSync(join(path, "lock")), 200],
    ["removed", () => renameSync(path, away), 503],
    ["an empty one in its place", () => mkdirSync(path, { recursive: true }), 503],
    [
      "put back",
      () => {
        rmSync(path, { recursive: true, force: true });
        renameSync(away, path);
      },
      200,
    ],
    [
      "one with a lock in its place",
      () => {
        renameSync(path, away);
        cpSync(away, path, { recursive: true });
        writeFileSync(join(path, "lock"), "{}");
      },
      503,
    ],
  ];
  for (const [name, act, status] of rows) {
    act();
    const add = () => service.call("add_events", { project_id: json.id, events });
    // While it was away, the service may have looked for the file that it writes to: it looks again.
    if (status === 200) await until(name, async () => (await add()).status === 204);
    const batch = await add();
    const ready = await fetch(`${service.running.url}/_ready`);
    t.same([batch.status, ready.status], [status === 200 ? 204 : status, status], name);
    const { message } = (await ready.json()) as { message?: string };
    if (status === 503) t.same([batch.json.message, message], [said, said], name);
    const range = { project_id: json.id, start: "2000-01-01T00:00:00Z", stop: "2100-01-01T00:00:00Z" };
    t.equal((await service.call("get_count", range)).status, 200, `${name}: reads are answered`);
  }
});

t.test("what keeps a data directory from being used is said in words", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "tool-words-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  const create = (to: string, team = async () => "Acme") =>
    createDataDirectory(to, { nowMs: 0, team, owner: undefined, publicUrl: undefined });
  const [file, odd, linked, late, full] = ["file", "odd", "linked", "late", "full"].map((name) => join(folder, name));
  writeFileSync(file!, "");
  for (const one of [odd, linked, full]) await create(one!);
  const events = join(odd!, "events");
  rmSync(events, { recursive: true });
  writeFileSync(events, "");
  const lock = join(linked!, "events/lock");
  symlinkSync("nowhere", lock);
  const fill = ({ db }: Records) =>
    db.transaction().execute(async (db) => {
      await sql`pragma max_page_count = 1`.execute(db);
      await db
        .insertInto("instance")
        .values({ key: "filler", value: "x".repeat(100_000) })
        .execute();
    });
  const rows: readonly (readonly [work: () => Promise<unknown>, message: string])[] = [
    [() => requireDataDirectory("/dev/null"), "/dev/null is not a folder"],
    [() => requireDataDirectory(file!), `${file} is not a folder`],
    [() => create(file!), `${file} is not a folder`],
    [() => refuseLostEvents(odd!), `${events} is not a folder`],
    [
      () => lockDirectory(join(linked!, "events")),
      `${lock} is not a file but a link that leads nowhere: remove the link, a start makes the file`,
    ],
    [
      () => create(late!, () => create(late!).then(() => "Late")),
      `${late} is already the data directory of a log service`,
    ],
    [() => withRecords(full!, fill), `no space left on the disk of ${full}: nothing was changed`],
  ];
  for (const [work, message] of rows) await t.rejects(work(), { message }, message);
});

t.test("slugs", (t) => {
  const rows: [name: string, slug: string][] = [
    ["My App", "my_app"],
    ["  My   App (EU) ", "my_app_eu"],
    ["Café Übung", "cafe_ubung"],
    ["__proto__", "proto"],
    ["日本 app", "app"],
    ["№ 7", "no_7"],
    ["a".repeat(60), "a".repeat(48)],
  ];
  for (const [name, slug] of rows) t.equal(projectIdOf(name), slug, name);
  for (const name of ["日本", "!?", "Привет", "  "]) t.equal(projectIdOf(name), undefined, name);
  t.end();
});

t.test("ids of projects: made, sent, taken", async (t) => {
  const service = await startTestService(t);
  const add = async (project: object) => {
    const { status, json } = await service.call("add_project", { project });
    return [status, json.id ?? json.message];
  };
  t.same(await add({ name: "My App" }), [200, "my_app"]);
  t.same(await add({ name: "My App" }), [200, "my_app_2"]);
  t.same(await add({ name: "x", id: "Mine-1" }), [200, "Mine-1"]);
  t.same(await add({ name: "x", id: "Mine-1" }), [409, 'project.id: "Mine-1" is taken: send another, or none']);
  for (const name of ["日本", "Привет, мир"]) {
    const message = `project.id: is required: ${JSON.stringify(name)} has no letter or digit to make one from`;
    t.same(await add({ name }), [400, message]);
  }
  t.same(await add({ name: "日本", id: "japan" }), [200, "japan"]);
  t.same(await add({ name: "x", id: "../x" }), [400, "project.id: may hold letters, digits, _ and - only"]);
  t.same(await add({ name: "x", id: "x".repeat(65) }), [400, "project.id: must have at most 64 characters"]);
});

t.test("what else records need", async (t) => {
  const service = await startTestService(t);
  const project_id = (await service.call("add_project", { project: { name: "p" } })).json.id;
  const other_id = (await service.call("add_project", { project: { name: "q" } })).json.id;
  const email = { project_id, type: "email", name: "n", email_addresses: ["a@b.c"] };
  const notification_id = (await service.call("add_notification", { notification: email })).json.id;
  const elsewhere = { ...email, project_id: other_id };
  const others_id = (await service.call("add_notification", { notification: elsewhere })).json.id;
  const alert = { project_id, name: "a", query: "error", severity: "info", operator: ">", notification_id };
  const rows: [operation: string, body: object, message: string][] = [
    [
      "add_notification",
      { notification: { ...email, email_addresses: [] } },
      "notification.email_addresses: is required",
    ],
    [
      "add_notification",
      { notification: { ...email, email_addresses: null } },
      "notification.email_addresses: is required",
    ],
    [
      "add_notification",
      { notification: { ...email, email_addresses: ["x"] } },
      "notification.email_addresses[0]: must have at least 3 characters",
    ],
    [
      "add_notification",
      { notification: { ...email, email_addresses: ["x y z"] } },
      "notification.email_addresses[0]: must be an email address",
    ],
    ...["a;b@c.example", "a,b@c.d", "<a@b>", "a@b:c"].map((one): [string, object, string] => [
      "add_notification",
      { notification: { ...email, email_addresses: ["ops@b.c", one] } },
      `notification.email_addresses: ${JSON.stringify(one)} is not one email address: write each by itself, without a name, such as ops@example.com`,
    ]),
    [
      "update_notification",
      { notification: { id: notification_id, project_id, email_addresses: ["a,b@c.d"] } },
      'notification.email_addresses: "a,b@c.d" is not one email address: write each by itself, without a name, such as ops@example.com',
    ],
    ["add_notification", { notification: { ...email, type: "sms" } }, "notification.sms_numbers: is required"],
    [
      "add_notification",
      { notification: { ...email, type: "sms", sms_numbers: ["call me"] } },
      "notification.sms_numbers[0]: must be a phone number",
    ],
    ["add_notification", { notification: { ...email, type: "slack" } }, "notification.slack_webhook_url: is required"],
    ["add_notification", { notification: { ...email, type: "webhook" } }, "notification.webhook_url: is required"],
    [
      "add_notification",
      { notification: { ...email, type: "webhook", webhook_url: "file:///etc/passwd" } },
      "notification.webhook_url: must be an address that begins with https:// or http://",
    ],
    [
      "add_notification",
      { notification: { ...email, type: "pagerduty" } },
      "notification.pagerduty_service_key: is required",
    ],
    ...["http://example.com:0/x", "https://example.com:00"].map((webhook_url): [string, object, string] => [
      "add_notification",
      { notification: { ...email, type: "webhook", webhook_url } },
      "notification.webhook_url: no server has the port 0: write the one of the target",
    ]),
    ...[" ", "a\nb", "caf\u00e9"].map((pagerduty_service_key): [string, object, string] => [
      "add_notification",
      { notification: { ...email, type: "pagerduty", pagerduty_service_key } },
      "notification.pagerduty_service_key: has a character that no key has: copy it from PagerDuty",
    ]),
    [
      "add_notification",
      { notification: { ...email, type: "pigeon" } },
      "notification.type: must be one of: email, sms, slack, webhook, pagerduty",
    ],
    [
      "update_notification",
      { notification: { id: notification_id, project_id, type: "slack" } },
      "notification.slack_webhook_url: is required",
    ],
    [
      "add_alert",
      { alert: { ...alert, severity: "loud" } },
      "alert.severity: must be one of: info, notice, error, critical",
    ],
    ["add_alert", { alert: { ...alert, operator: "=" } }, "alert.operator: must be one of: >, >=, <, <="],
    ["add_alert", { alert: { ...alert, threshold: -1 } }, "alert.threshold: must be at least 0"],
    ["add_alert", { alert: { ...alert, threshold: 1.5 } }, "alert.threshold: must be a whole number"],
    ["add_alert", { alert: { ...alert, interval: 1441 } }, "alert.interval: must be at most 1440"],
    ["add_alert", { alert: { ...alert, limit: 101 } }, "alert.limit: must be at most 100"],
    [
      "add_alert",
      { alert: { ...alert, notification_id: others_id } },
      "alert.notification_id: must be a notification of the same project",
    ],
    ["add_alert", { alert: { ...alert, query: "status >=" } }, "alert.query: "],
    ["add_search", { search: { project_id, name: "s", query: "(" } }, "search.query: "],
    ["add_project", { project: { name: "x".repeat(256) } }, "project.name: must have at most 255 characters"],
    ["add_project", { project: { name: "x", retention: 36501 } }, "project.retention: must be at most 36500"],
    ["add_token", { token: { scopes: [] } }, "token.scopes: must hold at least 1"],
    ["add_token", { token: { scopes: ["everything"] } }, `token.scopes[0]: must be one of: ${SCOPES.join(", ")}`],
    [
      "get_count",
      { project_id, start: "yesterday", stop: "2026-01-01T00:00:00Z" },
      "start: must be a time like 2026-01-31T12:00:00Z",
    ],
    [
      "get_count",
      { project_id, start: "2026-01-02T00:00:00Z", stop: "2026-01-01T00:00:00Z" },
      "stop: must not be before start",
    ],
    [
      "search",
      { project_id, start: "2026-01-01T00:00:00Z", stop: "2026-01-02T00:00:00Z", limit: 10_001 },
      "limit: must be at most 10000",
    ],
    [
      "search",
      { project_id, start: "2026-01-01T00:00:00Z", stop: "2026-01-02T00:00:00Z", order: "up" },
      "order: must be one of: ascending, descending",
    ],
    [
      "get_numeric_field_stats",
      { project_id, start: "2026-01-01T00:00:00Z", stop: "2026-01-02T00:00:00Z", field: "a or b" },
      'field: must be a field as a query names it, such as user.email or fields["odd key"]',
    ],
  ];
  for (const [operation, body, message] of rows) {
    const { status, json } = await service.call(operation, body);
    t.equal(status, 400, `${operation}: ${message}`);
    if (message.endsWith(": ")) t.ok(json.message.startsWith(message), json.message);
    else t.equal(json.message, message);
  }

  const alert_id = (await service.call("add_alert", { alert })).json.id;
  const answer = await service.call("remove_notification", { project_id, notification_id });
  t.same([answer.status, answer.json.message], [409, 'the alert "a" must be changed or removed first']);
  t.equal((await service.call("remove_alert", { project_id, alert_id })).status, 204);
  t.equal((await service.call("remove_notification", { project_id, notification_id })).status, 204);
});

t.test("a removed project takes everything along, and its name is free", async (t) => {
  const service = await startTestService(t);
  const project_id = (await service.call("add_project", { project: { name: "p" } })).json.id;
  await service.call("add_events", { project_id, events: [{ level: "info", message: "old" }] });
  await service.call("add_search", { search: { project_id, name: "s", query: "error" } });
  t.equal((await service.call("get_project_stats", { project_id })).json.events_total, 1);
  t.equal((await service.call("remove_project", { project_id })).status, 204);
  t.equal((await service.call("get_searches", { project_id })).status, 404);
  t.equal((await service.call("add_project", { project: { name: "p" } })).json.id, project_id);
  t.same((await service.call("get_project_stats", { project_id })).json, { bytes_total: 0, events_total: 0 });
  t.same((await service.call("get_searches", { project_id })).json, { searches: [] });
});

t.test("tokens", async (t) => {
  let nowMs = Date.parse("2026-03-01T00:00:30Z");
  const service = await startTestService(t, { nowMs: () => nowMs });
  const limited = await service.token(["tokens:write", "tokens:read", "events:read"]);
  const beyond = await service.call(
    "add_token",
    { token: { scopes: ["events:read", "events:write", "alerts:read"] } },
    limited,
  );
  t.same(
    [beyond.status, beyond.json.message],
    [403, "this token lacks events:write, alerts:read itself and cannot grant it"],
  );

  const token = { description: "of a test", scopes: ["events:read"] };
  const added = await service.call("add_token", { token: { ...token, id: "", created_at: null } }, limited);
  const secret = added.json.id as string;
  t.match(secret, /^lgs_[0-9A-Za-z]{38}$/);
  const list = async () =>
    (await service.call("get_tokens")).json.tokens as { id: string; last_used_at: string | null }[];
  const own = async () => (await list()).find((one) => "description" in one && one.description === "of a test");
  t.match(await own(), { ...token, created_at: "2026-03-01T00:00:30.000Z", last_used_at: null });
  t.notOk(JSON.stringify(await list()).includes("lgs_"), "no secret is shown again");
  await service.call("get_tokens", {}, secret);
  t.equal((await own())?.last_used_at, "2026-03-01T00:00:30.000Z", "used, though refused");
  nowMs += 20_000;
  await service.call("get_tokens", {}, secret);
  t.equal((await own())?.last_used_at, "2026-03-01T00:00:30.000Z", "to the minute");
  nowMs += 20_000;
  await service.call("get_tokens", {}, secret);
  t.equal((await own())?.last_used_at, "2026-03-01T00:01:10.000Z");

  t.equal((await service.call("remove_token", { token_id: (await own())?.id })).status, 204);
  t.equal((await service.call("get_tokens", {}, secret)).status, 401);
  const again = (await service.call("add_token", { token })).json.id;
  t.equal((await service.call("remove_token", { token_id: again })).status, 204, "by the secret itself");
  t.same([await own(), (await service.call("remove_token", { token_id: again })).status], [undefined, 404]);
});

t.test("a token removes no token that may do more than itself, unless by that one's secret", async (t) => {
  const service = await startTestService(t);
  const { db } = service.records;
  const now = new Date().toISOString();
  const make = (...scopes: Scope[]) => addToken(db, { team: FIRST_TEAM, scopes }, now);
  const rows: [remover: Scope[], removed: Scope[], status: number, lacks?: string][] = [
    [["tokens:write"], [...SCOPES], 403, SCOPES.filter((scope) => scope !== "tokens:write").join(", ")],
    [["tokens:write", "events:write"], ["events:write", "events:read"], 403, "events:read"],
    [["tokens:write", "events:write"], ["events:write"], 204],
    [["tokens:write", "events:write"], ["tokens:write", "events:write"], 204],
    [[...SCOPES], [...SCOPES], 204],
  ];
  for (const [mine, its, status, lacks] of rows) {
    const [remover, removed] = [await make(...mine), await make(...its)];
    const name = `${mine} removes ${its}`;
    const answer = await service.call("remove_token", { token_id: removed.id }, remover.secret);
    t.equal(answer.status, status, name);
    if (lacks !== undefined) {
      const message = `this token lacks ${lacks}, and cannot remove one that has more than itself`;
      t.equal(answer.json.message, message, name);
      t.not((await service.call("get_account", {}, removed.secret)).status, 401, `${name}: it is still there`);
      const bySecret = await service.call("remove_token", { token_id: removed.secret }, remover.secret);
      t.equal(bySecret.status, 204, `${name}, by its secret`);
    }
    t.equal((await service.call("get_account", {}, removed.secret)).status, 401, `${name}: gone`);
    t.equal((await service.call("remove_token", { token_id: remover.id }, remover.secret)).status, 204, "and itself");
  }
});

t.test("a row of the records that was damaged is named, and nothing of it is believed", async (t) => {
  const service = await startTestService(t);
  const { db } = service.records;
  const now = new Date().toISOString();
  const check = async () => (await damagedRows(db)).map(({ name, detail }) => `${name}: ${detail}`);

  await t.test("tokens", async (t) => {
    const changes: Partial<TokenRow>[] = [
      { scopes: '["events:read","tokens:write"]' },
      { scopes: '["events:read"' },
      { kind: "command" },
      { team_id: "another" },
      { created_by: "usr_x" },
      { description: "of a tesu" },
      { created_at: "2126-01-01T00:00:00.000Z" },
      { expires_at: "2126-01-01T00:00:00.000Z" },
      { last_used_at: "2126-01-01T00:00:00.000Z" },
      { unproven: 1 },
      { sum: 1 },
      { sum: null },
    ];
    for (const change of changes) {
      const name = JSON.stringify(change);
      const { secret, id } = await addToken(db, { team: FIRST_TEAM, scopes: ["projects:read"] }, now);
      t.equal((await service.call("get_projects", {}, secret)).status, 200);
      t.same(await check(), [], "none is damaged, also after a use");
      await summed(db).updateTable("tokens").set(change).where("id", "=", id).execute();
      const refused = await service.call("get_projects", {}, secret);
      t.same(
        [refused.status, refused.json.message],
        [401, `the record of the token ${id} is damaged: remove it and make another one`],
      );
      t.same(
        await check(),
        [`the token ${id}: its row is damaged, so it is refused: remove it and make another one`],
        name,
      );
      if (change.team_id === undefined && change.kind === undefined) {
        const shown = (await service.call("get_tokens")).json.tokens.find((one: { id: string }) => one.id === id);
        t.match(shown, { description: /^damaged, and refused: /, scopes: [] }, name);
      }
      t.equal((await service.call("remove_token", { token_id: id })).status, change.team_id || change.kind ? 404 : 204);
      await db.deleteFrom("tokens").where("id", "=", id).execute();
    }
  });

  await t.test("members", async (t) => {
    const add = async (name: string, role: Role) => {
      const email = `${name}@example.com`;
      const { id } = await ensureUser(db, { email, emailKey: email }, now);
      await setRole(db, { team_id: FIRST_TEAM, user_id: id, role }, now);
      return { id, email };
    };
    const owner = await add("zoe", "owner");
    const changes: [from: Role, change: Partial<MembershipRow>][] = [
      ["member", { role: "owner" }],
      ["admin", { role: "owner" }],
      ["owner", { role: "member" }],
      ["owner", { created_at: "1970-01-01T00:00:00.000Z" }],
      ["admin", { sum: null }],
    ];
    for (const [from, change] of changes) {
      const name = `${from} ${JSON.stringify(change)}`;
      const { id, email } = await add("ann", from);
      t.equal((await personIn(db, id, FIRST_TEAM))?.role, from);
      t.equal((await teamsOf(db, id)).length, 1);
      await summed(db).updateTable("memberships").set(change).where("user_id", "=", id).execute();
      t.equal((await personIn(db, id, FIRST_TEAM))?.role, undefined, name);
      t.same(await teamsOf(db, id), [], name);
      t.equal(await isInTeam(db, email), false, name);
      t.equal(await firstOwnerOf(db, FIRST_TEAM), owner.id, name);
      t.match(
        (await listMembers(db, FIRST_TEAM)).find((one) => one.id === id),
        { role: "member" },
        name,
      );
      t.match(await check(), [/^ann@example.com in the team .*: the row is damaged, so it gives no rights: /], name);
      await setRole(db, { team_id: FIRST_TEAM, user_id: id, role: from }, now);
      t.equal((await personIn(db, id, FIRST_TEAM))?.role, from, "once the role is set again");
      t.same(await check(), []);
    }
  });
});

t.test("the text of a token", (t) => {
  const token = newToken();
  t.ok(isTokenText(token));
  const rows: [title: string, text: string][] = [
    ["empty", ""],
    ["cut", token.slice(0, -1)],
    ["longer", `${token}0`],
    ["another prefix", `lgt_${token.slice(4)}`],
    ["two letters changed places", `lgs_${token[5]}${token[4]}${token.slice(6)}`],
  ];
  for (const [title, text] of rows) t.equal(isTokenText(text), text === token, title);
  t.equal(new Set(Array.from({ length: 1000 }, newToken)).size, 1000);
  t.equal(new Set(Array.from({ length: 1000 }, newId)).size, 1000);
  t.match(newId(), /^[2-9bcdfghjkmnpqrstvwxyz]{20}$/);
  t.end();
});

t.test("at rest: hashes of tokens, sealed secrets, files for their owner", async (t) => {
  const service = await startTestService(t);
  const project_id = (await service.call("add_project", { project: { name: "p" } })).json.id;
  const secrets = {
    slack_webhook_url: "https://hooks.example.com/SECRET-SLACK",
    webhook_url: "https://example.com/SECRET-HOOK",
    pagerduty_service_key: "SECRET-KEY",
  };
  const notification = { project_id, type: "slack", name: "n", ...secrets };
  const notification_id = (await service.call("add_notification", { notification })).json.id;
  const answer = await service.call("get_notification", { project_id, notification_id });
  t.notOk(answer.text.includes("SECRET"), "masked in answers");
  const files = readdirSync(service.directory).map((name) => join(service.directory, name));
  const bytes = Buffer.concat(files.map((file) => readFileSync(file))).toString("latin1");
  const stored = bytes + (await rowsAtRest(service.records));
  for (const text of ["SECRET", service.owner]) t.notOk(stored.includes(text), text);
  t.ok(stored.includes(tokenHash(service.owner)));
  t.equal(statSync(join(service.directory, "secrets.key")).mode & 0o777, 0o600);
});

t.test("all that make the key at the same time have the one of the file", async (t) => {
  const path = join(t.testdir(), "secrets.key");
  const keys = await Promise.all(Array.from({ length: 20 }, () => readOrMakeKey(path)));
  t.same(new Set(keys.map((key) => key.toString("hex"))), new Set([readFileSync(path).toString("hex")]));
  t.same(readdirSync(join(path, "..")), ["secrets.key"]);
});

t.test("a key that is no file is refused instead of waited for", { skip: requires("mkfifo") }, async (t) => {
  const directory = t.testdir();
  spawnSync("mkfifo", [join(directory, "secrets.key")]);
  await t.rejects(openRecords(directory), { message: `${join(directory, "secrets.key")} is not a file` });
});

t.test("a webhook says whether it is signed", async (t) => {
  const service = await startTestService(t);
  const project_id = (await service.call("add_project", { project: { name: "p" } })).json.id;
  const notification = { project_id, type: "webhook", name: "n", webhook_url: "https://example.com/hook" };
  const id = (await service.call("add_notification", { notification: { ...notification, signed: true } })).json.id;
  const stored = async () => {
    const one = (await service.call("get_notification", { project_id, notification_id: id })).json.notification;
    const all = (await service.call("get_notifications", { project_id })).json.notifications;
    t.strictSame(all, [one]);
    return one;
  };
  const before = await stored();
  t.equal(before.signed, false, "a client cannot say so");
  t.equal((await service.call("rotate_webhook_secret", { project_id, notification_id: id })).status, 200);
  t.equal((await stored()).signed, true);
  // Clients send every member, also those that they cannot change.
  t.equal((await service.call("update_notification", { notification: before })).status, 204);
  t.equal((await stored()).signed, true, "a change keeps the secret");
});

t.test("secrets are masked, and a mask that is sent back keeps the secret", async (t) => {
  const service = await startTestService(t);
  const project_id = (await service.call("add_project", { project: { name: "p" } })).json.id;
  const secrets = {
    slack_webhook_url: "https://hooks.slack.com/services/T000/B000/SECRETSECRETSECRET",
    webhook_url: "https://example.com:8443/SECRET/hook?key=SECRET",
    pagerduty_service_key: "SECRETSECRETSECRETSECRET1234",
  };
  const masks = {
    slack_webhook_url: "https://hooks.slack.com/****",
    webhook_url: "https://example.com:8443/****",
    pagerduty_service_key: "****1234",
  };
  const notification = { project_id, type: "slack", name: "n", slack_channel: "#ops", ...secrets };
  const id = (await service.call("add_notification", { notification })).json.id;
  const reader = await service.token(["notifications:read"]);
  for (const token of [reader, service.owner]) {
    const one = await service.call("get_notification", { project_id, notification_id: id }, token);
    t.match(one.json.notification, { ...masks, slack_channel: "#ops" });
    const all = await service.call("get_notifications", { project_id }, token);
    t.strictSame(all.json.notifications, [one.json.notification]);
  }
  const kept = async () => {
    const { slack_webhook_url, webhook_url, pagerduty_service_key } = await getNotification(
      service.records,
      { team_id: FIRST_TEAM, id: project_id },
      id,
    );
    return { slack_webhook_url, webhook_url, pagerduty_service_key };
  };
  const update = (more: object) => service.call("update_notification", { notification: { id, project_id, ...more } });
  // Clients whose records are structs do this: read, change one member, send all.
  const read = (await service.call("get_notification", { project_id, notification_id: id })).json.notification;
  t.equal((await update({ ...read, name: "renamed" })).status, 204);
  t.strictSame(await kept(), secrets, "masks keep");
  t.equal((await update({ ...masks, pagerduty_service_key: "short" })).status, 204);
  t.strictSame(await kept(), { ...secrets, pagerduty_service_key: "short" }, "another value replaces");
  const answer = await service.call("get_notification", { project_id, notification_id: id });
  t.equal(answer.json.notification.pagerduty_service_key, "****", "nothing is shown of a short one");
  t.equal((await update({ webhook_url: "" })).status, 204);
  t.strictSame((await kept()).webhook_url, "", "a zero removes");
  const rows: [send: () => ReturnType<typeof update>, name: string][] = [
    [() => update({ slack_webhook_url: "https://elsewhere.example.com/****" }), "slack_webhook_url"],
    [() => update({ pagerduty_service_key: "****9999" }), "pagerduty_service_key"],
    [() => update({ webhook_url: masks.webhook_url }), "webhook_url"],
    [() => update({ slack_webhook_url: "https://hooks.slack.com/services/****" }), "slack_webhook_url"],
    [() => update({ slack_webhook_url: "https://hooks.slack.com/services/T000/****/new?a=b" }), "slack_webhook_url"],
    [() => update({ webhook_url: "https://example.com:8443/****/orders" }), "webhook_url"],
    [() => update({ pagerduty_service_key: "****123456789" }), "pagerduty_service_key"],
    [() => service.call("add_notification", { notification: { ...notification, ...masks } }), "slack_webhook_url"],
  ];
  for (const [send, name] of rows) {
    const { status, json } = await send();
    const message = `notification.${name}: is masked: send the whole value, or leave it out to keep it`;
    t.strictSame([status, json], [400, { type: "invalid", message }]);
  }
  const legal = "https://example.com/a/****/b";
  t.equal((await update({ webhook_url: legal })).status, 204);
  t.equal((await kept()).webhook_url, legal, "stars elsewhere are part of an address");
});

t.test("a seal", (t) => {
  const seal = openSeal(Buffer.alloc(32, 1));
  const sealed = seal.close("text", "n1.webhook_url");
  t.not(sealed, seal.close("text", "n1.webhook_url"), "never the same twice");
  t.equal(seal.open(sealed, "n1.webhook_url"), "text");
  t.equal(seal.open(seal.close("", "x"), "x"), "");
  const message = "a secret of a notification does not open with this key";
  t.throws(() => seal.open(sealed, "n2.webhook_url"), { message }, "elsewhere");
  t.throws(() => openSeal(Buffer.alloc(32, 2)).open(sealed, "n1.webhook_url"), { message }, "another key");
  const flipped = sealed.slice(0, -4) + (sealed.endsWith("AAA=") ? "BBB=" : "AAA=");
  t.throws(() => seal.open(flipped, "n1.webhook_url"), "changed");
  t.throws(() => openSeal(Buffer.alloc(16)), { message: "the key of the secrets must have 32 bytes" });
  t.end();
});

type Entry = Operations["get_audit"]["output"]["entries"][number];

t.test("the audit says who was refused, once an hour", async (t) => {
  const service = await startTestService(t);
  const reader = await service.token(["events:read"]);
  const { tokens } = (await service.call("get_tokens")).json;
  const ids = tokens.map(({ id }: { id: string }) => id);
  const unknown = newToken();
  for (let i = 0; i < 3; i++) {
    await service.call("add_token", { token: { scopes: ["events:read"] } }, reader);
    await service.call("get_projects", {}, unknown);
    await service.call("get_projects", {}, "nonsense");
    await service.send({ path: "/ingest/app", body: "x" });
    await service.send({ method: "GET", path: "/tail?project_id=app" });
  }
  await service.call("search", {}, reader);
  await service.call("get_alerts", { project_id: "nobody" });
  // Its scopes let it ask, and not for this.
  const writer = await service.token(["tokens:write"]);
  await service.call("add_token", { token: { scopes: ["events:read"] } }, writer);
  const entries: Entry[] = (await service.call("get_audit")).json.entries;
  const rows = entries.map(({ actor, address, operation, result }) => {
    t.equal(address, "127.0.0.1");
    const name = actor === "" ? "nobody" : ids.includes(actor) ? "reader" : "writer";
    return `${name} ${operation} ${result}`;
  });
  t.same(rows.sort(), [
    "nobody get_projects unauthorized",
    "nobody ingest unauthorized",
    "nobody tail unauthorized",
    "reader add_token forbidden",
    "writer add_token forbidden",
  ]);
  for (const secret of [unknown, "nonsense", reader]) t.notOk(JSON.stringify(entries).includes(secret));
  t.equal((await service.call("get_audit", {}, reader)).status, 403, "and is not for everybody");
});

t.test("so many refusals at most, however many there are", async (t) => {
  const service = await startTestService(t);
  const refusals = new Refusals(service.records.db, systemClock, (error) => t.fail(String(error)));
  for (let i = 0; i < MAX_REFUSALS + 10; i++) {
    await refusals.note(
      { team_id: "", actor: "", address: `10.0.${i >> 8}.${i & 255}`, operation: "search" },
      "unauthorized",
    );
  }
  await refusals.note({ team_id: "", actor: "", address: "10.0.0.1", operation: "search" }, "invalid");
  const count = await service.records.db.selectFrom("audit").select("id").execute();
  t.equal(count.length, MAX_REFUSALS);
});

t.test("old refusals are removed, old changes are not", async (t) => {
  let nowMs = Date.parse("2026-01-01T00:00:00Z");
  const service = await startTestService(t, { nowMs: () => nowMs });
  const note = () =>
    new Refusals(
      service.records.db,
      clockAt(() => nowMs),
      (error) => t.fail(String(error)),
    ).note({ team_id: "", actor: "", address: "10.0.0.1", operation: "search" }, "unauthorized");
  await note();
  await service.call("add_project", { project: { name: "p" } });
  const left = async () => {
    const { entries } = (await service.call("get_audit")).json;
    return entries.map(({ operation }: Entry) => operation).sort();
  };
  nowMs += 90 * 24 * 3_600_000;
  await note();
  t.same(await left(), ["add_project", "search", "search"]);
  nowMs += 1;
  await note();
  t.same(await left(), ["add_project", "search", "search"]);
});

t.test("pages of the audit", async (t) => {
  let nowMs = Date.parse("2026-01-01T00:00:00Z");
  const service = await startTestService(t, { nowMs: () => nowMs });
  // Several in one millisecond.
  for (const name of ["a", "b", "c", "d", "e", "f", "g"]) {
    await service.call("add_project", { project: { name } });
    if (name >= "d") nowMs += 1000;
  }
  const ids = async (filter: object) => {
    const pages: string[] = [];
    for (let cursor: string | undefined; ; ) {
      const { status, json } = await service.call("get_audit", { ...filter, cursor });
      t.equal(status, 200);
      pages.push(json.entries.map(({ target_id }: Entry) => target_id).join(""));
      cursor = json.cursor;
      if (cursor === undefined) return pages;
    }
  };
  const all = await ids({});
  t.equal(all.length, 1);
  t.match(all[0], /^gfe[abcd]{4}$/, "newest first");
  for (const limit of [1, 2, 3, 7]) {
    const pages = await ids({ limit });
    t.equal(pages.join(""), all[0], `${limit} at once`);
    t.equal(pages.length, Math.ceil(7 / limit));
  }
  t.same(await ids({ project_id: "e" }), ["e"]);
  const at = (ms: number) => new Date(Date.parse("2026-01-01T00:00:00Z") + ms).toISOString();
  t.same(await ids({ start: at(1000), stop: at(2000) }), ["fe"], "both ends are in it");
  t.same(await ids({ start: at(1001), stop: at(1999) }), [""]);
  const rows: [body: object, message: string][] = [
    [{ cursor: "nonsense" }, "cursor: is not one that an answer returned"],
    [{ limit: 1001 }, "limit: must be at most 1000"],
    [{ start: "soon" }, "start: must be a time like 2026-01-31T12:00:00Z"],
  ];
  for (const [body, message] of rows) {
    const { status, json } = await service.call("get_audit", body);
    t.same([status, json.message], [400, message]);
  }
});

t.test("a file system that is read-only is said in words", (t) => {
  const error = (code: string) => Object.assign(new Error(`${code}: words of the system`), { code });
  for (const [code, message] of [
    ["EROFS", "/data cannot be opened: the file system is read-only"],
    ["EACCES", "/data cannot be opened: permission denied"],
    ["EMFILE", "/data cannot be opened: EMFILE"],
  ] as const) {
    t.equal(unreadableFile("/data", error(code)).message, message);
    t.equal(operatorErrorOf("/data", error(code)).message, message);
  }
  t.match(unreadableFile("/data", error("EROFS")).hint, /^mount it writable/);
  t.equal(operatorErrorOf("/data", new Error("is in use")).message, "is in use");
  t.end();
});

t.test("the audit says who changed what", async (t) => {
  const service = await startTestService(t);
  const token = await service.token(SCOPES);
  const id = (await service.call("get_tokens")).json.tokens.find(
    (one: { last_used_at: unknown }) => one.last_used_at === null,
  )?.id;
  const project_id = (await service.call("add_project", { project: { name: "p" } }, token)).json.id;
  await service.call("update_project", { project: { id: project_id, retention: 3 } }, token);
  await service.call("update_project", { project: { id: "absent" } }, token);
  await service.call("get_projects", {}, token);
  await service.call("remove_project", { project_id }, token);
  const { json } = await service.call("get_audit");
  t.same(
    (json.entries as Entry[]).map(({ actor, address, operation, project_id, target_id, result }) => {
      return [actor, address, operation, project_id, target_id, result];
    }),
    [
      [id, "127.0.0.1", "remove_project", "p", "p", "done"],
      [id, "127.0.0.1", "update_project", "p", "p", "done"],
      [id, "127.0.0.1", "add_project", "p", "p", "done"],
    ],
    "what failed and what only looked is not there",
  );
});

t.test("records live on", async (t) => {
  const directory = mkdtempSync(join(tmpdir(), "tool-records-"));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const first = await openRecords(directory);
  await first.db.insertInto("instance").values({ key: "id", value: "one" }).execute();
  await first.close();
  const second = await openRecords(directory);
  t.same(await second.db.selectFrom("instance").selectAll().execute(), [{ key: "id", value: "one" }]);
  await second.close();
});

t.test("values that would end the process", async (t) => {
  const database = await openSqlite(join(t.testdir(), "records.db"));
  database.prepare("create table a (x)").run([]);
  const insert = database.prepare("insert into a values (?)");
  insert.run([true]);
  insert.run([false]);
  for (const value of [undefined, {}, [], new Date(), Number.NaN, Number.POSITIVE_INFINITY, () => 1]) {
    t.throws(() => insert.run([value]), TypeError, typeof value);
  }
  t.same(database.prepare("select x from a").all([]), [{ x: 1 }, { x: 0 }]);
  database.close();
});

t.test("two processes that read and then write at once wait for each other", async (t) => {
  const { Worker } = await import("node:worker_threads");
  const file = join(t.testdir(), "records.db");
  const first = await openSqlite(file);
  first.prepare("create table counter (value integer)").run([]);
  first.prepare("insert into counter values (0)").run([]);
  const code = `const { parentPort, workerData } = require("node:worker_threads");
    (async () => {
      const { openSqlite } = await import(workerData.module);
      const { Kysely, SqliteDialect, sql } = await import("kysely");
      const db = new Kysely({ dialect: new SqliteDialect({ database: await openSqlite(workerData.file, workerData.busyMs) }) });
      for (let i = 0; i < 150; i++)
        await db.transaction().execute(async (db) => {
          const { value } = (await sql\`select value from counter\`.execute(db)).rows[0];
          await new Promise((resolve) => setImmediate(resolve));
          await sql\`update counter set value = \${value + 1}\`.execute(db);
        });
      await db.destroy();
    })().then(() => parentPort.postMessage("done"), (error) => parentPort.postMessage(String(error)));`;
  const module = new URL("../../../logservice/records/sqlite.js", import.meta.url).href;
  // SQLite promises nobody a turn: on a busy machine one of them may miss all turns for longer than a service waits.
  const workerData = { file, module, busyMs: HANG_MS };
  const workers = [1, 2, 3].map(() => new Worker(code, { eval: true, workerData }));
  const ends = await Promise.all(workers.map(async (worker) => (await once(worker, "message"))[0]));
  t.same(ends, ["done", "done", "done"]);
  t.same(first.prepare("select value from counter").all([]), [{ value: 450 }], "nothing is lost");
  await Promise.all(workers.map((worker) => worker.terminate()));
  first.close();
});

t.test(
  "a transaction that another one got in the way of is run again, and nothing is left of its first tries",
  async (t) => {
    const directory = mkdtempSync(join(tmpdir(), "records-conflict-"));
    const { db, close } = await openRecords(directory);
    t.teardown(async () => {
      await close();
      rmSync(directory, { recursive: true, force: true });
    });
    const failing = (code: string, until: number, name = code) => {
      let tries = 0;
      let effects = 0;
      const tell = onceInTransaction((count: number) => (effects += count));
      const work = async (db: Records["db"]) => {
        tries++;
        tell(1);
        await db
          .insertInto("instance")
          .values({ key: `${name} ${tries}`, value: "" })
          .execute();
        if (tries < until) throw Object.assign(new Error(`failed with ${code}`), { code });
        return tries;
      };
      return { run: () => transact(db, work), facts: () => [tries, effects] };
    };
    for (const code of ["40001", "40P01"]) {
      const { run, facts } = failing(code, 3);
      t.equal(await run(), 3, code);
      t.same(facts(), [3, 1], "an effect is had once");
    }
    const keys = await db.selectFrom("instance").select("key").orderBy("key").execute();
    t.same(
      keys.map(({ key }) => key),
      ["40001 3", "40P01 3"],
    );
    const other = failing("23505", 2);
    await t.rejects(other.run(), { message: "failed with 23505" });
    t.same(other.facts(), [1, 1], "what fails by itself is not tried again");
    const endless = failing("40001", Number.POSITIVE_INFINITY, "endless");
    await t.rejects(endless.run(), { message: "failed with 40001" });
    t.same(endless.facts(), [30, 1]);
    t.equal(await failing("later", 1).run(), 1, "others have their turn after it");
  },
);

t.test("the records take no text with the character that PostgreSQL has in none", async (t) => {
  const service = await startTestService(t);
  const said = (path: string) => [400, `${path}: must not have the character U+0000`];
  const { json } = await service.call("add_project", { project: { name: "shop" } });
  const { id: project_id } = json;
  const rows: readonly (readonly [operation: string, body: object, path: string])[] = [
    ["add_project", { project: { name: "a\0b" } }, "project.name"],
    ["add_search", { search: { project_id, name: "s", query: '"a\0"' } }, "search.query"],
    [
      "add_notification",
      { notification: { project_id, type: "email", name: "ops", email_addresses: ["a@b.c", "a@\0b.c"] } },
      "notification.email_addresses[1]",
    ],
    ["get_alerts", { project_id: "\0" }, "project_id"],
    ["get_project_stats", { project_id: "\0" }, "project_id"],
  ];
  for (const [operation, body, path] of rows) {
    const { status, json } = await service.call(operation, body);
    t.same([status, json.message], said(path), operation);
  }
  const event = { timestamp: new Date().toISOString(), level: "info", message: "a\0b", fields: { c: "\0" } };
  t.equal((await service.call("add_events", { project_id, events: [event] })).status, 204, "events have it");
  const counted = await service.call("get_count", {
    ...{ project_id, query: 'message = "a\\u0000b"' },
    ...{ start: "2020-01-01T00:00:00Z", stop: "2100-01-01T00:00:00Z" },
  });
  t.equal(counted.json.count, 1, "and are searched by it");
});

t.test("a token is good whose description has half of a surrogate pair", async (t) => {
  const service = await startTestService(t);
  const token = { description: "a\ud800b", scopes: ["projects:read", "tokens:read"] };
  const { json } = await service.call("add_token", { token });
  const { status, json: listed } = await service.call("get_tokens", {}, json.id);
  t.equal(status, 200);
  t.ok(listed.tokens.some(({ description }: { description: string }) => description === "a\ufffdb"));
});

t.test("the reader of events and the schema say the same", (t) => {
  const validate = new Ajv2020({ strict: false, validateFormats: false }).compile({
    definitions: rpcSchema.definitions,
    $ref: "#/definitions/NewEvent",
  });
  const parts = {
    level: [undefined, "info", "warn", "fatal", "loud", 5, {}],
    message: [undefined, "m", 5, []],
    id: [undefined, "x", 5, "x".repeat(255), "x".repeat(256)],
    fields: [undefined, {}, { a: 1 }, [], "x"],
    timestamp: [undefined, "2026-01-01T00:00:00Z", 5],
  };
  let events: object[] = [{}];
  for (const [key, values] of Object.entries(parts)) {
    events = events.flatMap((event) =>
      values.map((value) => (value === undefined ? event : { ...event, [key]: value })),
    );
  }
  for (const event of events) {
    let isRead = true;
    try {
      readNewEvent(event, "event", "2026-01-01T00:00:00Z");
    } catch {
      isRead = false;
    }
    if (isRead !== validate(event)) t.fail(JSON.stringify(event));
  }
  t.equal(events.length, 7 * 4 * 5 * 5 * 3);
  t.end();
});

t.test("a statement of the records is prepared once", async (t) => {
  const folder = t.testdir();
  const { default: Database } = await import("libsql");
  const { prepare } = Database.prototype;
  const prepared: string[] = [];
  Database.prototype.prepare = function (this: InstanceType<typeof Database>, sql: string) {
    prepared.push(sql);
    return prepare.call(this, sql);
  } as typeof prepare;
  t.teardown(() => {
    Database.prototype.prepare = prepare;
  });
  const database = await openSqlite(join(folder, "records.sqlite"));
  const add = (key: unknown, name: unknown) => database.prepare("insert into rows values (?, ?)").run([key, name]);
  const all = () => database.prepare("select * from rows order by key").all([]);
  const times = (sql: string) => prepared.filter((text) => text === sql).length;
  database.prepare("create table rows (key integer primary key, name text)").run([]);
  add(1, "one");
  t.throws(() => add(1, "again"), /UNIQUE/, "a statement that failed");
  add(2, "two");
  t.same(
    all(),
    [
      { key: 1, name: "one" },
      { key: 2, name: "two" },
    ],
    "is used again",
  );
  t.equal(times("insert into rows values (?, ?)"), 1, "prepared once");
  database.prepare("alter table rows add column more text default 'm'").run([]);
  t.same(all()[0], { key: 1, name: "one", more: "m" }, "one that was prepared before a change of the table sees it");
  t.equal(times("select * from rows order by key"), 1, "without being prepared again");
  const [first, second] = [0, 1].map(() => database.prepare("select key from rows").iterate([]));
  t.same([first!.next().value, second!.next().value], [{ key: 1 }, { key: 1 }], "two readings of rows are apart");
  t.same([[...all()].length, first!.next().value], [2, { key: 2 }], "also from what is read at once");
  for (let n = 0; n < 300; n++) database.prepare(`select ${n} as n`).all([]);
  all();
  t.equal(times("select * from rows order by key"), 2, "what was not used for long is prepared again");
  database.close();
  t.equal(
    statSync(join(folder, "records.sqlite-wal"), { throwIfNoEntry: false })?.size ?? 0,
    0,
    "the log is written back",
  );
});
