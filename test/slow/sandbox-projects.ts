// From a folder to an app in the sandbox, in each language and for a static site: the examples, built by real compilers.
// Then a change, a rollback, a domain of its own and away; the log is followed while it is asked. Beside them an alert
// waits for its time.
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { root, spawnTool } from "../support/cli.ts";
import { requires } from "../support/require.ts";
import { ask, testSandbox } from "../support/sandbox.ts";
import { until } from "../support/until.ts";

t.jobs = 2;

interface Mail {
  readonly at: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

t.test("an alert sends a mail when requests fail", { buffered: true }, async (t) => {
  const sandbox = testSandbox(t);
  const app = join(t.testdir(), "app");
  mkdirSync(app);
  writeFileSync(
    join(app, "app.js"),
    `require("http").createServer((request, response) => {
      response.statusCode = request.url === "/fail" ? 500 : 200;
      response.end();
    }).listen(process.env.PORT);`,
  );
  writeFileSync(
    join(app, "tool.json"),
    JSON.stringify({
      name: "alerted",
      actions: [{ name: "people", type: "email", emails: ["people@example.com"] }],
      alerts: [{ metric: "http.5xx", statistic: "sum", threshold: 2, period: "1m", action: "people" }],
    }),
  );
  t.equal((await sandbox.tool(app, "deploy")).code, 0);
  const applied = await sandbox.tool(app, "stack", "apply", "--yes");
  t.equal(applied.code, 0, applied.stderr);
  const mails = async (): Promise<Mail[]> =>
    JSON.parse((await sandbox.tool(app, "sandbox", "mail", "--format", "json")).stdout).mails;
  const inAlarm = ({ subject }: Mail) => subject.startsWith("ALARM");
  t.same((await mails()).filter(inAlarm), []);

  const failing = until("the mail of the alarm", async () => {
    for (let i = 0; i < 3; i += 1) await sandbox.ask("alerted", "staging", "/fail");
    await sleep(5_000);
    return (await mails()).find(inAlarm);
  });
  const alarm = await failing;
  t.equal(alarm.to, "people@example.com");
  t.match(alarm.text, /alerted/);
  const text = await sandbox.tool(app, "sandbox", "mail");
  t.match(text.stdout, /^To: people@example\.com$/m);
  t.match(text.stdout, /^Subject: ALARM/m);
  t.match((await sandbox.tool(app, "metrics")).stdout, /^ {2}5xx +[1-9]/m);
});

const LANGUAGES = [
  { example: "node-server", needs: "node", path: "/api/orders/42", answers: /"id":42/ },
  { example: "static-site", needs: "node", path: "/", answers: /<html/ },
  { example: "python-server", needs: "python3", path: "/", answers: /./ },
  { example: "go-server", needs: "go", path: "/", answers: /./ },
  { example: "java-server", needs: "mvn", path: "/", answers: /./ },
] as const;

for (const { example, needs, path, answers } of LANGUAGES) {
  t.test(example, { skip: requires(needs), buffered: true }, async (t) => {
    const sandbox = testSandbox(t, { HOME: process.env.HOME ?? "", GOCACHE: join(t.testdir(), "go") });
    const app = join(t.testdir(), "app");
    cpSync(join(root, "examples", example), app, { recursive: true, filter: (from) => !from.endsWith(".tool") });
    const config = JSON.parse(readFileSync(join(app, "tool.json"), "utf8"));
    const { name } = config;
    const run = (...argv: string[]) => sandbox.tool(app, ...argv);

    const first = await run("deploy", "production", "--format", "json");
    t.equal(first.code, 0, first.stderr);
    t.match(JSON.parse(first.stdout), { stage: "production", version: "1", outcome: "created" });
    const followed = spawnTool(["-C", app, "logs", "-f", "-S", "1m"], { env: sandbox.env });
    t.teardown(() => followed.kill("SIGKILL"));
    const answer = await sandbox.ask(name, "production", path);
    t.ok(answer.status < 500, `${answer.status}: ${answer.body.slice(0, 200)}`);
    t.match(answer.body, answers);
    await until("the entry of the request", () => /"message":"response"/.test(followed.stdout()));
    followed.kill("SIGINT");
    t.equal((await followed.ended).code, 130);

    writeFileSync(
      join(app, "tool.json"),
      JSON.stringify({
        ...config,
        headers: { "/*": { "X-Second": "yes" } },
        stages: { production: { domain: "a.example.com" } },
      }),
    );
    const second = await run("deploy", "production", "--format", "json");
    t.equal(second.code, 0, second.stderr);
    t.equal(JSON.parse(second.stdout).version, "2");
    t.equal((await sandbox.ask(name, "production", path)).headers["x-second"], "yes");
    const applied = await run("stack", "apply", "--yes");
    t.equal(applied.code, 0, applied.stderr);
    const { port } = sandbox.daemon();
    t.equal((await ask(port, "a.example.com", path)).headers["x-second"], "yes", "under its domain");
    t.equal((await run("rollback", "--stage", "production")).code, 0);
    t.equal((await ask(port, "a.example.com", path)).headers["x-second"], undefined);
    t.match((await run("metrics", "--stage", "production")).stdout, /^Requests +[1-9]/m);
    t.equal((await run("stack", "delete", "--yes", "--logs")).code, 0);
    t.equal((await ask(port, "a.example.com", path)).status, 403);
  });
}
