// Deploying by the real command, against the stand-in of the cloud.

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { CloudFormation } from "@aws-sdk/client-cloudformation";
import { IAM } from "@aws-sdk/client-iam";
import { Lambda } from "@aws-sdk/client-lambda";
import { Ajv } from "ajv";
import t from "tap";
import { writeZip } from "../../../cli/artifact/zip.ts";
import { checkVersion } from "../../../cli/aws/function/check.ts";
import { accountNames } from "../../../cli/aws/look-up.ts";
import type { PlatformError } from "../../../cli/platform/error.ts";
import { systemClock } from "../../../grammar/units/clock.ts";
import { startAws } from "../../support/aws/index.ts";
import { root } from "../../support/cli.ts";
import { appFolder, appSource, askEndpoint, openApp } from "../../support/deployed-app.ts";
import { slow } from "../../support/slow.ts";
import { typeInto } from "../../support/terminal.ts";

// Each test has a cloud of its own.
t.jobs = 2;

const GIT = {
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_AUTHOR_NAME: "Ann",
  GIT_AUTHOR_EMAIL: "ann@example.com",
  GIT_COMMITTER_NAME: "Ann",
  GIT_COMMITTER_EMAIL: "ann@example.com",
};

/** Questions until something is ready, which the cloud's speed decides. */
const isPoll = (call: string) => call === "lambda.GetFunctionConfiguration";

/** The check of a version is in no bound of a deploy's other calls. */
const isNoCheck = (call: string) => call !== "lambda.Invoke";

const ajv = new Ajv({ allErrors: true, allowUnionTypes: true });
/** Parses the output of a command with --format json, and holds it against the schema of that command. */
function parse(name: string, text: string) {
  const schema = JSON.parse(readFileSync(join(root, `cli/output/schemas/${name}.schema.json`), "utf8"));
  if (!ajv.validate(schema, JSON.parse(text))) throw new Error(`${name}: ${ajv.errorsText()} in ${text}`);
  return JSON.parse(text);
}

t.test("from a directory to a running stage, and back", async (t) => {
  const aws = await startAws(t);
  const app = appFolder(aws, join(t.testdir(), "app"), {
    "tool.json": '{ "name": "hello" }',
    "app.js": appSource("one"),
  });
  const calls = () => {
    const all = aws.journal.calls();
    aws.journal.clear();
    return all.filter((call) => !isPoll(call));
  };

  const first = await app.tool([]);
  t.equal(first.code, 0, "the first") || t.comment(first.stderr);
  t.match(first.stderr, /^staging is deployed: version 1 \(/m);
  const url = first.stdout.trim();
  t.match(url, /^https:\/\/\w+\.execute-api\.eu-west-1\.amazonaws\.com\/staging\/$/, "stdout is the address alone");
  t.same(await askEndpoint(aws, `${url}x`), { status: 200, body: "staging one /x" });
  t.match(await askEndpoint(aws, `${url}?variable=TOOL_RESPONSE_MODE`), { body: "stream" });
  calls();

  const again = await app.tool([]);
  t.equal(again.code, 0, "again") || t.comment(again.stderr);
  t.match(again.stderr, /^staging is unchanged: version 1 is already active, nothing was uploaded/m);
  t.equal(again.stdout.trim(), url);
  const unchanged = calls();
  t.ok(unchanged.length <= 3, `without a change: ${unchanged.join(" ")}`);

  const names = { env: aws.env, clock: systemClock, signal: new AbortController().signal };
  t.strictSame(
    await accountNames({ kind: "stages", app: "hello", region: aws.region }, names),
    [{ name: "staging", detail: "deployed, version 1", url }],
    "an editor is told the same address",
  );
  calls();

  app.write({ "app.js": appSource("two") });
  const second = await app.tool(["deploy", "--format", "json"]);
  t.equal(second.code, 0, "with a change") || t.comment(second.stderr);
  const changed = calls();
  t.ok(changed.filter(isNoCheck).length <= 6, `with a change: ${changed.join(" ")}`);
  t.equal(changed.length - changed.filter(isNoCheck).length, 1, "checked once");
  const document = parse("deploy", second.stdout);
  t.match(document, { outcome: "updated", version: "2", previousVersion: "1", commit: null, url, remarks: [] });
  t.equal(document.uploadedBytes, document.artifact.bytes);
  t.match(await askEndpoint(aws, url), { body: "staging two /" });

  const back = await app.tool(["rollback"]);
  t.same([back.code, back.stdout], [0, "staging is rolled back to version 1, from version 2\n"]);
  t.match(await askEndpoint(aws, url), { body: "staging one /" });
  const rolledBack = calls();
  t.same(
    [rolledBack.slice(0, 2), rolledBack.filter((call) => !/\.Get/.test(call)).length],
    [["lambda.GetAlias", "lambda.UpdateAlias"], 2],
    "in force after two calls, and one that follows",
  );
  const forth = parse("rollback", (await app.tool(["rollback", "--format", "json"])).stdout);
  t.match(forth, { outcome: "rolled-back", version: "2", previousVersion: "1", differingVariables: [] });
  t.match(await askEndpoint(aws, url), { body: "staging two /" }, "rolling back again toggles");
  const same = await app.tool([]);
  t.match(same.stderr, /unchanged: version 2/, "what is in force after it is known");

  const production = await app.tool(["production"]);
  t.equal(production.code, 0, "production") || t.comment(production.stderr);
  t.match(await askEndpoint(aws, production.stdout.trim()), { status: 200, body: "production two /" });
  t.match(await askEndpoint(aws, url), { body: "staging two /" });
  t.equal((await app.tool(["url", "-s", "production"])).stdout, production.stdout);
  t.same(parse("url", (await app.tool(["url", "--format", "json"])).stdout), { stage: "staging", url });

  const listed = parse("deploys", (await app.tool(["deploys", "--format", "json"])).stdout).deployments;
  t.same(
    listed.map(({ stage, version, state }: Record<string, string>) => [stage, version, state]),
    [
      ["production", "3", "current"],
      ["staging", "2", "current"],
      ["staging", "1", "previous"],
    ],
  );
  const other = await app.tool(["rollback", "2", "-s", "production"]);
  t.same(
    [other.code, other.stderr],
    [
      1,
      "error: version 2 was deployed to staging, and has its variables: production cannot run it\n  tool deploys lists those of production\n",
    ],
  );
  const none = await app.tool(["rollback", "-s", "production"]);
  t.same(
    [none.code, none.stderr],
    [1, "error: production has no deployment before this one\n  tool deploys lists the deployments\n"],
  );
  t.match((await app.tool(["rollback", "99"])).stderr, 'there is no deployment "99" of staging');
  t.match((await app.tool(["rollback", "v9"])).stderr, 'there is no deployment "v9" of staging');
  t.match((await app.tool(["rollback", "production"])).stderr, "the stage is a flag: tool rollback --stage production");
});

t.test("a version that cannot run: the stage stays as it was", async (t) => {
  const { aws, app } = await openApp(t, { proxy: { backoff: { min: 1, max: 2 } } });
  const calls = () => aws.journal.calls("lambda").filter((call) => /Alias|Invoke$/.test(call));

  app.write({ "app.js": 'console.log("reading"); throw new Error("DATABASE_URL is not set")' });
  const first = await app.tool([]);
  t.equal(first.code, 1, "the first deploy of the stage");
  t.equal(first.stdout, "");
  t.match(
    first.stderr,
    /^error: version 1 cannot run, so staging was not created: the app exited before it listened \(exit code 1\)\n {2}the last lines of the app:\n/m,
  );
  t.match(first.stderr, /^ {4}reading\n/m);
  t.match(first.stderr, /^ {4}Error: DATABASE_URL is not set\n/m);
  t.match(first.stderr, /\n {2}tool deploy staging --no-check deploys it without this check\n$/);
  t.same(calls(), ["lambda.GetAlias", "lambda.Invoke", "lambda.CreateAlias"]);
  t.match(await app.tool(["url"]), { code: 1, stdout: "" }, "the stage does not exist");

  app.write({
    "app.js": appSource("one").replace("const", 'if (request.url === "/") response.statusCode = 500; const'),
  });
  const failing = await app.tool([]);
  t.equal(failing.code, 0, "an app that answers 500") || t.comment(failing.stderr);
  t.match(failing.stderr, /^check: GET \/ 500 \(/m);
  t.match(failing.stderr, /^the app answered GET \/ with 500: tool logs staging may say why$/m);
  const url = failing.stdout.trim();

  app.write({ "package.json": '{ "dependencies": { "express": "^5" } }', "app.js": 'require("express")' });
  const missing = await app.tool([]);
  t.equal(missing.code, 1, "a later deploy");
  t.match(
    missing.stderr,
    /^error: version 3 cannot run, so staging stays as it was: the app exited before it listened/m,
  );
  t.match(missing.stderr, /^ {4}Error: Cannot find module 'express'$/m);
  t.match(await askEndpoint(aws, `${url}x`), { status: 200, body: "staging one /x" });

  const rows = async () => {
    const { deployments } = parse("deploys", (await app.tool(["deploys", "--format", "json"])).stdout);
    return deployments.map(({ version, state }: Record<string, string>) => `${version} ${state}`);
  };
  t.same(await rows(), ["3 failed", "2 current", "1 failed"]);
  const table = (await app.tool(["deploys"])).stdout.split("\n").map((line) => line.split(" UTC  ")[1] ?? "");
  t.same(table, ["", "did not start", "current", "did not start", ""]);
  t.match(await app.tool(["rollback"]), { code: 1, stderr: "error: staging has no deployment before this one" });
  t.match(await app.tool(["rollback", "1"]), {
    code: 0,
    stdout: "staging is rolled back to version 1, from version 2\n",
    stderr: "version 1 did not start when it was deployed: tool rollback 2 --stage staging restores version 2\n",
  });
  const back = parse("rollback", (await app.tool(["rollback", "--format", "json"])).stdout);
  t.match(back, { version: "2", wasFailed: false });

  aws.journal.clear();
  const unchecked = await app.tool(["deploy", "--no-check"]);
  t.equal(unchecked.code, 0, "--no-check") || t.comment(unchecked.stderr);
  t.match(unchecked.stderr, /^staging is deployed: version 3, previously 2 \(/m);
  t.notOk(aws.journal.calls("lambda").includes("lambda.Invoke"));
  t.same(await rows(), ["3 current", "2 previous", "1 failed"], "a rollback to 1 left its mark");
});

t.test("answers to the check of a version", async (t) => {
  const refused = (name: string) => () => Promise.reject(Object.assign(new Error("no"), { name }));
  const answering = (document: unknown, FunctionError?: string) => async () => ({
    FunctionError,
    Payload: typeof document === "string" ? Buffer.from(document) : Buffer.from(JSON.stringify(document)),
  });
  const remark = (text: string) => ({ text: "left out", remark: `the version was not checked: ${text}` });
  const rows: [name: string, invoke: () => Promise<object>, expected: object | string][] = [
    ["404", answering({ check: { available: true, status: 404 } }), { text: "GET / 404", remark: undefined }],
    [
      "no answer",
      answering({ check: { available: true, reason: "the app took too long to answer" } }),
      { text: "GET / without an answer", remark: "GET / was not answered: the app took too long to answer" },
    ],
    [
      "what an app writes",
      answering({
        check: { available: false, reason: "it ended", output: ["\u001b[31mred\u001b[0m \u0007bell", " "] },
      }),
      "version 7 cannot run, so staging stays as it was: it ended\nthe last lines of the app:\n  red  bell\ntool deploy staging --no-check deploys it without this check",
    ],
    [
      "a function that ends",
      answering({ errorType: "Runtime.ExitError", errorMessage: "signal: killed" }, "Unhandled"),
      "version 7 cannot run, so staging stays as it was: signal: killed\ntool deploy staging --no-check deploys it without this check",
    ],
    ["another runtime", answering('"hello"'), remark("it does not run the runtime of tool")],
    ["no JSON", answering("<html>"), remark("it does not run the runtime of tool")],
    [
      "not allowed",
      refused("AccessDeniedException"),
      remark("lambda:InvokeFunction is not allowed (tool stack policy prints what is)"),
    ],
    ["throttled", refused("TooManyRequestsException"), remark("its concurrency is used up")],
    ["a network that fails", refused("TimeoutError"), "no"],
  ];
  const version = { functionName: "app", version: "7", stage: "staging", isFirst: false };
  for (const [name, invoke, expected] of rows) {
    const lambda = { invoke } as unknown as Lambda;
    const result = await checkVersion(lambda, { ...version, signal: new AbortController().signal }).catch(
      ({ message, hint }: PlatformError) => [message, hint].filter(Boolean).join("\n"),
    );
    t.same(result, expected, name);
  }
  let calls = 0;
  const late = async () => {
    calls += 1;
    return calls === 1
      ? answering({ errorType: "Tool.NoVariables", errorMessage: "not yet" }, "Unhandled")()
      : answering({ check: { available: true, status: 200 } })();
  };
  const { signal } = new AbortController();
  t.match(await checkVersion({ invoke: late } as unknown as Lambda, { ...version, signal }), { text: "GET / 200" });
});

t.test("the function is set up as tool.json has it", async (t) => {
  const aws = await startAws(t);
  const lambda = new Lambda(aws.client);
  const { LayerVersionArn } = await lambda.publishLayerVersion({
    LayerName: "fonts",
    Content: { ZipFile: ZIP },
  });
  const own = {
    TOOL_STAGE: "staging",
    TOOL_RESPONSE_MODE: "stream",
    AWS_LAMBDA_EXEC_WRAPPER: "/var/task/.tool/bootstrap.cjs",
  };
  const role = "arn:aws:iam::123456789012:role/hello-eu-west-1-function";
  const rows: [config: object, expected: object][] = [
    [
      {},
      {
        Runtime: "nodejs24.x",
        MemorySize: 512,
        Timeout: 30,
        Description: "",
        Role: role,
        Architectures: ["x86_64"],
        Environment: { Variables: own },
        Layers: undefined,
      },
    ],
    [{ function: { memory: 1024 } }, { MemorySize: 1024 }],
    [{ function: { memory: 1024 }, stages: { staging: { function: { memory: 2048 } } } }, { MemorySize: 2048 }],
    [{ description: "Says hello." }, { Description: "Says hello.", MemorySize: 512 }],
    [{ proxy: { timeout: 20, listen_timeout: 5 } }, { Timeout: 25 }],
    [{ environment: { AA: "1", BB: "ü" } }, { Environment: { Variables: { AA: "1", BB: "ü", ...own } } }],
    [
      { function: { vpc: { subnets: ["subnet-aaaa1111", "subnet-bbbb2222"], security_groups: ["sg-cccc3333"] } } },
      { VpcConfig: { SubnetIds: ["subnet-aaaa1111", "subnet-bbbb2222"], SecurityGroupIds: ["sg-cccc3333"] } },
    ],
    [{ function: { layers: [LayerVersionArn] } }, { Layers: [{ Arn: LayerVersionArn }], VpcConfig: undefined }],
    [{}, { Layers: undefined, Environment: { Variables: own } }],
  ];
  const app = appFolder(aws, join(t.testdir(), "app"), { "app.js": appSource("one") });
  for (const [config, expected] of rows) {
    app.write({ "tool.json": JSON.stringify({ name: "hello", ...config }) });
    const { code, stderr } = await app.tool([]);
    t.equal(code, 0, JSON.stringify(config)) || t.comment(stderr);
    const configuration = await lambda.getFunctionConfiguration({ FunctionName: "hello", Qualifier: "staging" });
    const comparable = Object.fromEntries(
      Object.entries(configuration).map(([key, value]) => {
        if (key === "Layers") return [key, value.map(({ Arn }: { Arn: string }) => ({ Arn }))];
        if (key !== "VpcConfig") return [key, value];
        const { SubnetIds, SecurityGroupIds } = value;
        return [key, SubnetIds?.length > 0 ? { SubnetIds, SecurityGroupIds } : undefined];
      }),
    );
    for (const [key, value] of Object.entries(expected)) t.same(comparable[key], value, key);
  }
  const { Tags } = await lambda.getFunction({ FunctionName: "hello" });
  t.match(Tags, { "tool:app": "hello" });
});

t.test("the role: made, changed when its policy does, and left alone where it is given", slow(), async (t) => {
  const aws = await startAws(t);
  const iam = new IAM(aws.client);
  const RoleName = "hello-eu-west-1-function";
  const statements = async () => {
    const { PolicyDocument } = await iam.getRolePolicy({ RoleName, PolicyName: "tool" });
    return JSON.parse(decodeURIComponent(PolicyDocument!)).Statement.map(
      ({ Action }: { Action: string[] }) => [Action].flat()[0],
    );
  };
  const app = appFolder(aws, join(t.testdir(), "app"), { "app.js": appSource("one") });
  const deploy = async (config: object, argv: readonly string[] = []) => {
    app.write({ "tool.json": JSON.stringify({ name: "hello", ...config }) });
    aws.journal.clear();
    const { code, stderr } = await app.tool(argv);
    t.equal(code, 0, JSON.stringify(config)) || t.comment(stderr);
    return aws.journal.calls("iam");
  };
  const read = { Effect: "Allow", Action: "s3:GetObject", Resource: "*" };
  await deploy({});
  t.same(await statements(), ["logs:CreateLogGroup"]);
  t.same(await deploy({ function: { policy: [read] } }), [
    "iam.GetRole",
    "iam.PutRolePolicy",
    "iam.TagRole",
    "iam.GetRole",
  ]);
  t.same(await statements(), ["logs:CreateLogGroup", "s3:GetObject"]);
  t.same(await deploy({ function: { policy: [read] } }), [], "not asked for again");
  t.same(await deploy({ function: { policy: [read] } }, ["production"]), ["iam.GetRole"]);
  await iam.createRole({ RoleName: "mine", AssumeRolePolicyDocument: TRUST });
  const role = "arn:aws:iam::123456789012:role/mine";
  t.same(await deploy({ function: { role } }), [], role);
  const configuration = await new Lambda(aws.client).getFunctionConfiguration({
    FunctionName: "hello",
    Qualifier: "staging",
  });
  t.equal(configuration.Role, role);
  // As `tool config` prints it.
  const printed = { function: { role: RoleName, policy: [read, { ...read, Action: "s3:PutObject" }] } };
  t.same(
    await deploy(printed),
    ["iam.GetRole", "iam.PutRolePolicy", "iam.TagRole", "iam.GetRole"],
    "the tool's own by its name",
  );
  t.same(await statements(), ["logs:CreateLogGroup", "s3:GetObject", "s3:PutObject"]);
});

t.test("through the bucket where tool.json asks for acceleration, once for the same archive", slow(), async (t) => {
  const aws = await startAws(t);
  const app = appFolder(aws, join(t.testdir(), "app"), {
    "tool.json": '{ "name": "hello", "function": { "accelerate": true } }',
    "app.js": appSource("one"),
  });
  const deploy = async (argv: readonly string[]) => {
    aws.journal.clear();
    const { code, stderr } = await app.tool(argv);
    t.equal(code, 0, `tool ${argv.join(" ")}`) || t.comment(stderr);
    return aws.journal.calls("s3").map((call) => call.slice("s3.".length));
  };
  t.same(await deploy([]), [
    "HeadObject",
    "HeadBucket",
    "CreateBucket",
    "PutPublicAccessBlock",
    "PutBucketTagging",
    "PutBucketAccelerateConfiguration",
    "PutObject",
  ]);
  app.write({ "app.js": appSource("two") });
  t.same(await deploy([]), ["HeadObject", "HeadBucket", "PutBucketAccelerateConfiguration", "PutObject"]);
  app.write({ "app.js": appSource("three") });
  aws.controls.failures.plan({
    service: "lambda",
    operation: "UpdateFunctionCode",
    error: { code: "CodeStorageExceededException", status: 400 },
  });
  t.equal((await app.tool([])).code, 1, "uploaded, but not published");
  t.same(await deploy([]), ["HeadObject"], "the same code");
});

t.test("commits, and going back to one by name", slow(), async (t) => {
  const aws = await startAws(t);
  const app = appFolder(aws, join(t.testdir(), "app"), {
    "tool.json": '{ "name": "hello" }',
    "app.js": appSource("one"),
  });
  const env = {
    ...app.env,
    PATH: process.env.PATH,
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_AUTHOR_NAME: "Ann",
    GIT_AUTHOR_EMAIL: "ann@example.com",
    GIT_COMMITTER_NAME: "Ann",
    GIT_COMMITTER_EMAIL: "ann@example.com",
  };
  const git = (...args: string[]) => execFileSync("git", args, { cwd: app.directory, env, encoding: "utf8" }).trim();
  git("init", "--quiet");
  const shas: string[] = [];
  for (const word of ["one", "two", "three"]) {
    app.write({ "app.js": appSource(word) });
    git("add", ".");
    git("commit", "--quiet", "-m", word);
    shas.push(git("rev-parse", "HEAD"));
    if (word === "two") git("tag", "v2.0.0");
    aws.journal.clear();
    const { code, stderr } = await app.tool([]);
    t.equal(code, 0, word) || t.comment(stderr);
    const calls = aws.journal.calls().filter((call) => !isPoll(call));
    if (word === "three")
      // Two of them read the variables, at once with the first.
      t.ok(calls.filter(isNoCheck).length <= 8, `with a commit: ${calls.join(" ")}`);
  }
  const short = shas.map((sha) => git("rev-parse", "--short", sha));
  const { deployments } = parse("deploys", (await app.tool(["deploys", "--format", "json"])).stdout);
  t.same(
    deployments.map(({ commit, author, state }: Record<string, string>) => [commit, author, state]),
    [
      [short[2], "Ann", "current"],
      ["v2.0.0", "Ann", "previous"],
      [short[0], "Ann", "kept"],
    ],
  );
  const rows: [to: string, commit: string | undefined][] = [
    ["v2.0.0", "v2.0.0"],
    [short[0]!, short[0]],
    [shas[2]!, short[2]],
    [shas[0]!.slice(0, 5), short[0]],
    ["2", "v2.0.0"],
  ];
  for (const [to, commit] of rows) {
    const { stdout } = await app.tool(["rollback", to, "--format", "json"]);
    t.equal(parse("rollback", stdout).commit, commit, `rollback ${to}`);
  }
  app.write({ "app.js": appSource("four") });
  const dirty = await app.tool(["deploy", "--format", "json"]);
  t.equal(parse("deploy", dirty.stdout).commit, `${short[2]}-dirty`);
});

t.test("values of variables are in no error", slow(), async (t) => {
  const { aws, app, configure } = await openApp(t, { environment: { API_KEY: "hunter2-secret", ON: "yes" } });
  const measured = JSON.stringify({ API_KEY: "hunter2-secret", ON: "yes" });
  const refuse = (operation: string, message: string) =>
    aws.controls.failures.plan({
      service: "lambda",
      operation,
      error: { code: "InvalidParameterValueException", message, status: 400 },
    });
  const said = "Lambda was unable to configure your environment variables because they exceeded the 4KB limit.";
  for (const operation of ["CreateFunction", "UpdateFunctionConfiguration"]) {
    for (const argv of [["deploy"], ["deploy", "--verbose"]]) {
      refuse(operation, `${said} String measured: ${measured}`);
      const { code, stdout, stderr } = await app.tool(argv);
      t.equal(code, 1, `${operation}, ${argv.join(" ")}`);
      t.match(stderr, /^error: the cloud refused the request: Lambda was unable .* exceeded the 4KB limit$/m);
      t.notMatch(stdout + stderr, "hunter2");
    }
    if (operation === "CreateFunction") t.equal((await app.tool(["deploy"])).code, 0);
    configure({ environment: { API_KEY: "hunter2-secret", ON: "yes", MORE: "1" } });
  }

  // The commit is not known to the check of tool.json.
  const git = (...args: string[]) =>
    execFileSync("git", args, { cwd: app.directory, env: { ...app.env, ...GIT, PATH: process.env.PATH } });
  configure({ environment: { API_KEY: "hunter2-secret", BIG: "x".repeat(4000) } });
  const counted = await app.tool(["validate"]);
  t.same([counted.code, counted.stderr], [1, ""]);
  t.match(counted.stdout, /error: the variables take 4,\d\d\d bytes .*\[config\/variables-size\]/);
  t.notMatch(counted.stdout, /hunter2|xxx/, "nor in the excerpt");
  for (const format of ["json", "github", "sarif"]) {
    const { stdout } = await app.tool(["validate", "--format", format]);
    t.notMatch(stdout, /hunter2|xxx/, format);
  }
  configure({ environment: { BIG: "x".repeat(3920) } });
  t.equal((await app.tool(["validate"])).code, 0);
  git("init", "--quiet");
  git("add", ".");
  git("commit", "--quiet", "-m", "one");
  git("tag", "release-of-the-twenty-second-of-november-2026-second-try");
  aws.journal.clear();
  const { code, stderr } = await app.tool(["deploy"]);
  t.equal(code, 1);
  t.match(
    stderr,
    /error: the variables of staging in tool.json take 4,1\d\d bytes with their names, and a function has 4,096 for them\n {2}move the largest to tool env, or into a file of the project: BIG \(3,920 bytes\), TOOL_COMMIT \(5\d bytes\)/,
  );
  t.notOk(
    aws.journal.calls().some((call) => !/^lambda.Get|^ssm.Get/.test(call)),
    "nothing is sent",
  );
});

t.test("variables that differ are named after a rollback, and those of its own deploy are in force", async (t) => {
  const aws = await startAws(t);
  const app = appFolder(aws, join(t.testdir(), "app"), { "app.js": appSource("one") });
  for (const environment of [
    { SAME: "1", GONE: "old secret" },
    { SAME: "1", NEW: "new secret" },
  ]) {
    app.write({ "tool.json": JSON.stringify({ name: "hello", environment }) });
    t.equal((await app.tool([])).code, 0);
  }
  const { stdout, stderr } = await app.tool(["rollback"]);
  t.equal(stdout, "staging is rolled back to version 1, from version 2\n");
  t.equal(stderr, "it has the variables of its own deploy; other than version 2 had: GONE, NEW\n");
  const url = (await app.tool(["url"])).stdout.trim();
  t.match(await askEndpoint(aws, `${url}?variable=GONE`), { body: "old secret" });
  const forth = await app.tool(["rollback"]);
  t.equal(forth.stdout, "staging is rolled back to version 2, from version 1\n");
  t.match(
    forth.stderr,
    "version 2 is newer: without a version, tool rollback toggles between the last two; tool rollback ",
  );
  const named = await app.tool(["rollback", "1"]);
  t.notMatch((await app.tool(["rollback", "2"])).stderr + named.stderr, /newer/, "it was asked for");
});

t.test("an error in a part of tool.json that is not needed does not keep an app as it is", async (t) => {
  const aws = await startAws(t);
  const app = appFolder(aws, join(t.testdir(), "app"), { "tool.json": '{ "name": "hello" }' });
  for (const word of ["1", "2"]) {
    app.write({ "app.js": appSource(word) });
    t.equal((await app.tool([])).code, 0);
  }
  const logs = { aler: {}, alerts: { errors: { query: "status >=" } }, include: ["absent.json"] };
  const write = (config: object) => app.write({ "tool.json": JSON.stringify(config) });
  const stages = { production: { hooks: { bild: "x" } } };
  write({ name: "hello", logs, stages, headers: { "/*": 3 }, redirects: [] });
  const warned = /tool\.json:1:\d+: warning: unknown key "aler"[\s\S]*goes on without it\n/;
  for (const argv of [["url"], ["deploys"], ["rollback"], ["stack", "delete", "--yes"]]) {
    const { code, stdout, stderr } = await app.tool([...argv, "--format", "json"]);
    t.equal(code, 0, `${argv}: ${stderr}`);
    t.ok(JSON.parse(stdout).error === undefined, `${argv}`);
    t.match(stderr, warned, `${argv}`);
    t.notMatch(stderr, /: error:/, `${argv}`);
  }
  t.match(await app.tool(["deploy"]), { code: 1, stderr: /: error: unknown key "aler"/ });
  for (const wrong of [
    { regons: ["eu-west-1"] },
    { stages: { production: { domian: "a.example.com" } } },
    { name: 3 },
  ]) {
    write({ name: "hello", ...wrong });
    t.match(await app.tool(["stack", "delete", "--yes"]), { code: 1, stderr: /: error: / }, JSON.stringify(wrong));
  }
});

t.test("old deployments are removed, never the current one or the one before", slow(), async (t) => {
  const aws = await startAws(t);
  const app = appFolder(aws, join(t.testdir(), "app"), { "tool.json": '{ "name": "hello" }' });
  for (const word of ["1", "2", "3", "4"]) {
    app.write({ "app.js": appSource(word) });
    t.equal((await app.tool([])).code, 0);
  }
  t.equal((await app.tool(["rollback", "2"])).code, 0, "2 in force, 4 before it");
  t.equal((await app.tool(["deploy", "production"])).code, 0);
  t.same(parse("prune", (await app.tool(["prune", "-r", "30", "--format", "json"])).stdout), {
    stage: "staging",
    removed: [],
    kept: 4,
  });
  t.same(parse("prune", (await app.tool(["prune", "-r", "0", "--format", "json"])).stdout), {
    stage: "staging",
    removed: ["3", "1"],
    kept: 2,
  });
  t.equal((await app.tool(["prune", "-r", "0"])).stdout, "0 deployments of staging removed, 2 kept\n");
  const back = await app.tool(["rollback"]);
  t.equal(back.stdout, "staging is rolled back to version 4, from version 2\n");
});

t.test("hooks in their order, around the deploy", async (t) => {
  const aws = await startAws(t);
  const hooks = Object.fromEntries(
    ["prebuild", "build", "postbuild", "predeploy", "postdeploy", "clean"].map((hook) => [
      hook,
      `echo ${hook} $TOOL_STAGE >> ../order`,
    ]),
  );
  const folder = t.testdir();
  const app = appFolder(aws, join(folder, "app"), {
    "tool.json": JSON.stringify({ name: "hello", hooks }),
    "app.js": appSource("one"),
  });
  aws.controls.failures.plan({
    service: "lambda",
    operation: "CreateFunction",
    run: () => app.write({ "../order": `${readFileSync(join(folder, "order"), "utf8")}deploy\n` }),
  });
  const order = () => readFileSync(join(folder, "order"), "utf8").trim().split("\n");
  t.equal((await app.tool([])).code, 0);
  t.same(order(), [
    "prebuild staging",
    "build staging",
    "postbuild staging",
    "predeploy staging",
    "deploy",
    "postdeploy staging",
    "clean staging",
  ]);
  app.write({ "../order": "" });
  t.equal((await app.tool(["deploy", "production", "--no-build"])).code, 0);
  t.same(order(), ["predeploy production", "postdeploy production"], "--no-build");
});

t.test("a stage of one's own that was never applied: said before anything is built", async (t) => {
  const aws = await startAws(t);
  const folder = t.testdir();
  const app = appFolder(aws, join(folder, "app"), {
    "tool.json": '{ "name": "hello", "stages": { "beta": {} }, "hooks": { "prebuild": "touch ../built" } }',
    "app.js": appSource("one"),
  });
  const { code, stdout, stderr } = await app.tool(["beta"]);
  t.same(
    { code, stdout, stderr },
    {
      code: 1,
      stdout: "",
      stderr:
        "error: the stage beta does not exist yet\n  tool stack plan shows what it takes, tool stack apply makes it; then it can be deployed\n",
    },
  );
  const variables = ["ssm.GetParametersByPath", "ssm.GetParametersByPath"];
  t.same(aws.journal.calls(), ["lambda.GetAlias", ...variables, "cloudformation.DescribeStacks"]);
  t.throws(() => readFileSync(join(folder, "built")), { code: "ENOENT" });
  for (const [stage, hint] of [
    ["beta", "if the stage is new, tool stack apply makes it first; tool deploy beta deploys it"],
    ["staging", "tool deploy staging deploys it"],
  ] as const) {
    const { stderr } = await app.tool(["url", "-s", stage]);
    t.equal(stderr, `error: ${stage} is not deployed and has no URL\n  ${hint}\n`);
  }
  t.equal((await app.tool(["deploys"])).stderr, "hello is not deployed\n");
});

t.test("no secret in anything that is written", slow(), async (t) => {
  const aws = await startAws(t);
  const app = appFolder(aws, join(t.testdir(), "app"), {
    "tool.json": '{ "name": "hello" }',
    "app.js": appSource("one"),
  });
  const secrets = {
    CLOUD_SECRET_ACCESS_KEY: "s3cr3t/KEY+of+the+account",
    CLOUD_SESSION_TOKEN: "t0ken//of+the+session==",
  };
  const refusal = (code: string) => ({
    times: 1,
    error: {
      code,
      message: `The request signature we calculated does not match the signature you provided. The Canonical String for this request should have been 'x-amz-security-token:${secrets.CLOUD_SESSION_TOKEN}'`,
      status: 403,
    },
  });
  let written = "";
  const rows: [argv: string[], failing?: string][] = [
    [["deploy", "-v"]],
    [["deploy", "-v", "--format", "json"]],
    [["deploy", "-v"], "InvalidSignatureException"],
    [["deploys", "-v"], "SignatureDoesNotMatch"],
    [["deploys", "-v"]],
    [["rollback", "-v"]],
    [["url", "-v"]],
    [["prune", "-v"]],
    [["stack", "-v"]],
  ];
  for (const [argv, failing] of rows) {
    if (failing !== undefined) aws.controls.failures.plan({ service: "lambda", ...refusal(failing) });
    const { code, stdout, stderr } = await app.tool(argv, secrets);
    if (failing !== undefined) t.match(stderr, /^error: the secret access key does not belong to the access key$/m);
    t.ok(code === 0 || code === 1, `tool ${argv.join(" ")}: ${code}`);
    written += stdout + stderr;
  }
  for (const secret of Object.values(secrets)) t.notOk(written.includes(secret), "not a secret");
  t.ok(written.length > 1000, "there is something to look at");
});

const TRUST = JSON.stringify({
  Version: "2012-10-17",
  Statement: [{ Effect: "Allow", Principal: { Service: "lambda.amazonaws.com" }, Action: "sts:AssumeRole" }],
});

/** An archive with one empty file. */
const ZIP = writeZip([
  { name: "a.txt", mode: 0o100644, crc32: 0, unpackedBytes: 0, isDeflated: false, data: Buffer.alloc(0) },
]);

t.test("the first run looks for an app before it writes tool.json", async (t) => {
  const aws = await startAws(t);
  const none =
    /error: there is no app in .*: no main\.go, main\.cr, package\.json, .* or server\r?\n {2}run this in the folder of an app, name it with -C, or write one of these files first/;
  const rows: [name: string, files: Record<string, string>][] = [
    ["an empty folder", {}],
    ["a folder with something else", { "notes.txt": "x", "src/app.js": "" }],
  ];
  for (const [name, files] of rows) {
    for (const command of ["deploy", "start"]) {
      const app = appFolder(aws, join(t.testdir(), `${name} ${command}`), files);
      mkdirSync(app.directory, { recursive: true });
      const { code, text } = await typeInto(t, [command], [], { cwd: app.directory, env: app.env });
      t.match([code, text], [2, none], `${command} in ${name}`);
      t.notOk(existsSync(join(app.directory, "tool.json")), "nothing is written");
    }
  }
  const app = appFolder(aws, join(t.testdir(), "hello"), { "app.js": appSource("one") });
  const answers = [
    ["Name (hello):", ""],
    ["Region (eu-west-1):", ""],
  ] as const;
  const { code, text } = await typeInto(t, ["deploy"], answers, { cwd: app.directory, env: app.env });
  t.match([code, text], [0, /tool\.json written\.[\s\S]*staging is deployed: version 1/]);
});

t.test("tags: on function and stack, changed, and taken away", slow(), async (t) => {
  const aws = await startAws(t);
  const app = appFolder(aws, join(t.testdir(), "app"), { "app.js": appSource("one"), ".toolignore": "tool.json" });
  const lambda = new Lambda(aws.client);
  const cloudFormation = new CloudFormation(aws.client);
  const Resource = `arn:aws:lambda:${aws.region}:${aws.accountId}:function:hello`;
  const functionTags = async () => {
    const { "tool:tags": _, ...tags } = (await lambda.listTags({ Resource })).Tags!;
    return tags;
  };
  const stackTags = async () => {
    const { Stacks } = await cloudFormation.describeStacks({ StackName: "hello" });
    return Object.fromEntries(Stacks![0]!.Tags!.map(({ Key, Value }) => [Key, Value]));
  };
  const configure = (config: object) => app.write({ "tool.json": JSON.stringify({ name: "hello", ...config }) });
  const run = async (...argv: string[]) => {
    aws.journal.clear();
    const outcome = await app.tool(argv);
    t.equal(outcome.code, 0, argv.join(" ")) || t.comment(outcome.stderr);
    return outcome;
  };
  const tagCalls = () => aws.journal.calls("lambda").filter((call) => /Tag/.test(call));

  configure({ tags: { team: "orders", stage: "all" } });
  await run();
  t.same(await functionTags(), { "tool:app": "hello", team: "orders", stage: "all" }, "a new function");
  t.same(await stackTags(), { "tool:app": "hello", team: "orders", stage: "all" }, "a new stack");
  const apiTags = async () => {
    const { TemplateBody } = await cloudFormation.getTemplate({ StackName: "hello" });
    const tags: { Key: string; Value: string }[] = JSON.parse(TemplateBody!).Resources.Api.Properties.Tags;
    return Object.fromEntries(tags.map(({ Key, Value }) => [Key, Value]));
  };
  t.same(await apiTags(), { "tool:app": "hello", team: "orders", stage: "all" }, "what the stack makes");
  const again = await run();
  t.match(again.stderr, /staging is unchanged/);
  t.same(tagCalls(), [], "nothing is asked for where nothing changed");

  // Somebody else's, which stays.
  await lambda.tagResource({ Resource, Tags: { audit: "yes" } });
  configure({ tags: { team: "payments", owner: "ann" } });
  const changed = await run("deploy", "--format", "json");
  t.match(JSON.parse(changed.stdout), { outcome: "unchanged", uploadedBytes: 0 }, "no new version");
  t.same(await functionTags(), { "tool:app": "hello", team: "payments", owner: "ann", audit: "yes" }, "changed");
  t.same(await stackTags(), { "tool:app": "hello", team: "orders", stage: "all" }, "the stack waits for an apply");
  t.match(JSON.parse(changed.stdout).remarks[0], /stack apply/);
  await run("stack", "apply");
  t.same(await stackTags(), { "tool:app": "hello", team: "payments", owner: "ann" }, "applied");
  t.same(await apiTags(), { "tool:app": "hello", team: "payments", owner: "ann" }, "and what it makes");
  await run();
  t.same(tagCalls(), []);

  // An earlier deployment has no tags of its own.
  app.write({ "app.js": appSource("two") });
  await run();
  await run("rollback");
  configure({});
  app.write({ "app.js": appSource("one") });
  await run();
  t.same(await functionTags(), { "tool:app": "hello", audit: "yes" }, "all taken away after a rollback");
  t.notOk("tool:tags" in (await lambda.listTags({ Resource })).Tags!, "and what knew them");
  await run("stack", "apply");
  t.same(await stackTags(), { "tool:app": "hello" });

  configure({ tags: { team: "orders" }, function: { accelerate: true } });
  app.write({ "app.js": appSource("three") });
  await run();
  t.same(await functionTags(), { "tool:app": "hello", audit: "yes", team: "orders" }, "with a new version");
  const buckets = aws.journal.entries.filter(({ operation }) => operation === "PutBucketTagging");
  t.equal(buckets.length, 1);
  t.notMatch(JSON.stringify(buckets), "orders", "never on the shared bucket");
});
