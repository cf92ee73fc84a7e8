// An alert in the sandbox, by the clock: failing requests, a mail within the time that CloudWatch would take, and another
// one when it is over. Two minutes and more, most of it waiting.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { until } from "../support/cli.ts";
import { testSandbox } from "../support/sandbox.ts";

t.setTimeout(450_000);

interface Mail {
  readonly at: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

t.test("a mail when requests fail, and one when they no longer do", { timeout: 420_000 }, async (t) => {
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

  const failing = until(
    "the mail of the alarm",
    async () => {
      for (let i = 0; i < 3; i += 1) await sandbox.ask("alerted", "staging", "/fail");
      await sleep(5_000);
      return (await mails()).find(inAlarm);
    },
    180_000,
  );
  const alarm = await failing;
  t.equal(alarm.to, "people@example.com");
  t.match(alarm.text, /alerted/);
  const text = await sandbox.tool(app, "sandbox", "mail");
  t.match(text.stdout, /^To: people@example\.com$/m);
  t.match(text.stdout, /^Subject: ALARM/m);
  const over = await until(
    "the mail of its end",
    async () => {
      await sleep(5_000);
      return (await mails()).find(({ subject, at }) => subject.startsWith("OK") && at > alarm.at);
    },
    240_000,
  );
  t.ok(over);
  t.match((await sandbox.tool(app, "metrics")).stdout, /^ {2}5xx +[1-9]/m);
});
