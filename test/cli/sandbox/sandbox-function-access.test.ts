// The requests that a function of the sandbox may make with the keys of its environment: the parameters that its role
// allows, and nothing else. Asked by the SDK's own clients with the keys that a real function got, at a server that knows
// nobody else, as the daemon's, and at the tests' stand-in, where everybody else is free.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { request } from "node:http";
import { gzipSync } from "node:zlib";
import { CloudFormation } from "@aws-sdk/client-cloudformation";
import { IAM } from "@aws-sdk/client-iam";
import { Lambda } from "@aws-sdk/client-lambda";
import { S3 } from "@aws-sdk/client-s3";
import { SSM } from "@aws-sdk/client-ssm";
import { STS } from "@aws-sdk/client-sts";
import t, { type Test } from "tap";
import { evaluate } from "../../../cli/sandbox/cloud/policy-evaluation.ts";
import { AwsError } from "../../../cli/sandbox/cloud/protocol/error.ts";
import { startSandboxServer } from "../../../cli/sandbox/server.ts";
import { signatureHeaders as signOld } from "../../../cli/sandbox/signature.ts";
import { signedHeaders } from "../../../runtime/lambda/sign.ts";
import { type Aws, startAws } from "../../support/aws/index.ts";
import { bundle } from "../../support/runtime-api/deployed.ts";
import { activeFunction } from "../../support/sandbox-function.ts";
import { slow } from "../../support/slow.ts";

const HANDLER = `exports.handler = async () => {
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_ENDPOINT_URL_SSM } = process.env;
  return { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_ENDPOINT_URL_SSM };
};`;

const OWN = "/tool/app/.deployed/0123/1";
const OTHER = "/tool/other/.deployed/0123/1";
const ARN = "arn:aws:ssm:eu-west-1:123456789012:parameter";
const USER = "User: arn:aws:sts::123456789012:assumed-role/app/app is not authorized to perform:";

/** Allows what a deploy allows. */
const STATEMENT = { Effect: "Allow", Action: "ssm:GetParameters", Resource: `${ARN}/tool/app/.deployed/*` };

interface Keys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string;
}

interface Opened {
  readonly aws: Aws;
  readonly invoke: (payload: string) => Promise<{ readonly kind: string }>;
  readonly keys: Keys;
  readonly endpoint: string | undefined;
  /** For clients that have the function's keys. */
  readonly client: ReturnType<typeof clientOf>;
  allow(...statements: object[]): void;
}

const clientOf = (endpoint: string, credentials: Keys) => ({
  endpoint,
  region: "eu-west-1",
  credentials,
  forcePathStyle: true,
  maxAttempts: 1,
});

/** A function `app` that has run once, and two parameters. */
async function open(
  t: Test,
  variables: Readonly<Record<string, string>> = { TOOL_VARIABLES: "0123/1" },
): Promise<Opened> {
  const aws = await startAws(t, { freezes: false });
  const ssm = new SSM(aws.client);
  for (const Name of [OWN, OTHER]) await ssm.putParameter({ Name, Value: `of ${Name}`, Type: "SecureString" });
  const settings = { Environment: { Variables: { ...variables } } };
  const invoke = await activeFunction(aws.state, { "index.js": HANDLER }, settings);
  const env = await environmentOf(invoke);
  const keys = keysOf(env);
  return {
    aws,
    invoke,
    keys,
    endpoint: env.AWS_ENDPOINT_URL_SSM,
    client: clientOf(aws.endpoint, keys),
    allow(...Statement) {
      const PolicyDocument = JSON.stringify({ Version: "2012-10-17", Statement });
      aws.state.service("iam").operations.PutRolePolicy({ RoleName: "app", PolicyName: "own", PolicyDocument });
    },
  };
}

async function environmentOf(invoke: Opened["invoke"]): Promise<Record<string, string>> {
  const result = (await invoke("{}")) as { kind: string; payload?: Buffer };
  return JSON.parse(String(result.payload));
}

const keysOf = (env: Readonly<Record<string, string>>): Keys => ({
  accessKeyId: env.AWS_ACCESS_KEY_ID ?? "",
  secretAccessKey: env.AWS_SECRET_ACCESS_KEY ?? "",
  sessionToken: env.AWS_SESSION_TOKEN ?? "",
});

/** Name and message of what a call fails with; its output if it does not. */
const outcome = (call: Promise<unknown>) =>
  call.then(
    (output) => output,
    ({ name, message }: Error) => ({ name, message }),
  );

const deniedOf = (
  action: string,
  resource: string,
  reason = `because no identity-based policy allows the ${action} action`,
) => ({
  name: "AccessDeniedException",
  message: `${USER} ${action} on resource: ${resource} ${reason}`,
});

t.test("what the role allows", async (t) => {
  const { aws, client, endpoint, allow } = await open(t);
  t.equal(endpoint, aws.endpoint);
  const ssm = new SSM(client);
  const get = (...Names: string[]) => outcome(ssm.getParameters({ Names, WithDecryption: true }));
  t.same(await get(OWN), deniedOf("ssm:GetParameters", `${ARN}${OWN}`), "a role without a policy");
  allow({ ...STATEMENT, Action: "ssm:GetParameter" });
  t.same(await get(OWN), deniedOf("ssm:GetParameters", `${ARN}${OWN}`), "another action");
  allow(STATEMENT);
  t.match(await get(OWN), { Parameters: [{ Name: OWN, Value: `of ${OWN}` }] }, "its own");
  t.same(await get(OTHER), deniedOf("ssm:GetParameters", `${ARN}${OTHER}`), "those of another app");
  t.same(await get(OWN, OTHER), deniedOf("ssm:GetParameters", `${ARN}${OTHER}`), "both");
  t.same(await get("/tool/app/production/TOKEN"), deniedOf("ssm:GetParameters", `${ARN}/tool/app/production/TOKEN`));
  t.same(await get(`${ARN}${OTHER}`), deniedOf("ssm:GetParameters", `${ARN}${OTHER}`), "by an ARN");
  allow(STATEMENT, { Effect: "Deny", Action: "*", Resource: `*${OWN}` });
  t.same(
    await get(OWN),
    deniedOf("ssm:GetParameters", `${ARN}${OWN}`, "with an explicit deny in an identity-based policy"),
    "what is denied, too",
  );
  aws.state.service("iam").operations.DeleteRolePolicy({ RoleName: "app", PolicyName: "own" });
  aws.state.service("iam").operations.DeleteRole({ RoleName: "app" });
  t.same(await get(OWN), deniedOf("ssm:GetParameters", `${ARN}${OWN}`), "a role that is gone");
  const free = new SSM({ ...aws.client, region: "eu-west-1" });
  t.match(await free.getParameters({ Names: [OTHER] }), { Parameters: [{ Name: OTHER }] }, "everybody else is free");
});

t.test("whatever the role allows, no function does anything else here", async (t) => {
  const { aws, client, keys, allow } = await open(t);
  allow({ Effect: "Allow", Action: "*", Resource: "*" });
  const ssm = new SSM(client);
  const put = { Name: OWN, Value: "other", Type: "SecureString" as const, Overwrite: true };
  for (const [action, call] of [
    ["ssm:GetParameter", () => ssm.getParameter({ Name: OWN })],
    ["ssm:GetParametersByPath", () => ssm.getParametersByPath({ Path: "/tool" })],
    ["ssm:DescribeParameters", () => ssm.describeParameters({})],
    ["ssm:PutParameter", () => ssm.putParameter(put)],
    ["ssm:DeleteParameter", () => ssm.deleteParameter({ Name: OWN })],
    ["sts:GetCallerIdentity", () => new STS(client).getCallerIdentity({})],
    ["iam:GetRole", () => new IAM(client).getRole({ RoleName: "app" })],
    ["lambda:GetFunction", () => new Lambda(client).getFunction({ FunctionName: "app" })],
    ["lambda:Invoke", () => new Lambda(client).invoke({ FunctionName: "app" })],
    ["s3:ListBuckets", () => new S3(client).listBuckets({})],
    ["cloudformation:DescribeStacks", () => new CloudFormation(client).describeStacks({})],
  ] as const) {
    const { message } = (await outcome(call())) as Error;
    t.equal(message, deniedOf(action, "*").message, action);
  }
  t.match(await ssm.getParameters({ Names: [OWN], WithDecryption: true }), { Parameters: [{ Value: `of ${OWN}` }] });
  const door = await send(aws.endpoint, keys, { service: "sandbox", path: "/stop" });
  t.match(door, { status: 403, body: /A function has no access to the sandbox itself/ });
});

interface Sent {
  readonly service?: string;
  readonly path?: string;
  readonly body?: string;
  /** Changed after it was signed. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
}

/** A request that is signed with the keys. */
function send(
  endpoint: string,
  keys: Keys,
  { service = "ssm", path = "/", body = JSON.stringify({ Names: [OWN] }), headers = {} }: Sent,
) {
  const url = new URL(path, endpoint);
  const target = { "content-type": "application/x-amz-json-1.1", "x-amz-target": "AmazonSSM.GetParameters" };
  const scope = { keys, region: "eu-west-1", service, nowMs: Date.now() };
  const signed = { ...signedHeaders({ method: "POST", url, headers: target, body }, scope), ...headers };
  return exchange(url, signed, body);
}

function exchange(url: URL, headers: Readonly<Record<string, string | undefined>>, body: string) {
  const sent = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined));
  return new Promise<{ status: number | undefined; body: string }>((resolve, reject) => {
    const length = sent["transfer-encoding"] === undefined ? { "content-length": Buffer.byteLength(body) } : {};
    const req = request(url, {
      method: "POST",
      agent: false,
      headers: { ...sent, ...length } as Record<string, string>,
    });
    req.on("response", (res) => {
      let text = "";
      res.setEncoding("utf8").on("data", (part: string) => {
        text += part;
      });
      res.on("end", () => resolve({ status: res.statusCode, body: text }));
    });
    req.on("error", reject);
    req.end(body);
  });
}

t.test("who is not the function", async (t) => {
  const { aws, keys, allow } = await open(t);
  allow(STATEMENT);
  t.match(await send(aws.endpoint, keys, {}), { status: 200, body: /"Name":/ }, "the function");
  const noToken = /UnrecognizedClientException.*The security token included in the request is invalid/;
  const { sessionToken: _, ...withoutToken } = keys;
  for (const [name, wrong, sent, body] of [
    ["another secret", { ...keys, secretAccessKey: "wrong" }, {}, /SignatureDoesNotMatch/],
    ["another token", { ...keys, sessionToken: "wrong" }, {}, noToken],
    ["no token", withoutToken, {}, noToken],
    ["a token that is not signed", withoutToken, { headers: { "x-amz-security-token": keys.sessionToken } }, noToken],
    ["a key of before", { ...keys, accessKeyId: "ASIAFUNCTIONAAAAAAAA" }, {}, noToken],
    ["the begin of a key", { ...keys, accessKeyId: "ASIAFUNCTION" }, {}, noToken],
    [
      "another body than the signed one",
      keys,
      { headers: { "x-amz-content-sha256": "0".repeat(64) } },
      /InvalidSignatureException/,
    ],
    ["a time of before", keys, { headers: { "x-amz-date": "20200101T000000Z" } }, /IncompleteSignature/],
    ["a body of 65 KB", keys, { body: " ".repeat(65 * 1024) }, /RequestEntityTooLarge/],
    ["a body without a length", keys, { headers: { "transfer-encoding": "chunked" } }, /RequestEntityTooLarge/],
    ["another host", keys, { headers: { host: "example.com" } }, /InvalidHost/],
  ] as const) {
    const answer = await send(aws.endpoint, wrong as Keys, sent);
    t.ok(answer.status === 400 || answer.status === 403 || answer.status === 413, `${name}: ${answer.status}`);
    t.match(answer.body, body, name);
    t.notMatch(answer.body, "of /tool", name);
  }
  const scope = { accessKeyId: keys.accessKeyId, region: "eu-west-1", service: "ssm" };
  const url = new URL(aws.endpoint);
  const unsigned = { method: "POST", target: "/", headers: { host: url.host }, body: Buffer.from("{}") };
  t.match(await exchange(url, signOld(unsigned, scope, keys.secretAccessKey, Date.now()), "{}"), { body: noToken });
});

t.test("keys are of one environment, and end with it", async (t) => {
  const { aws, keys, client, invoke, allow } = await open(t);
  allow(STATEMENT);
  const get = (own: typeof client) => outcome(new SSM(own).getParameters({ Names: [OWN] }));
  t.match(await get(client), { Parameters: [{ Name: OWN }] });
  await aws.state.service("lambda").runner.retire("app");
  t.same(await get(client), {
    name: "UnrecognizedClientException",
    message: "The security token included in the request is invalid.",
  });
  const next = keysOf(await environmentOf(invoke));
  for (const name of Object.keys(keys) as (keyof Keys)[]) t.not(next[name], keys[name], name);
  t.match(await get(clientOf(aws.endpoint, next)), { Parameters: [{ Name: OWN }] });
});

t.test("a function without stored variables has keys, but no address", async (t) => {
  const { endpoint, keys, client, aws } = await open(t, {});
  t.equal(endpoint, undefined);
  t.match(keys.accessKeyId, /^ASIAFUNCTION\w{8}$/);
  t.match(await outcome(new SSM(client).getParameters({ Names: [OWN] })), { name: "AccessDeniedException" });
  t.equal(aws.journal.count("ssm", "GetParameters"), 1);
});

t.test("at a server that knows one key, as the daemon", async (t) => {
  const { aws, keys, allow } = await open(t);
  allow(STATEMENT);
  const refuse = () => {
    throw new AwsError("SignatureDoesNotMatch", "The request is not signed with this sandbox's key.", 403);
  };
  const said: string[] = [];
  const daemon = await startSandboxServer({
    world: aws.state,
    knows: (accessKeyId) => accessKeyId === "AKIAOWN",
    authenticate: refuse,
    control: () => ({ stopped: true }),
    serveApp: async (_req, res) => void res.end("an app"),
    report: (text) => void said.push(text),
  });
  t.teardown(() => daemon.close());
  const ssm = (credentials: Keys) => new SSM(clientOf(daemon.url, credentials));
  t.match(await ssm(keys).getParameters({ Names: [OWN] }), { Parameters: [{ Name: OWN }] });
  t.match(await outcome(ssm(keys).getParameters({ Names: [OTHER] })), { name: "AccessDeniedException" });
  t.match(await outcome(ssm({ ...keys, accessKeyId: "AKIAOTHER" }).getParameters({ Names: [OWN] })), {
    name: "InvalidClientTokenId",
  });
  t.match(await outcome(ssm({ ...keys, accessKeyId: "AKIAOWN" }).getParameters({ Names: [OWN] })), {
    name: "SignatureDoesNotMatch",
  });
  t.match(await send(daemon.url, keys, { service: "sandbox", path: "/status" }), { status: 403 });
  t.same(said, []);
});

t.test("the runtime reads the variables of its version, and not without the statement", slow(), async (t) => {
  const aws = await startAws(t, { freezes: false });
  const json = JSON.stringify({ TOKEN: "two\nlines" });
  const hash = createHash("sha256").update(json).digest("hex").slice(0, 32);
  const Name = `/tool/app/.deployed/${hash}/1`;
  const Value = gzipSync(json).toString("base64");
  await new SSM(aws.client).putParameter({ Name, Value, Type: "SecureString" });
  const server = "require('http').createServer((q, s) => s.end(process.env.TOKEN)).listen(process.env.PORT)";
  const deployment = {
    config: { name: "app", type: "server" },
    stage: "production",
    command: `exec ${process.execPath} server.js`,
  };
  const invoke = await activeFunction(
    aws.state,
    {
      "server.js": server,
      ".tool/deployment.json": JSON.stringify(deployment),
      ".tool/bootstrap.cjs": { bytes: readFileSync(bundle), mode: 0o755 },
    },
    {
      Environment: {
        Variables: {
          AWS_LAMBDA_EXEC_WRAPPER: "/var/task/.tool/bootstrap.cjs",
          TOOL_VARIABLES: `${hash}/1`,
          TOOL_RESPONSE_MODE: "buffered",
        },
      },
    },
  );
  const ask = async () => {
    const event = { httpMethod: "GET", path: "/", requestContext: { requestId: "r1" } };
    const result = await invoke(JSON.stringify(event));
    return result.kind === "document" ? JSON.parse(String(result.payload)) : (result as { error: object }).error;
  };
  t.match(await ask(), {
    errorType: "Tool.NoVariables",
    errorMessage: `this version's variables cannot be read: the function's role may not read ${Name}: allow ssm:GetParameters on arn:aws:ssm:eu-west-1:*:parameter/tool/app/.deployed/*, or deploy the stage again if the tool made the role`,
  });
  const PolicyDocument = JSON.stringify({ Statement: STATEMENT });
  aws.state.service("iam").operations.PutRolePolicy({ RoleName: "app", PolicyName: "own", PolicyDocument });
  t.match(await ask(), { statusCode: 200, body: Buffer.from("two\nlines").toString("base64") });
});

for (const [statements, decision] of [
  [[], "not-allowed"],
  [[STATEMENT], "allowed"],
  [[{ ...STATEMENT, Action: ["logs:*", "SSM:getparameters"] }], "allowed"],
  [[{ ...STATEMENT, Action: "ssm:Get*" }], "allowed"],
  [[{ ...STATEMENT, Action: "ssm:GetParameter?" }], "allowed"],
  [[{ ...STATEMENT, Action: "*", Resource: "*" }], "allowed"],
  [[{ ...STATEMENT, Action: "ssm:GetParameter" }], "not-allowed"],
  [[{ ...STATEMENT, Action: "ssm:GetParameters*x" }], "not-allowed"],
  [[{ ...STATEMENT, Resource: [`${ARN}/no`, `${ARN}/tool/*/1`] }], "allowed"],
  [[{ ...STATEMENT, Resource: `${ARN}/tool/app/?deployed/0123/?` }], "allowed"],
  [[{ ...STATEMENT, Resource: `${ARN}/tool/app/` }], "not-allowed"],
  [[{ ...STATEMENT, Resource: `${ARN}/TOOL/app/*` }], "not-allowed"],
  [[{ ...STATEMENT, Resource: `${ARN}/tool/app/.deployed/0123/(1)` }], "not-allowed"],
  [[{ ...STATEMENT, Condition: { Bool: { "aws:SecureTransport": "true" } } }], "not-allowed"],
  [[{ Effect: "Allow", NotAction: "ssm:Put*", NotResource: `${ARN}/tool/other/*` }], "allowed"],
  [[{ Effect: "Allow", NotAction: "ssm:Get*", Resource: "*" }], "not-allowed"],
  [[STATEMENT, { Effect: "Deny", Action: "ssm:*", Resource: "*" }], "denied"],
  [[STATEMENT, { Effect: "Deny", Action: "ssm:*", Resource: "*", Condition: {} }], "denied"],
  [[STATEMENT, { Effect: "Deny", Action: "ssm:*", NotResource: `${ARN}/tool/app/*` }], "allowed"],
] as const) {
  t.test(`${JSON.stringify(statements)}: ${decision}`, async (t) => {
    const documents = statements.map((statement) => JSON.stringify({ Statement: statement }));
    t.equal(evaluate(documents, "ssm:GetParameters", `${ARN}${OWN}`), decision);
    t.equal(evaluate([JSON.stringify({ Statement: statements })], "ssm:GetParameters", `${ARN}${OWN}`), decision);
  });
}
