// Completion with names of the user's AWS account: by the clock, by consent, and as the stand-in of the cloud has them.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { ACM } from "@aws-sdk/client-acm";
import { IAM } from "@aws-sdk/client-iam";
import { Lambda } from "@aws-sdk/client-lambda";
import { Route53 } from "@aws-sdk/client-route-53";
import t, { type Test } from "tap";
import { writeZip } from "../../cli/artifact/zip.ts";
import { accountNames } from "../../cli/aws/look-up.ts";
import { systemClock } from "../../grammar/units/clock.ts";
import { CloudNames } from "../../language-server/cloud-names.ts";
import type { CloudName, CloudQuestion } from "../../language-server/service/cloud.ts";
import { complete } from "../../language-server/service/completion/complete.ts";
import { DEFAULT_SETTINGS, type DocumentKind, readSettings } from "../../language-server/service/index.ts";
import { checkConfig } from "../../schema/index.ts";
import { startAws } from "../support/aws/index.ts";
import { tool } from "../support/cli.ts";
import { accept, CLIENT, cursor, documentOf, FILES, projectOf } from "../support/editor.ts";
import { startLsp } from "../support/lsp-client.ts";
import { TestClock } from "../support/test-clock.ts";
import { until } from "../support/until.ts";

const AGREED = { ...CLIENT, settings: { ...DEFAULT_SETTINGS, awsNames: true } };

const ZIP = writeZip([
  { name: "font", mode: 0o100644, crc32: 0, unpackedBytes: 0, isDeflated: false, data: Buffer.alloc(0) },
]);
const LAYER = "arn:aws:lambda:eu-west-1:123456789012:layer:sharp:7";
const ROLE = "arn:aws:iam::123456789012:role/worker";

/** Another account's worth of names. */
const NAMES: Readonly<Record<CloudQuestion["kind"], readonly CloudName[]>> = {
  certificates: [{ name: "shop.example.org" }, { name: "api.example.com" }],
  layers: [{ name: LAYER, detail: "sharp" }, { name: LAYER.replace("eu-west-1", "us-west-2") }],
  roles: [{ name: ROLE }],
  "security-groups": [
    { name: "sg-aaaa1111", network: "vpc-1" },
    { name: "sg-bbbb2222", network: "vpc-2" },
    { name: "sg-cccc3333" },
  ],
  stages: [
    { name: "beta", detail: "deployed, version 4" },
    { name: "production", detail: "deployed, version 9" },
  ],
  subnets: [
    { name: "subnet-aaaa1111", network: "vpc-1", detail: "private, vpc-1" },
    { name: "subnet-bbbb2222", network: "vpc-1" },
    { name: "subnet-cccc3333", network: "vpc-2" },
    { name: "subnet-dddd4444" },
  ],
  zones: [{ name: "example.com" }, { name: "example.org" }],
};

const labelsAt = (marked: string, client: typeof AGREED, kind: DocumentKind = "config") => {
  const { text, offset } = cursor(marked);
  const document = documentOf(text, kind);
  const config = kind === "config" ? document : documentOf('{ "name": "app" }');
  const questions: CloudQuestion[] = [];
  const cloudNames = (question: CloudQuestion) => {
    questions.push(question);
    return { names: NAMES[question.kind], isPending: false };
  };
  const { items } = complete(document, offset, { ...projectOf(FILES, () => config), cloudNames }, client);
  return { items, document, questions, labels: items.map(({ label }) => label) };
};

t.test("names of the account are offered where they may be, before examples", async (t) => {
  const rows: readonly (readonly [text: string, offered: readonly string[], not?: readonly string[]])[] = [
    [
      '{ "name": "app", "stages": { "beta": { "domain": "a.example.com", "zone": "|" } } }',
      ["example.com"],
      ["example.org"],
    ],
    [
      '{ "name": "app", "stages": { "beta": { "domain": "|", "zone": "example.org" } } }',
      ["shop.example.org"],
      ["api.example.com"],
    ],
    ['{ "name": "app", "regions": ["eu-west-1"], "function": { "layers": ["|"] } }', [LAYER], [NAMES.layers[1]!.name]],
    ['{ "name": "app", "regions": ["eu-west-1"], "stages": { "beta": { "function": { "layers": ["|"] } } } }', [LAYER]],
    ['{ "name": "app", "function": { "role": "|" } }', [ROLE]],
    ['{ "name": "app", "stages": { "|" } }', ["beta", "production"]],
    ['{ "name": "app", "dns": { "|" } }', ["example.com", "example.org"]],
  ];
  const network = (subnets: string, groups: string, app = '"name": "app"') =>
    `{ ${app}, "function": { "vpc": { "subnets": [${subnets}], "security_groups": [${groups}] } } }`;
  const [one, two, other, unknown] = NAMES.subnets.map(({ name }) => name) as [string, string, string, string];
  const [group, otherGroup, unknownGroup] = NAMES["security-groups"].map(({ name }) => name) as [
    string,
    string,
    string,
  ];
  const ofNetworks: typeof rows = [
    [network('"|"', '"sg-0123abcd"'), [one, two, other, unknown]],
    // Those of one function are of the same VPC, and each only once.
    [network(`"${one}", "|"`, '"sg-0123abcd"'), [two, unknown], [one, other]],
    [network('"|"', `"${otherGroup}"`), [other, unknown], [one, two]],
    [network(`"${other}"`, '"|"'), [otherGroup, unknownGroup], [group]],
    [network(`"${unknown}"`, '"|"'), [group, otherGroup, unknownGroup]],
    [
      `{ "name": "app", "stages": { "beta": { "function": { "vpc": { "subnets": ["|"], "security_groups": ["${group}"] } } } } }`,
      [one, two],
      [other],
    ],
    [network('"|"', '"sg-0123abcd"', '"name": "app", "regions": ["eu-*"]'), [], [one]],
  ];
  for (const [marked, offered, not = []] of [...rows, ...ofNetworks]) {
    const { items, document, labels } = labelsAt(marked, AGREED);
    for (const name of offered) {
      t.ok(labels.includes(name), `${marked}: ${name}`);
      const { text } = accept(document, items.find(({ label }) => label === name)!);
      t.same(
        checkConfig(text).problems.filter(({ severity }) => severity === "error"),
        [],
        text,
      );
    }
    for (const name of not) t.notOk(labels.includes(name), `${marked}: not ${name}`);
    t.same(labelsAt(marked, CLIENT).questions, [], "nobody is asked without consent");
  }
  t.same(
    labelsAt(network('"|"', `"${group}"`), AGREED).questions.map(({ kind }) => kind),
    ["subnets", "security-groups"],
    "of other ids the account tells the VPC",
  );
  t.same(
    labelsAt(network('"|"', ""), AGREED).questions.map(({ kind }) => kind),
    ["subnets"],
  );
  const [beta] = labelsAt('{ "name": "app", "stages": { "|" } }', AGREED).items.filter(({ label }) => label === "beta");
  t.equal(beta!.detail, "deployed, version 4");
  t.ok(labelsAt("stage = |", AGREED, "query").labels.includes("beta"), "in a query");
  t.same(
    labelsAt('{ "name": "x", "profile": "p", "regions": ["eu-west-1"], "function": { "role": "|" } }', AGREED)
      .questions,
    [{ kind: "roles", app: undefined, profile: "p", region: "eu-west-1" }],
  );
  t.equal(DEFAULT_SETTINGS.awsNames, false);
  t.equal(readSettings({ awsNames: { enabled: true } }).awsNames, true);
});

t.test("the account is asked in the background, and again after five minutes", async (t) => {
  const clock = new TestClock();
  const questions: { answer(names: readonly CloudName[]): void; fail(): void; signal: AbortSignal }[] = [];
  const cloud = new CloudNames({
    clock,
    lookUp: (_, signal) =>
      new Promise((resolve, reject) =>
        questions.push({ answer: resolve, fail: () => reject(new Error("no")), signal }),
      ),
  });
  const get = (kind: CloudQuestion["kind"] = "zones") => cloud.get("file:///work/", { kind });
  t.same(get(), { names: [], isPending: true }, "at once");
  t.same(get(), { names: [], isPending: true }, "asked once");
  t.equal(questions.length, 1);
  questions[0]!.answer([{ name: "a.com" }]);
  await clock.advance(0);
  t.same(get(), { names: [{ name: "a.com" }], isPending: false });
  await clock.advance(5 * 60_000 - 1);
  t.equal(get().isPending, false, "kept for five minutes");
  await clock.advance(1);
  t.same(get(), { names: [{ name: "a.com" }], isPending: true }, "the older names meanwhile");
  questions[1]!.fail();
  await clock.advance(0);
  t.same(get(), { names: [], isPending: false }, "a failure is silent");
  await clock.advance(30_000);
  t.equal(get().isPending, true, "and soon asked again");
  await clock.advance(10_000);
  t.same(get(), { names: [], isPending: false }, "nobody waits for longer");
  t.equal(questions[2]!.signal.aborted, true);
  questions[2]!.answer([{ name: "late.com" }]);
  await clock.advance(0);
  t.same(get().names, [], "a late answer counts no more");
  t.equal(get("roles").isPending, true, "each kind by itself");
  t.same(new CloudNames({ clock }).get("", { kind: "zones" }), { names: [], isPending: false }, "in a browser");
});

t.test("lenses are drawn again when the account tells other stages, and for no other names", async (t) => {
  const clock = new TestClock();
  let names: readonly CloudName[] = NAMES.stages;
  let drawn = 0;
  const cloud = new CloudNames({ clock, lookUp: async () => names, onStages: () => drawn++ });
  const ask = async (kind: CloudQuestion["kind"]) => {
    cloud.get("file:///work/", { kind });
    await clock.advance(0);
  };
  await ask("zones");
  t.equal(drawn, 0);
  await ask("stages");
  t.equal(drawn, 1);
  await clock.advance(5 * 60_000);
  await ask("stages");
  t.equal(drawn, 1, "the same");
  names = [];
  await clock.advance(5 * 60_000);
  await ask("stages");
  t.equal(drawn, 2);
});

t.test("what the account has, of the stand-in of the cloud", async (t) => {
  const aws = await startAws(t);
  const env = { ...aws.env };
  const lambda = new Lambda(aws.client);
  const iam = new IAM(aws.client);
  const route53 = new Route53(aws.client);
  const acm = new ACM(aws.client);
  const policyOf = (Service: string) =>
    JSON.stringify({
      Version: "2012-10-17",
      Statement: [{ Effect: "Allow", Principal: { Service }, Action: "sts:AssumeRole" }],
    });
  await route53.createHostedZone({ Name: "example.com", CallerReference: "1" });
  await iam.createRole({ RoleName: "worker", AssumeRolePolicyDocument: policyOf("lambda.amazonaws.com") });
  await iam.createRole({ RoleName: "machine", AssumeRolePolicyDocument: policyOf("ec2.amazonaws.com") });
  await lambda.publishLayerVersion({
    LayerName: "fonts",
    Content: { ZipFile: ZIP },
    Description: "all fonts",
  });
  const { CertificateArn } = await acm.requestCertificate({ DomainName: "api.example.com", ValidationMethod: "EMAIL" });
  aws.state.service("acm", aws.region).issue(CertificateArn!);

  const { signal } = new AbortController();
  const ask = (question: CloudQuestion) => accountNames(question, { env, clock: systemClock, signal });
  const region = aws.region;
  t.same(await ask({ kind: "zones" }), [{ name: "example.com", detail: "a zone of the account" }]);
  t.same(
    (await ask({ kind: "roles" })).map(({ name }) => name),
    [`arn:aws:iam::${aws.accountId}:role/worker`],
  );
  t.match(await ask({ kind: "layers", region }), [{ name: /:layer:fonts:1$/, detail: "all fonts" }]);
  t.same(await ask({ kind: "certificates", region }), [{ name: "api.example.com", detail: "has a certificate" }]);
  t.same(await ask({ kind: "stages", app: "never", region }), []);

  const { env: networkEnv, questions } = await startCloudControl(t, {
    "AWS::EC2::Subnet": [
      [
        {
          Identifier: "subnet-aaaa1111",
          Properties:
            '{"SubnetId":"subnet-aaaa1111","VpcId":"vpc-1","CidrBlock":"10.0.1.0/24","AvailabilityZone":"eu-west-1a","Tags":[{"Key":"Name","Value":"private"}]}',
        },
      ],
      [
        { Identifier: "subnet-bbbb2222", Properties: '{"SubnetId":"subnet-bbbb2222"}' },
        { Identifier: "subnet-cccc3333", Properties: "null" },
        { Identifier: "subnet-dddd4444", Properties: '{"Tags":[' },
      ],
    ],
    "AWS::EC2::SecurityGroup": [
      [
        { Identifier: "sg-aaaa1111", Properties: '{"GroupName":"database","VpcId":"vpc-1"}' },
        { Identifier: "sg-bbbb2222" },
      ],
    ],
  });
  const networks = (kind: "subnets" | "security-groups") =>
    accountNames({ kind, region }, { env: { ...env, ...networkEnv }, clock: systemClock, signal });
  const detail = "a subnet of the account";
  t.same(await networks("subnets"), [
    { name: "subnet-aaaa1111", detail: "private, 10.0.1.0/24, eu-west-1a, vpc-1", network: "vpc-1" },
    { name: "subnet-bbbb2222", detail },
    { name: "subnet-cccc3333", detail },
    { name: "subnet-dddd4444", detail },
  ]);
  t.same(await networks("security-groups"), [
    { name: "sg-aaaa1111", detail: "database, vpc-1", network: "vpc-1" },
    { name: "sg-bbbb2222", detail: "a security group of the account" },
  ]);
  t.same(questions, ["AWS::EC2::Subnet", "AWS::EC2::Subnet 1", "AWS::EC2::SecurityGroup"]);

  const run = (input: string, more = {}) => tool(["lsp", "--look-up"], { stdin: input, env: { ...env, ...more } });
  t.same(JSON.parse((await run('{"kind":"zones"}')).stdout), [
    { name: "example.com", detail: "a zone of the account" },
  ]);
  t.match(await run("{}"), { code: 2, stdout: "", stderr: /stdin has no question/ });
  t.match(await run('{"kind":"zones","profile":"nobody"}', { CLOUD_ACCESS_KEY_ID: "", CLOUD_SECRET_ACCESS_KEY: "" }), {
    code: 1,
    stdout: "",
  });

  const text = '{ "name": "app", "function": { "role": "" } }';
  const client = startLsp({ env });
  try {
    await client.initialize({ capabilities: {} });
    const uri = "file:///nowhere/tool.json";
    client.open(uri, text);
    const labels = async () => {
      const position = { line: 0, character: text.indexOf('""') + 1 };
      const { result } = await client.request("textDocument/completion", { textDocument: { uri }, position });
      return result as { isIncomplete: boolean; items: { label: string }[] };
    };
    t.equal((await labels()).isIncomplete, false, "nobody has agreed");
    const calls = aws.journal.calls("iam").length;
    client.notify("workspace/didChangeConfiguration", { settings: { tool: { awsNames: { enabled: true } } } });
    const first = await until("the setting", async () => [await labels()].find(({ isIncomplete }) => isIncomplete));
    t.ok(first.items.length > 0, "the others are there at once");
    const after = await until("the roles", async () => [await labels()].find(({ isIncomplete }) => !isIncomplete));
    t.match(after.items.map(({ label }) => label).join(), /role\/worker/);
    t.equal(aws.journal.calls("iam").length, calls + 1, "asked once");
    await client.stop();
  } finally {
    client.child.kill();
  }
});

type Page = readonly { readonly Identifier: string; readonly Properties?: string }[];

/** The Cloud Control API, which lists resources of a type in pages. The stand-in of the cloud does not have it. */
async function startCloudControl(t: Test, resources: Readonly<Record<string, readonly Page[]>>) {
  const questions: string[] = [];
  const server = createServer(async (request, response) => {
    const { TypeName, NextToken } = (await json(request)) as { TypeName: string; NextToken?: string };
    questions.push([TypeName, NextToken].filter((word) => word !== undefined).join(" "));
    const pages = resources[TypeName] ?? [];
    const next = Number(NextToken ?? 0) + 1;
    const isRight = request.headers["x-amz-target"] === "CloudApiService.ListResources";
    response.writeHead(isRight ? 200 : 400, { "content-type": "application/x-amz-json-1.0" });
    const page = { TypeName, ResourceDescriptions: pages[next - 1], NextToken: pages[next] && String(next) };
    response.end(JSON.stringify(page));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  return { env: { TOOL_AWS_ENDPOINT: `http://127.0.0.1:${port}` }, questions };
}
