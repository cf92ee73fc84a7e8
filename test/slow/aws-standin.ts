// The stand-in of the cloud, asked by the SDK's own clients. A row is a call and what comes of it: a part of the output,
// or the name of the error. What is held here is what deploying relies on; the pages of the services say it.
import { readFileSync } from "node:fs";
import { get as httpGet } from "node:http";
import { ACM } from "@aws-sdk/client-acm";
import { CloudWatch } from "@aws-sdk/client-cloudwatch";
import { CloudWatchLogs } from "@aws-sdk/client-cloudwatch-logs";
import { IAM } from "@aws-sdk/client-iam";
import { type FunctionConfiguration, Lambda } from "@aws-sdk/client-lambda";
import { Route53 } from "@aws-sdk/client-route-53";
import { Route53Domains } from "@aws-sdk/client-route-53-domains";
import { S3 } from "@aws-sdk/client-s3";
import { Scheduler } from "@aws-sdk/client-scheduler";
import { SNS } from "@aws-sdk/client-sns";
import { SSM } from "@aws-sdk/client-ssm";
import { STS } from "@aws-sdk/client-sts";
import t, { type Test } from "tap";
import { zipOf } from "../../cli/sandbox/cloud/lambda/zip.ts";
import { type Aws, type AwsOptions, startAws } from "../support/aws/index.ts";
import { bundle } from "../support/runtime-api/deployed.ts";
import { until } from "../support/until.ts";

const ROLE = "arn:aws:iam::123456789012:role/app";
const HANDLER = "exports.handler = async (event) => { console.log('got', event.x); return { x: event.x }; };";

/** One try per call, so that each failure shows. */
async function open(t: Test, options: AwsOptions = {}) {
  const aws = await startAws(t, options);
  const client = { ...aws.client, maxAttempts: 1, disableHostPrefix: true };
  return { aws, client, lambda: new Lambda(client), iam: new IAM(client) };
}

const trustOf = (service: string) =>
  JSON.stringify({ Statement: [{ Effect: "Allow", Action: "sts:AssumeRole", Principal: { Service: service } }] });

async function withFunction(t: Test, options: AwsOptions = {}, code = HANDLER) {
  const opened = await open(t, options);
  const { iam, lambda } = opened;
  await iam.createRole({ RoleName: "app", AssumeRolePolicyDocument: trustOf("lambda.amazonaws.com") });
  await lambda.createFunction({
    FunctionName: "app",
    Role: ROLE,
    Runtime: "nodejs24.x",
    Handler: "index.handler",
    Code: { ZipFile: zipOf({ "index.js": code }) },
    // As long as a busy machine needs.
    Timeout: 900,
    Publish: true,
  });
  if (options.clock?.speed === 0) opened.aws.controls.clock.advance(10_000);
  else await settled(lambda);
  return opened;
}

const settled = (lambda: Lambda): Promise<FunctionConfiguration> =>
  until("the function's last update", async () => {
    const configuration = await lambda.getFunctionConfiguration({ FunctionName: "app" });
    return configuration.LastUpdateStatus === "Successful" && configuration.State === "Active"
      ? configuration
      : undefined;
  });

/** The name of the error of a call that must fail. */
async function failure(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return "no failure";
  } catch (error) {
    return (error as Error).name;
  }
}

type Row = readonly [name: string, call: () => Promise<unknown>, expected: string | object];

/** A text is the name of an error, an object a part of the output. */
async function check(t: Test, rows: readonly Row[]): Promise<void> {
  for (const [name, call, expected] of rows) {
    if (typeof expected === "string") t.equal(await failure(call()), expected, name);
    else t.match(await call(), expected, name);
  }
}

t.test("roles", async (t) => {
  const { iam } = await open(t);
  const role = { RoleName: "app" };
  const policy = { ...role, PolicyName: "own" };
  const document = JSON.stringify({ Statement: { Effect: "Allow", Action: "logs:*", Resource: "*" } });
  await check(t, [
    ["missing", () => iam.getRole(role), "NoSuchEntityException"],
    [
      "create without a statement",
      () => iam.createRole({ ...role, AssumeRolePolicyDocument: "{}" }),
      "MalformedPolicyDocumentException",
    ],
    [
      "create",
      () =>
        iam.createRole({
          ...role,
          AssumeRolePolicyDocument: trustOf("lambda.amazonaws.com"),
          Tags: [{ Key: "tool:app", Value: "x" }],
        }),
      { Role: { Arn: ROLE } },
    ],
    [
      "create again",
      () => iam.createRole({ ...role, AssumeRolePolicyDocument: trustOf("x") }),
      "EntityAlreadyExistsException",
    ],
    [
      "an action without a service",
      () => iam.putRolePolicy({ ...policy, PolicyDocument: document.replace("logs:*", "logs") }),
      "MalformedPolicyDocumentException",
    ],
    [
      "more than 10,240 characters",
      () =>
        iam.putRolePolicy({ ...policy, PolicyDocument: document.replace('"*"', JSON.stringify("x".repeat(10_300))) }),
      "LimitExceededException",
    ],
    ["put a policy", () => iam.putRolePolicy({ ...policy, PolicyDocument: document }), {}],
    ["a policy comes back encoded", () => iam.getRolePolicy(policy), { PolicyDocument: encodeURIComponent(document) }],
    ["policies", () => iam.listRolePolicies(role), { PolicyNames: ["own"] }],
    ["tags", () => iam.getRole(role), { Role: { Tags: [{ Key: "tool:app", Value: "x" }] } }],
    [
      "attach",
      () => iam.attachRolePolicy({ ...role, PolicyArn: "arn:aws:iam::aws:policy/AWSLambdaVPCAccessExecutionRole" }),
      {},
    ],
    ["delete with an attached policy", () => iam.deleteRole(role), "DeleteConflictException"],
    [
      "detach",
      () => iam.detachRolePolicy({ ...role, PolicyArn: "arn:aws:iam::aws:policy/AWSLambdaVPCAccessExecutionRole" }),
      {},
    ],
    ["delete with a policy", () => iam.deleteRole(role), "DeleteConflictException"],
    ["delete the policy", () => iam.deleteRolePolicy(policy), {}],
    ["delete", () => iam.deleteRole(role), {}],
  ]);
});

t.test("who asks", async (t) => {
  const { aws, client, iam } = await open(t);
  await iam.createRole({ RoleName: "ci", AssumeRolePolicyDocument: trustOf("x") });
  const sts = new STS(client);
  const role = { RoleArn: "arn:aws:iam::123456789012:role/ci", RoleSessionName: "s" };
  const by = (accessKeyId: string) => ({ ...client, credentials: { accessKeyId, secretAccessKey: "x" } });
  const [revoked, outOfDate] = [by("AKIAINVALID"), by("AKIAEXPIRED")];
  await check(t, [
    ["keys", () => sts.getCallerIdentity({}), { Account: aws.accountId }],
    ["revoked keys", () => new STS(revoked).getCallerIdentity({}), "InvalidClientTokenId"],
    ["revoked keys: Lambda", () => new Lambda(revoked).listFunctions({}), "UnrecognizedClientException"],
    ["revoked keys: Logs", () => new CloudWatchLogs(revoked).describeLogGroups({}), "UnrecognizedClientException"],
    ["revoked keys: S3", () => new S3(revoked).listBuckets({}), "InvalidAccessKeyId"],
    ["a token out of date", () => new STS(outOfDate).getCallerIdentity({}), "ExpiredToken"],
    ["a token out of date: Lambda", () => new Lambda(outOfDate).listFunctions({}), "ExpiredTokenException"],
    ["a role", () => sts.assumeRole(role), { AssumedRoleUser: { Arn: "arn:aws:sts::123456789012:assumed-role/ci/s" } }],
    [
      "a role by a token, unsigned",
      () => sts.assumeRoleWithWebIdentity({ ...role, WebIdentityToken: "a.b.c" }),
      { Audience: "sts.amazonaws.com" },
    ],
    [
      "no token",
      () => sts.assumeRoleWithWebIdentity({ ...role, WebIdentityToken: "abc" }),
      "InvalidIdentityTokenException",
    ],
  ]);
});

t.test("creating a function", async (t) => {
  const { aws, lambda, iam } = await open(t, { clock: { speed: 0 }, roleDelayMs: 8_000 });
  const zip = zipOf({ "index.js": HANDLER });
  const create = (more: object = {}) =>
    lambda.createFunction({
      FunctionName: "app",
      Role: ROLE,
      Runtime: "nodejs24.x",
      Handler: "index.handler",
      Code: { ZipFile: zip },
      ...more,
    });
  await check(t, [
    ["without its role", () => create(), "InvalidParameterValueException"],
    [
      "the role",
      () => iam.createRole({ RoleName: "app", AssumeRolePolicyDocument: trustOf("lambda.amazonaws.com") }),
      {},
    ],
    ["with a role of just now", () => create(), "InvalidParameterValueException"],
  ]);
  aws.controls.clock.advance(8_000);
  const variables = (text: string) => ({ Environment: { Variables: { TEXT: text } } });
  await check(t, [
    ["with an unknown runtime", () => create({ Runtime: "nodejs9.x" }), "InvalidParameterValueException"],
    ["with 901 seconds", () => create({ Timeout: 901 }), "ValidationException"],
    ["with no archive", () => create({ Code: { ZipFile: Buffer.from("text") } }), "InvalidParameterValueException"],
    [
      "with 250 MB unpacked",
      () => create({ Code: { ZipFile: archiveOf(262_144_001) } }),
      "InvalidParameterValueException",
    ],
    [
      "with a reserved variable",
      () => create({ Environment: { Variables: { AWS_REGION: "x" } } }),
      "InvalidParameterValueException",
    ],
    [
      "with 4,097 bytes of variables",
      () => create(variables("x".repeat(4097 - '{"TEXT":""}'.length))),
      "InvalidParameterValueException",
    ],
    ["with a missing object", () => create({ Code: { S3Bucket: "b", S3Key: "k" } }), "InvalidParameterValueException"],
    [
      "with a missing layer",
      () => create({ Layers: ["arn:aws:lambda:eu-west-1:123456789012:layer:x:1"] }),
      "InvalidParameterValueException",
    ],
    [
      "with 4,096 bytes of variables",
      () => create(variables("x".repeat(4096 - '{"TEXT":""}'.length))),
      { State: "Pending", LastUpdateStatus: "InProgress", Version: "$LATEST" },
    ],
    ["again", () => create(), "ResourceConflictException"],
    ["invoking it while it is pending", () => lambda.invoke({ FunctionName: "app" }), "ResourceConflictException"],
    [
      "changing it while it is pending",
      () => lambda.updateFunctionCode({ FunctionName: "app", ZipFile: zip }),
      "ResourceConflictException",
    ],
  ]);
  aws.controls.clock.advance(3_000);
  await check(t, [
    [
      "a while later",
      () => lambda.getFunctionConfiguration({ FunctionName: "app" }),
      { State: "Active", LastUpdateStatus: "Successful" },
    ],
  ]);
});

/** An archive that says of its file how large it is, without being so. */
function archiveOf(bytes: number): Buffer {
  const zip = zipOf({ x: "" });
  zip.writeUInt32LE(bytes, zip.indexOf(Buffer.from([0x50, 0x4b, 1, 2])) + 24);
  return zip;
}

t.test("a new role that Lambda refuses twice", async (t) => {
  const { lambda, iam } = await open(t, { roleRefusals: 2 });
  await iam.createRole({ RoleName: "app", AssumeRolePolicyDocument: trustOf("lambda.amazonaws.com") });
  const create = () =>
    lambda.createFunction({
      FunctionName: "app",
      Role: ROLE,
      Runtime: "nodejs24.x",
      Handler: "index.handler",
      Code: { ZipFile: zipOf({ "index.js": HANDLER }) },
    });
  await check(t, [
    ["once", create, "InvalidParameterValueException"],
    ["twice", create, "InvalidParameterValueException"],
    ["then not", create, { State: "Pending" }],
  ]);
});

t.test("changing a function: states and revisions", async (t) => {
  const { aws, lambda } = await withFunction(t, { clock: { speed: 0 } });
  const name = { FunctionName: "app" };
  const zip = zipOf({ "index.js": `${HANDLER}//` });
  const before = await lambda.getFunctionConfiguration(name);
  const changed = await lambda.updateFunctionConfiguration({
    ...name,
    RevisionId: before.RevisionId,
    Environment: { Variables: { AB: "1" } },
  });
  t.equal(changed.LastUpdateStatus, "InProgress");
  await check(t, [
    [
      "the next change at once",
      () => lambda.updateFunctionCode({ ...name, ZipFile: zip }),
      "ResourceConflictException",
    ],
    ["publishing at once", () => lambda.publishVersion(name), "ResourceConflictException"],
  ]);
  aws.controls.clock.advance(1_000);
  await check(t, [
    [
      "with the revision from before",
      () => lambda.updateFunctionCode({ ...name, ZipFile: zip, RevisionId: before.RevisionId }),
      "PreconditionFailedException",
    ],
    [
      "with the revision that the change answered",
      () => lambda.updateFunctionCode({ ...name, ZipFile: zip, RevisionId: changed.RevisionId }),
      "PreconditionFailedException",
    ],
    [
      "dry, for a look at the hash",
      () => lambda.updateFunctionCode({ ...name, ZipFile: zip, DryRun: true }),
      { LastUpdateStatus: "Successful" },
    ],
  ]);
  const { RevisionId } = await lambda.getFunctionConfiguration(name);
  await check(t, [
    [
      "with the revision of now",
      () => lambda.updateFunctionCode({ ...name, ZipFile: zip, RevisionId, Publish: true }),
      { Version: "2", Environment: { Variables: { AB: "1" } } },
    ],
  ]);
});

t.test("versions and aliases", async (t) => {
  const { lambda } = await withFunction(t);
  const name = { FunctionName: "app" };
  const zip = zipOf({ "index.js": `${HANDLER}//` });
  const publish = async () => {
    await settled(lambda);
    return lambda.publishVersion(name);
  };
  await check(t, [
    ["publishing what is published", publish, { Version: "1" }],
    [
      "the same code again",
      () => lambda.updateFunctionCode({ ...name, ZipFile: zipOf({ "index.js": HANDLER }), Publish: true }),
      { Version: "1" },
    ],
    [
      "variables alone",
      async () =>
        (await settled(lambda)) &&
        lambda.updateFunctionConfiguration({ ...name, Environment: { Variables: { AB: "1" } } }),
      { Version: "$LATEST" },
    ],
    ["make a version", publish, { Version: "2" }],
    [
      "and so does code",
      async () => (await settled(lambda)) && lambda.updateFunctionCode({ ...name, ZipFile: zip, Publish: true }),
      { Version: "3" },
    ],
    [
      "a version keeps its variables",
      () => lambda.getFunctionConfiguration({ ...name, Qualifier: "1" }),
      { Version: "1", Environment: undefined as never },
    ],
    [
      "versions in pages",
      () => lambda.listVersionsByFunction({ ...name, MaxItems: 2 }),
      { Versions: [{ Version: "$LATEST" }, { Version: "1" }], NextMarker: String },
    ],
    [
      "an alias of a missing version",
      () => lambda.createAlias({ ...name, Name: "production", FunctionVersion: "9" }),
      "ResourceNotFoundException",
    ],
    [
      "an alias that is a number",
      () => lambda.createAlias({ ...name, Name: "12", FunctionVersion: "1" }),
      "ValidationException",
    ],
    [
      "an alias",
      () => lambda.createAlias({ ...name, Name: "production", FunctionVersion: "1" }),
      { FunctionVersion: "1" },
    ],
    [
      "twice",
      () => lambda.createAlias({ ...name, Name: "production", FunctionVersion: "1" }),
      "ResourceConflictException",
    ],
    [
      "moved by another revision",
      () => lambda.updateAlias({ ...name, Name: "production", FunctionVersion: "3", RevisionId: "x" }),
      "PreconditionFailedException",
    ],
    [
      "moved",
      () => lambda.updateAlias({ ...name, Name: "production", FunctionVersion: "3" }),
      { FunctionVersion: "3" },
    ],
    [
      "the configuration behind it",
      () => lambda.getFunctionConfiguration({ ...name, Qualifier: "production" }),
      { Version: "3", FunctionArn: /:production$/ },
    ],
    ["deleting its version", () => lambda.deleteFunction({ ...name, Qualifier: "3" }), "ResourceConflictException"],
    [
      "deleting $LATEST",
      () => lambda.deleteFunction({ ...name, Qualifier: "$LATEST" }),
      "InvalidParameterValueException",
    ],
    ["deleting another version", () => lambda.deleteFunction({ ...name, Qualifier: "1" }), {}],
    ["aliases", () => lambda.listAliases(name), { Aliases: [{ Name: "production" }] }],
    ["a missing alias", () => lambda.getAlias({ ...name, Name: "staging" }), "ResourceNotFoundException"],
    ["deleting a missing alias", () => lambda.deleteAlias({ ...name, Name: "staging" }), {}],
    ["deleting the alias", () => lambda.deleteAlias({ ...name, Name: "production" }), {}],
    [
      "tags",
      () =>
        lambda.tagResource({
          Resource: "arn:aws:lambda:eu-west-1:123456789012:function:app",
          Tags: { "tool:app": "app" },
        }),
      {},
    ],
    [
      "are listed",
      () => lambda.listTags({ Resource: "arn:aws:lambda:eu-west-1:123456789012:function:app" }),
      { Tags: { "tool:app": "app" } },
    ],
    ["deleting the function", () => lambda.deleteFunction(name), {}],
    ["which is gone", () => lambda.getFunction(name), "ResourceNotFoundException"],
  ]);
});

t.test("permissions", async (t) => {
  const { lambda } = await withFunction(t);
  const name = { FunctionName: "app" };
  await lambda.createAlias({ ...name, Name: "production", FunctionVersion: "1" });
  const permission = {
    ...name,
    Qualifier: "production",
    StatementId: "gateway",
    Action: "lambda:InvokeFunction",
    Principal: "apigateway.amazonaws.com",
  };
  await check(t, [
    ["no policy", () => lambda.getPolicy({ ...name, Qualifier: "production" }), "ResourceNotFoundException"],
    ["add", () => lambda.addPermission(permission), { Statement: /"Service":"apigateway.amazonaws.com"/ }],
    ["add again", () => lambda.addPermission(permission), "ResourceConflictException"],
    ["of the alias alone", () => lambda.getPolicy(name), "ResourceNotFoundException"],
    ["get", () => lambda.getPolicy({ ...name, Qualifier: "production" }), { Policy: /function:app:production/ }],
    ["remove", () => lambda.removePermission({ ...name, Qualifier: "production", StatementId: "gateway" }), {}],
    [
      "remove again",
      () => lambda.removePermission({ ...name, Qualifier: "production", StatementId: "gateway" }),
      "ResourceNotFoundException",
    ],
  ]);
});

t.test("layers", async (t) => {
  const { lambda } = await open(t);
  const layer = { LayerName: "tool-runtime" };
  const publish = () =>
    lambda.publishLayerVersion({ ...layer, Description: "hash", Content: { ZipFile: zipOf({ "tool/runtime": "x" }) } });
  await check(t, [
    ["publish", publish, { Version: 1, LayerVersionArn: /:layer:tool-runtime:1$/ }],
    ["publish again: layers are not deduplicated", publish, { Version: 2 }],
    [
      "list, newest first",
      () => lambda.listLayerVersions(layer),
      { LayerVersions: [{ Version: 2, Description: "hash" }, { Version: 1 }] },
    ],
    ["get", () => lambda.getLayerVersion({ ...layer, VersionNumber: 2 }), { Content: { CodeSize: Number } }],
    ["delete", () => lambda.deleteLayerVersion({ ...layer, VersionNumber: 2 }), {}],
    ["get what is deleted", () => lambda.getLayerVersion({ ...layer, VersionNumber: 2 }), "ResourceNotFoundException"],
    ["numbers are not used again", publish, { Version: 3 }],
  ]);
});

t.test("invoking", async (t) => {
  const code = `exports.handler = async (event) => {
    if (event.fail) throw new TypeError("no");
    if (event.exit) process.exit(3);
    if (event.kill) process.kill(process.pid, "SIGKILL");
    if (event.slow) await new Promise((resolve) => setTimeout(resolve, 3_600_000));
    console.log("got", event.x);
    return { x: event.x, version: process.env.AWS_LAMBDA_FUNCTION_VERSION };
  };`;
  const { client, lambda } = await withFunction(t, {}, code);
  await lambda.createAlias({ FunctionName: "app", Name: "production", FunctionVersion: "1" });
  const invoke = async (event: object, more: object = {}) => {
    const { Payload, ...output } = await lambda.invoke({
      FunctionName: "app",
      Payload: JSON.stringify(event),
      ...more,
    });
    return { ...output, answer: JSON.parse(Payload?.transformToString() || "null") };
  };
  await check(t, [
    [
      "an event",
      () => invoke({ x: 1 }),
      { StatusCode: 200, ExecutedVersion: "$LATEST", answer: { x: 1, version: "$LATEST" } },
    ],
    [
      "by the alias",
      () => invoke({ x: 2 }, { Qualifier: "production" }),
      { ExecutedVersion: "1", answer: { x: 2, version: "1" } },
    ],
    [
      "failing",
      () => invoke({ fail: true }),
      { StatusCode: 200, FunctionError: "Unhandled", answer: { errorType: "TypeError", errorMessage: "no" } },
    ],
    [
      "ending its process",
      () => invoke({ exit: true }),
      {
        FunctionError: "Unhandled",
        answer: { errorType: "Runtime.ExitError", errorMessage: "Runtime exited with error: exit status 3" },
      },
    ],
    ["killed", () => invoke({ kill: true }), { answer: { errorMessage: "Runtime exited with error: signal: killed" } }],
    ["without waiting", () => invoke({ x: 3 }, { InvocationType: "Event" }), { StatusCode: 202 }],
    ["a missing qualifier", () => invoke({}, { Qualifier: "staging" }), "ResourceNotFoundException"],
    ["no JSON", () => lambda.invoke({ FunctionName: "app", Payload: "{" }), "InvalidRequestContentException"],
  ]);
  const { EventStream } = await lambda.invokeWithResponseStream({
    FunctionName: "app",
    Payload: JSON.stringify({ x: 4 }),
  });
  const parts: string[] = [];
  for await (const { PayloadChunk, InvokeComplete } of EventStream ?? []) {
    parts.push(
      PayloadChunk ? Buffer.from(PayloadChunk.Payload!).toString() : `complete ${InvokeComplete?.ErrorCode ?? ""}`,
    );
  }
  t.same(parts, ['{"x":4,"version":"$LATEST"}', "complete "], "in parts");
  const logs = new CloudWatchLogs(client);
  const messagesOf = (reports: number) =>
    until(`the log of ${reports} invocations`, async () => {
      const { events = [] } = await logs.filterLogEvents({ logGroupName: "/aws/lambda/app" });
      const lines = events.map(({ message = "" }) => message);
      return lines.filter((line) => line.startsWith("REPORT")).length === reports ? lines : undefined;
    });
  // A change ends the environments of before.
  await messagesOf(7);
  await lambda.updateFunctionConfiguration({ FunctionName: "app", Timeout: 1 });
  await settled(lambda);
  await check(t, [
    [
      "beyond its time",
      () => invoke({ slow: true }),
      { FunctionError: "Unhandled", answer: { errorMessage: /Task timed out after 1.00 seconds/ } },
    ],
  ]);
  const messages = await messagesOf(8);
  t.equal(messages.filter((line) => /^START RequestId: [\w-]{36} Version: (1|\$LATEST)\n$/.test(line)).length, 8);
  t.ok(messages.includes("got 1\n"), "what the function wrote");
  t.equal(messages.filter((line) => /^\d{4}-\S+Z [\w-]{36} Task timed out after 1.00 seconds\n$/.test(line)).length, 1);
  const ends = messages.flatMap(
    (line) => /^RequestId: [\w-]{36} Error: (.*)\nRuntime.ExitError\n$/.exec(line)?.[1] ?? [],
  );
  t.same(ends, ["Runtime exited with error: exit status 3", "Runtime exited with error: signal: killed"]);
  t.equal(messages.filter((line) => /\tStatus: timeout\t\n$/.test(line)).length, 1);
  t.equal(messages.filter((line) => /\tStatus: error\tError Type: Runtime.ExitError\t\n$/.test(line)).length, 2);
  t.match(
    messages.find((line) => line.startsWith("REPORT")),
    /\tDuration: [\d.]+ ms\tBilled Duration: \d+ ms\tMemory Size: 128 MB\tMax Memory Used: \d+ MB\tInit Duration: /,
  );
});

t.test("the runtime behind its wrapper, from the function's archive and from a layer", async (t) => {
  const { aws, client, lambda } = await withFunction(t);
  const runtime = { bytes: readFileSync(bundle), mode: 0o755 };
  const deployment = JSON.stringify({
    config: { name: "app", type: "static", static: { dir: "." } },
    stage: "production",
  });
  const app = { "index.html": "<h1>hello</h1>", ".tool/deployment.json": deployment };
  const { LayerVersionArn = "" } = await lambda.publishLayerVersion({
    LayerName: "tool-runtime",
    Content: { ZipFile: zipOf({ "tool/runtime": runtime }) },
  });
  for (const [wrapper, zip, Layers] of [
    ["/var/task/.tool/bootstrap.cjs", zipOf({ ...app, ".tool/bootstrap.cjs": runtime }), []],
    ["/opt/tool/runtime", zipOf(app), [LayerVersionArn]],
  ] as const) {
    await settled(lambda);
    await lambda.updateFunctionConfiguration({
      FunctionName: "app",
      Layers: [...Layers],
      Timeout: 10,
      Environment: {
        Variables: { AWS_LAMBDA_EXEC_WRAPPER: wrapper, TOOL_STAGE: "production", TOOL_RESPONSE_MODE: "buffered" },
      },
    });
    await settled(lambda);
    await lambda.updateFunctionCode({ FunctionName: "app", ZipFile: zip });
    await settled(lambda);
    const event = {
      httpMethod: "GET",
      path: "/",
      headers: {},
      requestContext: { requestId: "r", identity: { sourceIp: "1.2.3.4" } },
    };
    const { Payload } = await lambda.invoke({ FunctionName: "app", Payload: JSON.stringify(event) });
    t.match(JSON.parse(Payload!.transformToString()), { statusCode: 200, body: "<h1>hello</h1>" }, wrapper);
  }
  const logs = new CloudWatchLogs(client);
  const find = async () =>
    (await logs.filterLogEvents({ logGroupName: "/aws/lambda/app", filterPattern: '{ $.fields.method = "GET" }' }))
      .events;
  t.ok(await until("the request in the log", async () => (await find())?.length), "entries are found by a pattern");
  t.equal(aws.journal.count("lambda", "Invoke"), 2);
});

t.test("logs", async (t) => {
  const { aws, client } = await open(t);
  const logs = new CloudWatchLogs(client);
  const group = { logGroupName: "/aws/lambda/app" };
  const { append, settings } = aws.state.service("logs");
  await check(t, [
    ["a missing group", () => logs.filterLogEvents(group), "ResourceNotFoundException"],
    ["create", () => logs.createLogGroup(group), {}],
    ["create again", () => logs.createLogGroup(group), "ResourceAlreadyExistsException"],
    [
      "a retention that there is not",
      () => logs.putRetentionPolicy({ ...group, retentionInDays: 2 }),
      "InvalidParameterException",
    ],
    ["a retention", () => logs.putRetentionPolicy({ ...group, retentionInDays: 14 }), {}],
    [
      "groups by their prefix",
      () => logs.describeLogGroups({ logGroupNamePrefix: "/aws/lambda/a" }),
      { logGroups: [{ retentionInDays: 14 }] },
    ],
    [
      "a missing stream",
      () => logs.putLogEvents({ ...group, logStreamName: "a", logEvents: [] }),
      "ResourceNotFoundException",
    ],
    [
      "a pattern that is none",
      () => logs.filterLogEvents({ ...group, filterPattern: "{ $.a EXISTS }" }),
      "InvalidParameterException",
    ],
  ]);
  for (let i = 0; i < 6; i += 1)
    append(group.logGroupName, i % 2 ? "b" : "a", [{ timestamp: 1000 + i * 10, message: `{"n":${i}}` }]);
  append(group.logGroupName, "c", [{ timestamp: 1015, message: "late, and between the others" }]);
  const find = (more: object) => async () => {
    const { events = [], nextToken } = await logs.filterLogEvents({ ...group, ...more });
    return { messages: events.map(({ message = "" }) => /\d/.exec(message)?.[0] ?? "late").join(" "), nextToken };
  };
  await check(t, [
    ["all streams together, by time", find({}), { messages: "0 1 late 2 3 4 5" }],
    ["from, until: both are in it", find({ startTime: 1010, endTime: 1030 }), { messages: "1 late 2 3" }],
    ["one stream", find({ logStreamNames: ["b"] }), { messages: "1 3 5" }],
    ["a pattern", find({ filterPattern: "{ $.n > 3 }" }), { messages: "4 5" }],
    ["a page", find({ limit: 2 }), { messages: "0 1", nextToken: String }],
    [
      "streams",
      () => logs.describeLogStreams({ ...group, orderBy: "LastEventTime", descending: true, limit: 1 }),
      { logStreams: [{ logStreamName: "b" }], nextToken: String },
    ],
  ]);
  settings.scannedEvents = 2;
  const pages: string[] = [];
  for (let nextToken: string | undefined, isFirst = true; isFirst || nextToken !== undefined; isFirst = false) {
    const page = await find({ filterPattern: "{ $.n = 5 }", nextToken })();
    pages.push(page.messages);
    nextToken = page.nextToken;
    // Events that come meanwhile move no page.
    if (isFirst) append(group.logGroupName, "a", [{ timestamp: 1001, message: "before the token" }]);
  }
  t.same(pages, ["", "", "", "5"], "pages may be empty and yet not the last");
  const { responseStream } = await logs.startLiveTail({
    logGroupIdentifiers: [`arn:aws:logs:eu-west-1:123456789012:log-group:${group.logGroupName}`],
    logEventFilterPattern: "{ $.n = 7 }",
  });
  const tailed: string[] = [];
  for await (const { sessionStart, sessionUpdate } of responseStream ?? []) {
    if (sessionStart)
      append(
        group.logGroupName,
        "a",
        [6, 7].map((n) => ({ timestamp: 2000, message: `{"n":${n}}` })),
      );
    tailed.push(...(sessionUpdate?.sessionResults ?? []).map(({ message = "" }) => message));
    if (tailed.length > 0) break;
  }
  t.same(tailed, ['{"n":7}'], "following");
  await check(t, [["delete", () => logs.deleteLogGroup(group), {}]]);
});

t.test("buckets", async (t) => {
  const { client } = await open(t);
  const s3 = new S3(client);
  const bucket = { Bucket: "tool-123456789012-eu-west-1" };
  const put = (Key: string) => s3.putObject({ ...bucket, Key, Body: Key });
  await check(t, [
    ["a missing one", () => s3.headBucket(bucket), "NotFound"],
    ["a name with capitals", () => s3.createBucket({ Bucket: "Tool" }), "InvalidBucketName"],
    [
      "of another region",
      () => s3.createBucket({ ...bucket, CreateBucketConfiguration: { LocationConstraint: "us-west-2" } }),
      "IllegalLocationConstraintException",
    ],
    ["put into a missing one", () => put("a"), "NoSuchBucket"],
    [
      "create",
      () => s3.createBucket({ ...bucket, CreateBucketConfiguration: { LocationConstraint: "eu-west-1" } }),
      {},
    ],
    [
      "create again",
      () => s3.createBucket({ ...bucket, CreateBucketConfiguration: { LocationConstraint: "eu-west-1" } }),
      "BucketAlreadyOwnedByYou",
    ],
    [
      "access",
      () => s3.putPublicAccessBlock({ ...bucket, PublicAccessBlockConfiguration: { BlockPublicAcls: true } }),
      {},
    ],
    [
      "lifecycle",
      () =>
        s3.putBucketLifecycleConfiguration({
          ...bucket,
          LifecycleConfiguration: { Rules: [{ Status: "Enabled", Filter: { Prefix: "" }, Expiration: { Days: 30 } }] },
        }),
      {},
    ],
    [
      "acceleration",
      () => s3.putBucketAccelerateConfiguration({ ...bucket, AccelerateConfiguration: { Status: "Enabled" } }),
      {},
    ],
    ["tags", () => s3.putBucketTagging({ ...bucket, Tagging: { TagSet: [{ Key: "tool", Value: "<&>" }] } }), {}],
    ["come back", () => s3.getBucketTagging(bucket), { TagSet: [{ Key: "tool", Value: "<&>" }] }],
    ["put", () => put("app/é x"), { ETag: String }],
    ["put another", () => put("app/z"), {}],
    ["head", () => s3.headObject({ ...bucket, Key: "app/é x" }), { ContentLength: 8 }],
    [
      "get",
      async () => ({ text: await (await s3.getObject({ ...bucket, Key: "app/é x" })).Body?.transformToString() }),
      { text: "app/é x" },
    ],
    ["head of a missing one", () => s3.headObject({ ...bucket, Key: "x" }), "NotFound"],
    ["get a missing one", () => s3.getObject({ ...bucket, Key: "x" }), "NoSuchKey"],
    [
      "list",
      () => s3.listObjectsV2({ ...bucket, Prefix: "app/", MaxKeys: 1 }),
      { KeyCount: 1, IsTruncated: true, Contents: [{ Key: "app/z" }] },
    ],
    ["delete with objects", () => s3.deleteBucket(bucket), "BucketNotEmpty"],
    [
      "delete some",
      () => s3.deleteObjects({ ...bucket, Delete: { Objects: [{ Key: "app/z" }, { Key: "none" }] } }),
      { Deleted: [{ Key: "app/z" }, { Key: "none" }] },
    ],
    ["delete one that is not there", () => s3.deleteObject({ ...bucket, Key: "none" }), {}],
  ]);
});

t.test("certificates", async (t) => {
  const { aws, client } = await open(t, { clock: { speed: 0 } });
  const acm = new ACM({ ...client, region: "us-east-1" });
  const route53 = new Route53(client);
  const byDns = (
    await acm.requestCertificate({ DomainName: "example.dev", ValidationMethod: "DNS", IdempotencyToken: "a" })
  ).CertificateArn;
  const byMail = (await acm.requestCertificate({ DomainName: "*.example.dev", ValidationMethod: "EMAIL" }))
    .CertificateArn!;
  const describe = async (CertificateArn: string | undefined) =>
    (await acm.describeCertificate({ CertificateArn })).Certificate!;
  t.equal(
    (await describe(byDns)).DomainValidationOptions?.[0]?.ResourceRecord,
    undefined,
    "the record is not known at once",
  );
  aws.controls.clock.advance(2_000);
  const record = (await describe(byDns)).DomainValidationOptions?.[0]?.ResourceRecord;
  await check(t, [
    [
      "asked again with the same token",
      () => acm.requestCertificate({ DomainName: "example.dev", ValidationMethod: "DNS", IdempotencyToken: "a" }),
      { CertificateArn: byDns! },
    ],
    [
      "by mail: to whom",
      () => describe(byMail),
      {
        Status: "PENDING_VALIDATION",
        DomainValidationOptions: [
          {
            ValidationEmails: [
              "admin@example.dev",
              "administrator@example.dev",
              "hostmaster@example.dev",
              "postmaster@example.dev",
              "webmaster@example.dev",
            ],
          },
        ],
      },
    ],
    ["in another region there is none", () => new ACM(client).listCertificates({}), { CertificateSummaryList: [] }],
  ]);
  const zone = await route53.createHostedZone({ Name: "example.dev", CallerReference: "1" });
  await route53.changeResourceRecordSets({
    HostedZoneId: zone.HostedZone?.Id,
    ChangeBatch: {
      Changes: [
        {
          Action: "CREATE",
          ResourceRecordSet: {
            Name: record?.Name,
            Type: "CNAME",
            TTL: 60,
            ResourceRecords: [{ Value: record?.Value }],
          },
        },
      ],
    },
  });
  aws.controls.clock.advance(60_000);
  t.equal((await describe(byDns)).Status, "ISSUED", "issued when the record is there");
  t.equal((await describe(byMail)).Status, "PENDING_VALIDATION", "a mail waits for a click");
  aws.state.service("acm", "us-east-1").issue(byMail);
  t.equal((await describe(byMail)).Status, "ISSUED");
  await check(t, [
    ["delete", () => acm.deleteCertificate({ CertificateArn: byMail }), {}],
    ["which is gone", () => acm.describeCertificate({ CertificateArn: byMail }), "ResourceNotFoundException"],
  ]);
});

t.test("zones and records", async (t) => {
  const { client } = await open(t);
  const route53 = new Route53(client);
  const { HostedZone } = await route53.createHostedZone({ Name: "example.dev", CallerReference: "1" });
  const change = (Action: "CREATE" | "UPSERT" | "DELETE", record: object) =>
    route53.changeResourceRecordSets({
      HostedZoneId: HostedZone?.Id,
      ChangeBatch: { Changes: [{ Action, ResourceRecordSet: { Name: "www.example.dev", Type: "A", ...record } }] },
    });
  const values = { TTL: 60, ResourceRecords: [{ Value: "192.0.2.1" }] };
  await check(t, [
    [
      "the same reference again",
      () => route53.createHostedZone({ Name: "example.dev", CallerReference: "1" }),
      "HostedZoneAlreadyExists",
    ],
    [
      "by name",
      () => route53.listHostedZonesByName({ DNSName: "example.dev" }),
      { HostedZones: [{ Id: HostedZone?.Id, Name: "example.dev." }] },
    ],
    ["a record of another zone", () => change("CREATE", { Name: "x.example.com", ...values }), "InvalidChangeBatch"],
    ["a record without values", () => change("CREATE", {}), "InvalidInput"],
    ["a record", () => change("CREATE", values), { ChangeInfo: { Status: "PENDING" } }],
    ["again", () => change("CREATE", values), "InvalidChangeBatch"],
    [
      "beside it a CNAME",
      () => change("CREATE", { Type: "CNAME", TTL: 60, ResourceRecords: [{ Value: "x" }] }),
      "InvalidChangeBatch",
    ],
    [
      "an alias in its place",
      () =>
        change("UPSERT", {
          AliasTarget: { DNSName: "d1.cloudfront.net", HostedZoneId: "Z2FDTNDATAQYW2", EvaluateTargetHealth: false },
        }),
      {},
    ],
    [
      "records",
      () => route53.listResourceRecordSets({ HostedZoneId: HostedZone?.Id, StartRecordName: "www.example.dev" }),
      { ResourceRecordSets: [{ Name: "www.example.dev.", AliasTarget: { DNSName: "d1.cloudfront.net" } }] },
    ],
    ["delete the zone", () => route53.deleteHostedZone({ Id: HostedZone?.Id }), "HostedZoneNotEmpty"],
    ["delete the record", () => change("DELETE", {}), {}],
    ["delete the zone then", () => route53.deleteHostedZone({ Id: HostedZone?.Id }), {}],
    ["which is gone", () => route53.getHostedZone({ Id: HostedZone?.Id }), "NoSuchHostedZone"],
  ]);
});

t.test("buying a name", async (t) => {
  const { aws, client } = await open(t, { clock: { speed: 0 } });
  const domains = new Route53Domains({ ...client, region: "us-east-1" });
  const contact = { FirstName: "A" };
  const order = {
    DomainName: "new.dev",
    DurationInYears: 1,
    AdminContact: contact,
    RegistrantContact: contact,
    TechContact: contact,
  };
  const { OperationId } = await domains.registerDomain(order);
  await check(t, [
    ["taken", () => domains.checkDomainAvailability({ DomainName: "example.com" }), { Availability: "UNAVAILABLE" }],
    ["free", () => domains.checkDomainAvailability({ DomainName: "free.dev" }), { Availability: "AVAILABLE" }],
    ["an ending that is not sold", () => domains.checkDomainAvailability({ DomainName: "a.zz" }), "UnsupportedTLD"],
    [
      "prices",
      () => domains.listPrices({ Tld: "dev" }),
      { Prices: [{ RegistrationPrice: { Price: 17, Currency: "USD" } }] },
    ],
    ["under way", () => domains.getOperationDetail({ OperationId }), { Status: "IN_PROGRESS" }],
  ]);
  aws.controls.clock.advance(300_000);
  await check(t, [
    ["done", () => domains.getOperationDetail({ OperationId }), { Status: "SUCCESSFUL" }],
    ["ours", () => domains.listDomains({}), { Domains: [{ DomainName: "new.dev" }] }],
    [
      "with a zone",
      () => new Route53(client).listHostedZonesByName({ DNSName: "new.dev" }),
      { HostedZones: [{ Name: "new.dev." }] },
    ],
  ]);
});

t.test("parameters", async (t) => {
  const { client } = await open(t);
  const ssm = new SSM(client);
  const put = (Name: string, more: object = {}) =>
    ssm.putParameter({ Name, Value: "v", Type: "SecureString", ...more });
  const over = (Name: string, more: object = {}) => put(Name, { Overwrite: true, ...more });
  const levels = (count: number) => "/x".repeat(count);
  await check(t, [
    ["put", () => put("/tool/app/A"), { Version: 1, Tier: "Standard" }],
    ["again", () => put("/tool/app/A"), "ParameterAlreadyExists"],
    ["over it", () => over("/tool/app/A"), { Version: 2 }],
    ["over it without a type", () => over("/tool/app/A", { Type: undefined }), { Version: 3 }],
    ["as another type", () => over("/tool/app/A", { Type: "String" }), "HierarchyTypeMismatchException"],
    ["a new one without a type", () => over("/tool/app/B", { Type: undefined }), "ValidationException"],
    ["of a type that is none", () => put("/tool/app/B", { Type: "Secret" }), "ValidationException"],
    ["4,097 bytes", () => put("/tool/app/B", { Value: "x".repeat(4097) }), "ValidationException"],
    ["nothing", () => put("/tool/app/B", { Value: "" }), "ValidationException"],
    ["the name of another parameter", () => put("/tool/app/B", { Value: "a {{ssm:x}}" }), "ValidationException"],
    ["half of such a name", () => put("/tool/app/half", { Value: "a {{ b" }), { Version: 1 }],
    ["a description", () => put("/tool/app/B", { Description: "x".repeat(1024) }), { Version: 1 }],
    ["that is too long", () => over("/tool/app/B", { Description: "x".repeat(1025) }), "ValidationException"],
    ["tags over what is there", () => over("/tool/app/B", { Tags: [{ Key: "a", Value: "b" }] }), "ValidationException"],
    ["15 levels", () => put(levels(15)), { Version: 1 }],
    ["16 levels", () => put(levels(16)), "HierarchyLevelLimitExceededException"],
    ["an advanced one", () => put("/large", { Tier: "Advanced", Value: "x".repeat(8192) }), { Tier: "Advanced" }],
    ["that is to be a standard one", () => over("/large", { Tier: "Standard" }), "ValidationException"],
    ["8,193 bytes", () => over("/large", { Tier: "Advanced", Value: "x".repeat(8193) }), "ValidationException"],
    ["a tier as needed", () => put("/tiered", { Tier: "Intelligent-Tiering" }), { Tier: "Standard" }],
    ...["/aws/x", "/AWSOME/x"].map((name): Row => [name, () => put(name), "AccessDeniedException"]),
    ...["", "aws", "/ssm/x", "/SSMx", "ssm-x", "a/b", "/a b", "/a//b", "/a/", "/", `/${"x".repeat(1000)}`].map(
      (name): Row => [`the name ${name.slice(0, 20)}`, () => put(name), "ValidationException"],
    ),
    ["as it is stored", () => ssm.getParameter({ Name: "/tool/app/A" }), { Parameter: { Value: /^AQICAH/ } }],
    [
      "as it is meant",
      () => ssm.getParameter({ Name: "/tool/app/A", WithDecryption: true }),
      { Parameter: { Value: "v" } },
    ],
    [
      "some that are not there",
      () => ssm.getParameters({ Names: ["/tool/app/A", "/tool/app/Z"] }),
      { Parameters: [{ Name: "/tool/app/A" }], InvalidParameters: ["/tool/app/Z"] },
    ],
    ["none", () => ssm.getParameters({ Names: [] }), "ValidationException"],
    ["eleven", () => ssm.getParameters({ Names: Array(11).fill("/tool/app/A") }), "ValidationException"],
    ["delete eleven", () => ssm.deleteParameters({ Names: Array(11).fill("/tool/app/A") }), "ValidationException"],
    [
      "below a path",
      () => ssm.getParametersByPath({ Path: "/tool/", Recursive: true, WithDecryption: true, MaxResults: 1 }),
      { Parameters: [{ Name: "/tool/app/A", Value: "v" }], NextToken: /./ },
    ],
    ["below no path", () => ssm.getParametersByPath({ Path: "tool" }), "ValidationException"],
    ["eleven at once", () => ssm.getParametersByPath({ Path: "/tool", MaxResults: 11 }), "ValidationException"],
    [
      "by a filter that it does not have",
      () => ssm.getParametersByPath({ Path: "/tool", ParameterFilters: [{ Key: "Name", Values: ["a"] }] }),
      "InvalidFilterKey",
    ],
    ["delete", () => ssm.deleteParameter({ Name: "/tool/app/A" }), {}],
    ["a missing one", () => ssm.getParameter({ Name: "/tool/app/A" }), "ParameterNotFound"],
  ]);
});

t.test("parameters without their values", async (t) => {
  const { aws, client } = await open(t);
  const ssm = new SSM(client);
  for (const name of ["all/TOKEN", "all/PLAIN", "production/TOKEN", "production/deep/X"]) {
    const Type = name.endsWith("PLAIN") ? "String" : "SecureString";
    await ssm.putParameter({ Name: `/tool/app/${name}`, Value: "secret", Type, Description: `of ${name}` });
  }
  await ssm.putParameter({
    Name: "/tool/app-2/all/X",
    Value: "secret",
    Type: "String",
    Tags: [{ Key: "a", Value: "b" }],
  });
  await new IAM(client).createRole({ RoleName: "app", AssumeRolePolicyDocument: trustOf("lambda.amazonaws.com") });
  const { Credentials } = await new STS(client).assumeRole({ RoleArn: ROLE, RoleSessionName: "ci" });
  const { AccessKeyId = "", SecretAccessKey = "", SessionToken = "" } = Credentials!;
  const asRole = new SSM({
    ...client,
    credentials: { accessKeyId: AccessKeyId, secretAccessKey: SecretAccessKey, sessionToken: SessionToken },
  });
  await asRole.putParameter({ Name: "/tool/app/production/TOKEN", Value: "new", Overwrite: true });
  const names = async (Key: string, Values: string[], Option?: string) => {
    const filter = { Key, Values, ...(Option !== undefined && { Option }) };
    const { Parameters = [] } = await ssm.describeParameters({ ParameterFilters: [filter] });
    return Parameters.map(({ Name }) => Name?.replace("/tool/", ""));
  };
  const OWN = ["app/all/PLAIN", "app/all/TOKEN", "app/production/TOKEN", "app/production/deep/X"];
  const describe = (filter: object) => ssm.describeParameters({ ParameterFilters: [filter as { Key: string }] });
  await check(t, [
    ["all below", () => names("Path", ["/tool/app"], "Recursive"), OWN],
    ["one level below", () => names("Path", ["/tool/app/production"]), ["app/production/TOKEN"]],
    [
      "of two paths",
      () => names("Path", ["/tool/app/all", "/tool/app-2/all/"], "OneLevel"),
      ["app-2/all/X", ...OWN.slice(0, 2)],
    ],
    ["by name", () => names("Name", ["/tool/app/all/TOKEN"]), ["app/all/TOKEN"]],
    ["by the begin of a name", () => names("Name", ["/tool/app/a"], "BeginsWith"), OWN.slice(0, 2)],
    ["by type", () => names("Type", ["String"]), ["app-2/all/X", "app/all/PLAIN"]],
    ["by key", () => names("KeyId", ["alias/aws/ssm"]), ["app/all/TOKEN", ...OWN.slice(2)]],
    [
      "what is said",
      () => ssm.describeParameters({ ParameterFilters: [{ Key: "Name", Values: ["/tool/app/production/TOKEN"] }] }),
      {
        Parameters: [
          {
            Name: "/tool/app/production/TOKEN",
            ARN: "arn:aws:ssm:eu-west-1:123456789012:parameter/tool/app/production/TOKEN",
            Type: "SecureString",
            KeyId: "alias/aws/ssm",
            LastModifiedDate: Date,
            LastModifiedUser: "arn:aws:sts::123456789012:assumed-role/app/ci",
            Description: "of production/TOKEN",
            Version: 2,
            Tier: "Standard",
            DataType: "text",
          },
        ],
      },
    ],
    ["another key", () => describe({ Key: "Label", Values: ["x"] }), "NotImplemented"],
    ["no key", () => describe({ Key: "Colour", Values: ["x"] }), "InvalidFilterKey"],
    ["without values", () => describe({ Key: "Name" }), "InvalidFilterValue"],
    ["another option", () => describe({ Key: "Path", Option: "Equals", Values: ["/x"] }), "InvalidFilterOption"],
    ["another type", () => describe({ Key: "Type", Values: ["Text"] }), "InvalidFilterValue"],
    ["a path without a slash", () => describe({ Key: "Path", Values: ["tool"] }), "ValidationException"],
    ["51 at once", () => ssm.describeParameters({ MaxResults: 51 }), "ValidationException"],
    ["another token", () => ssm.describeParameters({ NextToken: "x" }), "InvalidNextToken"],
    [
      "tags of its creation",
      () => ssm.listTagsForResource({ ResourceType: "Parameter", ResourceId: "/tool/app-2/all/X" }),
      { TagList: [{ Key: "a", Value: "b" }] },
    ],
    [
      "add a tag",
      () =>
        ssm.addTagsToResource({
          ResourceType: "Parameter",
          ResourceId: "/tool/app-2/all/X",
          Tags: [{ Key: "c", Value: "d" }],
        }),
      {},
    ],
    [
      "both",
      () => ssm.listTagsForResource({ ResourceType: "Parameter", ResourceId: "/tool/app-2/all/X" }),
      {
        TagList: [
          { Key: "a", Value: "b" },
          { Key: "c", Value: "d" },
        ],
      },
    ],
    [
      "of none",
      () => ssm.addTagsToResource({ ResourceType: "Parameter", ResourceId: "/no", Tags: [{ Key: "c", Value: "d" }] }),
      "InvalidResourceId",
    ],
  ]);
  t.notMatch(JSON.stringify(await ssm.describeParameters({})), "secret", "no values");
  for (let i = 0; i < 12; i += 1) await ssm.putParameter({ Name: `/many/${i}`, Value: "v", Type: "String" });
  const parameterNames: string[] = [];
  let NextToken: string | undefined;
  do {
    const page = await ssm.describeParameters({ MaxResults: 5, ...(NextToken !== undefined && { NextToken }) });
    parameterNames.push(...(page.Parameters ?? []).map(({ Name = "" }) => Name));
    // A parameter that is deleted meanwhile leaves no other one out.
    if (NextToken === undefined) await ssm.deleteParameter({ Name: parameterNames[0]! });
    NextToken = page.NextToken;
  } while (NextToken !== undefined);
  t.equal(new Set(parameterNames).size, 17);
  t.equal((await ssm.describeParameters({})).Parameters?.length, 10, "ten where no size is said");
  t.equal(aws.journal.entries.filter(({ outcome }) => outcome === "InternalFailure").length, 0);
});

t.test("figures, alarms and topics", async (t) => {
  const { aws, client, lambda } = await withFunction(
    t,
    {},
    "exports.handler = async (event) => console.log(event.Records[0].Sns.Message);",
  );
  const watch = new CloudWatch(client);
  const sns = new SNS(client);
  const { TopicArn = "" } = await sns.createTopic({ Name: "alerts" });
  const { Configuration } = await lambda.getFunction({ FunctionName: "app" });
  const at = new Date(Math.floor(Date.now() / 60_000) * 60_000);
  const metric = { Namespace: "AWS/ApiGateway", MetricName: "Count", Dimensions: [{ Name: "ApiName", Value: "app" }] };
  const range = { StartTime: new Date(at.getTime() - 60_000), EndTime: new Date(at.getTime() + 60_000) };
  const { Namespace, ...datum } = metric;
  await check(t, [
    ["create again", () => sns.createTopic({ Name: "alerts" }), { TopicArn }],
    [
      "a mail waits for its confirmation",
      () => sns.subscribe({ TopicArn, Protocol: "email", Endpoint: "a@b.c" }),
      { SubscriptionArn: "pending confirmation" },
    ],
    ["no address", () => sns.subscribe({ TopicArn, Protocol: "email", Endpoint: "a" }), "InvalidParameterException"],
    [
      "a function",
      () => sns.subscribe({ TopicArn, Protocol: "lambda", Endpoint: Configuration?.FunctionArn }),
      { SubscriptionArn: /:alerts:/ },
    ],
    [
      "put figures",
      () =>
        watch.putMetricData({ Namespace, MetricData: [{ ...datum, Timestamp: at, Values: [1, 3], Counts: [2, 1] }] }),
      {},
    ],
    [
      "sum",
      () => watch.getMetricStatistics({ ...metric, ...range, Period: 60, Statistics: ["Sum", "SampleCount"] }),
      { Datapoints: [{ Sum: 5, SampleCount: 3 }] },
    ],
    [
      "other dimensions are another metric",
      () => watch.getMetricStatistics({ ...metric, Dimensions: [], ...range, Period: 60, Statistics: ["Sum"] }),
      { Datapoints: [] },
    ],
    [
      "too many points",
      () =>
        watch.getMetricStatistics({ ...metric, StartTime: new Date(0), EndTime: at, Period: 60, Statistics: ["Sum"] }),
      "InvalidParameterCombinationException",
    ],
    [
      "data",
      () =>
        watch.getMetricData({
          ...range,
          MetricDataQueries: [{ Id: "a", MetricStat: { Metric: metric, Period: 60, Stat: "p90" } }],
        }),
      { MetricDataResults: [{ Id: "a", Values: [3] }] },
    ],
    [
      "an alarm",
      () =>
        watch.putMetricAlarm({
          AlarmName: "many",
          ...metric,
          AlarmActions: [TopicArn],
          ComparisonOperator: "GreaterThanThreshold",
          Threshold: 1,
          Period: 60,
          EvaluationPeriods: 1,
          Statistic: "Sum",
        }),
      {},
    ],
    [
      "its state",
      () => watch.describeAlarms({ AlarmNamePrefix: "ma" }),
      { MetricAlarms: [{ AlarmName: "many", StateValue: "INSUFFICIENT_DATA" }] },
    ],
    ["goes off", () => watch.setAlarmState({ AlarmName: "many", StateValue: "ALARM", StateReason: "5 > 1" }), {}],
  ]);
  t.match(aws.state.service("sns").topicByArn(TopicArn).messages, [{ subject: 'ALARM: "many" in eu-west-1' }]);
  const logs = new CloudWatchLogs(client);
  const written = await until(
    "the function's word",
    async () =>
      (
        await logs
          .filterLogEvents({ logGroupName: "/aws/lambda/app", filterPattern: "{ $.AlarmName = many }" })
          .catch(() => undefined)
      )?.events?.[0]?.message,
  );
  t.match(JSON.parse(written), { NewStateValue: "ALARM", OldStateValue: "INSUFFICIENT_DATA", NewStateReason: "5 > 1" });
});

t.test("schedules", async (t) => {
  const { client, iam } = await open(t);
  const scheduler = new Scheduler(client);
  const schedule = {
    Name: "warm",
    FlexibleTimeWindow: { Mode: "OFF" as const },
    Target: { Arn: "arn:aws:lambda:eu-west-1:123456789012:function:app", RoleArn: ROLE },
  };
  const create = (ScheduleExpression: string) => scheduler.createSchedule({ ...schedule, ScheduleExpression });
  await check(t, [
    ["without a role that may", () => create("rate(5 minutes)"), "ValidationException"],
    [
      "the role",
      () => iam.createRole({ RoleName: "app", AssumeRolePolicyDocument: trustOf("scheduler.amazonaws.com") }),
      {},
    ],
    ["every 5", () => create("every 5 minutes"), "ValidationException"],
    ["create", () => create("rate(5 minutes)"), { ScheduleArn: /schedule\/default\/warm$/ }],
    ["again", () => create("rate(5 minutes)"), "ConflictException"],
    ["get", () => scheduler.getSchedule({ Name: "warm" }), { State: "ENABLED", ScheduleExpression: "rate(5 minutes)" }],
    ["list", () => scheduler.listSchedules({ NamePrefix: "w" }), { Schedules: [{ Name: "warm" }] }],
    ["delete", () => scheduler.deleteSchedule({ Name: "warm" }), {}],
    ["which is gone", () => scheduler.getSchedule({ Name: "warm" }), "ResourceNotFoundException"],
  ]);
});

t.test("failures on demand", async (t) => {
  const { aws, lambda, iam } = await open(t);
  const { failures } = aws.controls;
  const get = () => iam.getRole({ RoleName: "app" });
  const error = { code: "Throttling", message: "Rate exceeded" };
  failures.plan({ service: "iam", operation: "GetRole", nth: 2, times: 2, error });
  const seen = [];
  for (let i = 0; i < 4; i += 1) seen.push(await failure(get()));
  t.same(
    seen,
    ["NoSuchEntityException", "Throttling", "Throttling", "NoSuchEntityException"],
    "the second and third call",
  );
  failures.plan({ operation: "CreateRole", drop: "after" });
  const create = () => iam.createRole({ RoleName: "app", AssumeRolePolicyDocument: trustOf("lambda.amazonaws.com") });
  t.not(await failure(create()), "no failure", "the answer is lost");
  t.equal(await failure(create()), "EntityAlreadyExistsException", "what was asked is done");
  failures.plan({ operation: "DeleteRole", drop: "before" });
  t.not(await failure(iam.deleteRole({ RoleName: "app" })), "no failure", "the request is lost");
  t.equal(await failure(get()), "no failure", "what was asked is not done");
  failures.plan({
    service: "lambda",
    when: ({ FunctionName }) => FunctionName === "other",
    error: { code: "TooManyRequestsException", status: 429 },
  });
  t.equal(await failure(lambda.getFunction({ FunctionName: "app" })), "ResourceNotFoundException", "another input");
  t.equal(await failure(lambda.getFunction({ FunctionName: "other" })), "TooManyRequestsException");
  t.same(
    aws.journal.entries.map(({ outcome }) => outcome),
    [
      "NoSuchEntity",
      "Throttling",
      "Throttling",
      "NoSuchEntity",
      "dropped",
      "EntityAlreadyExists",
      "dropped",
      "ok",
      "ResourceNotFoundException",
      "TooManyRequestsException",
    ],
  );
  t.equal(aws.journal.count("iam", "GetRole"), 5);
  t.match(aws.journal.entries[4], {
    service: "iam",
    operation: "CreateRole",
    region: "eu-west-1",
    input: { RoleName: "app" },
  });
});

t.test("what is not there says so", async (t) => {
  const { aws, client } = await open(t);
  await check(t, [
    ["an operation", () => new S3(client).listMultipartUploads({ Bucket: "x" }), "NotImplemented"],
    [
      "an API",
      () => get(aws, "x.execute-api.eu-west-1.amazonaws.com", "/"),
      { status: 403, body: '{"message":"Forbidden"}' },
    ],
  ]);
});

function get(aws: Aws, host: string, path: string): Promise<{ status: number | undefined; body: string }> {
  return new Promise((resolve, reject) => {
    const request = httpGet(`${aws.endpoint}${path}`, { headers: { host } }, (response) => {
      let body = "";
      response.setEncoding("utf8").on("data", (part: string) => {
        body += part;
      });
      response.once("end", () => resolve({ status: response.statusCode, body }));
    });
    request.once("error", reject);
  });
}
