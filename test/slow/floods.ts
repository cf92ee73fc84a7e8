// Floods through the real `tool start`: of an app's output, of answers that nobody reads, of clients. Everybody else is
// answered, memory stays bounded, and nothing is left behind.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { get, Agent as HttpAgent } from "node:http";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import t from "tap";
import { isRunning } from "../support/cli.ts";
import { startFailing, statusText } from "../support/failing-app.ts";
import { commandOf, descriptorsOf, processesWith, residentBytes, socketsOf } from "../support/processes.ts";
import { ask } from "../support/runtime.ts";
import { unchanging } from "../support/unchanging.ts";
import { until } from "../support/until.ts";

const MB = 1_000_000;
const skip = process.platform === "linux" ? false : "needs /proc";

t.test("what an app floods", { skip }, async (t) => {
  const { running, port, entries } = await startFailing(t, {}, 20);
  const flood = (query: string) => ask(port, { path: `/flood?${query}&bytes=${64 * MB}` });
  for (const query of ["to=stdout", "to=stderr", "to=stdout&lines=400", "to=stderr&lines=400"]) {
    const written = flood(query);
    t.equal(statusText(await ask(port, { path: "/" })), "200", `${query}: others are answered`);
    t.equal((await written).body.toString(), "written");
    const most = residentBytes(running.pid, "most") / MB;
    t.ok(most < 400, `${query}: at most ${most.toFixed(0)} MB of memory`);
  }
  t.equal(
    entries().some(({ message }) => message.length > 1024 * 1024),
    false,
    "no entry is longer than 1 MB",
  );
});

t.test("entries that nobody reads", { skip }, async (t) => {
  const { running, port, mark, directory } = await startFailing(t, {}, 20);
  running.child.stdout!.pause();
  const most: number[] = [];
  for (let i = 0; i < 3; i++) {
    t.equal((await ask(port, { path: `/flood?to=stdout&lines=10&bytes=${64 * MB}` })).body.toString(), "written");
    most.push(residentBytes(running.pid, "most") / MB);
  }
  running.child.stdout!.resume();
  await until("the note on what was not shown", () => running.stdout().includes("entries not shown"));
  running.child.stdout!.pause();
  t.equal((await ask(port, { path: `/flood?to=stdout&lines=10&bytes=${64 * MB}` })).status, 200);
  t.ok(most[2]! < 400, `at most ${most.map((bytes) => bytes.toFixed(0)).join(", ")} MB of memory`);
  running.kill("SIGTERM");
  await until("the end", () => !isRunning(running.pid));
  t.same(processesWith(mark).map(commandOf), []);
  running.child.stdout!.resume();
  t.equal((await running.ended).code, 0);
  t.match(running.stderr(), /^fails is at .*\n$/, "no warning of the engine's own");
  const log = readFileSync(join(directory, ".tool/development.ndjson"), "utf8");
  t.match(log, /"path":"\/flood".*"status":200/, "the log has the requests that were not shown");
});

t.test("a client that does not read", { skip }, async (t) => {
  const { running, port } = await startFailing(t, {}, 20);
  const textOf = async (path: string) => (await ask(port, { path })).body.toString();
  const lazy = Array.from({ length: 10 }, () => connect(port, "127.0.0.1").pause());
  for (const socket of lazy) socket.write(`GET /bytes?n=${200 * MB} HTTP/1.1\r\nHost: x\r\n\r\n`);
  await until("the app to have all requests", async () => (await textOf("/begun")) === "10");
  const written = Number(await unchanging("the bytes that the app could write", () => textOf("/written"))) / MB;
  t.ok(written < 300, `2 GB that nobody reads: the app is held after ${written.toFixed(0)} MB`);
  const most = residentBytes(running.pid, "most") / MB;
  t.ok(most < 300, `2 GB that nobody reads: at most ${most.toFixed(0)} MB of memory`);
  for (const socket of lazy) socket.destroy();
  await until("the app to hear of it", async () => (await textOf("/aborted")) === "10");
  t.pass();
});

t.test("200 clients at once", { skip }, async (t) => {
  // With a second, a busy machine's last answers come too late.
  const { running, port, pid, entries } = await startFailing(t, {}, 20);
  await pid();
  const sockets = socketsOf(running.pid);
  t.same(await crowd(port, 200, 5), { "200": 1000 });
  t.equal(entries().filter(({ level }) => level === "error").length, 0);
  await until("the connections to be closed", () => socketsOf(running.pid) <= sockets);
});

t.test("200 clients at once where the app takes ten connections", { skip }, async (t) => {
  const { port, pid } = await startFailing(t, { environment: { MAX_CONNECTIONS: "10" } }, 20);
  await pid();
  const answers = await crowd(port, 200, 5, true);
  // A request that such an app turns away, it turns away twice where the request may run twice.
  t.same(
    Object.keys(answers).filter((answer) => !["200", "502"].includes(answer)),
    [],
    JSON.stringify(answers),
  );
  t.equal(answers["200"], 1000, `every client that asks again is answered: ${JSON.stringify(answers)}`);
  t.equal(statusText(await ask(port, { path: "/" })), "200");
});

t.test("200 clients at once where the tool may open 120 files", { skip }, async (t) => {
  const { running, port, pid } = await startFailing(t, {}, 20, 120);
  await pid();
  const files = descriptorsOf(running.pid).length;
  const answers = await crowd(port, 200, 5, true);
  const other = Object.keys(answers).filter((answer) => !["200", "503", "ECONNRESET"].includes(answer));
  t.same(other, [], JSON.stringify(answers));
  t.equal(answers["200"], 1000, `every client that asks again is answered: ${JSON.stringify(answers)}`);
  await until("the connections to be closed", () => descriptorsOf(running.pid).length <= files);
  t.equal(statusText(await ask(port, { path: "/" })), "200");
});

t.test("clients that hold every file", { skip }, async (t) => {
  const { running, port, pid, entries } = await startFailing(t, {}, 20, 120);
  await pid();
  const opened = async () => {
    const socket = connect(port, "127.0.0.1").on("error", () => {});
    await once(socket, "connect");
    return socket;
  };
  const sent = async (socket: Socket, path: string) => {
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
    const [head] = (await once(socket, "data")) as [Buffer];
    return head.toString("latin1");
  };
  const held: Socket[] = [];
  while (held.length < 70) held.push(await opened());
  await until("the connections to be held", () => socketsOf(running.pid) > held.length);
  // Each that the app answers at length takes a connection to the app, too.
  let refused: Socket | undefined;
  let answer = "";
  for (const socket of held) {
    answer = await sent(socket, `/bytes?n=${200 * MB}`);
    socket.pause();
    refused = socket;
    if (!answer.startsWith("HTTP/1.1 200")) break;
  }
  refused!.resume();
  const [head, body] = answer.split("\r\n\r\n");
  t.match(head, /^HTTP\/1.1 503 /);
  t.match(head, /^Connection: close\r$/m);
  t.match(body, /too many connections are open: raise the limit/);
  const isEntry = ({ message }: { message: string }) => message.startsWith("request not answered, no file is left");
  await until("the entry", () => entries().some(isEntry));
  const entry = entries().find(isEntry);
  t.match(entry?.fields.reason, /EMFILE/);
  t.equal(
    entries().filter(({ level, message }) => level === "error" && message.startsWith("app ")).length,
    0,
    "the app is not said to fail",
  );
  await until("the connection to be closed", () => refused!.closed);
  // Each one that is refused meanwhile is closed, too.
  let last = held.length;
  await until("its file to be there for the next one", async () =>
    (await sent(held[--last]!, "/")).startsWith("HTTP/1.1 200"),
  );
  for (const socket of held) socket.destroy();
});

/**
 * How often each answer, or error, came, when `clients` send `each` requests, all at once; where `repeats`, each as often as
 * it takes until it is answered with 200.
 */
async function crowd(port: number, clients: number, each: number, repeats = false): Promise<Record<string, number>> {
  const answers: Record<string, number> = {};
  const agent = new HttpAgent({ keepAlive: true, maxSockets: clients });
  const one = () =>
    new Promise<string>((resolve) => {
      get({ port, agent }, (response) => {
        response
          .resume()
          .once("end", () => resolve(String(response.statusCode)))
          .once("error", () => resolve("cut"));
      }).on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    });
  await Promise.all(
    Array.from({ length: clients }, async () => {
      for (let i = 0; i < each; ) {
        const answer = await one();
        answers[answer] = (answers[answer] ?? 0) + 1;
        if (!repeats || answer === "200") i++;
      }
    }),
  );
  agent.destroy();
  return answers;
}
