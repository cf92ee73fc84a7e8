// Killing and hanging the app, and clients that leave, through the real `tool start`: what each request gets, and that
// nothing is left behind. runtime/README.md says the same in words; slow/floods.ts has what takes more time.
import { once } from "node:events";
import { connect } from "node:net";
import t from "tap";
import { isRunning } from "../support/cli.ts";
import { startFailing, statusText } from "../support/failing-app.ts";
import { commandOf, processesWith, socketsOf } from "../support/processes.ts";
import { ask } from "../support/runtime.ts";
import { until } from "../support/until.ts";

const skip = process.platform === "linux" ? false : "needs /proc";

interface Row {
  readonly app: string;
  readonly request: string;
  /** Bytes of the request's body. */
  readonly sends?: number;
  /** The status, and whether the connection broke before the end of the body. */
  readonly gets: string;
  /** How often the app began with it; not said: once. */
  readonly runs?: number;
  /** Another app answers the next request. */
  readonly restarts?: true;
  readonly logs?: string;
}

const UPGRADE = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AA==\r\n";

const BROKE = "error app broke the connection";
const LATE = "error request timed out";

const rows: readonly Row[] = [
  { app: "killed once", request: "GET /?at=request&how=kill&once=a", gets: "200", runs: 2, restarts: true },
  { app: "killed each time", request: "GET /?at=request&how=kill", gets: "502", runs: 2, restarts: true, logs: BROKE },
  { app: "killed", request: "POST /?at=request&how=kill", gets: "502", restarts: true, logs: BROKE },
  {
    app: "killed during an upload",
    request: "PUT /?at=upload&how=kill",
    sends: 3_000_000,
    gets: "502",
    restarts: true,
    logs: BROKE,
  },
  { app: "killed after its headers", request: "GET /?at=head&how=kill", gets: "200, cut", restarts: true },
  { app: "killed in the body", request: "GET /?at=body&how=kill", gets: "200, cut", restarts: true },
  { app: "killed in a body with a length", request: "GET /?at=length&how=kill", gets: "200, cut", restarts: true },
  { app: "exits", request: "GET /?at=request&how=exit", gets: "502", restarts: true, logs: BROKE },
  { app: "throws", request: "POST /?at=request&how=throw", gets: "502", restarts: true, logs: BROKE },
  { app: "exits in the body", request: "GET /?at=body&how=exit", gets: "200, cut", restarts: true },
  { app: "resets the connection once", request: "GET /?at=request&how=reset&once=b", gets: "200", runs: 2 },
  { app: "resets it each time", request: "GET /?at=request&how=reset", gets: "502", runs: 2, logs: BROKE },
  { app: "resets it", request: "POST /?at=request&how=reset", gets: "502", logs: BROKE },
  { app: "resets it in the body", request: "GET /?at=body&how=reset", gets: "200, cut" },
  { app: "hangs", request: "GET /?at=request&how=hang", gets: "504", logs: LATE },
  { app: "hangs in its headers", request: "GET /?at=request&how=half", gets: "504", logs: LATE },
  { app: "hangs in an upload", request: "POST /?at=upload&how=hang", sends: 3_000_000, gets: "504", logs: LATE },
  { app: "is busy for longer", request: "POST /?at=request&how=busy&once=c", gets: "504", logs: LATE },
];

t.test("what a request gets where the app", { skip }, async (t) => {
  const { running, port, mark, entries, pid } = await startFailing(t);
  const runs = async (request: string) => {
    const text = (await ask(port, { path: "/runs" })).body.toString();
    return text.split("\n").filter((line) => line === request).length;
  };
  await pid();
  const before = { sockets: socketsOf(running.pid), processes: processesWith(mark).map(commandOf).sort() };

  for (const { app, request, sends, ...expected } of rows) {
    await t.test(`${app}: ${request}`, async (t) => {
      const [method = "", path = ""] = request.split(" ");
      const pidBefore = await pid();
      const countBefore = entries().length;
      const response = await ask(port, { method, path, ...(sends !== undefined && { body: Buffer.alloc(sends) }) });
      t.equal(statusText(response), expected.gets);
      t.equal((await pid()) !== pidBefore, expected.restarts === true, "another app");
      t.equal(await runs(request), expected.runs ?? 1, "runs");
      const about = entries()
        .slice(countBefore)
        .filter(({ message, fields }) => fields.path === "/" && !["request", "response"].includes(message));
      t.same(
        about.map(({ level, message }) => `${level} ${message}`),
        expected.logs === undefined ? [] : [expected.logs],
      );
    });
  }

  await until("the connections to be closed", () => socketsOf(running.pid) <= before.sockets);
  t.same(processesWith(mark).map(commandOf).sort(), before.processes, "nothing is left of the apps that went down");
});

t.test("an app killed between two requests", { skip }, async (t) => {
  const { pid } = await startFailing(t);
  for (let round = 1; round <= 5; round++) {
    const killed = await pid();
    process.kill(killed, "SIGKILL");
    t.not(await pid(), killed, `the next request is answered, ${round}`);
  }
});

t.test("an app that is stopped, and one that goes on", { skip }, async (t) => {
  const { running, port, pid, mark } = await startFailing(t);
  const stopped = await pid();
  process.kill(stopped, "SIGSTOP");
  t.equal(statusText(await ask(port, { path: "/" })), "504");
  process.kill(stopped, "SIGCONT");
  t.equal(await pid(), stopped, "the same app answers again");
  process.kill(stopped, "SIGSTOP");
  running.kill("SIGTERM");
  t.equal((await running.ended).code, 0);
  t.same(processesWith(mark).map(commandOf), [], "nor does a stopped one outlive the stop");
});

t.test("a websocket that the app closes, and whose client does not", { skip }, async (t) => {
  const { running, port, pid } = await startFailing(t);
  await pid();
  const sockets = socketsOf(running.pid);
  const client = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  t.teardown(async () => void client.destroy());
  client.write(`GET /websocket?closes HTTP/1.1\r\nHost: x\r\n${UPGRADE}\r\n`);
  let text = "";
  client.on("data", (part) => {
    text += part;
  });
  await once(client, "end");
  t.match(text, /^HTTP\/1\.1 101 .*\r\n\r\nlast words$/s);
  await until("the connections to be closed", () => socketsOf(running.pid) <= sockets);
});

for (const [app, command, message] of [
  ["never listens", "exec sleep 1000", "app did not listen on PORT in time"],
  ["exits before it listens", "exit 3", "app exited before it listened"],
] as const) {
  t.test(`an app that ${app}`, { skip }, async (t) => {
    const { port, entries } = await startFailing(t, {
      proxy: { command, listen_timeout: 1, backoff: { attempts: 1 } },
    });
    for (let i = 0; i < 2; i++) t.equal(statusText(await ask(port, { path: "/" })), "503");
    await until(`"${message}"`, () => entries().some((entry) => entry.message === message));
  });
}

t.test("an event stream and a websocket are closed with the app", { skip }, async (t) => {
  const { port, pid } = await startFailing(t);
  const killed = await pid();
  const open = [];
  for (const head of ["GET /sse HTTP/1.1\r\n", `GET /websocket HTTP/1.1\r\n${UPGRADE}`]) {
    const socket = connect(port, "127.0.0.1");
    socket.write(`${head}Host: x\r\n\r\n`);
    await once(socket, "data");
    open.push(once(socket.resume(), "close"));
  }
  process.kill(killed, "SIGKILL");
  await Promise.all(open);
  t.not(await pid(), killed);
});

t.test("clients that leave", { skip }, async (t) => {
  const { running, port, pid } = await startFailing(t, {}, 25);
  const before = await pid();
  const sockets = socketsOf(running.pid);
  const upload = "POST /?at=upload&how=hang HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n";
  const rows = [
    { name: "in its headers", bytes: "GET / HTTP/1.1\r\nHos", isHeard: 0 },
    { name: "before the answer", bytes: "GET /?at=request&how=hang HTTP/1.1\r\nHost: x\r\n\r\n", isHeard: 1 },
    { name: "in its body", bytes: `${upload}${"x".repeat(1000)}`, isHeard: 1 },
    { name: "in the answer", bytes: "GET /sse HTTP/1.1\r\nHost: x\r\n\r\n", isHeard: 1 },
    { name: "a websocket", bytes: `GET /websocket HTTP/1.1\r\nHost: x\r\n${UPGRADE}\r\n`, isHeard: 0 },
    { name: "in a long answer", bytes: `GET /bytes?n=200000000 HTTP/1.1\r\nHost: x\r\n\r\n`, isHeard: 1 },
    { name: "with a reset", bytes: "GET /?at=request&how=hang HTTP/1.1\r\nHost: x\r\n\r\n", isHeard: 1 },
  ];
  const count = async (path: string) => Number((await ask(port, { path })).body);
  let begun = await count("/begun");
  let aborted = 0;
  for (const { name, bytes, isHeard } of rows) {
    for (let i = 0; i < 5; i++) {
      const socket = connect(port, "127.0.0.1");
      socket.write(bytes);
      begun += name === "in its headers" ? 0 : 1;
      await until("the app to have begun", async () => (await count("/begun")) === begun);
      if (name === "with a reset") socket.resetAndDestroy();
      else socket.destroy();
      aborted += isHeard;
    }
    await until(`the app to hear of those who left ${name}`, async () => (await count("/aborted")) === aborted);
  }
  await until("the connections to be closed", () => socketsOf(running.pid) <= sockets);
  t.equal(await pid(), before, "the app goes on");
});

t.test("an app that leaves children behind", { skip }, async (t) => {
  const { running, port, pid, mark } = await startFailing(t);
  const child = async () => Number((await ask(port, { path: "/children" })).body);
  const own = [await child(), await child()];
  const apart = Number((await ask(port, { path: "/children?apart" })).body);
  const before = await pid();
  process.kill(before, "SIGKILL");
  t.not(await pid(), before);
  t.same(own.filter(isRunning), [], "they are gone with their app");
  own.push(await child());
  running.kill("SIGTERM");
  t.equal((await running.ended).code, 0);
  t.same(own.filter(isRunning), []);
  t.same(processesWith(mark), [apart], "only what has made a session of its own lives on, as the README says");
  process.kill(apart, "SIGKILL");
  await until("that to end", () => !isRunning(apart));
});
