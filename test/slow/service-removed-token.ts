// A token that is removed takes along what is open with it: tails, queries that run or wait, requests that still come.
import { connect } from "node:net";
import t, { type Test } from "tap";
import { spawnTool, tool } from "../support/cli.ts";
import { oddEvents } from "../support/events/generate.ts";
import { type Answer, startTestService, type TestService } from "../support/service.ts";
import { TestClock } from "../support/test-clock.ts";
import { until, within } from "../support/until.ts";

const PERIOD = { start: "2020-01-01T00:00:00Z", stop: "2100-01-01T00:00:00Z" };
/** Alone each takes longer than the test: a cross product, and regular expressions that keep many states. */
const SLOW_SQL = "select count(*) from range(1000000) a, range(1000000) b";
const SLOW_QUERY = Array.from({ length: 100 }, (_, i) => `message ~ /(x|y).{90}(x|y).{90}z${i}/`).join(" or ");

const removedBy = (message: string) => ({ type: "unauthorized", message });

/** How often the service looks for what other processes have changed. */
const WATCH_MS = 500;

interface ServiceWithEvents {
  readonly service: TestService;
  /** Nothing turns it but a removal by another process, so far that the service looks for it once. */
  readonly clock: TestClock;
  readonly project_id: string;
}

async function serviceWithEvents(t: Test): Promise<ServiceWithEvents> {
  const clock = new TestClock(Date.now());
  const service = await startTestService(t, { engine: "duckdb", clock });
  const project_id = (await service.call("add_project", { project: { name: "p" } })).json.id;
  const message = "x".repeat(200);
  for (let i = 0; i < 10; i++) {
    const events = oddEvents(10_000, i, Date.parse("2026-01-01T00:00:00Z") + i * 10_000, 1);
    const body = { project_id, events: events.map(({ timestamp, level }) => ({ timestamp, level, message })) };
    t.equal((await service.call("add_events", body)).status, 204);
  }
  return { service, clock, project_id };
}

interface Tail {
  readonly text: () => string;
  isEnded: boolean;
}

async function openTail(t: Test, { running }: TestService, project: string, token: string): Promise<Tail> {
  const abort = new AbortController();
  t.teardown(() => abort.abort());
  const response = await fetch(`${running.url}/tail?project_id=${project}`, {
    headers: { authorization: `Bearer ${token}` },
    signal: abort.signal,
  });
  t.equal(response.status, 200);
  let text = "";
  const tail: Tail = { text: () => text, isEnded: false };
  void (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of response.body!) text += decoder.decode(chunk, { stream: true });
    tail.isEnded = true;
  })().catch(() => {});
  return tail;
}

/** Runs all that a token can have open, removes it, and looks when each of them ended. */
async function endsWithToken(
  t: Test,
  message: string,
  remove: (at: ServiceWithEvents, token: { readonly secret: string; readonly id: string }) => Promise<void>,
): Promise<void> {
  const at = await serviceWithEvents(t);
  const { service, clock, project_id } = at;
  const scopes = ["events:read", "events:write"] as const;
  const [secret, other] = [await service.token(scopes), await service.token(scopes)];
  const listed = async () => (await service.call("get_tokens")).json.tokens as { id: string; last_used_at: string }[];
  const unused = async () => new Set((await listed()).filter((one) => one.last_used_at === null).map(({ id }) => id));
  const before = await unused();
  const tail = await openTail(t, service, project_id, secret);
  const after = await unused();
  const id = [...before].find((one) => !after.has(one))!;
  const othersTail = await openTail(t, service, project_id, other);

  const call = (operation: string, body: object): Promise<Answer> =>
    service.call(operation, { project_id, ...body }, secret);
  const search = { ...PERIOD, query: SLOW_QUERY };
  const requests: readonly (readonly [what: string, answer: Promise<Answer>])[] = [
    ["SQL", call("query", { query: SLOW_SQL })],
    ["another SQL", call("query", { query: SLOW_SQL })],
    ["a search", call("search", search)],
    ["a count", call("get_count", search)],
    ["a query that waits for a slot", call("get_count", PERIOD)],
  ];
  // A request whose body is still on its way.
  const socket = connect(service.running.port, "127.0.0.1");
  t.teardown(() => socket.destroy());
  let uploaded = "";
  socket.on("data", (chunk) => {
    uploaded += chunk;
  });
  socket.write(
    `POST /add_events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${secret}\r\nContent-Length: 99\r\n\r\n{`,
  );

  let answered = 0;
  for (const [, answer] of requests) void answer.then(() => answered++);
  await new Promise((resolve) => setTimeout(resolve, 700));
  t.equal(answered, 0, "all are still open");
  const beganMs = clock.monotonicMs();
  await remove(at, { secret, id });
  const ended = (what: string) => {
    const tookMs = clock.monotonicMs() - beganMs;
    t.ok(tookMs <= WATCH_MS, `${what} ended ${tookMs} ms after the removal`);
  };

  for (const [what, answer] of requests) {
    const { status, json, headers } = await within(what, answer);
    t.same([status, json], [401, removedBy(message)], what);
    t.equal(headers["www-authenticate"], "Bearer");
    ended(what);
  }
  await until("the end of the tail", () => tail.isEnded);
  ended("the tail");
  t.ok(tail.text().endsWith(`event: error\ndata: ${JSON.stringify(removedBy(message))}\n\n`), tail.text());
  await until("the answer to half a request", () => uploaded.includes("\r\n\r\n"));
  t.match(uploaded, /^HTTP\/1\.1 401 /);
  ended("half a request");
  t.equal((await service.call("get_count", { project_id, ...PERIOD }, secret)).status, 401);

  t.equal(othersTail.isEnded, false, "another token's tail goes on");
  const events = [{ level: "info", message: "after it" }];
  t.equal((await service.call("add_events", { project_id, events }, other)).status, 204);
  await until("an event of another token", () => othersTail.text().includes("after it"));
  t.notOk(tail.text().includes("after it"));
  t.match((await service.call("get_count", { project_id, ...PERIOD }, other)).json, { count: 100_001 });
  t.same(service.logged, [], "and nothing failed");
}

t.test("removed by remove_token", (t) =>
  endsWithToken(t, "this token was removed", async ({ service }, { secret }) => {
    t.equal((await service.call("remove_token", { token_id: secret })).status, 204);
  }),
);

t.test("removed by tool service token rm in another process", (t) =>
  endsWithToken(t, "this token or session has ended", async ({ service, clock }, { id }) => {
    const command = tool(["service", "token", "rm", id, "--data", service.directory]);
    const isThere = () => service.records.db.selectFrom("tokens").select("id").where("id", "=", id).executeTakeFirst();
    await until("the removal", async () => (await isThere()) === undefined);
    await clock.advance(WATCH_MS);
    t.match(await command, { code: 0, stderr: "" });
  }),
);

t.test("tool logs -f ends with the reason", async (t) => {
  const service = await startTestService(t, { engine: "duckdb" });
  const project_id = (await service.call("add_project", { project: { name: "p" } })).json.id;
  const token = await service.token(["events:read"]);
  const running = spawnTool(["logs", "-f", "--service", service.running.url, "--project", project_id], {
    env: { TOOL_LOGS_TOKEN: token },
  });
  t.teardown(async () => {
    running.kill("SIGKILL");
    await running.ended;
  });
  const tails = async () => (await service.send({ method: "GET", path: "/metrics" })).text;
  await until("the tail", async () => (await tails()).includes("logservice_tails 1\n"));
  t.equal((await service.call("remove_token", { token_id: token })).status, 204);
  const { code, stdout, stderr } = await running.ended;
  t.equal(stdout, "");
  t.match(stderr, /this token was removed\n {2}set TOOL_LOGS_TOKEN to what tool service token add prints\n$/);
  t.notMatch(stderr, /trying again/);
  t.equal(code, 1);
});

t.test("a token that removes itself gets its answer", async (t) => {
  const service = await startTestService(t);
  const token = await service.token(["tokens:write"]);
  t.equal((await service.call("remove_token", { token_id: token }, token)).status, 204);
  t.equal((await service.call("remove_token", { token_id: token }, token)).status, 401);
});
