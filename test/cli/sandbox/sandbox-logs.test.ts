// Apps that are deployed in the sandbox, and the log service of `npm start`.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import t from "tap";
import { SandboxFolder } from "../../../cli/sandbox/folder.ts";
import { isHere, joinsLogService } from "../../../cli/sandbox/log-service.ts";
import { testSandbox } from "../../support/sandbox.ts";
import { startTestService } from "../../support/service.ts";
import { slow } from "../../support/slow.ts";
import { TestClock } from "../../support/test-clock.ts";
import { until } from "../../support/until.ts";

const RANGE = { start: "2020-01-01T00:00:00Z", stop: "2050-01-01T00:00:00Z" };

t.test("a deploy joins the log service that runs here, and says where to look", async (t) => {
  const [sandbox, service] = [testSandbox(t), await startTestService(t)];
  const { url } = service.running;
  const directory = t.testdir({
    "tool.json": '{ "name": "my-app", "logs": { "service": "https://logs.example.com" } }',
    "app.js": `require("node:http").createServer((_, res) => {
      console.log("hello");
      res.end(String(process.env.TOOL_LOGS_TOKEN));
    }).listen(process.env.PORT);`,
  });
  const folder = new SandboxFolder(sandbox.folder);
  folder.writeLogService({ url, token: service.owner, pageUrl: "http://logs.localhost:5000" });
  const deployed = await sandbox.tool(directory, "deploy");
  t.equal(deployed.code, 0, deployed.stderr);
  t.match(deployed.stderr, /^its log in a browser: http:\/\/logs\.localhost:5000\/t\/[^/]+\/p\/my_app\/events$/m);
  t.notMatch(deployed.stderr, /CloudWatch/, "the service of tool.json is for the cloud");
  t.match(await sandbox.ask("my-app", "staging"), { body: "undefined" });
  const seen = async () => {
    const { json } = await service.call("search", { project_id: "my_app", ...RANGE });
    return (json.events ?? []) as { message: string; fields: { stage: string } }[];
  };
  await until("the app's entries", async () => (await seen()).some(({ message }) => message === "hello"));
  t.ok((await seen()).every(({ fields }) => fields.stage === "staging"));

  await service.call("add_events", {
    project_id: "my_app",
    events: [
      {
        id: "d",
        timestamp: new Date().toISOString(),
        level: "info",
        message: "hello",
        fields: { stage: "development" },
      },
    ],
  });
  const reading = `reading the log of my-app in ${new URL(url).host}, project my_app\n`;
  const searched = await sandbox.tool(directory, "logs", "message = hello");
  t.match(searched, { code: 0, stderr: reading });
  t.notMatch(searched.stdout, "development", "the log of tool start is another");
  const counted = await sandbox.tool(directory, "logs", "message = hello | count by stage");
  t.match(counted.stdout, /^\{"stage":"staging","count":\d+\}\n$/);
  const ofPlatform = await sandbox.tool(directory, "logs", "--cloud", "message = hello");
  t.match(ofPlatform, { code: 0, stderr: "reading the log of my-app in the sandbox\n" });
  folder.removeLogService("http://127.0.0.1:1");
  t.ok(folder.logService(), "that of another service is not removed");
  folder.removeLogService(url);
  t.equal(folder.logsOf("my-app", "staging"), undefined);
  t.match((await sandbox.tool(directory, "logs")).stderr, "in the sandbox\n", "its own log is read without a service");
});

t.test("what runs already sends to a service that is started later", async (t) => {
  const [sandbox, service] = [testSandbox(t), await startTestService(t)];
  const { url } = service.running;
  const directory = t.testdir({ "tool.json": '{ "name": "my-app" }', "index.html": "<p>hello</p>" });
  t.equal((await sandbox.tool(directory, "deploy")).code, 0);
  t.match(await sandbox.ask("my-app", "staging"), { body: /hello/ });
  new SandboxFolder(sandbox.folder).writeLogService({ url, token: service.owner, pageUrl: url });
  t.match(await sandbox.ask("my-app", "staging"), { body: /hello/ });
  await until("the response is in the service", async () => {
    const { json } = await service.call("search", { project_id: "my_app", ...RANGE, query: "status = 200" });
    return ((json.events ?? []) as object[]).length > 0;
  });
});

t.test("a stream of Firehose delivers to the service that runs here", slow(), async (t) => {
  const [sandbox, service] = [testSandbox(t), await startTestService(t)];
  const { url } = service.running;
  const logs = { service: "https://logs.example.com", project: "shop", delivery: "firehose" };
  const directory = t.testdir({
    "tool.json": JSON.stringify({ name: "my-app", logs }),
    "index.html": "<p>hello</p>",
  });
  const folder = new SandboxFolder(sandbox.folder);
  folder.writeLogService({ url, token: service.owner, pageUrl: url });
  const deployed = await sandbox.tool(directory, "deploy");
  t.equal(deployed.code, 0, deployed.stderr);
  t.match(deployed.stderr, /\/p\/my_app\/events$/m, "the project is that of the app here");
  t.same([folder.stageToken("my-app", "staging"), folder.stageToken("my-app", ".app")?.project], [undefined, "my_app"]);
  t.match(await sandbox.ask("my-app", "staging"), { body: /hello/ });
  await until("the response is in the service", async () => {
    const { json } = await service.call("search", { project_id: "my_app", ...RANGE, query: "status = 200" });
    return (json.events ?? []).some((one: { fields: object }) => "log_group" in one.fields);
  });
  t.equal((await sandbox.tool(directory, "stack", "delete", "--yes")).code, 0);
});

t.test("later deploys use the token, or make another one if the service does not know it", slow(), async (t) => {
  const [sandbox, service] = [testSandbox(t), await startTestService(t)];
  const { url } = service.running;
  const directory = t.testdir({ "tool.json": '{ "name": "my-app" }', "index.html": "<p>hello</p>" });
  const folder = new SandboxFolder(sandbox.folder);
  folder.writeLogService({ url, token: service.owner, pageUrl: url });
  t.equal((await sandbox.tool(directory, "deploy")).code, 0);
  const token = folder.stageToken("my-app", "staging");
  const again = await sandbox.tool(directory, "deploy");
  t.match(again.stderr, /^its log in a browser: /m);
  t.same(folder.stageToken("my-app", "staging"), token, "one token a stage");
  await service.call("remove_token", { token_id: token!.token });
  await sandbox.tool(directory, "deploy");
  t.not(folder.stageToken("my-app", "staging")?.token, token!.token, "one that the service does not know is made anew");

  folder.removeLogService(url);
  const without = await sandbox.tool(directory, "deploy");
  t.equal(without.code, 0, without.stderr);
  t.notMatch(without.stderr, /its log/);
});

t.test("requests wait for a service that hangs once, and it is asked again after a pause", async (t) => {
  let questions = 0;
  const server = createServer(() => void questions++).listen(0, "127.0.0.1");
  t.teardown(() => server.closeAllConnections());
  t.teardown(() => server.close());
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const folder = new SandboxFolder(t.testdir());
  folder.writeLogService({ url, token: "lgs_owner", pageUrl: url });
  const clock = new TestClock();
  const join = joinsLogService(folder, clock);
  const first = join("app", "staging");
  await until("the question", () => questions === 1);
  await clock.advance(1_000);
  t.ok(await first);
  t.ok(await join("app", "staging"), "the next one does not wait");
  await clock.advance(14_000);
  await until("the end of the attempt", () => clock.timers.length === 0);
  await clock.advance(9_999);
  await join("app", "staging");
  t.equal(questions, 1, "the pause begins with the failure");
  await clock.advance(1);
  const second = join("app", "staging");
  await until("another question", () => questions === 2);
  await clock.advance(1_000);
  await second;
});

t.test("a file that names another machine is not believed", (t) => {
  const rows = ["https://logs.example.com", "http://127.0.0.1.example.com:5000", "http://192.0.2.1"];
  for (const url of rows) t.notOk(isHere(url), url);
  for (const url of ["http://127.0.0.1:5000", "http://localhost:5000", "http://[::1]:5000"]) t.ok(isHere(url), url);
  t.end();
});
