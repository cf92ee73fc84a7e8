// The limits of the service at their real values, on both sides: the real command, its own constants. Times are asserted
// in the direction only that a slow machine cannot change.
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { LIMITS } from "../../logservice/limits.ts";
import { rpcClient } from "../../schema/rpc-client.ts";
import { listening, spawnTool, tool } from "../support/cli.ts";
import { type Answer, SCOPES, sendTo } from "../support/service.ts";
import { until } from "../support/until.ts";

// The time by which a timer may fire too early.
const EARLY_MS = 20;

const folder = mkdtempSync(join(tmpdir(), "service-limits-"));
t.teardown(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
await tool(["service", "init", "--data", "data"], { cwd: folder });
const service = spawnTool(["service", "start", "--data", "data", "--address", "127.0.0.1:0"], { cwd: folder });
t.teardown(async () => {
  service.kill("SIGKILL");
  await service.ended;
});
const url = await listening(service);
const port = Number(new URL(url).port);

/** A token of its own for each limit that counts by token. */
async function newToken(scopes: readonly string[] = SCOPES): Promise<string> {
  const scope = scopes.flatMap((one) => ["--scope", one]);
  return (await tool(["service", "token", "add", "--data", "data", ...scope], { cwd: folder })).stdout.trim();
}

const owner = await newToken();
const client = rpcClient({ url, token: owner });
const { id: project_id } = await client.call("add_project", { project: { name: "app" } });

function call(token: string, operation: string, body: unknown): Promise<Answer> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  return sendTo(port, { path: `/${operation}`, headers, body: JSON.stringify(body) });
}

async function gauge(name: string): Promise<number> {
  const { text } = await sendTo(port, { method: "GET", path: "/metrics" });
  return Number(new RegExp(`^logservice_${name} (\\d+)$`, "m").exec(text)?.[1]);
}

/** A connection, what came on it, and how long it has been open. */
function open(text: string | Buffer) {
  const beganMs = performance.now();
  const socket = connect(port, "127.0.0.1");
  let answer = "";
  socket.setEncoding("latin1").on("data", (chunk) => {
    answer += chunk;
  });
  socket.on("error", () => {});
  const closed = new Promise<number>((resolve) => {
    socket.once("close", () => resolve(performance.now() - beganMs));
  });
  socket.write(text);
  return { socket, answer: () => answer, closed };
}

const head = (token: string, more: string) =>
  `POST /get_projects HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n${more}\r\n`;

// These wait for a minute, beside the others.
const halfHead = open("POST /get_projects HTTP/1.1\r\nHost: x\r\n");
const halfBody = open(head(owner, "Content-Length: 10\r\n") + "{");

t.test("the values that are promised", async (t) => {
  t.match(LIMITS, {
    bodyBytesInFlight: 256 * 1024 * 1024,
    queryMs: 30_000,
    queriesPerToken: 4,
    queriesWaitingPerToken: 100,
    sqlAtOnce: 4,
    requestsPerSecond: 1_000,
    requestBurst: 2_000,
    holdMs: 3_000,
    tailsPerToken: 16,
    headersMs: 15_000,
    requestMs: 60_000,
  });
});

t.test("requests: a burst, then the rate, held before they are refused", async (t) => {
  // Without the scope, since the rate is looked at first and nothing else shall take time.
  const burst = await newToken(["searches:read"]);
  const answered = await flood(burst, LIMITS.requestBurst, LIMITS.requestBurst, () => false);
  t.strictSame([answered.size, answered.get(403)?.length], [1, LIMITS.requestBurst], "a burst passes, all of it");

  const loop = await newToken(["searches:read"]);
  const beganMs = performance.now();
  // Fewer at once than are held: each that is refused was held for the whole time.
  const flooded = await flood(loop, LIMITS.requestsHeld - 50, Number.POSITIVE_INFINITY, (answers) => {
    return (answers.get(429)?.length ?? 0) > 100 || performance.now() - beganMs > 60_000;
  });
  const seconds = (performance.now() - beganMs) / 1000;
  const passed = flooded.get(403)?.length ?? 0;
  const refused = flooded.get(429) ?? [];
  t.comment(`${passed} passed and ${refused.length} were refused in ${seconds.toFixed(1)} s`);
  t.ok(passed >= LIMITS.requestBurst);
  t.ok(passed <= LIMITS.requestBurst + seconds * LIMITS.requestsPerSecond, "no more than the rate");
  // A busy machine answers no more than the rate allows, and then there is nothing to refuse: service-wire has this by a clock.
  if (refused.length === 0) {
    console.log(
      `skipped: requests that are refused: ${Math.round(passed / seconds)} a second are hardly above the rate`,
    );
  } else {
    const shortestMs = Math.min(...refused.map(({ ms }) => ms));
    t.ok(shortestMs >= LIMITS.holdMs - EARLY_MS, `after ${shortestMs} ms`);
    t.match(refused[0]!.text, /\r\nRetry-After: [1-9]\d*\r\n.*"type":"rate_limited"/s);
  }
  t.equal((await call(owner, "get_projects", {})).status, 200, "another token has its own rate");
});

/**
 * The answers by status, with how long each was waited for at most; the first of many on one connection waits least.
 */
type Answers = Map<number, { readonly ms: number; readonly text: string }[]>;

/** Keeps `atOnce` requests under way, on connections that carry several each, until `total` were sent or it is enough. */
async function flood(
  token: string,
  atOnce: number,
  total: number,
  isEnough: (answers: Answers) => boolean,
): Promise<Answers> {
  const request = head(token, "Content-Length: 0\r\n");
  const answers: Answers = new Map();
  const perConnection = 50;
  let sent = 0;
  await Promise.all(
    Array.from({ length: Math.ceil(atOnce / perConnection) }, async () => {
      const socket = connect(port, "127.0.0.1");
      const sentMs: number[] = [];
      const send = () => {
        if (sent >= total || isEnough(answers)) return;
        sent++;
        sentMs.push(performance.now());
        socket.write(request);
      };
      let text = "";
      await new Promise<void>((resolve, reject) => {
        socket.once("error", reject);
        socket.setEncoding("latin1").on("data", (chunk: string) => {
          text += chunk;
          for (let match = ANSWER.exec(text); match !== null; match = ANSWER.exec(text)) {
            const status = Number(match[1]);
            const list = answers.get(status) ?? [];
            answers.set(status, list);
            list.push({ ms: performance.now() - sentMs.shift()!, text: match[0] });
            text = text.slice(match[0].length);
            send();
          }
          if (sentMs.length === 0) resolve();
        });
        for (let i = 0; i < perConnection; i++) send();
        if (sentMs.length === 0) resolve();
      });
      socket.destroy();
    }),
  );
  return answers;
}

/** One answer; every body of this service's errors is an object without another in it. */
const ANSWER = /^HTTP\/1\.1 (\d{3}) [^{]*?\r\n\r\n\{[^}]*\}/s;

t.test("queries: four at once, a hundred wait, thirty seconds", async (t) => {
  const token = await newToken();
  const count = (by: string) =>
    call(by, "get_count", { project_id, start: "2026-01-01T00:00:00Z", stop: "2026-01-02T00:00:00Z" });
  const all = await Promise.all(
    Array.from({ length: LIMITS.queriesPerToken + LIMITS.queriesWaitingPerToken }, () => count(token)),
  );
  t.ok(
    all.every(({ status }) => status === 200),
    "as many as run and wait are answered",
  );

  const beganMs = performance.now();
  const query = "SELECT count(*) FROM range(1000000) a, range(1000000) b WHERE a.range * b.range % 7 = 8";
  const long = Array.from({ length: LIMITS.queriesPerToken }, async () => {
    const answer = await call(token, "query", { project_id, query });
    return { ...answer, ms: performance.now() - beganMs };
  });
  // They are running once another one of the token is refused.
  const RUNNING = /^4 queries of this token are running already/;
  await until("all four", async () => RUNNING.test((await count(token)).json.message ?? ""));
  let held = 0;
  let atOnce = 0;
  while (atOnce === 0 && performance.now() - beganMs < LIMITS.queryMs - 2 * LIMITS.holdMs) {
    const more = Array.from({ length: LIMITS.queriesWaitingPerToken + 50 }, async () => {
      const sentMs = performance.now();
      return { ...(await count(token)), ms: performance.now() - sentMs };
    });
    t.equal((await count(owner)).status, 200, "another token has its own");
    const answers = await Promise.all(more);
    t.ok(answers.every(({ status, headers }) => status === 429 && headers["retry-after"] === "3"));
    for (const { json, ms } of answers) {
      const isFull =
        json.message ===
        "4 queries of this token are running already, and 100 are waiting: send them one after the other";
      if (isFull) atOnce++;
      else held++;
      if (!isFull && ms < LIMITS.holdMs - EARLY_MS) t.fail(`held for ${ms} ms only`);
    }
  }
  t.ok(held >= LIMITS.queriesWaitingPerToken, `${held} waited`);
  t.ok(atOnce > 0, `${atOnce} were refused at once`);
  for (const { status, json, ms } of await Promise.all(long)) {
    t.same([status, json.type], [504, "timeout"]);
    t.ok(ms >= LIMITS.queryMs - EARLY_MS, `stopped after ${ms} ms`);
  }
  t.equal((await count(token)).status, 200, "and the token has its slots again");
});

t.test("bodies: 256 MiB at once", async (t) => {
  const whole = Buffer.from(`{"x":"${"x".repeat(LIMITS.bodyBytes - 8)}"}`);
  t.equal(whole.length, LIMITS.bodyBytes);
  const fitting = Math.floor((LIMITS.bodyBytesInFlight - 1) / (LIMITS.bodyBytes - 1));
  const bodies = Array.from({ length: fitting }, () => {
    const connection = open(head(owner, `Connection: close\r\nContent-Length: ${whole.length}\r\n`));
    connection.socket.write(whole.subarray(0, -1));
    return connection;
  });
  t.teardown(() => {
    for (const { socket } of bodies) socket.destroy();
  });
  await until(
    "all but the last byte of each",
    async () => (await gauge("body_bytes_in_flight")) >= fitting * (whole.length - 1),
  );
  t.equal((await call(owner, "get_projects", {})).status, 200, "what fits beside them is taken");
  for (let i = 0; i < 5; i++) {
    const { status, headers, json } = await call(owner, "get_projects", { x: "x".repeat(LIMITS.bodyBytes - 100) });
    t.same([status, json.type, headers["retry-after"]], [503, "unavailable", "1"], "and more is not");
  }
  bodies[0]!.socket.write(whole.subarray(-1));
  await bodies[0]!.closed;
  t.match(bodies[0]!.answer(), /^HTTP\/1\.1 200 /);
  t.equal(
    (await call(owner, "get_projects", { x: "x".repeat(LIMITS.bodyBytes - 100) })).status,
    200,
    "until one is done",
  );
  for (const { socket } of bodies) socket.write(whole.subarray(-1));
  for (const { closed, answer } of bodies) {
    await closed;
    t.match(answer(), /^HTTP\/1\.1 200 /);
  }
  // The half body of above may still be there.
  await until("nothing held", async () => (await gauge("body_bytes_in_flight")) <= 1);
});

t.test("tails: sixteen of a token", async (t) => {
  const token = await newToken();
  const tail = async (by: string) => {
    const one = open(`GET /tail?project_id=${project_id} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${by}\r\n\r\n`);
    t.teardown(() => one.socket.destroy());
    await until("the head", () => one.answer().includes("\r\n\r\n"));
    return { socket: one.socket, status: Number(one.answer().slice(9, 12)), text: one.answer() };
  };
  const tails: Awaited<ReturnType<typeof tail>>[] = [];
  for (let i = 0; i < LIMITS.tailsPerToken; i++) tails.push(await tail(token));
  t.ok(
    tails.every(({ status }) => status === 200),
    "sixteen",
  );
  const { status, text } = await tail(token);
  t.equal(status, 429, "and no more");
  t.match(text, /\r\nRetry-After: 3\r\n/);
  t.equal((await tail(owner)).status, 200, "but of another");
  tails[0]!.socket.destroy();
  await until("room for another", async () => (await tail(token)).status === 200);
});

t.test("slow clients", async (t) => {
  const headMs = await halfHead.closed;
  t.match(halfHead.answer(), /^HTTP\/1\.1 408 .*"type":"timeout"/s);
  t.ok(headMs >= LIMITS.headersMs - EARLY_MS, `half a head: ${headMs} ms`);
  const bodyMs = await halfBody.closed;
  t.match(halfBody.answer(), /^(HTTP\/1\.1 408 .*"type":"timeout".*)?$/s);
  t.ok(bodyMs >= LIMITS.requestMs - EARLY_MS, `half a body: ${bodyMs} ms`);
  t.equal((await call(owner, "get_projects", {})).status, 200, "the service goes on");
});
