// Stopping the service: what is under way is answered, and nobody waits for a stream that has no end.
import { once } from "node:events";
import { connect } from "node:net";
import t, { type Test } from "tap";
import type { EventsStore } from "../../logservice/events/store.ts";
import { startTestService, type TestService } from "../support/service.ts";
import { until } from "../support/until.ts";

/** Without a tail a stop takes some milliseconds; with one it took ten seconds. */
const SOON_MS = 2_000;

/** A connection as clients keep them: it is not closed from this side. */
async function asked(t: Test, service: TestService, head: string, isRead = true) {
  const socket = connect(service.running.port, "127.0.0.1").setEncoding("utf8");
  t.teardown(() => socket.destroy());
  const seen = { text: "", isEnded: false };
  socket.on("error", () => {});
  socket.on("close", () => {
    seen.isEnded = true;
  });
  if (isRead) {
    socket.on("data", (chunk) => {
      seen.text += chunk;
    });
  }
  socket.write(`${head} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${service.owner}\r\n\r\n`);
  if (isRead && head.includes("/tail")) await until("the head", () => seen.text.includes(": here\n\n"));
  return seen;
}

async function timeOfStop(service: TestService): Promise<number> {
  const beganMs = performance.now();
  await service.stop();
  return performance.now() - beganMs;
}

for (const engine of ["oracle", "duckdb"] as const) {
  t.test(`open tails end at once, and so do their connections (${engine})`, async (t) => {
    const service = await startTestService(t, { engine });
    await service.call("add_project", { project: { id: "app", name: "app" } });
    const tails = [
      await asked(t, service, "GET /tail?project_id=app"),
      await asked(t, service, "GET /tail?project_id=app&query=error"),
    ];
    const tookMs = await timeOfStop(service);
    t.ok(tookMs < SOON_MS, `${Math.round(tookMs)} ms`);
    await until("the ends", () => tails.every(({ isEnded }) => isEnded));
    for (const { text } of tails) t.match(text, /\r\n0\r\n\r\n$/, "the stream has its end: nothing was cut off");
  });
}

t.test("a tail that nobody reads does not keep the service", async (t) => {
  let push = (_: string) => {};
  const around = (events: EventsStore): EventsStore => ({
    ...events,
    // More than the system keeps for a reader.
    tail: async function* () {
      push("begun");
      const event = {
        id: "i",
        timestamp: "2026-01-01T00:00:00Z",
        level: "info",
        message: "x".repeat(60_000),
        fields: {},
      };
      for (;;) yield { event };
    },
  });
  const service = await startTestService(t, { around });
  await service.call("add_project", { project: { id: "app", name: "app" } });
  const begun = new Promise<string>((resolve) => {
    push = resolve;
  });
  await asked(t, service, "GET /tail?project_id=app", false);
  await begun;
  await new Promise((resolve) => setTimeout(resolve, 300));
  const tookMs = await timeOfStop(service);
  t.ok(tookMs < SOON_MS, `${Math.round(tookMs)} ms`);
});

t.test("a request that is under way is answered, and its connection ends with the answer", async (t) => {
  let answer: (() => void) | undefined;
  const around = (events: EventsStore): EventsStore => ({
    ...events,
    count: async (...question) => {
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
      return events.count(...question);
    },
  });
  const service = await startTestService(t, { around });
  await service.call("add_project", { project: { id: "app", name: "app" } });
  const body = JSON.stringify({ project_id: "app", start: "2026-01-01T00:00:00Z", stop: "2026-01-02T00:00:00Z" });
  // One on which nothing was asked yet, as browsers open them.
  const silent = connect(service.running.port, "127.0.0.1");
  t.teardown(() => silent.destroy());
  silent.on("error", () => {});
  silent.resume();
  await once(silent, "connect");
  const idle = await asked(t, service, "GET /_health");
  await until("an answer", () => idle.text.includes('{"status":"ok"}'));
  const waiting = await asked(t, service, "GET /_health");
  await until("an answer", () => waiting.text.includes('{"status":"ok"}'));
  const counted = service.call("get_count", JSON.parse(body));
  await until("the question", () => answer);
  const stopped = timeOfStop(service);
  setTimeout(() => answer?.(), 300);
  const { status, json } = await counted;
  t.strictSame([status, json.count], [200, 0]);
  const tookMs = await stopped;
  t.ok(tookMs > 250 && tookMs < SOON_MS, `${Math.round(tookMs)} ms`);
  await until("the ends", () => idle.isEnded && waiting.isEnded && silent.destroyed);
});

t.test("an answer that is on its way to a slow reader comes whole", async (t) => {
  const service = await startTestService(t, { around: withLargeAnswer });
  await service.call("add_project", { project: { id: "app", name: "app" } });
  const socket = connect(service.running.port, "127.0.0.1");
  t.teardown(() => socket.destroy());
  const body = JSON.stringify({ project_id: "app", start: "2026-01-01T00:00:00Z", stop: "2026-01-02T00:00:00Z" });
  socket.write(
    `POST /search HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${service.owner}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  const [first] = (await once(socket, "data")) as [Buffer];
  socket.pause();
  await new Promise((resolve) => setTimeout(resolve, 300));
  const stopped = timeOfStop(service);
  await new Promise((resolve) => setTimeout(resolve, 300));
  const parts = [first];
  socket.on("data", (part: Buffer) => parts.push(part));
  socket.resume();
  await once(socket, "close");
  const text = Buffer.concat(parts).toString();
  const head = text.slice(0, text.indexOf("\r\n\r\n"));
  t.equal(text.length - head.length - 4, Number(/Content-Length: (\d+)/i.exec(head)?.[1]));
  t.ok((await stopped) < 5_000);
});

/** More than the system takes from a process for a reader that does not read. */
function withLargeAnswer(events: EventsStore): EventsStore {
  const event = { id: "i", timestamp: "2026-01-01T00:00:00Z", level: "info", message: "x".repeat(60_000), fields: {} };
  return {
    ...events,
    search: async (...question) => ({ ...(await events.search(...question)), events: Array(500).fill(event) }),
  };
}
