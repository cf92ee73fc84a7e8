// The stack by the real command, against the stand-in of the cloud: what is shown, what is made, what is left.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv } from "ajv";
import t from "tap";
import { renderPlan, renderStatus, rotationText } from "../../../../cli/output/stack-text.ts";
import type { StackChange, StackPlan, StackStatus } from "../../../../cli/platform/stack.ts";
import { notAllowed } from "../../../support/access-policy.ts";
import { root } from "../../../support/cli.ts";
import { askEndpoint, openApp } from "../../../support/deployed-app.ts";
import { slow } from "../../../support/slow.ts";

const ajv = new Ajv({ allErrors: true, allowUnionTypes: true });

/** Parses the output of a command with --format json, and holds it against the schema of that command. */
function parse(name: string, text: string) {
  const schema = JSON.parse(readFileSync(join(root, `cli/output/schemas/${name}.schema.json`), "utf8"));
  if (!ajv.validate(schema, JSON.parse(text))) throw new Error(`${name}: ${ajv.errorsText()} in ${text}`);
  return JSON.parse(text);
}

const OPS = { name: "ops", type: "email", emails: ["ops@example.com"] };
const CHAT = { name: "chat", type: "chat", url: "https://chat.example.com/hooks/s3cret" };
const ALERT = { metric: "http.5xx", statistic: "sum", threshold: 5, action: "ops" };

t.test("from the first deploy to a domain, and back to nothing", slow(), async (t) => {
  const { aws, app, configure } = await openApp(t, {});
  const run = async (...argv: string[]) => {
    const outcome = await app.tool(argv);
    t.equal(outcome.code, 0, `tool ${argv.join(" ")}: ${outcome.stderr}`);
    t.notMatch(outcome.stdout + outcome.stderr, "s3cret", "no secret in any output");
    return outcome;
  };
  const json = async (name: string, ...argv: string[]) => parse(name, (await run(...argv, "--format", "json")).stdout);

  t.equal((await run("stack")).stdout, "app has no stack in eu-west-1: the first tool deploy makes it\n");
  t.same(await json("stack-status", "stack"), { stack: null });
  t.match(await json("stack-plan", "stack", "plan"), { isNew: true, certificates: [] });
  t.equal((await run("stack", "delete", "--yes")).stdout, "there is nothing of app in eu-west-1\n");

  await run("deploy");
  const nothing = "nothing to do: the stack matches tool.json\n";
  t.same(await run("stack", "plan"), { code: 0, signal: null, stdout: nothing, stderr: "" });
  t.equal((await run("stack", "apply")).stdout, nothing);
  t.same(await json("stack-apply", "stack", "apply"), {
    outcome: "unchanged",
    plan: { name: "app", region: "eu-west-1", isNew: false, changes: [], certificates: [] },
    status: (await json("stack-status", "stack", "status")).stack,
    logs: null,
  });
  await run("deploy", "production");
  t.equal((await run("stack", "plan")).stdout, nothing, "a default stage comes with its first deploy");

  configure({
    stages: { beta: {}, production: { domain: "api.shop.com", path: "/v1", function: { warm: true, warm_count: 3 } } },
    dns: { "shop.com": [{ name: "shop.com", type: "MX", value: ["10 mail.shop.com"] }] },
    actions: [OPS, CHAT],
    alerts: [ALERT],
  });
  const planned = await json("stack-plan", "stack", "plan");
  const changes = planned.changes.map((one: { action: string; stage?: string; about: string }) =>
    [one.action, one.stage ?? "app", one.about].join(" "),
  );
  t.same(changes, [
    "add app role of warming",
    "add app function of warming",
    "add app role of the schedules of warming",
    "add app zone shop.com",
    "add app record shop.com MX",
    "add app action ops",
    "add app ops@example.com of action ops",
    "add app action chat",
    "add app role of action chat",
    "add app function of action chat",
    "add app permission of action chat",
    "add app chat of action chat",
    "add staging alert http.5xx sum > 5",
    "add production warming of 3 containers every 15m",
    "add production alert http.5xx sum > 5",
    "add beta deployment of the gateway",
    "add beta stage of the gateway",
    "add beta alert http.5xx sum > 5",
  ]);
  t.match(planned.certificates, [{ domain: "api.shop.com", state: "missing" }]);
  t.equal(aws.journal.count("acm", "RequestCertificate"), 0, "a plan requests nothing");
  t.match((await app.tool(["beta"])).stderr, /the stage beta does not exist yet/);

  const acm = aws.state.service("acm", "us-east-1");
  acm.delegate(false);
  const applied = await json("stack-apply", "stack", "apply");
  t.match(applied, {
    outcome: "updated",
    status: {
      isBehind: false,
      certificates: [{ domain: "api.shop.com", state: "pending", validation: { by: "record", isMade: true } }],
      zones: [{ name: "shop.com", isOurs: true }],
      stages: [
        { stage: "staging", isDeployed: true },
        { stage: "production", isDeployed: true },
        { stage: "beta", isDeployed: false },
      ],
    },
  });
  const pending = await run("stack", "plan");
  t.match(pending.stdout, /api\.shop\.com: pending; the validation record is in the domain's zone/);
  t.match(pending.stdout, /nothing to do/);
  t.match((await run("stack", "apply")).stdout, /pending; the validation record/);
  t.equal(aws.journal.count("acm", "RequestCertificate"), 1, "it is requested once");
  t.match((await run("stack")).stdout, /beta .*\n? *waits\s+for its first deploy: tool deploy beta/);

  t.equal(
    (await run("beta")).stdout,
    applied.status.stages[2].endpoint + "\n",
    "a custom stage opens with its first deploy",
  );
  t.match(await askEndpoint(aws, applied.status.stages[2].endpoint), { body: "beta one /" });

  acm.issue([...acm.certificates.keys()][0]!);
  t.match((await run("stack")).stdout, /the stack does not match tool\.json/);
  const domain = await json("stack-plan", "stack", "plan");
  t.same(
    domain.changes.map(({ about }: { about: string }) => about),
    ["domain api.shop.com", "api.shop.com/v1", "record api.shop.com"],
  );
  await run("stack", "apply");
  t.equal((await run("url", "-s", "production")).stdout, "https://api.shop.com/v1/\n");
  t.match(await askEndpoint(aws, "https://api.shop.com/v1/x"), { status: 200, body: "production one /v1/x" });
  t.equal((await run("stack", "plan")).stdout, nothing);

  configure({
    stages: { production: { domain: "api.shop.com", path: "/v1" } },
    actions: [OPS],
    alerts: [{ ...ALERT, threshold: 9 }],
  });
  const fewer = (await run("stack", "plan")).stdout;
  t.match(fewer, /~ alert http\.5xx sum > 9 +AWS::CloudWatch::Alarm\n +AlarmDescription: .*\n +Threshold: 5 -> 9/);
  t.match(fewer, /- stage of the gateway +AWS::ApiGateway::Stage +REMOVED/);
  t.match(fewer, /2 to change, \d+ to remove/);
  const held = await app.tool(["stack", "apply"]);
  t.same(held.code, 2, "what others rely on is not removed without a word");
  t.match(held.stderr, /- stage of the gateway +AWS::ApiGateway::Stage +REMOVED/, "the plan is shown");
  t.match(
    held.stderr,
    /^error: this removes record shop\.com MX, permission of action chat, .*stage of the gateway \(beta\).*, and there is no terminal to confirm it\n {2}write --yes to agree\n$/m,
  );
  t.match(await askEndpoint(aws, applied.status.stages[2].endpoint), { body: "beta one /" }, "and nothing is changed");
  t.equal((await run("stack", "plan")).stdout, fewer);
  await run("stack", "apply", "--yes");
  t.equal((await run("stack", "plan")).stdout, nothing);

  const refused = await app.tool(["stack", "delete"]);
  t.same(
    [refused.code, refused.stderr],
    [
      2,
      "error: this would remove everything of app in eu-west-1, and there is no terminal to confirm it\n  write --yes to agree\n",
    ],
  );
  const gone = await json("stack-delete", "stack", "delete", "--yes", "--logs");
  t.match(gone, {
    removed: [
      { kind: "stack" },
      { kind: "certificate" },
      { kind: "function" },
      { kind: "role" },
      { kind: "zone" },
      { kind: "log group" },
    ],
    left: [],
  });
  t.same(await json("stack-status", "stack"), { stack: null });
  t.equal((await run("stack", "delete", "--yes")).stdout, "there is nothing of app in eu-west-1\n");

  const policy = JSON.parse((await run("stack", "policy")).stdout);
  t.same(notAllowed(policy, aws.journal.entries), [], "the policy allows every call of all this");
});

const resource = (about: string, type: string) => ({
  id: about,
  type,
  about,
  stage: undefined,
  physicalId: undefined,
  state: "CREATE_COMPLETE",
});

const STATUS: StackStatus = {
  name: "hello",
  region: "us-west-2",
  state: "UPDATE_COMPLETE",
  stages: [
    {
      stage: "staging",
      endpoint: "http://staging.hello.localhost:4040/",
      domain: "www.example.com",
      target: "d-1.execute-api.us-west-2.amazonaws.com",
      isDeployed: true,
    },
  ],
  certificates: [],
  zones: [{ name: "shop.com", nameservers: ["ns-1.example.net", "ns-2.example.net"], isOurs: true }],
  resources: [
    resource("www.example.com/v1", "AWS::ApiGateway::BasePathMapping"),
    resource("the gateway", "AWS::ApiGateway::RestApi"),
    resource("a record whose name is so long that its type has no room there", "AWS::Route53::RecordSet"),
  ],
  isBehind: false,
};

const RESOURCES = `Resources
    path www.example.com/v1  AWS::ApiGateway::BasePathMapping
    the gateway              AWS::ApiGateway::RestApi
    a record whose name is so long that its type has no room there`;

const STAGES = `Stages
  staging  http://staging.hello.localhost:4040/`;

const change = (about: string, type: string, more: Partial<StackChange> = {}): StackChange => ({
  action: "add",
  id: about,
  type,
  about,
  stage: undefined,
  replaced: "no",
  isKept: false,
  needsConfirmation: false,
  properties: [],
  ...more,
});

const PLAN: StackPlan = {
  name: "hello",
  region: "us-west-2",
  isNew: false,
  changes: [
    change("the gateway", "AWS::ApiGateway::RestApi"),
    change("www.example.com/", "AWS::ApiGateway::BasePathMapping", {
      action: "change",
      stage: "staging",
      replaced: "yes",
    }),
    change("stage of the gateway", "AWS::ApiGateway::Stage", { stage: "staging", action: "remove" }),
  ],
  certificates: [],
};

const CHANGES = `app
  + the gateway            AWS::ApiGateway::RestApi

staging
  ! path www.example.com/  AWS::ApiGateway::BasePathMapping  REPLACED
  - stage of the gateway   AWS::ApiGateway::Stage  REMOVED

1 to add, 1 to REPLACE, 1 to remove`;

t.test("what a new token of a stage means, for one version and for several", (t) => {
  for (const [versions, isEnded, text] of [
    [[], true, "staging has a new token: the next deploy uses it"],
    [["2"], true, "staging has a new token; version 2 sends nothing any more: tool deploy staging uses the new one"],
    [
      ["2", "3"],
      true,
      "staging has a new token; versions 2, 3 send nothing any more: tool deploy staging uses the new one",
    ],
    [
      ["2"],
      false,
      "staging has a new token: tool deploy staging uses it; the old one ends when no version has it that can be rolled back to (now 2)",
    ],
  ] as const) {
    t.equal(rotationText("staging", versions, isEnded), text);
  }
  t.end();
});

t.test("the text of a status and of a plan, in the cloud and in the sandbox", (t) => {
  const options = { color: false, columns: 80 };
  const sandbox = { endpoint: "http://127.0.0.1:4040" };
  const dns = `Records to create at the domain's DNS provider
  www.example.com  ALIAS or CNAME d-1.execute-api.us-west-2.amazonaws.com

Name servers
  shop.com  ns-1.example.net ns-2.example.net
  enter them at the domain's registrar`;
  const domains = `Domains
  curl -H 'Host: www.example.com' http://127.0.0.1:4040/v1`;
  const rows: [name: string, printed: string, expected: string[]][] = [
    ["a status", renderStatus(STATUS, options), ["hello in us-west-2: update complete", STAGES, dns, RESOURCES]],
    [
      "a status in the sandbox",
      renderStatus(STATUS, options, sandbox),
      ["hello in the sandbox: update complete", STAGES, domains, RESOURCES],
    ],
    ["a plan", renderPlan(PLAN, options), ["Changes to hello in us-west-2", CHANGES]],
    ["a plan in the sandbox", renderPlan(PLAN, options, sandbox), ["Changes to hello in the sandbox", CHANGES]],
    [
      "a first plan in the sandbox",
      renderPlan({ ...PLAN, isNew: true }, options, sandbox),
      ["hello in the sandbox has no stack yet; these would be created", CHANGES],
    ],
    [
      "no types on a narrow terminal",
      renderPlan({ ...PLAN, changes: PLAN.changes.slice(1, 2) }, { ...options, columns: 60 }),
      ["Changes to hello in us-west-2", "staging\n  ! path www.example.com/  REPLACED", "1 to REPLACE"],
    ],
  ];
  for (const [name, printed, expected] of rows) t.equal(printed, expected.join("\n\n"), name);
  t.end();
});
