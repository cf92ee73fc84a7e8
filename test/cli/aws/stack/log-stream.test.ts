// The log of a deployed app on its way through Firehose: the real command, the stand-in of the cloud, and the real service.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { CloudFormation } from "@aws-sdk/client-cloudformation";
import { CloudWatchLogs } from "@aws-sdk/client-cloudwatch-logs";
import { Lambda } from "@aws-sdk/client-lambda";
import t, { type Test } from "tap";
import { openCloud } from "../../../../cli/aws/clients.ts";
import { applyStack, planStack } from "../../../../cli/aws/stack/apply.ts";
import { removeAll } from "../../../../cli/aws/stack/remove.ts";
import { openFirehose } from "../../../../cli/sandbox/cloud/firehose.ts";
import { isEntryId } from "../../../../grammar/entry-id.ts";
import { systemClock } from "../../../../grammar/units/clock.ts";
import type { Config } from "../../../../schema/index.ts";
import { startAws } from "../../../support/aws/index.ts";
import { appFolder, appSource, askEndpoint } from "../../../support/deployed-app.ts";
import { forwarderTemplate } from "../../../support/forwarder-template.ts";
import { startTestService } from "../../../support/service.ts";
import { NOBODY, signedIn } from "../../../support/signed-in.ts";
import { slow } from "../../../support/slow.ts";
import { until } from "../../../support/until.ts";

const RANGE = { start: "2020-01-01T00:00:00Z", stop: "2050-01-01T00:00:00Z" };
const SERVICE = { service: "https://logs.example.com", project: "shop" };
const FIREHOSE = { logs: { ...SERVICE, delivery: "firehose" } };

/** An app that is deployed through the real command, with a service on this machine. */
async function openDeployed(t: Test, logs: object) {
  const [aws, service] = [await startAws(t), await startTestService(t)];
  const text = (own: object) => ({
    "tool.json": JSON.stringify({ name: "hello", logs: { service: service.running.url, ...own } }),
  });
  const app = appFolder(aws, join(t.testdir(), "app"), { ...text(logs), "app.js": appSource("one") });
  const run = async (argv: readonly string[], env: Readonly<Record<string, string>>) => {
    const outcome = await app.tool(argv, env);
    t.equal(outcome.code, 0, `tool ${argv.join(" ")}: ${outcome.stderr}`);
    t.notMatch(outcome.stdout + outcome.stderr, /lgs_/, "no token in any output");
    return outcome;
  };
  const eventsOf = async (query: string) => {
    const { json } = await service.call("search", { project_id: "hello", ...RANGE, query });
    return (json.events ?? []) as { id: string; message: string; fields: Record<string, unknown> }[];
  };
  return {
    aws,
    service,
    app,
    run,
    eventsOf,
    configure: (changed: object) => app.write(text(changed)),
    tokens: async () =>
      (await service.call("get_tokens")).json.tokens.filter((one: { project_id: string }) => one.project_id !== ""),
    stream: () => [...aws.state.service("logs").streams.streams.values()][0],
    bucket: () => [...aws.state.service("s3").buckets.values()].find(({ name }) => name.includes("-logfailures-")),
    /** Asks the app once, and waits until that is in the service. */
    arrived: async (url: string, path: string) => {
      await askEndpoint(aws, `${url}${path}`);
      await until(`the entry of ${path}`, async () => (await eventsOf(`path = /${path} and status = 200`)).length > 0);
    },
  };
}

t.test("the first deploy makes a stream, which delivers every line and nothing twice", async (t) => {
  const { aws, run, service, tokens, eventsOf, arrived, stream, bucket, app } = await openDeployed(t, {
    delivery: "firehose",
  });
  const person = await signedIn(t, service);
  const deployed = await run(["deploy"], person);
  t.notMatch(deployed.stderr, /CloudWatch|stack apply/);
  t.match(await tokens(), [
    { description: "hello, Firehose", scopes: ["events:write"], project_id: "hello", stage: "" },
  ]);
  const url = deployed.stdout.trim();
  await arrived(url, "a");
  const [entry] = await eventsOf("path = /a and status = 200");
  t.match(entry, { fields: { stage: "staging", log_group: "/aws/lambda/hello" } });
  t.ok(isEntryId(entry!.id), "by the id that is on stdout");
  t.ok((await eventsOf("message = START*")).length > 0, "the platform's own lines, too");
  const lambda = new Lambda(aws.client);
  const { Environment } = await lambda.getFunctionConfiguration({ FunctionName: "hello", Qualifier: "staging" });
  t.same([Environment?.Variables?.TOOL_LOGS_URL, Environment?.Variables?.TOOL_LOGS_TOKEN], [undefined, undefined]);

  const cloudFormation = new CloudFormation(aws.client);
  const key = stream()!.destination.accessKey;
  t.match(key, /^lgs_/);
  const { TemplateBody = "" } = await cloudFormation.getTemplate({ StackName: "hello" });
  t.notOk(TemplateBody.includes(key), "the token is not in the template");
  const { Stacks } = await cloudFormation.describeStacks({ StackName: "hello" });
  t.notOk(JSON.stringify(Stacks).includes(key), "nor in what the stack shows");
  t.equal((await run(["stack", "plan"], NOBODY)).stdout, "nothing to do: the stack matches tool.json\n");

  const rotated = await run(["stack", "rotate-logs-token"], person);
  t.equal(rotated.stdout, "the stream of hello, which all stages have, sends with a new token\n");
  t.not(stream()!.destination.accessKey, key);
  t.equal((await tokens()).length, 1, "the old one has ended");
  await arrived(url, "b");

  await service.call("remove_token", { token_id: stream()!.destination.accessKey });
  await askEndpoint(aws, `${url}c`);
  await until("what is refused is in the bucket", () => {
    aws.controls.clock.advance(120_000);
    return (bucket()?.objects.size ?? 0) > 0;
  });
  const [[path = "", object] = []] = [...bucket()!.objects];
  t.match(path, /^http-endpoint-failed\/\d{4}\/\d\d\/\d\d\/\d\d\/hello-LogStream-/);
  const [failed] = gunzipSync(object!.body.read()).toString().split("\n");
  t.match(JSON.parse(failed!), { errorMessage: /^the endpoint answered 401: / });
  t.match(gunzipSync(Buffer.from(JSON.parse(failed!).rawData, "base64")).toString(), "/c");

  const removed = await run(["stack", "delete", "--yes"], person);
  t.match(removed.stdout, "tokens for the log service the app");
  t.match(
    removed.stdout,
    /^left: bucket hello-logfailures-\w+: it holds \d+ files? of entries that could not be delivered$/m,
  );
  t.same([await tokens(), stream()], [[], undefined]);
  t.equal((await app.tool(["stack", "policy"], NOBODY)).code, 0);
});

t.test("the way is changed by an apply, there and back", slow(), async (t) => {
  const { run, app, service, stream, bucket, configure, aws, tokens } = await openDeployed(t, {});
  const person = await signedIn(t, service);
  await run(["deploy"], person);
  configure({ delivery: "firehose" });
  const planned = await run(["stack", "plan"], NOBODY);
  for (const about of ["stream to the log service", "subscription of the log", "bucket for entries"]) {
    t.match(planned.stdout, about);
  }
  const refused = await app.tool(["stack", "apply"], NOBODY);
  t.same(
    [refused.code, refused.stderr.replace(/^.*?(?=error: there)/s, "")],
    [
      1,
      `error: there is no token of hello for Firehose at ${service.running.url}, and nobody is signed in there who could make one\n` +
        `  tool team login --email <address> --url ${service.running.url}, then tool stack apply; CI uses that token then\n`,
    ],
  );
  await run(["stack", "apply"], person);
  t.equal((await tokens()).length, 2);
  t.ok(stream());
  const deployed = await run(["deploy"], NOBODY);
  t.match(deployed.stderr, /^staging is deployed/m);
  const group = aws.state.service("logs").groups.get("/aws/lambda/hello");
  t.equal(group?.retentionInDays, 30, "the log is as it was");

  const before = stream()!.destination.accessKey;
  configure({ delivery: "firehose", project: "other" });
  await run(["stack", "apply"], person);
  t.match(stream()!.destination.attributes, { project: "other" });
  t.not(stream()!.destination.accessKey, before, "a token is for one project");
  t.equal((await service.call("get_account", {}, before)).status, 401, "and ends with the stream that had it");

  configure({ delivery: "runtime" });
  await run(["deploy"], person);
  const back = await run(["stack", "apply"], NOBODY);
  t.match(back.stderr, /removed bucket hello-logfailures-/);
  t.same([stream(), bucket()], [undefined, undefined]);
  t.equal((await run(["stack", "plan"], NOBODY)).stdout, "nothing to do: the stack matches tool.json\n");
});

t.test("a first deploy without a token leaves the stream to an apply, and says so", slow(), async (t) => {
  const { run, service, stream } = await openDeployed(t, { delivery: "firehose" });
  const { url } = service.running;
  const deployed = await run(["deploy"], NOBODY);
  t.match(
    deployed.stderr,
    `entries go to CloudWatch alone: there is no token of hello for Firehose at ${url}, and nobody is signed in there who could make one\n` +
      `  tool team login --email <address> --url ${url}, then tool stack apply; CI uses that token then\n`,
  );
  t.equal(stream(), undefined);
  const planned = await run(["stack", "plan"], NOBODY);
  t.match(planned.stdout, "stream to the log service");
  await run(["stack", "apply"], await signedIn(t, service));
  t.ok(stream());
});

/** The stack alone, without an app. */
async function openStackOnly(t: Test) {
  const aws = await startAws(t);
  const cloud = openCloud({ env: aws.env, clock: systemClock, region: aws.region, sandbox: undefined });
  const notes: string[] = [];
  const watched = {
    signal: new AbortController().signal,
    report: (event: { kind: string; text?: string }) => void (event.kind === "note" && notes.push(event.text ?? "")),
  };
  const input = (config: object) => ({
    name: "app",
    config: { name: "app", ...config } as Config,
    region: aws.region,
    accountId: aws.accountId,
  });
  const logs = aws.state.service("logs");
  return {
    aws,
    logs,
    notes,
    apply: (config: object, key = "lgs_1") =>
      applyStack(cloud, input(config), { confirm: async () => true, streamKey: async () => key }, watched),
    plan: (config: object) => planStack(cloud, input(config), watched),
    remove: () => removeAll(cloud, "app", { logs: false, env: false }, watched),
    stream: () => [...logs.streams.streams.values()][0],
    bucket: () => [...aws.state.service("s3").buckets.values()].find(({ name }) => name.includes("-logfailures-")),
  };
}

t.test("an apply makes the log before its subscription, and changes what tool.json says otherwise", async (t) => {
  const { plan, apply, stream, logs, bucket, remove, aws } = await openStackOnly(t);
  await apply(FIREHOSE);
  t.equal(logs.groups.get("/aws/lambda/app")?.retentionInDays, 30);
  t.match(stream(), {
    destination: {
      url: "https://logs.example.com/integrations/cloudwatch",
      accessKey: "lgs_1",
      attributes: { project: "shop" },
    },
  });
  t.match(bucket()?.lifecycle, { Rules: [{ Expiration: { Days: 30 } }] });

  const moved = { logs: { ...FIREHOSE.logs, service: "https://logs.example.org", retention: "forever" } };
  const { changes } = await plan(moved);
  t.same(
    changes.flatMap(({ about, properties }) =>
      properties.map(({ path, before, after }) => [about, path, before, after]),
    ),
    [
      [
        "bucket for entries that could not be delivered",
        "LifecycleConfiguration",
        '{"Rules":[{"Id":"tool","Status":"Enabled","ExpirationInDays":30}]}',
        undefined,
      ],
      [
        "stream to the log service",
        "HttpEndpointDestinationConfiguration.EndpointConfiguration.Url",
        '"https://logs.example.com/integrations/cloudwatch"',
        '"https://logs.example.org/integrations/cloudwatch"',
      ],
    ],
  );
  t.same(
    changes.filter(({ needsConfirmation, replaced }) => needsConfirmation || replaced !== "no"),
    [],
  );
  await apply(moved, "lgs_2");
  t.match(stream()?.destination, { url: "https://logs.example.org/integrations/cloudwatch", accessKey: "lgs_2" });

  const s3 = aws.state.service("s3");
  const elsewhere = {
    ...bucket()!,
    name: "app-logfailures-of-another-region",
    region: "us-east-1",
    objects: new Map(),
  };
  s3.buckets.set(elsewhere.name, elsewhere);
  const { removed, left } = await remove();
  t.ok(s3.buckets.delete(elsewhere.name), "the bucket of the same app in another region stays");
  t.match(
    removed.map(({ kind }) => kind),
    ["stack", "bucket"],
  );
  t.same([left.map(({ kind }) => kind), stream(), bucket()], [["log group"], undefined, undefined]);
  t.equal(aws.state.service("iam").roles.size, 0, "its roles are gone");
});

t.test("what cannot be made is explained, and nothing is left of it", { buffered: true }, async (t) => {
  const ANN = "User: arn:aws:iam::123456789012:user/ann is not authorized to perform:";
  const rows: [name: string, on: string, reason: string, expected: { code: string; hint: RegExp }][] = [
    [
      "a stream without the permission",
      "LogStream",
      `${ANN} firehose:CreateDeliveryStream on resource: arn:aws:firehose:eu-west-1:123456789012:deliverystream/app-LogStream-x`,
      { code: "access/denied", hint: /tool stack policy --firehose prints what Firehose needs/ },
    ],
    [
      "a role that may not be passed",
      "LogSubscription",
      `${ANN} iam:PassRole on resource: arn:aws:iam::123456789012:role/app-LogSubscriptionRole-x`,
      { code: "access/denied", hint: /tool stack policy --firehose prints/ },
    ],
    [
      "a role, which is of the first policy",
      "LogStreamRole",
      `${ANN} iam:CreateRole on resource: arn:aws:iam::123456789012:role/app-LogStreamRole-x`,
      { code: "access/denied", hint: /tool stack policy prints all that is needed/ },
    ],
    [
      "a bucket of a name that others have",
      "LogFailures",
      "app-logfailures-x already exists",
      { code: "stack/exists", hint: /made by hand or by another tool/ },
    ],
  ];
  for (const [name, logicalId, reason, { code, hint }] of rows) {
    const { aws, apply, bucket, stream } = await openStackOnly(t);
    aws.state.service("cloudformation").fail({ logicalId, on: "create", reason });
    await t.rejects(apply(FIREHOSE), { code, hint }, name);
    t.same([bucket(), stream()], [undefined, undefined], name);
  }
});

t.test("a log with two subscriptions already takes no other", async (t) => {
  const { apply, logs, stream, bucket } = await openStackOnly(t);
  logs.operations.CreateLogGroup({ logGroupName: "/aws/lambda/app" });
  const streamArn = "arn:aws:firehose:eu-west-1:123456789012:deliverystream/other";
  const destination = { url: "https://other.example.com", accessKey: "", attributes: {}, bucket: "" };
  const settings = { isCompressed: false, bufferSeconds: 60, bufferBytes: 1024 * 1024, retrySeconds: 0 };
  logs.streams.putStream({
    name: "other",
    arn: streamArn,
    app: undefined,
    destination: { ...destination, ...settings },
  });
  for (const name of ["a", "b"])
    logs.streams.putSubscription({ group: "/aws/lambda/app", name, pattern: "", streamArn });
  await t.rejects(apply(FIREHOSE), {
    code: "stack/subscriptions",
    message: "cannot create subscription of the log: Resource limit exceeded",
    hint: /two subscriptions/,
  });
  t.same([stream()?.name, bucket()], ["other", undefined]);
});

t.test("a stream to an address that Firehose does not take is refused as the account would", async (t) => {
  const rows = ["http://logs.example.com", "https://logs.example.com:5000"];
  for (const service of rows) {
    const { apply } = await openStackOnly(t);
    await t.rejects(
      apply({ logs: { ...FIREHOSE.logs, service } }),
      { message: /is not a valid HTTPS endpoint/ },
      service,
    );
  }
});

t.test("a stream to this machine, by the one rule of which addresses are", async (t) => {
  const { logs } = await openStackOnly(t);
  const rest = { accessKey: "", attributes: {}, bucket: "", isCompressed: false, bufferSeconds: 60 };
  const putStreamTo = (url: string) =>
    logs.streams.putStream({
      name: "other",
      arn: "arn:aws:firehose:eu-west-1:123456789012:deliverystream/other",
      app: undefined,
      destination: { url, ...rest, bufferBytes: 1024 * 1024, retrySeconds: 0 },
    });
  for (const host of ["127.0.0.1:4318", "127.8.0.1", "localhost:4318", "app.localhost", "[::1]:4318"])
    t.doesNotThrow(() => putStreamTo(`http://${host}/firehose`), host);
  for (const host of ["127.0.0.1.example.com", "localhost.example.com", "10.0.0.1"])
    t.throws(() => putStreamTo(`http://${host}/firehose`), { message: /is not a valid HTTPS endpoint/ }, host);
});

t.test("more than a buffer holds is sent before its time, and nothing of it is lost", async (t) => {
  // The time of the buffer passes by hand alone.
  const aws = await startAws(t, { clock: { speed: 0 } });
  let received = new Set<string>();
  let largest = 0;
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const { requestId, records } = JSON.parse(Buffer.concat(parts).toString());
    for (const { data } of records) {
      const text = gunzipSync(Buffer.from(data, "base64")).toString();
      largest = Math.max(largest, text.length);
      for (const { id } of JSON.parse(text).logEvents) received.add(id);
    }
    response.end(JSON.stringify({ requestId, timestamp: 0 }));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const more = { attributes: {}, isCompressed: false, bufferSeconds: 60, bufferBytes: 5 * 1024 * 1024 };
  const rest = { retrySeconds: 300, bucket: "none" };
  const stream = { name: "one", arn: "arn", app: undefined, destination: { url, accessKey: "key", ...more, ...rest } };
  const firehose = openFirehose(aws.state, () => stream);
  t.teardown(() => firehose.close());
  // The longest that a log takes.
  const long = "x".repeat(256 * 1024 - 26);
  for (const [count, full, message] of [
    [25_000, 10_000, "m"],
    [10_000, 10_000, "m"],
    [9_999, 10_000, "m"],
    [150, 21, long],
    [3_000, Math.ceil(more.bufferBytes / 7_002), "x".repeat(7_000)],
    [50, Math.ceil(more.bufferBytes / (6 * 65_536 + 2)), "\0".repeat(65_536)],
  ] as const) {
    const early = count - (count % full);
    received = new Set();
    for (let i = 0; i < count; i++) {
      const event = { id: `${count}/${i}`, stream: "s", timestamp: 0, ingestedAt: 0, message };
      firehose.put(stream, { group: "g", filter: "f", event });
    }
    // A machine without a core to spare may refuse a connection: then it is made again after a second.
    let seconds = 0;
    await until(`${early} of ${count}`, () => {
      if (received.size === early) return true;
      if (seconds++ < 59) aws.controls.clock.advance(1_000);
      return false;
    });
    aws.controls.clock.advance(more.bufferSeconds * 1000);
    await until(`all of ${count}`, () => received.size >= count);
    t.equal(received.size, count);
  }
  t.ok(largest < 1_100_000, "a record is as large as an account makes them");
});

t.test("the public forwarder's stack sends logs that no deploy made, and leaves nothing", async (t) => {
  const [aws, service] = [await startAws(t), await startTestService(t)];
  const cloud = new CloudFormation(aws.client);
  const logs = new CloudWatchLogs(aws.client);
  await service.call("add_project", { project: { id: "fleet", name: "Fleet", location: "" } });
  const { json } = await service.call("add_token", {
    token: { description: "forwarder", scopes: ["events:write"] },
  });
  const groups = ["/aws/lambda/up-api", "/aws/lambda/news-api", "/other"];
  for (const logGroupName of groups) {
    await logs.createLogGroup({ logGroupName });
    await logs.createLogStream({ logGroupName, logStreamName: "2026/11/30/[$LATEST]1" });
  }
  const values = {
    Endpoint: `${service.running.url}/integrations/cloudwatch`,
    AuthToken: json.id,
    ProjectID: "fleet",
  };
  const StackName = "forwarder";
  const stack = {
    StackName,
    TemplateBody: JSON.stringify(forwarderTemplate(groups.slice(0, 2))),
    Parameters: Object.entries(values).map(([ParameterKey, ParameterValue]) => ({ ParameterKey, ParameterValue })),
  };
  await t.rejects(cloud.createStack(stack), { message: /CAPABILITY_IAM/ });
  await cloud.createStack({ ...stack, Capabilities: ["CAPABILITY_IAM"] });
  const statusOf = async (name?: string) =>
    (await cloud.describeStacks({ StackName: name })).Stacks?.map(({ StackStatus }) => StackStatus);
  await until("the stack", async () => !`${await statusOf(StackName)}`.endsWith("_IN_PROGRESS"));
  t.same(await statusOf(StackName), ["CREATE_COMPLETE"]);
  const { roles } = aws.state.service("iam");
  t.same([...roles.values()].flatMap(({ inline }) => [...inline.keys()]).sort(), ["deliver", "send"]);

  const texts = ["START RequestId: 1", '{"level":"error","message":"no such user","user":{"id":7}}'];
  const now = aws.controls.clock.now();
  for (const logGroupName of groups) {
    const logEvents = texts.map((message, i) => ({ timestamp: now + i, message }));
    await logs.putLogEvents({ logGroupName, logStreamName: "2026/11/30/[$LATEST]1", logEvents });
  }
  const search = async (query: string) =>
    (await service.call("search", { project_id: "fleet", ...RANGE, query })).json.events as {
      readonly level: string;
      readonly message: string;
      readonly fields: Readonly<Record<string, unknown>>;
    }[];
  await until("four entries", async () => (await search("")).length === 4);
  const failed = await search("user.id = 7");
  t.match(
    failed,
    [1, 2].map(() => ({ level: "error", message: "no such user" })),
  );
  t.same(
    failed.map(({ fields }) => fields.log_group).sort(),
    groups.slice(0, 2).sort(),
    "of the logs with a subscription alone",
  );

  await cloud.deleteStack({ StackName });
  await until("the end of the stack", async () => (await statusOf())?.length === 0);
  const { streams } = aws.state.service("logs").streams;
  t.same([roles.size, streams.size, aws.state.service("s3").buckets.size], [0, 0, 0]);
});
