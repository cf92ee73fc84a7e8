// Entries on their way to a log service that fails: the real service, and a proxy in front of it that injects failures.

import { once } from "node:events";
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import t, { type Test } from "tap";
import { type Shipper, shipEntries } from "../../../cli/service/ship-entries.ts";
import type { Entry } from "../../../grammar/entry.ts";
import { systemClock } from "../../../grammar/units/clock.ts";
import type { Scope } from "../../../schema/rpc.generated.ts";
import { rpcClient } from "../../../schema/rpc-client.ts";
import { startTestService, type TestService } from "../../support/service.ts";
import { until } from "../../support/until.ts";

// They wait for each other's pauses.
t.jobs = 4;

/** The fate of one request: an answer in place of the service's, a broken connection, or the service's own. */
type Fate =
  | "pass"
  | "cut"
  | "lose the answer"
  | "hang"
  | { readonly status: number; readonly body?: string; readonly after?: number };

interface Gate {
  readonly url: string;
  /** Requests to /ingest that came in, by their keys. */
  readonly keys: string[];
  /** Failures of the next requests to /ingest; after these, `always`. */
  readonly fates: Fate[];
  always: Fate;
}

async function openGate(t: Test, service: TestService): Promise<Gate> {
  const gate = { url: "", keys: [] as string[], fates: [] as Fate[], always: "pass" as Fate };
  const server = createServer((request, response) => {
    if (!request.url!.startsWith("/ingest/")) return pass(request, response);
    gate.keys.push(String(request.headers["idempotency-key"]));
    const fate = gate.fates.shift() ?? gate.always;
    if (fate === "pass") pass(request, response);
    else if (fate === "cut") request.resume().once("end", () => response.destroy());
    else if (fate === "lose the answer") pass(request, response, () => response.destroy());
    else if (fate !== "hang") {
      request.resume();
      if (fate.after !== undefined) response.setHeader("retry-after", fate.after);
      response.writeHead(fate.status, { "content-type": fate.body === undefined ? "text/html" : "application/json" });
      response.end(fate.body ?? "<h1>no</h1>");
    }
  });
  const pass = (request: IncomingMessage, response: ServerResponse, then?: () => void) => {
    const { method, url: path, headers } = request;
    const onward = httpRequest({ port: service.running.port, host: "127.0.0.1", method, path, headers }, (answer) => {
      if (then !== undefined) return answer.resume().once("end", then);
      response.writeHead(answer.statusCode!, answer.headers);
      return answer.pipe(response);
    });
    onward.once("error", () => response.destroy());
    request.pipe(onward);
  };
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  gate.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return gate;
}

interface Shipping {
  readonly gate: Gate;
  readonly shipper: Shipper;
  readonly notes: string[];
  /** The messages that the service keeps, in the order of their times; none where there is no project. */
  kept(): Promise<string[]>;
}

async function ship(
  t: Test,
  { scopes, ...limits }: { scopes?: readonly Scope[]; maxWaitingBytes?: number; closeMs?: number } = {},
): Promise<Shipping> {
  const service = await startTestService(t);
  const gate = await openGate(t, service);
  const notes: string[] = [];
  const shipper = shipEntries({
    client: rpcClient({ url: gate.url, token: scopes === undefined ? service.owner : await service.token(scopes) }),
    url: gate.url,
    project: "shop",
    name: "Shop",
    remedy: "set TOOL_LOGS_TOKEN to a token",
    note: (text) => notes.push(text),
    closeMs: 30_000,
    clock: systemClock,
    ...limits,
  });
  t.teardown(() => shipper.close());
  const range = { project_id: "shop", start: "2020-01-01T00:00:00Z", stop: "2100-01-01T00:00:00Z" };
  return {
    gate,
    shipper,
    notes,
    async kept() {
      const { json } = await service.call("search", { ...range, limit: 10_000, order: "ascending" });
      return ((json.events ?? []) as { message: string }[]).map(({ message }) => message);
    },
  };
}

const entry = (i: number, message = `entry ${i}`): Entry => ({
  timestamp: new Date(Date.UTC(2026, 0, 1) + i).toISOString(),
  level: "info",
  message,
  fields: { i },
});
const entries = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => entry(from + i));
const messages = (from: number, to: number) => entries(from, to).map(({ message }) => message);

t.test("entries arrive in their order, in a project that is added", async (t) => {
  const { shipper, notes, gate, kept } = await ship(t);
  shipper.write(entries(0, 2_500));
  await until("all", async () => (await kept()).length === 2_500);
  t.same(await kept(), messages(0, 2_500));
  t.same(new Set(gate.keys).size, 3, "in three batches, the first of them twice");
  shipper.write(entries(2_500, 2_501));
  await shipper.close();
  t.equal((await kept()).length, 2_501, "the end waits for the last one");
  t.same(notes, []);
});

for (const [fate, reason] of [
  ["cut", /^the log service does not accept entries: (?:other side closed|read ECONNRESET); trying again$/],
  ["lose the answer", /^the log service does not accept entries: (?:other side closed|read ECONNRESET); trying again$/],
  [{ status: 503 }, /: the answer was 503 Service Unavailable; trying again$/],
  [{ status: 429 }, /: the answer was 429 Too Many Requests; trying again$/],
  [{ status: 408 }, /: the answer was 408 Request Timeout; trying again$/],
  [
    { status: 401 },
    /: the answer was 401 Unauthorized \(set TOOL_LOGS_TOKEN to a token, and start again\); trying again$/,
  ],
  [
    { status: 403 },
    /: the answer was 403 Forbidden \(set TOOL_LOGS_TOKEN to a token, and start again\); trying again$/,
  ],
] as [Fate, RegExp][]) {
  t.test(`sent again, and kept once: ${JSON.stringify(fate)}`, async (t) => {
    const { shipper, notes, gate, kept } = await ship(t);
    shipper.write(entries(0, 1));
    await until("the project", async () => (await kept()).length === 1);
    const before = gate.keys.length;
    gate.fates.push(fate, fate);
    shipper.write(entries(1, 11));
    await until("the third try", () => gate.keys.length === before + 3);
    shipper.write(entries(11, 12));
    await shipper.close();
    t.same(await kept(), messages(0, 12));
    t.equal(new Set(gate.keys.slice(before, before + 3)).size, 1, "by one key");
    // A connection breaks in two ways.
    t.ok(notes.length === 1 || (typeof fate === "string" && notes.length === 2), "said once");
    for (const note of notes) t.match(note, reason);
  });
}

t.test("what waits while the service is away is sent in order, and what is left out is counted", async (t) => {
  const size = JSON.stringify(entry(500)).length;
  const { shipper, notes, gate, kept } = await ship(t, { maxWaitingBytes: 300 * size + size / 2 });
  gate.always = "cut";
  shipper.write(entries(500, 700));
  await until("a try", () => gate.keys.length > 0);
  shipper.write(entries(700, 950));
  gate.always = "pass";
  await until("the count", () => notes.at(-1)?.includes("left out"));
  shipper.write(entries(950, 951));
  await shipper.close();
  t.same(await kept(), [...messages(500, 800), ...messages(950, 951)], "the oldest");
  t.equal(
    notes.at(-1),
    `150 entries were left out: no more than ${300 * size + size / 2} bytes wait for the log service`,
  );
});

t.test("what the service cannot keep is left out alone", async (t) => {
  const { shipper, notes, kept } = await ship(t);
  const fields = Object.fromEntries(Array.from({ length: 251 }, (_, i) => [`f${i}`, i]));
  const all = entries(0, 40).map((one, i) => (i === 17 || i === 31 ? { ...one, fields } : one));
  shipper.write(all);
  await until("the rest", async () => (await kept()).length === 38);
  await shipper.close();
  t.same(
    await kept(),
    messages(0, 40).filter((_, i) => i !== 17 && i !== 31),
  );
  t.match(notes, [/^the log service refused 2 entries, left out here: line 18\.fields: /, /^2 entries were refused/]);
  t.equal(notes.length, 2);
});

for (const fate of [{ status: 400 }, { status: 404 }, { status: 405 }, { status: 422 }]) {
  t.test(`a batch that is refused for good is sent once: ${fate.status}`, async (t) => {
    const { shipper, notes, gate, kept } = await ship(t);
    shipper.write(entries(0, 1));
    await until("the project", async () => (await kept()).length === 1);
    const before = gate.keys.length;
    gate.fates.push(fate);
    shipper.write(entries(1, 6));
    await until("the refusal", () => notes.length > 0);
    shipper.write(entries(6, 7));
    await shipper.close();
    t.same(await kept(), [...messages(0, 1), ...messages(6, 7)]);
    t.equal(gate.keys.length, before + 2);
    t.match(notes, [
      new RegExp(`^the log service refused 5 entries, left out here: the answer was ${fate.status} `),
      "5 entries were refused by the log service",
    ]);
  });
}

t.test("a project that may not be added, or that never comes", async (t) => {
  const { shipper, notes, gate } = await ship(t, { scopes: ["events:write"], closeMs: 100 });
  shipper.write(entries(0, 1));
  await until("two tries", () => gate.keys.length === 2);
  await shipper.close();
  t.equal(
    notes[0],
    `the log service does not accept entries: this token lacks the scope projects:write (there is no project shop yet: an admin of the team can add it, or start again with a token of tool service token add --scope events:write,projects:write); trying again`,
  );
  t.equal(notes.at(-1), "1 entry did not reach the log service");

  // The project is there, and the token may not write to it.
  const reader = await ship(t, { scopes: ["events:read"], closeMs: 100 });
  reader.shipper.write(entries(0, 2));
  await until("a try", () => reader.notes.length > 0);
  await reader.shipper.close();
  t.match(reader.notes, [
    /: this token lacks the scope events:write \(set TOOL_LOGS_TOKEN to a token, and start again\)/,
    /^2 entries did not reach the log service$/,
  ]);

  const other = await ship(t);
  other.gate.always = { status: 404, body: '{"type":"not_found","message":"there is nothing"}' };
  other.shipper.write(entries(0, 3));
  await other.shipper.close();
  t.equal(other.gate.keys.length, 2, "once more after it was added");
  t.match(other.notes, ["the log service refused 3 entries, left out here: there is nothing", /^3 entries/]);
});

t.test("the end tries once more at once, and does not wait for what hangs", async (t) => {
  const { shipper, notes, gate, kept } = await ship(t);
  // Later than the end.
  gate.fates.push({ status: 503, after: 50 }, { status: 503, after: 50 });
  shipper.write(entries(0, 5));
  await until("a try", () => notes.length === 1);
  await shipper.close();
  t.same(await kept(), messages(0, 5));
  t.equal(gate.keys.length, 4, "and the one after the project was added");
  t.equal(notes.length, 1);

  const other = await ship(t, { closeMs: 300 });
  other.gate.always = "hang";
  other.shipper.write(entries(0, 5));
  await other.shipper.close();
  t.same(other.notes, ["5 entries did not reach the log service"]);
});
