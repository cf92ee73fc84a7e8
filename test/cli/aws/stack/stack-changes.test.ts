// A stack that changes, by the real command against the stand-in: what is made again, held, kept, interrupted.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { WARMER_SOURCE } from "../../../../cli/aws/stack/warmer-function.ts";
import { cleanEnv, spawnTool } from "../../../support/cli.ts";
import { askEndpoint, issueAll, openApp } from "../../../support/deployed-app.ts";
import { slow } from "../../../support/slow.ts";
import { typeInto } from "../../../support/terminal.ts";
import { until } from "../../../support/until.ts";

// Each test has a cloud of its own.
t.jobs = 3;

const MAPPED = { stages: { staging: { domain: "a.shop.com" } } };
const ZONE = { dns: { "shop.com": [{ name: "shop.com", type: "MX", value: ["10 mail.shop.com"] }] } };

t.test("what is made anew is made when it is agreed to", async (t) => {
  const { aws, app, configure } = await openApp(t, MAPPED);
  await app.tool(["stack", "apply"]);
  await issueAll(aws, app);
  const acm = aws.state.service("acm", "us-east-1");
  acm.issue(acm.operations.RequestCertificate({ DomainName: "*.shop.com" }).CertificateArn);
  configure({ stages: { staging: { domain: "b.shop.com" } } });
  const plan = await app.tool(["stack", "plan"]);
  t.match(plan.stdout, /! path b\.shop\.com\/ +AWS::ApiGateway::BasePathMapping +REPLACED\n/);
  t.match(plan.stdout, /1 to REPLACE/);
  const applied = await app.tool(["stack", "apply", "--yes"]);
  t.equal(applied.code, 0, applied.stderr);
  t.match(applied.stdout, /staging +https:\/\/b\.shop\.com\//);
});

t.test("which changes are asked about", slow(), async (t) => {
  const MX = { name: "shop.com", type: "MX", value: ["10 mail.shop.com"] };
  const TXT = { name: "shop.com", type: "TXT", value: ["x"] };
  const ALERT = { metric: "http.5xx", statistic: "sum", threshold: 5, action: "ops" };
  const OPS = { name: "ops", type: "email", emails: ["ops@example.com"] };
  const { app, configure } = await openApp(t, {});
  t.equal((await app.tool(["deploy"])).code, 0);
  const refused = (loss: string) =>
    `error: this ${loss}, and there is no terminal to confirm it\n  write --yes to agree\n`;
  const rows: [name: string, config: object, loss: string | undefined][] = [
    ["a zone and records that are new", { dns: { "shop.com": [MX, TXT] } }, undefined],
    ["a record's value", { dns: { "shop.com": [MX, { ...TXT, value: ["y"] }] } }, undefined],
    ["a record that goes", { dns: { "shop.com": [MX] } }, "removes record shop.com TXT"],
    ["a record of another type", { dns: { "shop.com": [TXT] } }, "removes record shop.com MX"],
    ["a zone that goes", {}, "removes record shop.com TXT; no longer manages zone shop.com"],
    [
      "a stage, an action and an alert that are new",
      { stages: { beta: {} }, actions: [OPS], alerts: [ALERT] },
      undefined,
    ],
    ["alert and action that go", { stages: { beta: {} } }, undefined],
    ["a stage that goes", {}, "removes stage of the gateway (beta)"],
    ["warming that is new", { function: { warm: true } }, undefined],
    ["warming that goes", {}, undefined],
  ];
  for (const [name, config, loss] of rows) {
    configure(config);
    const first = await app.tool(["stack", "apply"]);
    if (loss === undefined) {
      t.equal(first.code, 0, name) || t.comment(first.stderr);
      continue;
    }
    t.same([first.code, first.stderr.endsWith(refused(loss))], [2, true], name) || t.comment(first.stderr);
    t.equal((await app.tool(["stack", "apply", "--yes"])).code, 0, `${name}, with --yes`);
  }
});

t.test("a stage keeps its old domain until the certificate of the new one is issued", slow(), async (t) => {
  const { aws, app, configure } = await openApp(t, { stages: { staging: { domain: "a.shop.com", path: "/v1" } } });
  await app.tool(["stack", "apply"]);
  await issueAll(aws, app);
  configure({ stages: { staging: { domain: "b.shop.com" } } });
  // The zone is ours, and a record proves the domain within minutes.
  aws.controls.clock.setSpeed(5);
  const pending = await app.tool(["stack", "apply"]);
  t.equal(pending.code, 0, pending.stderr);
  t.match(pending.stdout, /staging +https:\/\/a\.shop\.com\/v1\/\n/);
  t.match(pending.stdout, /b\.shop\.com: pending; the validation record is in the domain's zone/);
  aws.controls.clock.setSpeed(500);
  await issueAll(aws, app);
  const refused = await app.tool(["stack", "apply"]);
  t.equal(refused.code, 2, "moving a stage to another domain makes its mapping anew");
  const moved = await app.tool(["stack", "apply", "--yes"]);
  t.match(moved.stdout, /staging +https:\/\/b\.shop\.com\/\n/);
  t.notMatch(moved.stdout, "a.shop.com");
});

t.test("a template that is too long for a call goes through the bucket, and goes with the app", async (t) => {
  const records = Array.from({ length: 120 }, (_, i) => ({
    name: `host-${i}.shop.com`,
    type: "TXT",
    value: ["x".repeat(200)],
  }));
  const { aws, app } = await openApp(t, { dns: { "shop.com": records } });
  const applied = await app.tool(["stack", "apply"]);
  t.equal(applied.code, 0, applied.stderr);
  t.match(applied.stderr, /✓ record host-119\.shop\.com TXT created/);
  t.equal((await app.tool(["stack", "plan"])).stdout, "nothing to do: the stack matches tool.json\n");
  const bucket = aws.state.service("s3").buckets.get(`tool-${aws.accountId}-eu-west-1`)!;
  t.match([...bucket.objects.keys()], [/^app\/\w{64}\.json$/]);
  const gone = await app.tool(["stack", "delete", "--yes"]);
  t.equal(gone.code, 0, gone.stderr);
  t.same([...bucket.objects.keys()], []);
});

t.test("what would be lost is agreed to by the app's name on a terminal", slow(), async (t) => {
  const { aws, app, configure } = await openApp(t, MAPPED);
  await app.tool(["stack", "apply"]);
  await issueAll(aws, app);
  const acm = aws.state.service("acm", "us-east-1");
  acm.issue(acm.operations.RequestCertificate({ DomainName: "b.shop.com" }).CertificateArn);
  configure({ stages: { staging: { domain: "b.shop.com" } } });
  const type = (argv: string[], answer: string) =>
    typeInto(t, argv, [["Type app to continue:", answer]], { cwd: app.directory, env: aws.env });
  const stack = () => aws.state.service("cloudformation").find("app");
  const kept = await type(["stack", "apply"], "yes");
  t.match(
    [kept.code, kept.text],
    [
      1,
      /! path b\.shop\.com\/ .*REPLACED[\s\S]*This removes [^;]*domain a\.shop\.com[^;]*; replaces b\.shop\.com\/ \(staging\)\.[\s\S]*nothing was changed/,
    ],
  );
  t.notMatch(stack()!.desired.body, "b.shop.com");
  const made = await type(["stack", "apply"], "app");
  t.match([made.code, made.text], [0, /staging +https:\/\/b\.shop\.com\//]);

  aws.state.service("logs").append("/aws/lambda/app", "one", [{ timestamp: Date.now(), message: "x" }]);
  const held = await type(["stack", "delete"], "ap");
  t.match([held.code, held.text], [1, /stack app\r?\n[\s\S]*zone shop\.com\r?\n[\s\S]*nothing was removed/]);
  t.match(
    held.text,
    /zone shop\.com\r?\nand leaves:\r?\n {2}log group \/aws\/lambda\/app: tool stack delete --logs removes it\r?\nType app/,
  );
  const withLogs = await type(["stack", "delete", "--logs"], "ap");
  t.match(withLogs.text, /zone shop\.com\r?\n {2}log group \/aws\/lambda\/app\r?\nType app/);
  t.equal(stack()?.status, "UPDATE_COMPLETE");
  const gone = await type(["stack", "delete"], "app");
  t.match([gone.code, gone.text], [0, /left: log group \/aws\/lambda\/app: tool stack delete --logs removes it/]);
  t.equal(stack(), undefined);
  const rest = await typeInto(t, ["stack", "delete"], [], { cwd: app.directory, env: aws.env });
  t.match(
    [rest.code, rest.text],
    [0, /^This stays in eu-west-1:\r?\n {2}log group \/aws\/lambda\/app: tool stack delete --logs removes it\r?\n$/],
    "with nothing to remove there is nothing to agree to",
  );
  const last = await type(["stack", "delete", "--logs"], "app");
  t.match([last.code, last.text], [0, /nothing of app is left in eu-west-1/]);
});

t.test("the warmer calls the stage as often as containers shall be warm", async (t) => {
  const { aws, app } = await openApp(t, { function: { warm: true, warm_count: 3 } });
  const deployed = await app.tool(["deploy"]);
  t.equal(deployed.code, 0, deployed.stderr);
  const { resources } = aws.state.service("cloudformation").find("app")!;
  const schedule = resources.get("WarmingStaging")!.properties as {
    Target: { Input: string };
    ScheduleExpression: string;
  };
  t.equal(schedule.ScheduleExpression, "rate(15 minutes)");
  aws.journal.clear();
  // As the platform runs it, with the event of the schedule and the SDK beside it.
  const folder = join(app.directory, "..", "warmer");
  mkdirSync(folder);
  writeFileSync(join(folder, "package.json"), "{}");
  writeFileSync(join(folder, "index.js"), WARMER_SOURCE);
  writeFileSync(
    join(folder, "run.js"),
    `require("./index.js").handler(${schedule.Target.Input}).then((answer) => console.log(JSON.stringify(answer)));`,
  );
  const child = spawn(process.execPath, [join(folder, "run.js")], {
    env: cleanEnv({
      FUNCTION: "app",
      AWS_REGION: aws.region,
      AWS_ENDPOINT_URL: aws.endpoint,
      AWS_ACCESS_KEY_ID: aws.client.credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: aws.client.credentials.secretAccessKey,
    }),
  });
  let stdout = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  const [code] = await once(child, "close");
  t.same([code, stdout], [0, '{"warm":3}\n']);
  const calls = aws.journal.entries.filter(({ operation }) => operation === "Invoke");
  t.equal(calls.length, 3);
  for (const { input, outcome } of calls)
    t.match([input, outcome], [{ FunctionName: "app", Qualifier: "staging" }, "ok"]);
});

t.test("zones with records of others stay, as do logs that nobody asked to remove", slow(), async (t) => {
  const { aws, app } = await openApp(t, ZONE);
  const deployed = await app.tool(["deploy"]);
  t.match(await askEndpoint(aws, deployed.stdout.trim()), { status: 200 });
  t.equal((await app.tool(["stack", "apply"])).code, 0);
  const route53 = aws.state.service("route53");
  const [zone] = (route53.operations.ListHostedZones() as { HostedZones: { Id: string }[] }).HostedZones;
  const record = (Action: "UPSERT" | "DELETE") =>
    route53.operations.ChangeResourceRecordSets({
      HostedZoneId: zone!.Id,
      ChangeBatch: {
        Changes: [
          {
            Action,
            ResourceRecordSet: {
              Name: "www.shop.com",
              Type: "CNAME",
              TTL: 60,
              ResourceRecords: [{ Value: "x.example" }],
            },
          },
        ],
      },
    });
  record("UPSERT");
  const gone = await app.tool(["stack", "delete", "--yes"]);
  t.equal(gone.code, 0, gone.stderr);
  t.match(gone.stdout, /^left: zone shop\.com: it holds records that are not ours: www\.shop\.com CNAME$/m);
  t.match(gone.stdout, /^left: log group \/aws\/lambda\/app: tool stack delete --logs removes it$/m);
  t.match(gone.stdout, /^removed: stack app, function app, role app-eu-west-1-function$/m);
  record("DELETE");
  const rest = await app.tool(["stack", "delete", "--yes", "--logs"]);
  t.equal(rest.stdout, "removed: zone shop.com, log group /aws/lambda/app\n", "a zone is known by its tag");
});

t.test("an interrupted apply leaves the stack working, and the next run waits for it", async (t) => {
  const { aws, app, configure } = await openApp(t, {}, { clock: { speed: 20 } });
  aws.controls.clock.setSpeed(500);
  t.equal((await app.tool(["stack", "apply"])).code, 0);
  configure({ dns: { "shop.com": [] } });
  aws.controls.clock.setSpeed(2);
  const running = spawnTool(["stack", "apply"], { cwd: app.directory, env: aws.env });
  await until(
    "the zone to be under way",
    () => aws.state.service("cloudformation").find("app")?.status === "UPDATE_IN_PROGRESS",
  );
  // It is under way as long as the rest takes.
  aws.controls.clock.setSpeed(0);
  await until("a look at the events", () => aws.journal.count("cloudformation", "DescribeStackEvents") > 8);
  running.kill("SIGINT");
  const interrupted = await running.ended;
  t.equal(interrupted.code, 130, interrupted.stderr);
  t.match(interrupted.stderr, /interrupted: the stack operation continues; tool stack status shows its progress\n$/);
  const status = await app.tool(["stack"]);
  t.match(status.stdout, /^app in eu-west-1: update in progress\n/);
  const second = app.tool(["stack", "apply"]);
  await until("the second run to look", () => aws.journal.calls().at(-1) === "cloudformation.DescribeStackEvents");
  aws.controls.clock.setSpeed(500);
  const { code, stdout, stderr } = await second;
  t.equal(code, 0, stderr);
  t.match(stderr, /another run works on the stack \(UPDATE_IN_PROGRESS\): waiting until it is done\n/);
  t.equal(stdout, "nothing to do: the stack matches tool.json\n");
});
