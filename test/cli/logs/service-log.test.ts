// The events of a log service as the command reads them: the names of levels are those of the language.
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import t from "tap";
import type { Block } from "../../../cli/logs/line-blocks.ts";
import { countInService, followService, type ServiceQuestion, searchService } from "../../../cli/logs/service-log.ts";
import { systemClock } from "../../../grammar/units/clock.ts";
import { tool } from "../../support/cli.ts";
import { startTestService } from "../../support/service.ts";
import { TestClock } from "../../support/test-clock.ts";
import { until, within } from "../../support/until.ts";

/** A question for the events of the project; a test sets the period where it counts. */
const questionOf = (url: string, token: string): ServiceQuestion => ({
  address: { url, project: "app", token, remedy: "", team: undefined },
  query: "",
  startMs: 0,
  stopMs: 0,
  limit: Number.POSITIVE_INFINITY,
  clock: systemClock,
  onDropped: () => {},
  onTrouble: () => {},
  onMissing: () => {},
});

t.test("levels are called as the language calls them, found or followed", async (t) => {
  const service = await startTestService(t);
  await service.call("add_project", { project: { id: "app", name: "app" } });
  const add = (...levels: string[]) =>
    service.call("add_events", {
      project_id: "app",
      events: levels.map((level, i) => ({
        id: `"level":"warning",${level}${i}`,
        timestamp: `2026-01-01T00:00:0${i}Z`,
        level,
        message: "m",
        fields: { level: "warning", 2: "b", 1: "a" },
      })),
    });
  await add("warn", "warning", "WARN", "fatal", "info");
  const question = {
    ...questionOf(service.running.url, service.owner),
    startMs: Date.parse("2026-01-01T00:00:00Z"),
    stopMs: Date.parse("2026-01-01T00:01:00Z"),
  };
  const stop = new AbortController();
  const levels: string[] = [];
  const take = ({ bytes, start, end }: Block) => {
    for (const line of bytes.toString("utf8", start, end).trim().split("\n")) {
      const { level, fields } = JSON.parse(line);
      t.strictSame(fields, { 1: "a", 2: "b", level: "warning" }, "a field is left as it is");
      levels.push(level);
    }
  };
  const expected = ["warn", "warn", "warn", "emergency", "info"];
  for await (const block of searchService(question, stop.signal)) take(block);
  t.strictSame(levels, expected, "found");
  for (const [query, count] of [
    ["level = warn", 3],
    ["level = fatal and message contains m", 1],
    ["nothing = here", 0],
  ] as const)
    t.equal(await countInService({ ...question, query }, stop.signal), count, query);
  levels.length = 0;
  const following = followService({ ...question, withPast: false }, stop.signal);
  void following.next().then(({ value }) => value !== undefined && take(value));
  // Nothing says when the stream is open: events are added until one comes.
  await until("an event that is followed", async () => {
    await add("warning");
    return levels.length > 0;
  });
  stop.abort();
  await following.return(undefined);
  t.equal(levels[0], "warn", "followed");
});

// The listener of fetch at its signal may be collected once the headers have come: Ctrl-C then reached no reader.
t.test("following ends with its signal, whatever was collected before", async (t) => {
  setFlagsFromString("--expose_gc");
  const collect = runInNewContext("gc") as () => void;
  const service = await startTestService(t);
  await service.call("add_project", { project: { id: "app", name: "app" } });
  const question = { ...questionOf(service.running.url, service.owner), startMs: 0, stopMs: Date.now() };
  const stop = new AbortController();
  const following = followService({ ...question, withPast: false }, stop.signal);
  let isOpen = false;
  void following.next().then(() => {
    isOpen = true;
  });
  const event = { id: "one", timestamp: "2026-01-01T00:00:00Z", level: "info", message: "m", fields: {} };
  for (let i = 0; !isOpen; i++) {
    await service.call("add_events", { project_id: "app", events: [{ ...event, id: `event-${i}` }] });
    await turn();
  }
  let ended: unknown;
  const end = async () => {
    for (;;) {
      const next = await following.next();
      if (next.done) return next;
    }
  };
  void end().then((last) => {
    ended = last;
  });
  for (let round = 0; round < 5; round++) {
    await turn();
    collect();
  }
  stop.abort();
  t.match(await until("the end", () => ended), { done: true });
});

t.test("following that is ended before the service answers is no failure", async (t) => {
  let isAsked = false;
  const silent = createServer(() => {
    isAsked = true;
  });
  await new Promise<void>((done) => silent.listen(0, "127.0.0.1", done));
  t.teardown(() => {
    silent.closeAllConnections();
    silent.close();
  });
  const { port } = silent.address() as AddressInfo;
  const question = questionOf(`http://127.0.0.1:${port}`, "lgs_any");
  const stop = new AbortController();
  const following = followService({ ...question, withPast: false }, stop.signal);
  const first = following.next();
  await until("the request", () => isAsked);
  stop.abort();
  t.match(await first, { done: true });
});

/** A service that hangs in its own way. */
async function hanging(t: { teardown(end: () => void): void }, listener: RequestListener) {
  const server = createServer(listener);
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

t.test("a service that hangs is not waited for for ever", async (t) => {
  const rows: [name: string, listener: RequestListener, passes: number[], isGivenUp: boolean][] = [
    ["no answer", () => {}, [89_000, 1_000], true],
    ["half of an answer", (_, response) => void response.write('{"events":['), [90_000], true],
    [
      "an answer in parts, each in time",
      (_, response) => {
        const parts = ['{"events":', "[],", '"stats":{}}'];
        const send = () => {
          const part = parts.shift();
          if (part === undefined) response.end();
          else response.write(part);
        };
        send();
        parting = send;
      },
      [60_000, 60_000, 60_000],
      false,
    ],
  ];
  let parting = () => {};
  for (const [name, listener, passes, isGivenUp] of rows) {
    let isAsked = false;
    const url = await hanging(t, (request, response) => {
      listener(request, response);
      isAsked = true;
    });
    const clock = new TestClock();
    const question = { ...questionOf(url, "lgs_any"), clock };
    let ended: string | undefined;
    const blocks = searchService(question, new AbortController().signal);
    const first = blocks.next().then(
      () => "answered",
      ({ message, hint }: Error & { hint?: string }) => `${message}; ${hint}`,
    );
    void first.then((end) => {
      ended = end;
    });
    await until("the request", () => isAsked);
    for (const [at, ms] of passes.entries()) {
      await until("a limit", () => clock.timers.length > 0);
      t.equal(ended, undefined, `${name}: waited for`);
      await clock.advance(ms);
      if (!isGivenUp) {
        const before = clock.timers[0];
        parting();
        if (at < passes.length - 1) await until("the next limit", () => clock.timers[0] !== before);
      }
    }
    const expected = isGivenUp
      ? `cannot read "${url}": nothing came for 90 s; it hangs or has too much to do: try again, or ask for less time with --since`
      : "answered";
    t.equal(await within("the end", first), expected, name);
    t.same(clock.timers, [], `${name}: nothing waits any more`);
  }
});

t.test("an address that is no log service", async (t) => {
  const rows: [name: string, listener: RequestListener, reason: string, isFollowed?: true][] = [
    ["a page", (_, response) => response.end("<html>"), "the answer is no JSON"],
    ["half of an answer", (_, response) => response.end('{"events":['), "the answer is no JSON"],
    [
      "a message without an end",
      (_, response) => {
        const part = Buffer.alloc(1024 * 1024, "x");
        const send = () => {
          while (!response.closed && response.write(part));
          if (!response.closed) response.once("drain", send);
        };
        send();
      },
      "a message has more than 4 MB",
      true,
    ],
  ];
  for (const [name, listener, reason, isFollowed] of rows) {
    const question = questionOf(await hanging(t, listener), "lgs_any");
    const { signal } = new AbortController();
    const blocks = isFollowed
      ? followService({ ...question, withPast: false }, signal)
      : searchService(question, signal);
    const ended = within("the end", blocks.next());
    await t.rejects(
      ended,
      {
        message: `cannot read "${question.address.url}": it does not answer as a log service: ${reason}`,
        hint: /^check the address;/,
      },
      name,
    );
  }
});

t.test("a followed service that falls silent is asked again", async (t) => {
  let streams = 0;
  const url = await hanging(t, (_, response) => {
    response.setHeader("content-type", "text/event-stream");
    response.write(": here\n\n");
    streams++;
  });
  const clock = new TestClock();
  const troubles: string[] = [];
  const question = { ...questionOf(url, "lgs_any"), clock, onTrouble: (text: string) => void troubles.push(text) };
  const stop = new AbortController();
  const following = followService({ ...question, withPast: false }, stop.signal);
  const next = following.next();
  await until("the stream", () => streams === 1 && clock.timers.length > 0);
  await until("that it falls silent", async () => {
    await clock.advance(30_000);
    return streams === 2;
  });
  t.equal(troubles[0], "nothing came from the log service for 90 s; trying again");
  stop.abort();
  t.match(await next, { done: true });
});

t.test("what a followed service left out is told with the reason", async (t) => {
  const event = { id: "one", timestamp: "2026-01-01T00:00:00Z", level: "info", message: "m", fields: {} };
  const rows = {
    null: "entries that came while there was no connection may be left out",
    1: "1 entry came too fast and was left out",
    2: "2 entries came too fast and were left out",
  };
  const server = createServer((request, response) => {
    const { searchParams } = new URL(request.url!, "http://localhost");
    response.setHeader("content-type", "text/event-stream");
    response.write(`event: dropped\ndata: {"count":${searchParams.get("project_id")!.slice(4)}}\n\n`);
    response.write(`id: one\ndata: ${JSON.stringify(event)}\n\n`);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  for (const [count, said] of Object.entries(rows)) {
    const argv = ["logs", "-f", "-n", "1", "--service", url, "--project", `app-${count}`];
    const { stdout, stderr } = await tool(argv, { env: { TOOL_LOGS_TOKEN: "lgs_any" } });
    t.match(stdout, '"message":"m"', count);
    t.equal(stderr.split("\n")[1], said, said);
  }
});

t.test("a token that goes over plain HTTP to another machine", async (t) => {
  const server = createServer((_, response) => response.writeHead(503).end());
  await new Promise<void>((done) => server.listen(0, "0.0.0.0", done));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const directory = t.testdir({ "tool.json": '{"name": "shop"}' });
  // By its spelling the address of any machine; connections to it come to this one.
  const rows: readonly (readonly [host: string, argv: readonly string[], warns: boolean])[] = [
    ["0.0.0.0", ["logs"], true],
    ["0.0.0.0", ["alerts", "export"], true],
    ["127.0.0.1", ["logs"], false],
  ];
  for (const [host, argv, warns] of rows) {
    const service = ["--service", `http://${host}:${port}`];
    const { stderr } = await tool([...argv, ...service], { cwd: directory, env: { TOOL_LOGS_TOKEN: "lgs_any" } });
    const warning = `warning: plain HTTP shows the token and the log to everybody between here and ${host}:${port}\n  write https://${host}:${port}\n`;
    t.equal(stderr.includes(warning), warns, `${host} ${argv.join(" ")}: ${stderr}`);
    t.notMatch(stderr, "lgs_any");
  }
});
