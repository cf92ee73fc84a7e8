// The template of a stack: what tool.json says and what is known of the account, to resources.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import fc from "fast-check";
import t from "tap";
import { CHAT_SOURCE } from "../../../../cli/aws/stack/chat-function.ts";
import { CONFIRMATIONS, needsConfirmation } from "../../../../cli/aws/stack/confirmation.ts";
import { logicalId } from "../../../../cli/aws/stack/logical-id.ts";
import type { StackContext, StackInput, TemplateResource } from "../../../../cli/aws/stack/resource.ts";
import { buildTemplate, templateHash, wantedStages } from "../../../../cli/aws/stack/template.ts";
import { withStage } from "../../../../cli/aws/stack/with-stage.ts";
import { type Config, checkConfig } from "../../../../schema/index.ts";
import { HANDLERS } from "../../../support/access-policy.ts";
import { cleanEnv, root } from "../../../support/cli.ts";
import { recorderOf } from "../../../support/vectors.ts";

const input = (config: Partial<Config>): StackInput => ({
  name: "app",
  config: { name: "app", ...config },
  region: "eu-west-1",
  accountId: "123456789012",
});

const BOTH = ["staging", "production"];

/** Everything is deployed, nothing else is known. */
function accountOf(config: Partial<Config>, more: Partial<StackContext> = {}): StackContext {
  const stages = more.stages ?? wantedStages({ name: "app", ...config }, BOTH);
  return { stages, deployed: new Set(stages), certificates: {}, zones: {}, ...more };
}

const build = (config: Partial<Config>, more: Partial<StackContext> = {}) =>
  buildTemplate(input(config), accountOf(config, more));

interface SnapshotRow {
  name: string;
  config: Config;
  known: { stages: string[]; deployed: string[]; certificates: Record<string, string>; zones: Record<string, string> };
  expected: object;
}

t.test("complete templates", (t) => {
  const rows = JSON.parse(readFileSync(join(root, "test/vectors/stack-templates.json"), "utf8")) as SnapshotRow[];
  const record = recorderOf("stack-templates.json", rows);
  for (const row of rows) {
    const { name, config, known } = row;
    const built = buildTemplate({ ...input(config), config }, { ...known, deployed: new Set(known.deployed) });
    record(row, { expected: built });
    t.same(JSON.parse(JSON.stringify(built)), row.expected, name);
  }
  t.end();
});

t.test("the token of a stream is a parameter's value, in neither the template nor its hash", (t) => {
  const logs = { service: "https://logs.example.com", delivery: "firehose" } as const;
  const built = ["lgs_one", "lgs_two"].map((streamKey) => build({ logs }, { streamKey }));
  t.same(
    built.map(({ parameters }) => parameters),
    [{ LogsKey: "lgs_one" }, { LogsKey: "lgs_two" }],
  );
  t.same(built[0]!.template, built[1]!.template);
  t.notMatch(JSON.stringify(built[0]!.template), "lgs_");
  t.match(built[0]!.template.Parameters, { LogsKey: { NoEcho: true } });
  const hashes = [{}, { logs }, { logs: { ...logs, project: "other" } }].map((config) =>
    templateHash(input(config), BOTH),
  );
  t.equal(new Set(hashes).size, 3, "the way and the project are");
  const quiet = { ...logs, delivery: "runtime", retention: "7d" } as const;
  t.equal(templateHash(input({ logs: quiet }), BOTH), hashes[0]);
  t.end();
});

const ARN = "arn:aws:acm:us-east-1:123456789012:certificate/1";
const OPS = { name: "ops", type: "email", emails: ["ops@example.com"] } as const;
const alert = (more: object) =>
  ({ metric: "http.5xx", statistic: "sum", threshold: 1, action: "ops", ...more }) as const;

/** The settings beside the name, the state of the account, and the resources of a type in the stack of staging. */
const ROWS: [
  name: string,
  config: Partial<Config>,
  account: Partial<StackContext>,
  type: string,
  expected: object[],
][] = [
  [
    "no description",
    {},
    {},
    "AWS::ApiGateway::RestApi",
    [
      {
        Name: "app",
        BinaryMediaTypes: ["*/*"],
        EndpointConfiguration: { Types: ["EDGE"] },
        Tags: [{ Key: "tool:app", Value: "app" }],
      },
    ],
  ],
  ["a stage that was not deployed yet has no permission", {}, { deployed: new Set() }, "AWS::Lambda::Permission", []],
  [
    "a domain without a certificate",
    { stages: { staging: { domain: "a.example.com" } } },
    {},
    "AWS::ApiGateway::DomainName",
    [],
  ],
  [
    "a domain without a certificate has its zone",
    { stages: { staging: { domain: "a.example.com" } } },
    {},
    "AWS::Route53::HostedZone",
    [
      {
        Name: "example.com",
        HostedZoneConfig: { Comment: "made by tool for app" },
        HostedZoneTags: [{ Key: "tool:app", Value: "app" }],
      },
    ],
  ],
  [
    "a public suffix of two labels",
    { stages: { staging: { domain: "a.b.example.co.uk" } } },
    {},
    "AWS::Route53::HostedZone",
    [
      {
        Name: "example.co.uk",
        HostedZoneConfig: { Comment: "made by tool for app" },
        HostedZoneTags: [{ Key: "tool:app", Value: "app" }],
      },
    ],
  ],
  [
    "zone false",
    { stages: { staging: { domain: "a.example.com", zone: false } } },
    { certificates: { "a.example.com": ARN } },
    "AWS::Route53::HostedZone",
    [],
  ],
  [
    "zone false has no record",
    { stages: { staging: { domain: "a.example.com", zone: false } } },
    { certificates: { "a.example.com": ARN } },
    "AWS::Route53::RecordSet",
    [],
  ],
  [
    "a zone by name, with a dot",
    { stages: { staging: { domain: "x.a.example.com", zone: "A.example.com." } } },
    {},
    "AWS::Route53::HostedZone",
    [
      {
        Name: "a.example.com",
        HostedZoneConfig: { Comment: "made by tool for app" },
        HostedZoneTags: [{ Key: "tool:app", Value: "app" }],
      },
    ],
  ],
  [
    "a zone that is there",
    { stages: { staging: { domain: "a.example.com" } } },
    { zones: { "example.com": "Z1" } },
    "AWS::Route53::HostedZone",
    [],
  ],
  [
    "a domain in a zone that is there",
    { stages: { staging: { domain: "A.example.com" } } },
    { zones: { "example.com": "Z1" }, certificates: { "a.example.com": ARN } },
    "AWS::Route53::RecordSet",
    [
      {
        HostedZoneId: "Z1",
        Name: "a.example.com",
        Type: "A",
        AliasTarget: {
          DNSName: { "Fn::GetAtt": [logicalId("Domain", "a.example.com"), "DistributionDomainName"] },
          HostedZoneId: { "Fn::GetAtt": [logicalId("Domain", "a.example.com"), "DistributionHostedZoneId"] },
          EvaluateTargetHealth: false,
        },
      },
    ],
  ],
  [
    "no path",
    { stages: { staging: { domain: "a.example.com" } } },
    { certificates: { "a.example.com": ARN } },
    "AWS::ApiGateway::BasePathMapping",
    [
      {
        DomainName: { Ref: logicalId("Domain", "a.example.com") },
        RestApiId: { Ref: "Api" },
        Stage: { Ref: "StageStaging" },
      },
    ],
  ],
  [
    "a path",
    { stages: { staging: { domain: "a.example.com", path: "/v1/" } } },
    { certificates: { "a.example.com": ARN } },
    "AWS::ApiGateway::BasePathMapping",
    [
      {
        DomainName: { Ref: logicalId("Domain", "a.example.com") },
        RestApiId: { Ref: "Api" },
        Stage: { Ref: "StageStaging" },
        BasePath: "v1",
      },
    ],
  ],
  [
    "records",
    {
      dns: {
        "example.com": [
          { name: "example.com", type: "ALIAS", value: ["d1.cloudfront.net"] },
          { name: "www.example.com", type: "ALIAS", value: ["example.com"] },
          { name: "old.example.com", type: "ALIAS", value: ["s3-website-eu-west-1.amazonaws.com"] },
          { name: "lb.example.com", type: "ALIAS", value: ["dualstack.lb-1.us-west-2.elb.amazonaws.com."] },
          { name: "t.example.com", type: "TXT", ttl: 60, value: ['say "hi" \\', '"as it stands"', "x".repeat(256)] },
          { name: "c.example.com", type: "CAA", value: ['0 issue "ca.example"'] },
        ],
      },
    },
    { zones: { "example.com": "Z1" } },
    "AWS::Route53::RecordSet",
    [
      {
        HostedZoneId: "Z1",
        Name: "example.com",
        Type: "A",
        AliasTarget: { DNSName: "d1.cloudfront.net", HostedZoneId: "Z2FDTNDATAQYW2", EvaluateTargetHealth: false },
      },
      {
        HostedZoneId: "Z1",
        Name: "www.example.com",
        Type: "A",
        AliasTarget: { DNSName: "example.com", HostedZoneId: "Z1", EvaluateTargetHealth: false },
      },
      {
        HostedZoneId: "Z1",
        Name: "old.example.com",
        Type: "A",
        AliasTarget: {
          DNSName: "s3-website-eu-west-1.amazonaws.com",
          HostedZoneId: "Z1BKCTXD74EZPE",
          EvaluateTargetHealth: false,
        },
      },
      {
        HostedZoneId: "Z1",
        Name: "lb.example.com",
        Type: "A",
        AliasTarget: {
          DNSName: "dualstack.lb-1.us-west-2.elb.amazonaws.com",
          HostedZoneId: "Z1H1FL5HABSF5",
          EvaluateTargetHealth: false,
        },
      },
      {
        HostedZoneId: "Z1",
        Name: "t.example.com",
        Type: "TXT",
        TTL: "60",
        ResourceRecords: ['"say \\"hi\\" \\\\"', '"as it stands"', `"${"x".repeat(255)}" "x"`],
      },
      { HostedZoneId: "Z1", Name: "c.example.com", Type: "CAA", TTL: "300", ResourceRecords: ['0 issue "ca.example"'] },
    ],
  ],
  ...(
    [
      ["http.count", "count", { MetricName: "Count", Statistic: "SampleCount" }],
      ["http.latency", "avg", { MetricName: "Latency", Statistic: "Average" }],
      ["http.4xx", "min", { MetricName: "4XXError", Statistic: "Minimum" }],
      ["http.5xx", "max", { MetricName: "5XXError", Statistic: "Maximum" }],
    ] as const
  ).map(([metric, statistic, figure]): (typeof ROWS)[number] => [
    `an alert on ${metric} ${statistic}`,
    { actions: [{ ...OPS, emails: [...OPS.emails] }], alerts: [alert({ metric, statistic })] },
    {},
    "AWS::CloudWatch::Alarm",
    [
      {
        AlarmName: `app-staging-${metric}-${statistic}-above`,
        AlarmDescription: `${metric} ${statistic} > 1`,
        Namespace: "AWS/ApiGateway",
        Dimensions: [
          { Name: "ApiName", Value: "app" },
          { Name: "Stage", Value: "staging" },
        ],
        ...figure,
        Period: 60,
        EvaluationPeriods: 1,
        Threshold: 1,
        ComparisonOperator: "GreaterThanThreshold",
        TreatMissingData: "notBreaching",
        ActionsEnabled: true,
        AlarmActions: [{ Ref: "TopicOps" }],
        OKActions: [{ Ref: "TopicOps" }],
      },
    ],
  ]),
  [
    "an alert with everything, on a namespace of the function",
    {
      actions: [{ ...OPS, emails: [...OPS.emails] }],
      alerts: [
        alert({
          metric: "Errors",
          namespace: "AWS/Lambda",
          operator: "<=",
          period: "5m",
          evaluation_periods: 3,
          missing: "breaching",
          disable: true,
          description: "Why",
        }),
      ],
    },
    {},
    "AWS::CloudWatch::Alarm",
    [
      {
        AlarmName: "app-staging-Errors-AWS/Lambda-sum-below",
        AlarmDescription: "Why",
        Namespace: "AWS/Lambda",
        MetricName: "Errors",
        Dimensions: [
          { Name: "FunctionName", Value: "app" },
          { Name: "Resource", Value: "app:staging" },
        ],
        Statistic: "Sum",
        Period: 300,
        EvaluationPeriods: 3,
        Threshold: 1,
        ComparisonOperator: "LessThanOrEqualToThreshold",
        TreatMissingData: "breaching",
        ActionsEnabled: false,
        AlarmActions: [{ Ref: "TopicOps" }],
        OKActions: [{ Ref: "TopicOps" }],
      },
    ],
  ],
  [
    "subscriptions",
    {
      actions: [
        { name: "ops", type: "email", emails: ["a@example.com", "b@example.com"] },
        { name: "night", type: "sms", numbers: ["+12125550123"] },
      ],
    },
    {},
    "AWS::SNS::Subscription",
    [
      { TopicArn: { Ref: "TopicOps" }, Protocol: "email", Endpoint: "a@example.com" },
      { TopicArn: { Ref: "TopicOps" }, Protocol: "email", Endpoint: "b@example.com" },
      { TopicArn: { Ref: "TopicNight" }, Protocol: "sms", Endpoint: "+12125550123" },
    ],
  ],
  [
    "warming",
    { function: { warm: true } },
    {},
    "AWS::Scheduler::Schedule",
    [
      {
        Description: "Keeps 15 containers of app staging warm",
        ScheduleExpression: "rate(15 minutes)",
        FlexibleTimeWindow: { Mode: "OFF" },
        Target: {
          Arn: { "Fn::GetAtt": ["Warmer", "Arn"] },
          RoleArn: { "Fn::GetAtt": ["WarmingRole", "Arn"] },
          Input: '{"qualifier":"staging","count":15}',
          RetryPolicy: { MaximumRetryAttempts: 0 },
        },
      },
    ],
  ],
  [
    "warming of another stage",
    { stages: { production: { function: { warm: true, warm_rate: "1m" } } } },
    {},
    "AWS::Scheduler::Schedule",
    [],
  ],
];

for (const [name, config, more, type, expected] of ROWS) {
  t.test(name, (t) => {
    const { template, problems } = build(config, { stages: ["staging"], ...more });
    const resources = Object.values(template.Resources).filter(({ Type }) => Type === type);
    t.same(
      resources.map(({ Properties }) => Properties),
      expected,
    );
    t.same(problems, []);
    t.end();
  });
}

t.test("what cannot be made", (t) => {
  const zone = (record: object) => ({ dns: { "example.com": [record] } }) as unknown as Partial<Config>;
  const rows: [config: Partial<Config>, message: string, hint: string][] = [
    [
      { stages: { staging: { domain: "a.example.com", path: "/v1/x" } } },
      'the path "/v1/x" of the stage staging has more than one part',
      'write one part, such as "/v1": a domain at the edge takes no more',
    ],
    [
      zone({ name: "example.com", type: "NS", value: ["ns.example.org"] }),
      "the zone example.com makes its own NS record",
      'remove the record of type NS called example.com from "dns"',
    ],
    [
      zone({ name: "a.example.com", type: "ALIAS", value: ["host.example.org"] }),
      "nothing is known of the ALIAS target host.example.org",
      "an ALIAS points at a name in its own zone, a CloudFront distribution, an S3 website or a load balancer; write a CNAME for others",
    ],
    [
      {
        ...zone({ name: "a.example.com", type: "CNAME", value: ["host.example.org"] }),
        stages: { staging: { domain: "a.example.com" } },
      },
      'a.example.com is the domain of the stage staging and has a record of type CNAME in "dns"',
      "remove the record: the stage's own points there",
    ],
    [
      { actions: [{ ...OPS, emails: [...OPS.emails] }], alerts: [alert({ period: "5m", evaluation_periods: 300 })] },
      "the alert on http.5xx looks at 300 periods of 5m, longer than a day",
      "write fewer periods, or periods of an hour or more, which may span 7 days",
    ],
  ];
  for (const [config, message, hint] of rows) {
    const { problems } = build(config, { stages: ["staging"] });
    t.match(problems, [{ message, hint }], message);
    t.equal(problems.length, 1);
    const checked = checkConfig(JSON.stringify({ name: "app", ...config }));
    t.same(
      checked.problems.filter(({ severity }) => severity === "error"),
      [],
      "the checker lets it pass",
    );
  }
  t.end();
});

t.test("two stages on one domain share it", (t) => {
  const { template } = build(
    { stages: { staging: { domain: "a.example.com", path: "/s" }, production: { domain: "A.example.com" } } },
    { certificates: { "a.example.com": ARN } },
  );
  const count = (type: string) => Object.values(template.Resources).filter(({ Type }) => Type === type).length;
  t.same(
    [count("AWS::ApiGateway::DomainName"), count("AWS::ApiGateway::BasePathMapping"), count("AWS::Route53::RecordSet")],
    [1, 2, 1],
  );
  t.end();
});

t.test("a secret is a parameter that is not shown, and nowhere else", (t) => {
  const url = "https://chat.example.com/hooks/s3cret";
  const { template, parameters } = build({ actions: [{ name: "chat", type: "chat", url }] });
  t.notMatch(JSON.stringify(template), "s3cret");
  t.same(template.Parameters, { ChatUrlChat: { Type: "String", NoEcho: true, Description: "Webhook of action chat" } });
  t.same(parameters, { ChatUrlChat: url });
  t.end();
});

/** The ids of the resources that differ between two configurations. */
function changed(before: Partial<Config>, after: Partial<Config>): string[] {
  const [a, b] = [build(before).template.Resources, build(after).template.Resources];
  const differs = (id: string) => JSON.stringify(a[id]?.Properties) !== JSON.stringify(b[id]?.Properties);
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].filter(differs).sort();
}

t.test("ids stay, so that a change is a change of what it is about", (t) => {
  const actions = [{ ...OPS, emails: [...OPS.emails] }];
  const alerts = [alert({}), alert({ metric: "http.4xx" })];
  const rows: [before: Partial<Config>, after: Partial<Config>, expected: RegExp[]][] = [
    [{}, { environment: { AA: "1" }, proxy: { timeout: 20 }, function: { memory: 1024 } }, []],
    [{}, { stages: { "pr-12": {} } }, [/^DeploymentPr12\w{6}V\w{8}$/, /^PermissionPr12\w{6}$/, /^StagePr12\w{6}$/]],
    [
      { actions, alerts },
      { actions, alerts: [alert({ threshold: 2 }), alerts[1]!] },
      [/^AlarmProductionHttp5xx/, /^AlarmStagingHttp5xx/],
    ],
    [{ actions, alerts }, { actions, alerts: [alerts[1]!] }, [/^AlarmProductionHttp5xx/, /^AlarmStagingHttp5xx/]],
    [
      { actions },
      { actions: [{ name: "ops", type: "email", emails: ["new@example.com", "ops@example.com"] }] },
      [/^SubscriptionOpsNew/],
    ],
  ];
  for (const [before, after, expected] of rows) {
    const ids = changed(before, after);
    t.equal(ids.length, expected.length, ids.join(" "));
    for (const [i, pattern] of expected.entries()) t.match(ids[i], pattern);
  }
  t.end();
});

t.test("logical ids are valid and tell their parts apart", (t) => {
  const part = fc.oneof(fc.string({ unit: "grapheme", maxLength: 60 }), fc.stringMatching(/^[a-z][a-z0-9_.-]{0,20}$/));
  fc.assert(
    fc.property(part, part, (a, b) => {
      const id = logicalId("Kind", a);
      return /^[A-Za-z0-9]{1,255}$/.test(id) && (a === b || id !== logicalId("Kind", b));
    }),
    { numRuns: 2000 },
  );
  t.end();
});

t.test("every reference is to something that is there", (t) => {
  const rows = JSON.parse(readFileSync(join(root, "test/vectors/stack-templates.json"), "utf8")) as SnapshotRow[];
  for (const { config, known } of rows) {
    const { template } = buildTemplate({ ...input(config), config }, { ...known, deployed: new Set(known.deployed) });
    const names = new Set([...Object.keys(template.Resources), ...Object.keys(template.Parameters ?? {})]);
    const visit = (value: unknown): void => {
      if (typeof value !== "object" || value === null) return;
      for (const [key, inner] of Object.entries(value)) {
        if (key === "Ref") t.ok(names.has(inner as string), String(inner));
        else if (key === "Fn::GetAtt") t.ok(names.has((inner as string[])[0]!), String(inner));
        else visit(inner);
      }
    };
    visit(template);
    for (const { DependsOn } of Object.values(template.Resources) as TemplateResource[]) {
      for (const id of DependsOn ?? []) t.ok(names.has(id), id);
    }
  }
  t.end();
});

t.test("the hash is that of what tool.json asks for", (t) => {
  const domain = { stages: { production: { domain: "a.example.com" } } };
  const output = (config: Partial<Config>, more: Partial<StackContext> = {}) =>
    build(config, more).template.Outputs.TemplateHash!.Value;
  t.equal(output({}), templateHash(input({}), BOTH));
  t.equal(output({}, { deployed: new Set() }), templateHash(input({}), BOTH), "whatever was deployed");
  t.equal(
    output({ environment: { AA: "1" } }),
    templateHash(input({}), BOTH),
    "code and settings of the function are no part of it",
  );
  t.not(output({}, { stages: ["staging"] }), templateHash(input({}), BOTH), "a stage is missing");
  t.not(output(domain), templateHash(input(domain), BOTH), "a domain waits for its certificate");
  t.equal(
    output(domain, { certificates: { "a.example.com": ARN }, zones: { "example.com": "Z1" } }),
    templateHash(input(domain), BOTH),
    "whatever certificate and zone it is",
  );
  const chat = (url: string): Partial<Config> => ({ actions: [{ name: "chat", type: "chat", url }] });
  t.not(
    templateHash(input(chat("https://a.example.com/1")), BOTH),
    templateHash(input(chat("https://a.example.com/2")), BOTH),
  );
  t.end();
});

t.test("a stage is added to a stack, and nothing else is touched", (t) => {
  const chat: Partial<Config> = {
    actions: [
      { name: "chat", type: "chat", url: "https://chat.example.com/1" },
      { ...OPS, emails: [...OPS.emails] },
    ],
    alerts: [alert({ action: "chat" })],
  };
  const domain: Partial<Config> = { stages: { production: { domain: "a.example.com" } }, dns: { "b.example": [] } };
  const rows: [
    name: string,
    before: Partial<Config>,
    after: Partial<Config>,
    stage: string,
    added: RegExp[],
    isUpToDate: boolean,
  ][] = [
    [
      "the second default stage",
      {},
      {},
      "production",
      [/^DeploymentProductionV/, /^StageProduction$/, /^PermissionProduction$/],
      true,
    ],
    [
      "with the alarm and all that it needs, but not another action",
      {},
      chat,
      "production",
      [
        /^DeploymentProductionV/,
        /^StageProduction$/,
        /^PermissionProduction$/,
        /^AlarmProduction/,
        /^TopicChat$/,
        /^ChatChatRole$/,
        /^ChatChat$/,
        /^ChatChatPermission$/,
        /^ChatChatSubscription$/,
      ],
      false,
    ],
    [
      "a domain waits for apply",
      {},
      domain,
      "production",
      [/^DeploymentProductionV/, /^StageProduction$/, /^PermissionProduction$/],
      false,
    ],
    [
      "warming",
      {},
      { stages: { production: { function: { warm: true } } } },
      "production",
      [
        /^DeploymentProductionV/,
        /^StageProduction$/,
        /^PermissionProduction$/,
        /^Warming/,
        /^Warmer/,
        /^Warmer/,
        /^Warming/,
      ],
      true,
    ],
  ];
  for (const [name, before, after, stage, added, isUpToDate] of rows) {
    const old = build(before, { stages: ["staging"] }).template;
    const { template, parameters } = withStage(old, input(after), stage);
    for (const [id, resource] of Object.entries(old.Resources))
      t.same(template.Resources[id], resource, `${name}: ${id}`);
    const ids = Object.keys(template.Resources).filter((id) => !Object.hasOwn(old.Resources, id));
    t.equal(ids.length, added.length, `${name}: ${ids}`);
    for (const pattern of added)
      t.ok(
        ids.some((id) => pattern.test(id)),
        `${name}: ${pattern}`,
      );
    t.same(Object.keys(parameters), Object.keys(template.Parameters ?? {}), name);
    t.equal(
      template.Outputs.TemplateHash!.Value === templateHash(input(after), BOTH),
      isUpToDate,
      `${name}: up to date`,
    );
  }
  t.end();
});

t.test("a stage that waited for its first deploy is opened", (t) => {
  const config: Partial<Config> = { stages: { beta: { domain: "a.example.com", path: "/b" } } };
  const old = build(config, { deployed: new Set(["staging"]), certificates: { "a.example.com": ARN } }).template;
  const { template } = withStage(old, input(config), "beta");
  const ids = Object.keys(template.Resources).filter((id) => !Object.hasOwn(old.Resources, id));
  t.same(ids, ["PermissionBeta"]);
  t.same(template.Outputs.StageBeta!.Value, '{"name":"beta","isOpen":true,"domain":"a.example.com","path":"/b"}');
  t.equal(template.Outputs.TemplateHash!.Value, templateHash(input(config), BOTH), "nothing is left to apply");
  t.end();
});

t.test("regions without an edge", (t) => {
  for (const region of ["cn-north-1", "us-gov-west-1"]) {
    const at = (config: Partial<Config>) => ({ ...input(config), region });
    const plain = buildTemplate(at({}), accountOf({}));
    t.same(plain.template.Resources.Api!.Properties.EndpointConfiguration, { Types: ["REGIONAL"] }, region);
    t.same(plain.problems, []);
    const config = { stages: { production: { domain: "a.shop.com" } } };
    const { problems, template } = buildTemplate(
      at(config),
      accountOf(config, { certificates: { "a.shop.com": ARN } }),
    );
    t.same(problems, [
      {
        code: "stack/no-edge",
        message: `the stage production has the domain a.shop.com, and ${region} has no domains at the edge`,
        hint: 'remove "domain" from the stage and use its default address: custom domains need a region outside China and the government\'s',
      },
    ]);
    t.notOk(Object.values(template.Resources).some(({ Type }) => Type === "AWS::ApiGateway::DomainName"));
  }
  t.end();
});

t.test("which stages the stack has", (t) => {
  const rows: [written: string[], present: string[], expected: string[]][] = [
    [[], [], ["staging"]],
    [["development"], [], ["staging"]],
    [[], ["staging"], ["staging"]],
    [["production"], ["staging"], ["staging", "production"]],
    [
      ["development", "beta"],
      ["staging", "beta"],
      ["staging", "beta"],
    ],
    [[], ["staging", "beta"], ["staging"]],
  ];
  for (const [written, present, expected] of rows) {
    const stages = Object.fromEntries(written.map((stage) => [stage, {}]));
    t.same(wantedStages({ name: "app", stages }, present), expected, `${written} written, ${present} there`);
  }
  t.end();
});

t.test("what apply asks about, by type", (t) => {
  const asking = [
    "AWS::ApiGateway::BasePathMapping",
    "AWS::ApiGateway::DomainName",
    "AWS::ApiGateway::RestApi",
    "AWS::ApiGateway::Stage",
    "AWS::Lambda::Permission",
    "AWS::Route53::HostedZone",
    "AWS::Route53::RecordSet",
  ];
  t.same(Object.keys(CONFIRMATIONS).sort(), Object.keys(HANDLERS).sort(), "each type that a template has");
  for (const type of [...Object.keys(CONFIRMATIONS), "AWS::New::Type"]) {
    const asks = asking.includes(type) || type === "AWS::New::Type";
    const rows: [action: "add" | "change" | "remove", replaced: "yes" | "possibly" | "no", expected: boolean][] = [
      ["add", "no", false],
      ["change", "no", false],
      ["change", "yes", asks],
      ["change", "possibly", asks],
      ["remove", "no", asks],
    ];
    for (const [action, replaced, expected] of rows) {
      t.equal(needsConfirmation({ action, type, replaced }), expected, `${type} ${action}, replaced: ${replaced}`);
    }
  }
  t.end();
});

t.test("the chat function posts what the topic says", async (t) => {
  const posted: { url: string | undefined; body: string }[] = [];
  let status = 200;
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    posted.push({ url: request.url, body });
    response.writeHead(status).end();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => server.close());
  const webhook = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks/s3cret`;
  /** Runs the code as the platform does: as index.js in a process of its own. */
  const invoke = async (env: Record<string, string>, sns: object) => {
    const folder = t.testdir({
      "package.json": "{}",
      "index.js": CHAT_SOURCE,
      "run.js": `require("./index.js").handler(${JSON.stringify({ Records: [{ Sns: sns }] })}).catch((error) => { console.error(error.message); process.exit(1); });`,
    });
    const child = spawn(process.execPath, [join(folder, "run.js")], {
      env: cleanEnv({ WEBHOOK_URL: webhook, ...env }),
    });
    let stderr = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
    });
    const [code] = await once(child, "close");
    return { code, stderr };
  };
  const alarm = (NewStateValue: string) => ({
    Subject: "subject",
    Message: JSON.stringify({
      AlarmName: "app-staging-http.5xx",
      AlarmDescription: "Why",
      NewStateValue,
      NewStateReason: "6 > 5",
    }),
  });
  t.same(await invoke({}, alarm("ALARM")), { code: 0, stderr: "" });
  t.same(JSON.parse(posted.at(-1)!.body), { text: "*Triggered*: app-staging-http.5xx\nWhy\n6 > 5" });
  t.equal(posted.at(-1)!.url, "/hooks/s3cret");
  await invoke({ CHANNEL: "#ops", GIFS: "true" }, alarm("OK"));
  t.match(JSON.parse(posted.at(-1)!.body), {
    channel: "#ops",
    text: "*Resolved*: app-staging-http.5xx\nWhy\n6 > 5",
    attachments: [{ fallback: "Resolved", image_url: /^https:.*\.gif$/ }],
  });
  await invoke({}, { Subject: "Hello", Message: "plain" });
  t.same(JSON.parse(posted.at(-1)!.body), { text: "Hello\nplain" });
  status = 404;
  t.same(await invoke({}, alarm("ALARM")), { code: 1, stderr: "the webhook answered 404\n" }, "without its address");
});
