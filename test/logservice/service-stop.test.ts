// Stopping the service: what is under way is answered, and nobody waits for a stream that has no end.
import { once } from "node:events";
import { connect } from "node:net";
import t, { type Test } from "tap";
import { LATE_MS, MINUTE_MS } from "../../logservice/alerts/slots.ts";
import type { EventsStore } from "../../logservice/events/store.ts";
import { startTestService, type TestService } from "../support/service.ts";
import { CANNOT_SEE_PROCESSES, engineProcesses } from "../support/sql/sql-processes.ts";
import { TestClock } from "../support/test-clock.ts";
import { unchanging } from "../support/unchanging.ts";
import { until } from "../support/until.ts";

/** A connection as clients keep them: it is not closed from this side. */
async function openRequest(t: Test, service: TestService, head: string, isRead = true) {
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

/** Stops a service whose clock nobody turns: so the time in which it would cut off what goes on is not what ended it. */
async function stopsSoon(t: Test, service: TestService, clock: TestClock): Promise<void> {
  await service.stop();
  t.equal(clock.monotonicMs(), 0, "soon");
}

/** Resolves when it is stopping: nobody can connect any more. */
const isStopping = ({ running }: TestService) =>
  until("a refused connection", () => {
    const socket = connect(running.port, "127.0.0.1");
    return new Promise<boolean>((resolve) => {
      socket.once("connect", () => resolve(false));
      socket.once("error", () => resolve(true));
    }).finally(() => socket.destroy());
  });

for (const engine of ["oracle", "duckdb"] as const) {
  t.test(`open tails end at once, and so do their connections (${engine})`, async (t) => {
    const clock = new TestClock();
    const service = await startTestService(t, { engine, clock });
    await service.call("add_project", { project: { id: "app", name: "app" } });
    const tails = [
      await openRequest(t, service, "GET /tail?project_id=app"),
      await openRequest(t, service, "GET /tail?project_id=app&query=error"),
    ];
    await stopsSoon(t, service, clock);
    await until("the ends", () => tails.every(({ isEnded }) => isEnded));
    for (const { text } of tails) t.match(text, /\r\n0\r\n\r\n$/, "the stream has its end: nothing was cut off");
  });
}

t.test("a tail that nobody reads does not keep the service", async (t) => {
  let push = (_: string) => {};
  let taken = 0;
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
      for (;;) {
        taken++;
        yield { event };
      }
    },
  });
  const clock = new TestClock();
  const service = await startTestService(t, { around, clock });
  await service.call("add_project", { project: { id: "app", name: "app" } });
  const begun = new Promise<string>((resolve) => {
    push = resolve;
  });
  await openRequest(t, service, "GET /tail?project_id=app", false);
  await begun;
  await unchanging("a tail that is held up", () => taken);
  await stopsSoon(t, service, clock);
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
  const clock = new TestClock();
  const service = await startTestService(t, { around, clock });
  await service.call("add_project", { project: { id: "app", name: "app" } });
  const body = JSON.stringify({ project_id: "app", start: "2026-01-01T00:00:00Z", stop: "2026-01-02T00:00:00Z" });
  // One on which nothing was asked yet, as browsers open them.
  const silent = connect(service.running.port, "127.0.0.1");
  t.teardown(() => silent.destroy());
  silent.on("error", () => {});
  silent.resume();
  await once(silent, "connect");
  const idle = await openRequest(t, service, "GET /_health");
  await until("an answer", () => idle.text.includes('{"status":"ok"}'));
  const waiting = await openRequest(t, service, "GET /_health");
  await until("an answer", () => waiting.text.includes('{"status":"ok"}'));
  const counted = service.call("get_count", JSON.parse(body));
  await until("the question", () => answer);
  let isStopped = false;
  const stopped = stopsSoon(t, service, clock).finally(() => {
    isStopped = true;
  });
  await isStopping(service);
  t.notOk(isStopped, "not before the answer");
  answer?.();
  const { status, json } = await counted;
  t.strictSame([status, json.count], [200, 0]);
  await stopped;
  await until("the ends", () => idle.isEnded && waiting.isEnded && silent.destroyed);
});

t.test("an answer that is on its way to a slow reader comes whole", async (t) => {
  const clock = new TestClock();
  const service = await startTestService(t, { around: withLargeAnswer, clock });
  await service.call("add_project", { project: { id: "app", name: "app" } });
  const socket = connect(service.running.port, "127.0.0.1");
  t.teardown(() => socket.destroy());
  const body = JSON.stringify({ project_id: "app", start: "2026-01-01T00:00:00Z", stop: "2026-01-02T00:00:00Z" });
  socket.write(
    `POST /search HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${service.owner}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  const [first] = (await once(socket, "data")) as [Buffer];
  socket.pause();
  const stopped = stopsSoon(t, service, clock);
  await isStopping(service);
  const parts = [first];
  socket.on("data", (part: Buffer) => parts.push(part));
  socket.resume();
  await once(socket, "close");
  const text = Buffer.concat(parts).toString();
  const head = text.slice(0, text.indexOf("\r\n\r\n"));
  t.equal(text.length - head.length - 4, Number(/Content-Length: (\d+)/i.exec(head)?.[1]));
  await stopped;
});

/** More than the system takes from a process for a reader that does not read. */
function withLargeAnswer(events: EventsStore): EventsStore {
  const event = { id: "i", timestamp: "2026-01-01T00:00:00Z", level: "info", message: "x".repeat(60_000), fields: {} };
  return {
    ...events,
    search: async (...question) => ({ ...(await events.search(...question)), events: Array(500).fill(event) }),
  };
}

/** Expressions that take both engines a microsecond and more for each character of such texts. */
const HOSTILE = ["message ~ /a[ab]{18}x0c/ or message ~ /b[ab]{17}y0c/", "not message ~ /(a|b)[ab]{16}(x0c|y0c)/i"];

t.test("expressions that take minutes hold up no stop", { skip: CANNOT_SEE_PROCESSES }, async (t) => {
  for (const query of HOSTILE) {
    const clock = new TestClock();
    const service = await startTestService(t, { engine: "duckdb", clock, isAlerting: true });
    await service.call("add_project", { project: { id: "app", name: "app" } });
    const added = await service.call("add_notification", {
      notification: { project_id: "app", type: "email", name: "ops", email_addresses: ["a@b.example"] },
    });
    const alert = await service.call("add_alert", {
      alert: {
        ...{ project_id: "app", name: "hostile", query, severity: "error", operator: ">", interval: 1 },
        notification_id: added.json.id,
      },
    });
    t.equal(alert.status, 200, alert.text);
    const timestamp = new Date(clock.nowMs()).toISOString();
    const message = `x0cy0c${"abbabaab".repeat(7_000)}`;
    const events = Array.from({ length: 60 }, (_, i) => ({ timestamp, level: "info", message: `${message}${i}` }));
    t.equal((await service.call("add_events", { project_id: "app", events })).status, 204);
    await clock.advance(MINUTE_MS + LATE_MS);
    // Its time would be over if the clock went on: it is turned until the evaluation begins.
    await until("the process of the evaluation", async () => {
      const { text } = await service.send({ method: "GET", path: "/metrics" });
      if (text.includes("logservice_alerts_waiting 0")) await clock.advance(1_000);
      return engineProcesses().length === 1;
    });
    const range = { start: timestamp, stop: new Date(clock.nowMs()).toISOString() };
    const counted = service.call("get_count", { project_id: "app", query, ...range }).catch(() => {});
    await until("the process of the question", () => engineProcesses().length === 2);
    const beganMs = clock.monotonicMs();
    const stopped = service.stop();
    await until("the end of the evaluation", () => engineProcesses().length === 1);
    await clock.advance(7_000);
    await counted;
    await stopped;
    t.equal(clock.monotonicMs() - beganMs, 7_000, query);
    t.same(engineProcesses(), []);
    t.same(service.logged, []);
  }
});
