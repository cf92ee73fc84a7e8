// The policy that `tool stack policy` prints: how long it is, what it leaves open, and whether it allows what is done.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SSM } from "@aws-sdk/client-ssm";
import t from "tap";
import {
  type AccessPolicy,
  accessPolicy,
  MAX_POLICY_CHARACTERS,
  streamPolicy,
} from "../../../../cli/aws/stack/policy.ts";
import type { Config } from "../../../../schema/index.ts";
import { REGIONS, SEPARATE_REGIONS } from "../../../../schema/regions.ts";
import { HANDLERS, isAllowed, notAllowed, notAllowedOnStack } from "../../../support/access-policy.ts";
import { startAws } from "../../../support/aws/index.ts";
import { root, spawnTool, tool } from "../../../support/cli.ts";
import { appFolder, appSource, askEndpoint } from "../../../support/deployed-app.ts";
import { slow } from "../../../support/slow.ts";
import { until } from "../../../support/until.ts";

/** The longest name that tool.json takes. */
const LONGEST = "a-shop-for-everything-that-is-green-blue";

const both = (app: Parameters<typeof accessPolicy>[0]): AccessPolicy => ({
  ...accessPolicy(app),
  Statement: [...accessPolicy(app).Statement, ...streamPolicy(app).Statement],
});

t.test("each of the two is one managed policy, whatever the name and the region are", (t) => {
  t.equal(LONGEST.length, 40);
  for (const region of [...REGIONS, ...SEPARATE_REGIONS]) {
    const sizes = Array.from({ length: 40 }, (_, i) => {
      const app = { name: "x".repeat(i + 1), region, roles: [] };
      return [accessPolicy(app), streamPolicy(app)].map((one) => JSON.stringify(one).replace(/\s/g, "").length);
    }).flat();
    t.ok(Math.max(...sizes) <= MAX_POLICY_CHARACTERS, `${region}: ${Math.max(...sizes)} characters`);
  }
  t.end();
});

t.test("the partition of its region is in every resource", (t) => {
  const rows: [region: string, partition: string, hasEdge: boolean][] = [
    ["ap-southeast-5", "aws", true],
    ["us-east-1", "aws", true],
    ["cn-north-1", "aws-cn", false],
    ["us-gov-east-1", "aws-us-gov", false],
  ];
  for (const [region, partition, hasEdge] of rows) {
    const policy = both({ name: "app", region, roles: ["legacy"] });
    const resources = policy.Statement.flatMap(({ Resource }) => (Resource === "*" ? [] : Resource));
    t.same(
      resources.filter((one) => one.split(":")[1] !== partition),
      [],
      region,
    );
    for (const action of ["acm:RequestCertificate", "cloudfront:UpdateDistribution", "route53domains:RegisterDomain"]) {
      t.equal(isAllowed(policy, action), hasEdge, `${region}: ${action}`);
    }
  }
  t.end();
});

t.test("what it leaves open", (t) => {
  const policy = accessPolicy({
    name: "app",
    region: "eu-west-1",
    roles: ["legacy", "arn:aws:iam::123456789012:role/own/x"],
  });
  const families = policy.Statement.flatMap(({ Action }) => Action.filter((action) => action.includes("*")));
  t.same(
    families.filter((action) => !/^[\w-]+:(?:Get|List|Describe)\*$/.test(action)),
    ["ssm:DeleteParameter*"],
    "reading by families, writing action by action but for one pair",
  );
  const account = "123456789012";
  const rows: [action: string, resource: string, expected: boolean][] = [
    ["iam:PassRole", `arn:aws:iam::${account}:role/app-eu-west-1-function`, true],
    ["iam:PassRole", `arn:aws:iam::${account}:role/legacy`, true],
    ["iam:PassRole", `arn:aws:iam::${account}:role/own/x`, true],
    ["iam:PassRole", `arn:aws:iam::${account}:role/Administrator`, false],
    ["iam:PassRole", `arn:aws:iam::${account}:role/application`, false],
    ["iam:PutRolePolicy", `arn:aws:iam::${account}:role/legacy`, false],
    ["lambda:GetFunction", `arn:aws:lambda:eu-west-1:${account}:function:app`, true],
    ["lambda:GetFunction", `arn:aws:lambda:eu-west-1:${account}:function:app:production`, true],
    ["lambda:GetFunction", `arn:aws:lambda:eu-west-1:${account}:function:apple`, false],
    ["lambda:GetFunction", `arn:aws:lambda:us-east-1:${account}:function:app`, false],
    ["ssm:PutParameter", `arn:aws:ssm:eu-west-1:${account}:parameter/tool/app/staging/KEY`, true],
    ["ssm:GetParametersByPath", `arn:aws:ssm:eu-west-1:${account}:parameter/tool/other/`, false],
    ["s3:PutObject", `arn:aws:s3:::tool-${account}-eu-west-1/app/x.zip`, true],
    ["s3:PutObject", `arn:aws:s3:::tool-${account}-us-east-1/app/x.zip`, false],
    ["s3:GetObject", "arn:aws:s3:::secrets/key", false],
    ["logs:FilterLogEvents", `arn:aws:logs:eu-west-1:${account}:log-group:/aws/lambda/apple`, false],
    ["iam:AttachRolePolicy", `arn:aws:iam::${account}:role/app-eu-west-1-function`, false],
    ["iam:CreateUser", `arn:aws:iam::${account}:user/x`, false],
  ];
  for (const [action, resource, expected] of rows) {
    t.equal(isAllowed(policy, action, resource), expected, `${action} on ${resource}`);
  }
  t.end();
});

t.test("what the second one leaves open, which Firehose needs", async (t) => {
  const cwd = t.testdir({
    "tool.json": '{ "name": "app", "logs": { "service": "https://logs.example.com", "delivery": "firehose" } }',
  });
  const env = { CLOUD_REGION: "eu-west-1" };
  const first = await tool(["stack", "policy"], { cwd, env });
  t.equal(first.stderr, '"delivery": "firehose" needs a second policy: tool stack policy --firehose\n');
  t.same(JSON.parse(first.stdout), accessPolicy({ name: "app", region: "eu-west-1", roles: [] }));
  const { code, stdout, stderr } = await tool(["stack", "policy", "--firehose"], { cwd, env });
  t.same([code, stderr], [0, ""]);
  const policy = JSON.parse(stdout) as AccessPolicy;
  const account = "123456789012";
  const stream = (name: string) => `arn:aws:firehose:eu-west-1:${account}:deliverystream/${name}`;
  const rows: [action: string, resource: string, expected: boolean][] = [
    ["firehose:CreateDeliveryStream", stream("app-LogStream-x"), true],
    ["firehose:CreateDeliveryStream", stream("other"), false],
    ["firehose:PutRecord", stream("app-LogStream-x"), false],
    ["iam:PassRole", `arn:aws:iam::${account}:role/app-LogStreamRole-x`, true],
    ["iam:PassRole", `arn:aws:iam::${account}:role/Administrator`, false],
    ["logs:PutSubscriptionFilter", `arn:aws:logs:eu-west-1:${account}:log-group:/aws/lambda/app`, true],
    ["logs:PutSubscriptionFilter", `arn:aws:logs:eu-west-1:${account}:log-group:/aws/lambda/apple`, false],
    ["s3:DeleteBucket", "arn:aws:s3:::app-logfailures-x", true],
    ["s3:DeleteBucket", "arn:aws:s3:::app-photos", false],
    ["s3:GetObject", "arn:aws:s3:::secrets/key", false],
  ];
  for (const [action, resource, expected] of rows) t.equal(isAllowed(policy, action, resource), expected, action);
  const { Condition } = policy.Statement.find(({ Action }) => Action.includes("iam:PassRole"))!;
  t.same(Condition, {
    StringEquals: { "iam:PassedToService": ["firehose.amazonaws.com", "logs.amazonaws.com"] },
  });
  const long = streamPolicy({ name: LONGEST, region: "eu-west-1" });
  t.ok(isAllowed(long, "s3:CreateBucket", `arn:aws:s3:::${LONGEST.slice(0, 24)}-logfailures-x`), "a name that is cut");
});

t.test("the command passes the roles that tool.json names, those of stages too", async (t) => {
  const config = {
    name: "app",
    function: { role: "arn:aws:iam::123456789012:role/legacy" },
    stages: { production: { function: { role: "arn:aws:iam::123456789012:role/strict" } } },
  };
  const cwd = t.testdir({ "tool.json": JSON.stringify(config) });
  const { code, stdout } = await tool(["stack", "policy"], { cwd, env: { CLOUD_REGION: "eu-west-1" } });
  t.equal(code, 0);
  const { Resource } = JSON.parse(stdout).Statement.find(({ Sid }: { Sid: string }) => Sid === "RolesOfFunctions");
  t.same(
    Resource,
    ["*:role/app-*", "123456789012:role/legacy", "123456789012:role/strict"].map((role) => `arn:aws:iam::${role}`),
  );
});

t.test("both allow what the stack's service does for each type of our templates", (t) => {
  const app = { name: "app", region: "eu-west-1", roles: [] };
  const ofFirehose = /^AWS::(KinesisFirehose|Logs|S3)::/;
  const rows = JSON.parse(readFileSync(join(root, "test/vectors/stack-templates.json"), "utf8")) as {
    expected: { template: { Resources: Record<string, { Type: string }> } };
  }[];
  const types = new Set(
    rows.flatMap(({ expected }) => Object.values(expected.template.Resources).map(({ Type }) => Type)),
  );
  t.ok(types.size > 10);
  for (const type of types) {
    t.ok(HANDLERS[type], `${type} is known`);
    t.same(
      (HANDLERS[type] ?? []).filter(
        (action) => !isAllowed(ofFirehose.test(type) ? both(app) : accessPolicy(app), action),
      ),
      [],
      type,
    );
  }
  t.end();
});

t.test("it allows every call of every command, for an app with the longest name", slow(), async (t) => {
  const aws = await startAws(t);
  const config: Config = {
    name: LONGEST,
    function: { warm: true },
    stages: { production: { domain: "api.shop.com" } },
    dns: { "shop.com": [{ name: "shop.com", type: "MX", value: ["10 mail.shop.com"] }] },
    actions: [
      { name: "ops", type: "email", emails: ["ops@example.com"] },
      { name: "chat", type: "chat", url: "https://chat.example.com/hooks/x" },
    ],
    alerts: [{ metric: "http.5xx", statistic: "sum", threshold: 5, action: "chat" }],
  };
  const app = appFolder(aws, join(t.testdir(), "app"), {
    "tool.json": JSON.stringify(config),
    "app.js": appSource("one"),
  });
  const run = async (...argv: string[]) => {
    const outcome = await app.tool(argv);
    t.equal(outcome.code, 0, argv.join(" ")) || t.comment(outcome.stderr);
    return outcome.stdout;
  };
  const policy = JSON.parse(await run("stack", "policy"));
  await run("stack", "plan");
  const url = (await run("deploy")).trim();
  await run("stack", "apply");
  const acm = aws.state.service("acm", "us-east-1");
  for (const arn of acm.certificates.keys()) acm.issue(arn);
  await run("stack", "apply");
  await run("stack");
  await run("production");
  await askEndpoint(aws, url);
  app.write({ "app.js": appSource("two") });
  await run("deploy");
  for (const argv of [["rollback"], ["deploys"], ["url"], ["logs"], ["metrics"], ["prune", "--retain", "1"]]) {
    await run(...argv);
  }
  for (const argv of [
    ["domains", "ls"],
    ["domains", "check", "free.com"],
  ])
    await run(...argv);
  const live = spawnTool(["logs", "-f", "--live"], { cwd: app.directory, env: app.env });
  await until("the session", () => aws.journal.count("logs", "StartLiveTail") === 1);
  live.kill("SIGINT");
  await live.ended;
  // Through the bucket.
  writeFileSync(join(app.directory, "tool.json"), JSON.stringify({ ...config, function: { accelerate: true } }));
  await run("deploy");
  const { resources } = aws.state.service("cloudformation").find(LONGEST)!;
  const made = [...resources.values()].flatMap(({ type, physicalId }) => (physicalId ? [{ type, physicalId }] : []));
  t.ok(made.length > 25, `${made.length} resources`);
  t.same(notAllowedOnStack(policy, made, aws), [], "what the stack made");
  await run("stack", "delete", "--yes", "--logs");
  const calls = new Set(aws.journal.calls());
  t.ok(calls.size > 50, `${calls.size} different calls`);
  t.same(notAllowed(policy, aws.journal.entries), []);
});

t.test("both allow every call for an app with Firehose", slow(), async (t) => {
  const aws = await startAws(t);
  const logs = { service: "https://logs.example.com", delivery: "firehose" };
  const app = appFolder(aws, join(t.testdir(), "app"), {
    "tool.json": JSON.stringify({ name: LONGEST, logs }),
    "app.js": appSource("one"),
  });
  const token = { service: logs.service, project: LONGEST.replaceAll("-", "_"), token: "lgs_x", retired: [] };
  const Name = `/tool/${LONGEST}/.logs/.app`;
  await new SSM(aws.client).putParameter({ Name, Value: JSON.stringify(token), Type: "SecureString" });
  aws.journal.clear();
  const run = async (...argv: string[]) => {
    const outcome = await app.tool(argv);
    t.equal(outcome.code, 0, argv.join(" ")) || t.comment(outcome.stderr);
  };
  await run("deploy");
  await run("stack", "apply");
  const { resources } = aws.state.service("cloudformation").find(LONGEST)!;
  const made = [...resources.values()].flatMap(({ type, physicalId }) => (physicalId ? [{ type, physicalId }] : []));
  const policy = both({ name: LONGEST, region: aws.region, roles: [] });
  t.ok(made.some(({ type }) => type === "AWS::KinesisFirehose::DeliveryStream"));
  t.same(notAllowedOnStack(policy, made, aws), [], "what the stack made");
  await run("stack", "delete", "--yes", "--logs");
  t.equal(aws.journal.count("s3", "DeleteBucket"), 1);
  t.same(notAllowed(policy, aws.journal.entries), []);
});
