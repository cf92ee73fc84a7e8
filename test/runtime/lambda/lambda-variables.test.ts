// The variables that a function reads at its cold start, as they do not fit into its configuration: the real runtime, an
// account of the cloud that holds the parts, and servers that answer what a service never should.
import { execFileSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { SSM } from "@aws-sdk/client-ssm";
import t, { type Test } from "tap";
import { Environment, type FunctionError } from "../../../cli/sandbox/function/environment.ts";
import type { Entry } from "../../../grammar/entry.ts";
import { systemClock } from "../../../grammar/units/clock.ts";
import { ssmEndpoint } from "../../../runtime/lambda/parameter-store.ts";
import { signedHeaders } from "../../../runtime/lambda/sign.ts";
import { type Failure, THROTTLING } from "../../support/aws/failures.ts";
import { type Aws, startAws } from "../../support/aws/index.ts";
import { entriesIn } from "../../support/cli.ts";
import { randomOf } from "../../support/random.ts";
import { type Deployed, deploy } from "../../support/runtime-api/deployed.ts";
import { slow } from "../../support/slow.ts";

// Most of them wait.
t.jobs = 4;

/** In every value of a snapshot that must not be read: where it is found, a value leaked. */
const SECRET = "s3cr3t-value";

const KEYS = { AWS_ACCESS_KEY_ID: "ASIAEXAMPLE", AWS_SECRET_ACCESS_KEY: "secret", AWS_SESSION_TOKEN: "token" };

/** Answers the variables that it sees. */
const APP = `exec ${process.execPath} -e 'require("http").createServer((q, s) => s.end(JSON.stringify(process.env))).listen(process.env.PORT)'`;

const PART_CHARACTERS = 4096;

interface Snapshot {
  readonly hash: string;
  readonly parts: readonly string[];
}

/** The snapshot that a deploy stores for these values. */
function snapshotOf(values: unknown): Snapshot {
  const json = typeof values === "string" ? values : JSON.stringify(values);
  return packed(gzipSync(json), json);
}

function packed(bytes: Buffer, json: string): Snapshot {
  const text = bytes.toString("base64");
  const hash = createHash("sha256").update(json).digest("hex").slice(0, 32);
  return { hash, parts: text.match(new RegExp(`.{1,${PART_CHARACTERS}}`, "gs")) ?? [] };
}

const nameOf = ({ hash }: Snapshot, part: number) => `/tool/test/.deployed/${hash}/${part}`;

async function store(aws: Aws, snapshot: Snapshot): Promise<void> {
  const ssm = new SSM(aws.client);
  for (const [i, Value] of snapshot.parts.entries()) {
    await ssm.putParameter({ Name: nameOf(snapshot, i + 1), Value, Type: "SecureString" });
  }
}

const variablesOf = ({ hash, parts }: Snapshot) => ({ TOOL_VARIABLES: `${hash}/${parts.length}` });

interface Options {
  readonly env?: Readonly<Record<string, string>>;
  /** `environment` of the deployment. */
  readonly environment?: Readonly<Record<string, string>>;
}

function deployed(t: Test, endpoint: string, { env = {}, environment }: Options): Promise<Deployed> {
  return deploy(t, { command: APP }, { streams: false, env: { ...KEYS, AWS_ENDPOINT_URL_SSM: endpoint, ...env } }).then(
    (app) => {
      const path = join(app.directory, ".tool/deployment.json");
      const deployment = JSON.parse(readFileSync(path, "utf8"));
      writeFileSync(path, JSON.stringify({ ...deployment, environment }));
      return app;
    },
  );
}

/** The variables that the app sees. */
async function seen(deployed: Deployed): Promise<Record<string, string>> {
  const event = { httpMethod: "GET", path: "/", requestContext: { requestId: "r1" } };
  const result = await deployed.function.invoke(event);
  if (result.kind !== "document") throw new Error(`${JSON.stringify(result)}\n${deployed.function.output}`);
  return JSON.parse(Buffer.from(JSON.parse(result.payload.toString()).body, "base64").toString());
}

interface Start {
  readonly failure: FunctionError | undefined;
  readonly output: string;
  readonly entries: readonly Entry[];
  /** How long the initialisation took while this process ran. */
  readonly ranMs: number;
}

const STEP_MS = 100;

/** One initialisation, which the platform would do once more if it fails. */
async function started(t: Test, endpoint: string, options: Options): Promise<Start> {
  const { options: own } = (await deployed(t, endpoint, options)).function;
  let output = "";
  const environment = await Environment.start(own, (text) => {
    output += text;
  });
  t.teardown(() => environment.end());
  let ranMs = 0;
  // A step that is late because the machine did something else counts once.
  const steps = systemClock.every(STEP_MS, () => {
    ranMs += STEP_MS;
  });
  const failure = await environment.untilReady(10_000);
  steps.stop();
  return { failure, output, entries: entriesIn(output), ranMs };
}

/** Expects an initialisation that fails with the message, which is in the log, too, and nowhere a value. */
async function refuses(
  t: Test,
  endpoint: string,
  env: Readonly<Record<string, string>>,
  message: RegExp,
): Promise<Start> {
  const start = await started(t, endpoint, { env });
  t.equal(start.failure?.errorType, "Tool.NoVariables", start.output);
  t.match(start.failure?.errorMessage, message);
  const reason = start.failure?.errorMessage;
  t.match(start.entries, [
    { level: "error", message: "variables were not read", fields: { stage: "production", reason } },
  ]);
  t.notMatch(`${start.output}${JSON.stringify(start.failure)}`, SECRET);
  t.notMatch(start.output, /^ +at /m, "no stack");
  t.ok(start.ranMs < 8_000, `${start.ranMs} ms leave time for the app`);
  return start;
}

const HOSTILE_VALUES = {
  LINES: "one\ntwo\r\n\tthree\n",
  QUOTES: `'"\`\\ $HOME $(id) \${x} %s #`,
  EMOJI: "🦀 ä 日本 \u{1F468}\u200D\u{1F469}",
  EMPTY: "",
  SPACES: "  ",
  BRACES: "{{ssm:/tool/other}}",
  JSON_TEXT: '{"a": ["b", null]}',
  TWENTY_KB: "0123456789abcdef".repeat(1280),
};

t.test("the app gets the values as they are", async (t) => {
  const aws = await startAws(t);
  const snapshot = snapshotOf(HOSTILE_VALUES);
  await store(aws, snapshot);
  const app = await deployed(t, aws.endpoint, { env: { ...variablesOf(snapshot), CONFIGURED: "too" } });
  const env = await seen(app);
  for (const [name, value] of Object.entries(HOSTILE_VALUES)) t.equal(env[name], value, name);
  t.equal(env.CONFIGURED, "too", "beside those of the configuration");
  t.match(env, { TOOL_STAGE: "production", AWS_REGION: "eu-west-1" });
  for (const name of ["TOOL_VARIABLES", "AWS_LAMBDA_RUNTIME_API"]) t.notOk(name in env, name);
  const [read, listening] = app.entries();
  t.match(read, { level: "info", message: "variables read", fields: { stage: "production", parts: 1 } });
  t.type(read?.fields.duration, "number");
  t.equal(listening?.message, "app listening", "read before the app starts");
  t.notMatch(app.function.output, /0123456789abcdef/);
  t.same(aws.journal.calls(), ["ssm.PutParameter", "ssm.GetParameters"]);
});

t.test("64 KB in 16 parts, by two calls", async (t) => {
  const aws = await startAws(t);
  // 49,150 bytes of gzip are 65,536 characters of base64. Bytes as hexadecimal text pack to about half.
  const make = (bytes: number) =>
    snapshotOf({ LARGE: randomBytes(bytes / 2).toString("hex"), OTHER: randomBytes(bytes / 2).toString("hex") });
  let snapshot: Snapshot;
  let bytes = 44_000;
  do {
    snapshot = make(bytes);
    bytes -= 200;
  } while (snapshot.parts.length > 16);
  t.equal(snapshot.parts.length, 16);
  await store(aws, snapshot);
  const env = await seen(await deployed(t, aws.endpoint, { env: variablesOf(snapshot) }));
  t.equal(snapshotOf({ LARGE: env.LARGE, OTHER: env.OTHER }).hash, snapshot.hash);
  t.equal(aws.journal.count("ssm", "GetParameters"), 2);
});

t.test("a snapshot overrides nothing of the deployment, and gives back nothing that is hidden", async (t) => {
  const aws = await startAws(t);
  const snapshot = snapshotOf({
    PYTHONPATH: "mine",
    TOKEN: "mine",
    AWS_LAMBDA_RUNTIME_API: "mine",
    TOOL_VARIABLES: "mine",
  });
  await store(aws, snapshot);
  const environment = { PYTHONPATH: ".pypath" };
  const env = await seen(await deployed(t, aws.endpoint, { env: variablesOf(snapshot), environment }));
  t.match(env, { PYTHONPATH: ".pypath", TOKEN: "mine" });
  for (const name of ["TOOL_VARIABLES", "AWS_LAMBDA_RUNTIME_API"]) t.notOk(name in env, name);
});

t.test("a function without a snapshot asks nobody", async (t) => {
  const aws = await startAws(t);
  const app = await deployed(t, aws.endpoint, {});
  await seen(app);
  t.same(aws.journal.calls(), []);
  t.same(
    app.entries().filter(({ message }) => message === "variables read"),
    [],
  );
});

/** A stored snapshot that is not the one of the hash, and the message of the function then. */
const DAMAGES: readonly [name: string, stored: (whole: Snapshot) => Snapshot, message: RegExp][] = [
  [
    "another part in place of one",
    ({ hash, parts: [a = "", b = "", ...rest] }) => ({ hash, parts: [b, a, ...rest] }),
    /^this version's variables are damaged: what is stored as [0-9a-f]{32} /,
  ],
  [
    "values of another snapshot",
    ({ hash }) => ({ ...snapshotOf({ TOKEN: `other ${SECRET}` }), hash }),
    /has another hash/,
  ],
  [
    "no base64",
    ({ hash, parts: [a = "", ...rest] }) => ({ hash, parts: [`*${a.slice(1)}`, ...rest] }),
    /is not base64/,
  ],
  ["no gzip", ({ hash }) => ({ hash, parts: [Buffer.from(`${SECRET}!!!`).toString("base64")] }), /does not unpack/],
  ["a gzip that breaks off", ({ hash, parts: [a = ""] }) => ({ hash, parts: [a.slice(0, 400)] }), /does not unpack/],
  ["2 MB in a few KB", () => snapshotOf({ TOKEN: SECRET.repeat(180_000) }), /does not unpack/],
  ["no JSON", () => snapshotOf(`{"TOKEN": ${SECRET}}`), /is not an object of strings/],
  ["a list", () => snapshotOf([SECRET]), /is not an object of strings/],
  ["a number", () => snapshotOf({ TOKEN: SECRET, COUNT: 1 }), /is not an object of strings/],
  ["a value with a NUL", () => snapshotOf({ TOKEN: `${SECRET}\0` }), /is not an object of strings/],
  ["a name with =", () => snapshotOf({ "TO=KEN": SECRET }), /is not an object of strings/],
  [
    "a value of more than 128 KB",
    () => snapshotOf({ TOKEN: SECRET.repeat(11_000) }),
    /^the variable TOKEN has more than the 128 KB that Linux accepts: make it shorter and deploy the stage again$/,
  ],
];

t.test("what is stored is not what the version names", async (t) => {
  const aws = await startAws(t);
  for (const [name, damage, message] of DAMAGES) {
    await t.test(name, async (t) => {
      const stored = damage(snapshotOf({ TOKEN: SECRET, MORE: randomBytes(4_000).toString("hex") }));
      await store(aws, stored);
      await refuses(t, aws.endpoint, variablesOf(stored), message);
      const ssm = new SSM(aws.client);
      for (const part of stored.parts.keys()) await ssm.deleteParameter({ Name: nameOf(stored, part + 1) });
    });
  }
});

t.test("a part that is missing", async (t) => {
  const aws = await startAws(t);
  const whole = snapshotOf({ TOKEN: SECRET, MORE: randomBytes(7_000).toString("hex") });
  t.equal(whole.parts.length, 3);
  await store(aws, whole);
  await new SSM(aws.client).deleteParameter({ Name: nameOf(whole, 2) });
  const { failure } = await refuses(t, aws.endpoint, variablesOf(whole), /^part 2 of 3/);
  t.equal(
    failure?.errorMessage,
    `part 2 of 3 of this version's variables is missing (${nameOf(whole, 2)}): deploy the stage again`,
  );
  t.equal(aws.journal.count("ssm", "GetParameters"), 1, "asked once");
});

const HASH = "0123456789abcdef0123456789abcdef";
for (const value of ["", "no", `${HASH}/0`, `${HASH}/01`, `${HASH}/17`, `${HASH}/1/`, `${HASH.toUpperCase()}/1`]) {
  t.test(`TOOL_VARIABLES=${value}`, async (t) => {
    await refuses(
      t,
      "http://127.0.0.1:1",
      { TOOL_VARIABLES: value },
      /TOOL_VARIABLES of the function is not what a deploy writes: deploy the stage again$/,
    );
  });
}

const DENIED = (action: string, resource: string): NonNullable<Failure["error"]> => ({
  code: "AccessDeniedException",
  message: `User: arn:aws:sts::123456789012:assumed-role/app/app is not authorized to perform: ${action} on resource: ${resource} because no identity-based policy allows the ${action} action`,
  status: 400,
});
const PARAMETER = "arn:aws:ssm:eu-west-1:123456789012:parameter/tool/test/.deployed/x/1";
const ALWAYS = Number.POSITIVE_INFINITY;

/** Failures of the service, what the function says, and whether it asks more than once. */
const REFUSALS: readonly [name: string, failure: Failure, message: RegExp, again: boolean][] = [
  [
    "the role may not read it",
    { error: DENIED("ssm:GetParameters", PARAMETER), times: ALWAYS },
    /^this version's variables cannot be read: the function's role may not read \/tool\/test\/\.deployed\/[0-9a-f]{32}\/1: allow ssm:GetParameters on arn:aws:ssm:eu-west-1:\*:parameter\/tool\/test\/\.deployed\/\*, or deploy the stage again if the tool made the role$/,
    true,
  ],
  [
    "the role may not use the key",
    { error: DENIED("kms:Decrypt", "arn:aws:kms:eu-west-1:123456789012:key/1234"), times: ALWAYS },
    /: allow kms:Decrypt on arn:aws:kms:eu-west-1:123456789012:key\/1234, or/,
    true,
  ],
  ["throttled for good", { error: THROTTLING.any, times: ALWAYS }, / answers 400 ThrottlingException: deploy/, true],
  [
    "keys that have expired",
    { error: { code: "ExpiredTokenException", message: SECRET, status: 400 }, times: ALWAYS },
    /: Systems Manager at 127\.0\.0\.1:\d+ answers 400 ExpiredTokenException: deploy the stage again if this stays so$/,
    false,
  ],
  ["every connection is cut", { drop: "before", times: ALWAYS }, /gives no answer \(\w+\)/, true],
];

/** A call that is tried again takes five seconds to give up. */
const ifLong = (isLong: boolean) => (isLong ? slow() : {});

for (const [name, failure, message, again] of REFUSALS) {
  t.test(name, ifLong(again), async (t) => {
    const aws = await startAws(t);
    const snapshot = snapshotOf({ TOKEN: SECRET });
    await store(aws, snapshot);
    aws.controls.failures.plan({ service: "ssm", operation: "GetParameters", ...failure });
    await refuses(t, aws.endpoint, variablesOf(snapshot), message);
    const calls = aws.journal.count("ssm", "GetParameters");
    t.equal(calls > 1, again, `${calls} calls`);
  });
}

t.test("the role may not read it, and then nothing answers", slow(), async (t) => {
  const aws = await startAws(t);
  const snapshot = snapshotOf({ TOKEN: SECRET });
  await store(aws, snapshot);
  const call = { service: "ssm", operation: "GetParameters" };
  aws.controls.failures.plan(
    { ...call, error: DENIED("ssm:GetParameters", PARAMETER) },
    { ...call, drop: "before", nth: 2, times: ALWAYS },
  );
  await refuses(t, aws.endpoint, variablesOf(snapshot), /: the function's role may not read /);
  t.ok(aws.journal.count("ssm", "GetParameters") > 1);
});

/** Failures that pass within the time. */
const PASSING: readonly [name: string, failure: Failure, calls: number][] = [
  ["throttled three times", { error: THROTTLING.any, times: 3 }, 4],
  ["429 once", { error: { code: "TooManyRequests", status: 429 } }, 2],
  ["an error of the service", { error: { code: "InternalServerError", status: 500 } }, 2],
  ["a permission that is not known everywhere yet", { error: DENIED("ssm:GetParameters", PARAMETER), times: 4 }, 5],
  ["a connection that is cut before the answer", { drop: "before" }, 2],
  ["a connection that is cut in place of the answer", { drop: "after", times: 2 }, 3],
  ["an answer that takes too long", { delayMs: 2_500 }, 2],
];

for (const [name, failure, calls] of PASSING) {
  t.test(`${name}, and then it is read`, ifLong(failure.delayMs !== undefined), async (t) => {
    const aws = await startAws(t);
    const snapshot = snapshotOf({ TOKEN: SECRET });
    await store(aws, snapshot);
    aws.controls.failures.plan({ service: "ssm", operation: "GetParameters", ...failure });
    t.equal((await seen(await deployed(t, aws.endpoint, { env: variablesOf(snapshot) }))).TOKEN, SECRET);
    t.equal(aws.journal.count("ssm", "GetParameters"), calls);
  });
}

/** A server in the place of Systems Manager. */
async function serve(t: Test, listener: RequestListener): Promise<{ url: string; calls: () => number }> {
  let calls = 0;
  const server = createServer((req, res) => {
    calls += 1;
    listener(req, res);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, calls: () => calls };
}

const json =
  (body: unknown): RequestListener =>
  (_req, res) =>
    void res.end(JSON.stringify(body));

function trickle(res: ServerResponse, part: string, everyMs: number): void {
  const timer = setInterval(() => res.write(part), everyMs);
  res.once("close", () => clearInterval(timer));
}

function pour(res: ServerResponse): void {
  const block = SECRET.repeat(4_000);
  const more = () => {
    while (!res.destroyed && res.write(block));
  };
  res.on("drain", more);
  more();
}

/** The behaviour of a server, the message of the function, and whether it asks again. */
const HOSTILE: readonly [name: string, listener: RequestListener, message: RegExp, again: boolean][] = [
  [
    "no answer",
    () => {},
    /gives no answer \(ETIMEDOUT\): in a VPC, the function needs a way there, such as an endpoint of the VPC for ssm$/,
    true,
  ],
  ["a head and no more", (_req, res) => res.flushHeaders(), /gives no answer \(ETIMEDOUT\)/, true],
  ["one byte at a time", (_req, res) => trickle(res, " ", 50), /gives no answer \(ETIMEDOUT\)/, true],
  ["an answer without an end", (_req, res) => pour(res), /answers more than parameters can have/, false],
  ["a page", (_req, res) => void res.end(`<html>${SECRET}</html>`), /answers 200, but no JSON/, false],
  ["nothing", (_req, res) => void res.end(), /answers 200, but no JSON/, false],
  ["null", json(null), /answers no list of parameters/, false],
  [
    "another list",
    json({ Parameters: [null, 1, { Name: "/tool/other", Value: SECRET }] }),
    /^part 1 of 1 .* is missing/,
    false,
  ],
  ["a list of texts", json({ Parameters: SECRET }), /answers no list of parameters/, false],
  [
    "a redirect",
    (_req, res) => void res.writeHead(302, { location: "http://127.0.0.1:1/" }).end(),
    /answers 302: deploy/,
    false,
  ],
  ["404", (_req, res) => void res.writeHead(404).end(SECRET), /answers 404: deploy/, false],
  ["503 for good", (_req, res) => void res.writeHead(503).end(SECRET), /answers 503: deploy/, true],
  [
    "a code that is none",
    (_req, res) => void res.writeHead(400).end(JSON.stringify({ __type: `${SECRET} ${SECRET}` })),
    /answers 400: deploy/,
    false,
  ],
  [
    "an answer that breaks off",
    (_req, res) => {
      res.writeHead(200, { "content-length": 1_000 });
      res.write(`{"Parameters": [{"Value": "${SECRET}`);
      setTimeout(() => res.destroy(), 20);
    },
    /gives no answer \(\w+\)/,
    true,
  ],
  ["no HTTP", (req) => void req.socket.end(`${SECRET}\r\n\r\n`), /gives no answer \(\w+\)/, true],
];

t.test("a last attempt that is cut short does not hide why the others failed", slow(), async (t) => {
  let calls = 0;
  // The third begins after more than 3 s of the 5 s, so that it has less than its 2 s.
  const { url } = await serve(t, (_req, res) => {
    calls += 1;
    if (calls < 3) setTimeout(() => res.writeHead(503).end(), 1_500);
  });
  await refuses(t, url, { TOOL_VARIABLES: `${HASH}/1` }, /answers 503: deploy/);
  t.equal(calls, 3);
});

for (const [name, listener, message, again] of HOSTILE) {
  t.test(`a server that sends ${name}`, ifLong(again), async (t) => {
    const { url, calls } = await serve(t, listener);
    await refuses(t, url, { TOOL_VARIABLES: `${HASH}/1` }, message);
    t.equal(calls() > 1, again, `${calls()} calls`);
  });
}

t.test("nobody listens", slow(), (t) =>
  refuses(t, "http://127.0.0.1:1", { TOOL_VARIABLES: `${HASH}/1` }, /127\.0\.0\.1:1 gives no answer \(ECONNREFUSED\)/),
);

t.test("without keys or a region", async (t) => {
  for (const name of ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION"]) {
    await refuses(t, "http://127.0.0.1:1", { TOOL_VARIABLES: `${HASH}/1`, [name]: "" }, /no AWS_REGION or no keys/);
  }
});

t.test("by TLS, if the certificate is trusted", slow(), async (t) => {
  const folder = t.testdir({});
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const words = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", cert];
  execFileSync("openssl", [...words, ...subject], { stdio: "ignore" });
  const snapshot = snapshotOf({ TOKEN: SECRET });
  const requests: IncomingMessage["headers"][] = [];
  const server = createTlsServer({ key: readFileSync(key), cert: readFileSync(cert) }, (req, res) => {
    requests.push(req.headers);
    res.end(
      JSON.stringify({ Parameters: snapshot.parts.map((Value, i) => ({ Name: nameOf(snapshot, i + 1), Value })) }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `https://localhost:${(server.address() as AddressInfo).port}`;
  const trusting = { ...variablesOf(snapshot), NODE_EXTRA_CA_CERTS: cert };
  t.equal((await seen(await deployed(t, url, { env: trusting }))).TOKEN, SECRET);
  t.match(requests, [{ "x-amz-target": "AmazonSSM.GetParameters", "x-amz-security-token": "token" }]);
  await refuses(t, url, variablesOf(snapshot), /gives no answer \(DEPTH_ZERO_SELF_SIGNED_CERT\)/);
  t.equal(requests.length, 1);
});

for (const [env, region, expected] of [
  [{}, "eu-west-1", "https://ssm.eu-west-1.amazonaws.com/"],
  [{}, "cn-north-1", "https://ssm.cn-north-1.amazonaws.com.cn/"],
  [{}, "us-gov-west-1", "https://ssm.us-gov-west-1.amazonaws.com/"],
  [{ AWS_ENDPOINT_URL: "http://all:1" }, "eu-west-1", "https://ssm.eu-west-1.amazonaws.com/"],
  [{ AWS_ENDPOINT_URL: "http://all:1", AWS_ENDPOINT_URL_SSM: "http://own:2/x" }, "eu-west-1", "http://own:2/x"],
  [{ AWS_ENDPOINT_URL_SSM: "" }, "eu-west-1", "https://ssm.eu-west-1.amazonaws.com/"],
  [
    { AWS_ENDPOINT_URL_SSM: "http://own:2", AWS_IGNORE_CONFIGURED_ENDPOINT_URLS: "true" },
    "eu-west-1",
    "https://ssm.eu-west-1.amazonaws.com/",
  ],
] as const) {
  t.test(`the address for ${region} ${JSON.stringify(env)}`, async (t) =>
    t.equal(ssmEndpoint(env, region).href, expected),
  );
}
for (const wrong of ["no", "file:///etc/passwd", "127.0.0.1:80"]) {
  t.test(`no address: ${wrong}`, async (t) => {
    t.throws(() => ssmEndpoint({ AWS_ENDPOINT_URL_SSM: wrong }, "eu-west-1"), { message: /is no http or https URL/ });
  });
}

/** How many requests are signed twice. */
const ROUNDS = Number(process.env.FUZZ_COUNT ?? 300);

t.test("a signature is that of the SDK", async (t) => {
  const TEXTS = ["x", "", "a b", "  a   b ", "ä日本🦀", "a/b?c=d+e%20f#g", "{}", "a\tb", "-_.~!*'()"];
  const PATHS = ["/", "/a", "/a/", "/a//b", "/a%20b/", "/ä/~x", "/a*b/(c)!'"];
  for (let seed = 1; seed <= ROUNDS; seed += 1) {
    // The servers of other tests answer meanwhile.
    await new Promise((resolve) => setImmediate(resolve));
    const random = randomOf(seed);
    const text = () => random.pick(TEXTS) + (random.chance(0.3) ? random.pick(TEXTS) : "");
    const keys = {
      accessKeyId: `ASIA${seed}`,
      secretAccessKey: `${random.pick(["a", "k/+="])}${random.below(1e9)}`,
      sessionToken: random.chance(0.5) ? `${random.below(1e9)}//+==` : undefined,
    };
    const region = random.pick(["eu-west-1", "us-gov-west-1", "cn-north-1"]);
    const service = random.pick(["ssm", "sts"]);
    const nowMs = random.below(2 ** 32) * 400;
    const url = new URL(
      `${random.pick(["https://ssm.eu-west-1.amazonaws.com", "http://127.0.0.1:4040"])}${random.pick(PATHS)}`,
    );
    const headers: Record<string, string> = { "content-type": "application/x-amz-json-1.1" };
    for (const name of ["x-amz-target", "x-b", "x-a", "x-a-b"]) if (random.chance(0.6)) headers[name] = text();
    const body = JSON.stringify({ Names: [text(), text()] });
    const request = { method: random.pick(["POST", "PUT"]), url, headers, body };
    const own = signedHeaders(request, { keys, region, service, nowMs });
    const { sessionToken, ...rest } = keys;
    const client = new SSM({ region, credentials: sessionToken === undefined ? rest : { ...rest, sessionToken } });
    const { signer: find } = client.config as unknown as { signer: (scheme: object) => Promise<Signer> };
    const signer = await find({});
    signer.applyChecksum = false;
    const { headers: theirs } = await signer.sign(
      {
        ...request,
        protocol: url.protocol,
        hostname: url.hostname,
        path: url.pathname,
        query: {},
        headers: { ...headers, host: url.host },
      },
      { signingDate: new Date(nowMs), signingRegion: region, signingService: service },
    );
    if (own.authorization !== theirs.authorization) t.same(own, theirs, `seed ${seed}`);
  }
  t.pass(`${ROUNDS} requests`);
});

/** The SDK's signer, as far as it is asked here. */
interface Signer {
  /** Whether the hash of the body is a header. */
  applyChecksum: boolean;
  sign(request: object, options: object): Promise<{ readonly headers: Readonly<Record<string, string>> }>;
}
