// Tokens of deployed apps: they write to one project, and their events are of one stage.
import t, { type Test } from "tap";
import { damagedRows, summed } from "../../logservice/records/row-sums.ts";
import { startTestService } from "../support/service.ts";

const RANGE = { start: "2026-01-01T00:00:00Z", stop: "2026-12-31T00:00:00Z" };
const AT = "2026-01-02T00:00:00Z";

async function withProjects(t: Test) {
  const service = await startTestService(t);
  for (const id of ["shop", "other"]) await service.call("add_project", { project: { id, name: id } });
  const add = (token: object, by = service.owner) => service.call("add_token", { token }, by);
  const ingest = (token: string, project: string, ...events: object[]) =>
    service.send({
      path: `/ingest/${project}`,
      body: events.map((event) => JSON.stringify(event)).join("\n"),
      headers: { authorization: `Bearer ${token}`, "content-type": "application/x-ndjson" },
    });
  return { service, add, ingest };
}

const APP = { description: "shop, production", scopes: ["events:write"], project_id: "shop", stage: "production" };

t.test("a token of an app writes to its project and does nothing else", async (t) => {
  const { service, add, ingest } = await withProjects(t);
  const token: string = (await add(APP)).json.id;
  const event = { timestamp: AT, level: "info", message: "m", fields: {} };
  t.equal((await ingest(token, "shop", event)).status, 200);
  const refused: readonly (readonly [string, Promise<{ status: number; json: { message: string } }>])[] = [
    ['this token may write to the project "shop" alone', ingest(token, "other", event)],
    ['this token may write to the project "shop" alone', ingest(token, "nowhere", event)],
    [
      "the token of a deployed app sends its events to /ingest alone",
      service.call("add_events", { project_id: "shop", events: [event] }, token),
    ],
    ["this token lacks the scope events:read", service.call("search", { project_id: "shop", ...RANGE }, token)],
    ["this token lacks the scope projects:read", service.call("get_projects", {}, token)],
    ["this token lacks the scope tokens:write", add(APP, token)],
  ];
  for (const [message, answer] of refused) {
    const { status, json } = await answer;
    t.same([status, json.message], [403, message]);
  }
  t.match((await service.call("get_account", {}, token)).json, { account: { kind: "app", scopes: ["events:write"] } });
});

t.test("its events are of its stage, whatever they say", async (t) => {
  const { service, add, ingest } = await withProjects(t);
  const token: string = (await add({ ...APP, stage: "preview" })).json.id;
  const event = (message: string, fields: object) => ({ timestamp: AT, level: "info", message, fields });
  await ingest(
    token,
    "shop",
    event("a", { stage: "production", n: 1 }),
    event("b", {}),
    event("c", { stage: "preview" }),
    {
      timestamp: AT,
      msg: "of a logger",
      level: 30,
      stage: "production",
    },
  );
  const all: string = (await add({ ...APP, stage: "" })).json.id;
  await ingest(all, "shop", event("d", { stage: "production" }));
  const { json } = await service.call("search", { project_id: "shop", ...RANGE });
  const stages = json.events.map(({ message, fields }: { message: string; fields: { stage?: string; n?: number } }) => [
    message,
    fields.stage,
    fields.n,
  ]);
  t.same(stages.sort(), [
    ["a", "preview", 1],
    ["b", "preview", undefined],
    ["c", "preview", undefined],
    ["d", "production", undefined],
    ["of a logger", "preview", undefined],
  ]);
});

t.test("how one is made", async (t) => {
  const { service, add } = await withProjects(t);
  const rows: readonly (readonly [object, number, string])[] = [
    [{ scopes: ["events:write", "events:read"] }, 400, "token.scopes: must be events:write alone with project_id"],
    [{ scopes: ["tokens:write"] }, 400, "token.scopes: must be events:write alone with project_id"],
    [{ project_id: "" }, 400, "token.stage: needs project_id, too: only the token of an app has a stage"],
    // Names that look like others, or break a line.
    ...["production ", "Production", "prod\nuction", "\u0000", "\uff50roduction", "\ud800", "__proto__"].map(
      (stage) =>
        [
          { stage },
          400,
          "token.stage: may hold letters a to z, digits, - and _ only, and begins with a letter",
        ] as const,
    ),
    [{ project_id: "nowhere" }, 404, 'there is no project "nowhere"'],
  ];
  for (const [changes, status, message] of rows) {
    const answer = await add({ ...APP, ...changes });
    t.same([answer.status, answer.json.message], [status, message]);
  }
  const member = await service.person("member@example.com", "member");
  t.equal((await add(APP, member)).status, 403);
  const admin = await service.person("admin@example.com", "admin");
  t.equal((await add(APP, admin)).status, 200);
  const { tokens } = (await service.call("get_tokens")).json;
  t.match(tokens.at(-1), { ...APP, created_by: "admin@example.com" });
  t.match(tokens.at(0), { project_id: "", stage: "" }, "a token of all projects");
  t.same(await damagedRows(service.records.db), []);
  t.equal((await service.call("remove_token", { token_id: tokens.at(-1).id })).status, 204);
});

t.test("a damaged row of one gives no other project", async (t) => {
  const { service, add, ingest } = await withProjects(t);
  const token: string = (await add(APP)).json.id;
  await summed(service.records.db)
    .updateTable("tokens")
    .set({ project_id: "other" })
    .where("kind", "=", "app")
    .execute();
  const answer = await ingest(token, "other", { timestamp: AT, level: "info", message: "m" });
  t.same([answer.status, /is damaged: remove it/.test(answer.json.message)], [401, true]);
});

t.test("it ends with its project", async (t) => {
  const { service, add, ingest } = await withProjects(t);
  const token: string = (await add(APP)).json.id;
  await service.call("remove_project", { project_id: "shop" });
  await service.call("add_project", { project: { id: "shop", name: "shop" } });
  t.equal((await ingest(token, "shop", { timestamp: AT, level: "info", message: "m" })).status, 401);
});

t.test("the token of a stage is none of a stream, which the alerts of its project wait for", async (t) => {
  const { service, add } = await withProjects(t);
  const attributes = JSON.stringify({ commonAttributes: { project: "shop", buffering: "900" } });
  const deliver = async (stage: string, expected: number) => {
    const id = `of ${stage}`;
    const logEvents = [{ id, timestamp: Date.parse(AT), message: "m" }];
    const message = { messageType: "DATA_MESSAGE", logGroup: "/aws/lambda/shop", logStream: "s", logEvents };
    const data = Buffer.from(JSON.stringify(message)).toString("base64");
    const { status } = await service.send({
      path: "/integrations/cloudwatch",
      body: JSON.stringify({ requestId: id, timestamp: 1, records: [{ data }] }),
      headers: {
        "content-type": "application/json",
        "x-amz-firehose-access-key": (await add({ ...APP, stage })).json.id,
        "x-amz-firehose-common-attributes": attributes,
      },
    });
    t.equal(status, expected, id);
    return (await service.records.db.selectFrom("lateness").selectAll().execute()).map(({ seconds }) => seconds);
  };
  t.same(await deliver("preview", 403), []);
  t.same(await deliver("", 200), [960], "that of a stream says how late its events are");
});
