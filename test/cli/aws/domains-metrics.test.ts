// Domains and figures, by the real commands against the stand-in of the cloud.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv } from "ajv";
import t from "tap";
import { costOf } from "../../../cli/aws/metrics.ts";
import { startAws } from "../../support/aws/index.ts";
import { root, tool } from "../../support/cli.ts";
import { openApp } from "../../support/deployed-app.ts";
import { typeInto } from "../../support/terminal.ts";

const ajv = new Ajv({
  allErrors: true,
  allowUnionTypes: true,
  formats: { "date-time": (text) => !Number.isNaN(Date.parse(text)) },
});

/** Parses the output of a command with --format json, and holds it against the schema of that command. */
function parse(name: string, text: string) {
  const schema = JSON.parse(readFileSync(join(root, `cli/output/schemas/${name}.schema.json`), "utf8"));
  if (!ajv.validate(schema, JSON.parse(text))) throw new Error(`${name}: ${ajv.errorsText()} in ${text}`);
  return JSON.parse(text);
}

t.test("domains", async (t) => {
  const aws = await startAws(t);
  const rows: [argv: string, code: number, stdout: string, stderr: string][] = [
    ["domains ls", 0, "the account has no domains\n", ""],
    ["domains check shop.dev", 0, "shop.dev is available for 17 USD a year\n", ""],
    ["domains check Shop.Dev.", 0, "shop.dev is available for 17 USD a year\n", ""],
    ["domains check example.com", 0, "example.com is not available: it is taken\n", ""],
    [
      "domains check shop.invalid",
      1,
      "",
      "error: domains that end with .invalid cannot be bought here\n  choose another top-level domain, or buy it elsewhere and create its records there\n",
    ],
    ["domains check shop", 2, "", 'error: "shop" has no top-level domain\n  write a name such as example.com\n'],
    [
      "domains check https://shop.dev/x",
      2,
      "",
      'error: "https://shop.dev/x" is a URL, no domain name\n  write shop.dev\n',
    ],
    ["domains buy", 2, "", "error: buying a domain asks questions, and there is no terminal\n  run it in a terminal\n"],
    [
      "domains",
      2,
      "",
      "error: tool domains needs a command\n  write tool domains ls, tool domains check <domain>, tool domains buy\n",
    ],
    ["domains check", 2, "", "error: tool domains check needs a domain\n  write tool domains check <domain>\n"],
  ];
  for (const [argv, code, stdout, stderr] of rows) {
    const outcome = await tool(argv.split(" "), { env: aws.env });
    t.same([outcome.code, outcome.stdout, outcome.stderr], [code, stdout, stderr], `tool ${argv}`);
  }
  const json = async (name: string, argv: string) =>
    parse(name, (await tool([...argv.split(" "), "--format", "json"], { env: aws.env })).stdout);
  t.same(await json("domains-ls", "domains ls"), { domains: [] });
  t.same(await json("domains-check", "domains check shop.dev"), {
    domain: "shop.dev",
    isAvailable: true,
    reason: null,
    price: { amount: 17, currency: "USD", renewal: 17 },
  });
});

t.test("buying a domain", async (t) => {
  const aws = await startAws(t);
  const terminal = (answers: readonly [question: string, answer: string][]) =>
    typeInto(t, ["domains", "buy"], answers, { env: aws.env });
  const contact: [string, string][] = [
    ["First name:", "Ana"],
    ["Last name:", ""],
    ["this is required", "Ruiz"],
    ["Organization", ""],
    ["Email:", "ana@example.com"],
    ["Phone:", "2125550123"],
    ["write it with a dot", "+1.2125550123"],
    ["Street and number:", "1 Main St"],
    ["City:", "Springfield"],
    ["State or province", "IL"],
    ["Postal code:", "62701"],
    ["Country:", "US"],
  ];
  const other = await terminal([["Domain:", "shop.dev"], ...contact, ["Type shop.dev to continue:", "yes"]]);
  t.equal(other.code, 130);
  t.match(other.text, /nothing was bought/);
  t.equal(aws.journal.count("route53domains", "RegisterDomain"), 0);

  const taken = await terminal([["Domain:", "example.com"]]);
  t.match([taken.code, taken.text], [1, /example\.com is not available: it is taken/]);

  const bought = await terminal([
    ["Domain:", "shop.dev"],
    ...contact,
    ["This buys shop.dev for 17 USD now and 17 USD each year. Type shop.dev to continue:", "shop.dev"],
  ]);
  t.equal(bought.code, 0, bought.text);
  t.match(bought.text, /shop\.dev is being registered/);
  const registration = aws.journal.entries.find(({ operation }) => operation === "RegisterDomain")!.input;
  t.match(registration, {
    DomainName: "shop.dev",
    DurationInYears: 1,
    AutoRenew: true,
    RegistrantContact: {
      ContactType: "PERSON",
      FirstName: "Ana",
      LastName: "Ruiz",
      PhoneNumber: "+1.2125550123",
      CountryCode: "US",
    },
    PrivacyProtectAdminContact: true,
    PrivacyProtectRegistrantContact: true,
    PrivacyProtectTechContact: true,
  });
  aws.controls.clock.advance(600_000);
  const listed = await tool(["domains", "ls"], { env: aws.env });
  t.match(listed.stdout, /^shop\.dev {2}renews \d{4}-\d\d-\d\d\n$/);
});

t.test("metrics", async (t) => {
  const { aws, app } = await openApp(t, { function: { memory: 1024 } });
  const none = await app.tool(["metrics"]);
  t.equal(none.code, 0, none.stderr);
  t.equal(
    none.stdout,
    `app staging, last 30d
Requests            0
  4xx               0
  5xx               0
  duration avg      -
  duration p95      -
Invocations         0
  errors            0
  throttles         0
  duration avg      -
  duration p95      -
Cost            $0.00
  requests      $0.00
  invocations   $0.00
  duration      $0.00
prices of us-west-2 as of 2025-12; free tier, data transfer and logs are not counted
`,
  );
  const { operations } = aws.state.service("monitoring", aws.region);
  const put = (
    Namespace: string,
    MetricName: string,
    dimensions: Record<string, string>,
    values: number[],
    agoMs = 3_600_000,
  ) =>
    operations.PutMetricData({
      Namespace,
      MetricData: [
        {
          MetricName,
          Dimensions: Object.entries(dimensions).map(([Name, Value]) => ({ Name, Value })),
          Timestamp: new Date(Date.now() - agoMs),
          Values: values,
        },
      ],
    });
  const api = { ApiName: "app", Stage: "production" };
  const lambda = { FunctionName: "app", Resource: "app:production" };
  put("AWS/ApiGateway", "Count", api, [1, 1, 1, 1]);
  put("AWS/ApiGateway", "Count", api, [1], 10 * 86_400_000);
  put("AWS/ApiGateway", "Count", { ...api, Stage: "staging" }, [1]);
  put("AWS/ApiGateway", "4XXError", api, [0, 0, 1, 0]);
  put("AWS/ApiGateway", "5XXError", api, [1, 1, 0, 0]);
  put("AWS/ApiGateway", "Latency", api, [10, 20, 30, 1500]);
  put("AWS/Lambda", "Invocations", lambda, [1, 1, 1, 1, 1]);
  put("AWS/Lambda", "Errors", lambda, [1]);
  put("AWS/Lambda", "Throttles", lambda, [1, 1]);
  put("AWS/Lambda", "Duration", lambda, [5, 10, 15, 1490, 0]);
  const metrics = parse(
    "metrics",
    (await app.tool(["metrics", "-s", "production", "-S", "7d", "--format", "json"])).stdout,
  );
  t.match(metrics, {
    stage: "production",
    requests: { count: 4, clientErrors: 1, serverErrors: 2, avgMs: 390 },
    invocations: { count: 5, errors: 1, throttles: 2, avgMs: 304, totalMs: 1520 },
    cost: costOf({ requests: 4, invocations: 5, totalMs: 1520 }, 1024),
  });
  t.ok(metrics.requests.p95Ms > 30 && metrics.requests.p95Ms <= 1500, "a percentile");
  const month = parse("metrics", (await app.tool(["metrics", "-s", "production", "--format", "json"])).stdout);
  t.equal(month.requests.count, 5, "the default is 30 days");
  t.match((await app.tool(["metrics", "-s", "production", "-S", "7d"])).stdout, /^ {2}duration avg +390ms$/m);

  const wrong: [argv: string[], message: RegExp][] = [
    [["metrics", "-S", "soon"], /^error: --since soon is not a period: "soon" is not a duration\n/],
    [["metrics", "-s", "qa"], /^error: there is no stage "qa"\n/],
    [["metrics", "-s", "development"], /^error: development is the stage of this machine/],
  ];
  for (const [argv, message] of wrong) {
    const { code, stderr } = await app.tool(argv);
    t.match([code, stderr], [2, message], argv.join(" "));
  }
});

t.test("what it costs", (t) => {
  const rows: [requests: number, invocations: number, totalMs: number, memoryMiB: number, total: number][] = [
    [0, 0, 0, 512, 0],
    [1_000_000, 0, 0, 512, 3.5],
    [0, 1_000_000, 0, 512, 0.2],
    [0, 0, 1_000_000_000, 1024, 16.6667],
    [1_000_000, 1_000_000, 100_000_000, 512, 3.5 + 0.2 + 0.833335],
  ];
  for (const [requests, invocations, totalMs, memoryMiB, total] of rows) {
    const cost = costOf({ requests, invocations, totalMs }, memoryMiB);
    t.ok(Math.abs(cost.total - total) < 1e-9, `${requests} requests, ${totalMs} ms at ${memoryMiB} MiB: ${cost.total}`);
  }
  t.end();
});
