// Entries of a function on their way to a log service: the real bundle in a real process.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import t, { type Test } from "tap";
import { gatewayEventOf } from "../../../cli/sandbox/function/events.ts";
import type { Entry } from "../../../grammar/entry.ts";
import { isEntryId } from "../../../grammar/entry-id.ts";
import { loadDeployment } from "../../../runtime/lambda/deployment.ts";
import { stopInTime } from "../../../runtime/lambda/stop.ts";
import { entriesIn } from "../../support/cli.ts";
import { patientClock, runningClock } from "../../support/clock-at.ts";
import { makeDeployment } from "../../support/delivery/processes.ts";
import { ask, checkedConfig, commandOf } from "../../support/runtime.ts";
import { bundle, type Deployment, deploy } from "../../support/runtime-api/deployed.ts";
import { until } from "../../support/until.ts";

const skip = process.platform === "linux" ? false : "needs /proc";

interface Request {
  readonly path: string | undefined;
  readonly headers: IncomingMessage["headers"];
  readonly entries: readonly Entry[];
  /** Counts connections. */
  readonly connection: number;
}

/** A log service that takes everything. */
async function startService(t: Test) {
  const requests: Request[] = [];
  let connections = 0;
  const numbers = new WeakMap<object, number>();
  const server = createServer(async (req, res) => {
    const parts: Buffer[] = [];
    for await (const part of req) parts.push(part as Buffer);
    const lines = gunzipSync(Buffer.concat(parts)).toString().split("\n");
    const entries = lines.map((line) => JSON.parse(line) as Entry);
    requests.push({ path: req.url, headers: req.headers, entries, connection: numbers.get(req.socket)! });
    res.setHeader("Content-Type", "application/json").end(JSON.stringify({ accepted: lines.length, errors: [] }));
  });
  server.on("connection", (socket) => numbers.set(socket, ++connections));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    requests,
    entries: () => requests.flatMap(({ entries }) => entries),
    url: `http://127.0.0.1:${port}/ingest/shop`,
  };
}

async function deployed(t: Test, app: string, config = {}, deployment: Deployment = {}) {
  const service = await startService(t);
  const env = { TOOL_LOGS_URL: service.url, TOOL_LOGS_TOKEN: "lgs_secret" };
  return { service, function: await deploy(t, { app, config }, { clock: runningClock, ...deployment, env }) };
}

const ids = (entries: readonly Entry[]) => entries.map(({ id }) => id);

t.test("entries are sent over a connection that is kept, and have one id there and on stdout", async (t) => {
  const { service, function: app } = await deployed(t, "echo/server.mjs", {}, { freezes: true });
  for (let i = 0; i < 2; i++) await ask(app.port, { path: `/${i}` });
  await app.function.idle();
  // Stopped: they wait for the next event, or for the end.
  await app.function.shutDown();
  const [first] = service.requests;
  t.equal(first!.path, "/ingest/shop");
  t.match(first!.headers, {
    authorization: "Bearer lgs_secret",
    "content-encoding": "gzip",
    "content-type": "application/x-ndjson",
    "idempotency-key": /^[0-9a-f]{16}\/1$/,
  });
  t.equal(new Set(service.requests.map(({ headers }) => headers["idempotency-key"])).size, service.requests.length);
  t.equal(new Set(service.requests.map(({ connection }) => connection)).size, 1, "one connection");
  t.same(service.entries(), app.entries(), "the same, in the same order");
  t.ok(ids(service.entries()).every(isEntryId));
  t.equal(new Set(ids(service.entries())).size, service.entries().length);
});

// As the process does at SIGTERM, without the platform's limit: a busy machine does not get far within it.
t.test("what an app writes while it stops is sent, too", async (t) => {
  const service = await startService(t);
  const directory = makeDeployment(t, { printsAll: true });
  const project = { app: "processes/drains.mjs" };
  const deployment = { config: checkedConfig(project), stage: "production", command: commandOf(project) };
  writeFileSync(join(directory, ".tool/deployment.json"), JSON.stringify(deployment));
  let printed = "";
  const clock = { ...patientClock, monotonicMs: () => 0 };
  const { application, sender } = await loadDeployment({
    directory,
    env: { PATH: process.env.PATH, TOOL_LOGS_URL: service.url, TOOL_LOGS_TOKEN: "lgs_secret" },
    clock,
    print: (text) => {
      printed += text;
    },
  });
  const { supervisor, entries } = application;
  supervisor!.start();
  await supervisor!.firstUpstream(new AbortController().signal);
  await stopInTime({ clock, supervisor, entries, sender });
  t.strictSame(
    service.entries().map(({ message }) => message),
    ["app listening", "draining", "drained"],
  );
  t.same(service.entries(), entriesIn(printed));
});

t.test("without CloudWatch, what is delivered is not printed", async (t) => {
  const { service, function: app } = await deployed(t, "echo/server.mjs", { logs: { cloudwatch: false } });
  await ask(app.port, { path: "/" });
  await app.function.idle();
  await app.function.shutDown();
  t.ok(service.entries().some(({ message }) => message === "response"));
  t.same(app.entries(), []);
});

t.test("with Firehose nothing is sent, and all is printed with ids, whatever cloudwatch says", async (t) => {
  const named = { delivery: "firehose", service: "https://logs.example.com" } as const;
  for (const logs of [named, { ...named, cloudwatch: false }]) {
    const { service, function: app } = await deployed(t, "echo/server.mjs", { logs });
    await ask(app.port, { path: "/" });
    await app.function.idle();
    await app.function.shutDown();
    t.same(service.entries(), []);
    const printed = app.entries();
    t.ok(printed.some(({ message }) => message === "response"));
    t.same(new Set(printed.map(({ id }) => isEntryId(id))), new Set([true]));
  }
});

t.test("without a service in tool.json there is no stream, so that Firehose changes nothing", async (t) => {
  for (const logs of [{ delivery: "firehose" }, { delivery: "firehose", cloudwatch: false }] as const) {
    const { service, function: app } = await deployed(t, "echo/server.mjs", { logs });
    await ask(app.port, { path: "/" });
    await app.function.idle();
    await app.function.shutDown();
    t.ok(service.entries().some(({ message }) => message === "response"));
  }
});

t.test("without CloudWatch, a process that ends by itself prints what waits", async (t) => {
  const rows: readonly (readonly [title: string, fail: (res: ServerResponse) => void])[] = [
    ["the connection to the platform is cut", (res) => void res.socket!.destroy()],
    ["the platform refuses", (res) => void res.writeHead(500).end("{}")],
  ];
  for (const [title, fail] of rows) {
    const service = await startService(t);
    let questions = 0;
    const platform = createServer((req, res) => {
      if (!req.url!.endsWith("/invocation/next")) return void req.resume().on("end", () => res.writeHead(202).end());
      // Entries of the second event wait for others, if it came soon.
      if (++questions > 2) return fail(res);
      const request = { method: "GET", rawHeaders: ["Host", "x"], body: Buffer.alloc(0), ip: "192.0.2.1" };
      const event = gatewayEventOf(
        "http",
        { ...request, target: `/?r${questions}` },
        { stage: "$default", domainName: "x" },
      );
      res.writeHead(200, { "Lambda-Runtime-Aws-Request-Id": `${questions}` }).end(JSON.stringify(event));
    });
    await new Promise<void>((resolve) => platform.listen(0, "127.0.0.1", resolve));
    t.teardown(() => {
      platform.closeAllConnections();
      platform.close();
    });
    const child = spawn(bundle, [], {
      env: {
        PATH: process.env.PATH,
        LAMBDA_TASK_ROOT: makeDeployment(t, { printsAll: false }),
        AWS_LAMBDA_RUNTIME_API: `127.0.0.1:${(platform.address() as AddressInfo).port}`,
        TOOL_RESPONSE_MODE: "buffered",
        TOOL_LOGS_URL: service.url,
        TOOL_LOGS_TOKEN: "lgs_secret",
      },
      stdio: ["ignore", "pipe", "ignore"],
    });
    let printed = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      printed += text;
    });
    await once(child, "close");
    t.equal(child.exitCode, 1, title);
    const responses = [...service.entries(), ...entriesIn(printed)].filter(({ message }) => message === "response");
    t.same(new Set(responses.map(({ fields }) => fields.query)), new Set(["r1", "r2"]), `${title}: each is somewhere`);
  }
});

t.test(
  "the file limits its own memory when it is executed, whatever its path, and passes its arguments on",
  { skip },
  async (t) => {
    const directory = makeDeployment(t, { printsAll: true });
    for (const name of ["bootstrap.cjs", "it's a $HOME.cjs"]) {
      const platform = createServer((req) => void paths.add(req.url!));
      const paths = new Set<string>();
      await new Promise<void>((resolve) => platform.listen(0, "127.0.0.1", resolve));
      const path = join(directory, name);
      copyFileSync(bundle, path);
      const child = spawn(path, ["/var/lang/bin/node", "a b"], {
        env: {
          PATH: process.env.PATH,
          // An app's own limit is not the runtime's.
          NODE_OPTIONS: "--max-semi-space-size=64",
          LAMBDA_TASK_ROOT: directory,
          AWS_LAMBDA_RUNTIME_API: `127.0.0.1:${(platform.address() as AddressInfo).port}`,
        },
        stdio: "ignore",
      });
      t.teardown(() => {
        child.kill("SIGKILL");
        platform.closeAllConnections();
        platform.close();
      });
      await until("it runs", () => paths.size > 0);
      const words = readFileSync(`/proc/${child.pid}/cmdline`, "utf8").split("\0").slice(0, -1);
      t.same(words, ["node", "--max-semi-space-size=2", path, "/var/lang/bin/node", "a b"], name);
    }
  },
);
