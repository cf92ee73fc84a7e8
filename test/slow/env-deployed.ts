// The values that a deployed app gets of `tool env`: those of its own deploy at every cold start, whatever is set
// meanwhile, those that do not fit into the function's configuration too; and what is left when a call fails or the
// command is killed.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { IAM } from "@aws-sdk/client-iam";
import { Lambda } from "@aws-sdk/client-lambda";
import { SSM } from "@aws-sdk/client-ssm";
import t, { type Test } from "tap";
import type { Failure } from "../support/aws/failures.ts";
import { type Aws, startAws } from "../support/aws/index.ts";
import { spawnTool } from "../support/cli.ts";
import { type AppFolder, appFolder, askEndpoint } from "../support/deployed-app.ts";
import { testSandbox } from "../support/sandbox.ts";
import { unzip } from "../support/unzip.ts";

const APP = `
import { createServer } from "node:http";
createServer((request, response) => response.end(JSON.stringify(process.env))).listen(process.env.PORT);
`;
const files = (config: object = {}) => ({
  "tool.json": JSON.stringify({ name: "hello", ...config }),
  "app.js": APP,
  "package.json": '{"type":"module"}',
});

/** In every value, to look for it. */
const SECRET = "s3cr3t";
/** More than the function's configuration has room for. */
const large = (word: string) => `${SECRET} ${word} `.repeat(600);

interface Opened {
  readonly aws: Aws;
  readonly app: AppFolder;
}

async function open(t: Test, config?: object): Promise<Opened> {
  const aws = await startAws(t);
  return { aws, app: appFolder(aws, join(t.testdir(), "app"), files(config)) };
}

async function run(t: Test, app: AppFolder, argv: readonly string[]) {
  const outcome = await app.tool(argv);
  if (!t.equal(outcome.code, 0, `tool ${argv.join(" ").slice(0, 60)}`)) t.comment(outcome.stderr);
  t.notMatch(argv[1] === "get" || argv[1] === "export" ? outcome.stderr : outcome.stdout + outcome.stderr, SECRET);
  return outcome;
}

/** Returns the environment that the app sees after a cold start. */
async function environmentOf({ aws, app }: Opened, stage = "staging"): Promise<Record<string, string>> {
  await aws.state.service("lambda", aws.region).runner.retire("hello");
  const url = (await app.tool(["url", "-s", stage])).stdout.trim();
  const { status, body } = await askEndpoint(aws, url);
  if (status !== 200) throw new Error(`${status}: ${body}`);
  return JSON.parse(body);
}

const parameters = (aws: Aws) => [...aws.state.service("ssm", aws.region).parameters.keys()];
const snapshots = (aws: Aws) => parameters(aws).filter((name) => name.includes("/.deployed/"));

for (const [kind, make] of [
  ["in the configuration", (word: string) => `${SECRET} ${word}`],
  ["in a snapshot", large],
] as const) {
  t.test(`a version keeps the values of its own deploy: ${kind}`, async (t) => {
    const it = await open(t);
    const { aws, app } = it;
    await run(t, app, ["env", "add", `KEY=${make("one")}`]);
    await run(t, app, ["deploy"]);
    t.match(await environmentOf(it), { KEY: make("one"), NODE_ENV: "staging" });
    const set = await run(t, app, ["env", "set", `KEY=${make("two")}`]);
    t.match(set.stderr, /^staging keeps what it has until its next deploy: tool deploy staging$/m);
    t.match(
      (await run(t, app, ["env", "ls"])).stderr,
      /^staging is deployed with other variables: tool deploy staging$/m,
    );
    t.equal((await environmentOf(it)).KEY, make("one"), "another cold start of the version");
    await run(t, app, ["deploy"]);
    t.equal((await environmentOf(it)).KEY, make("two"));
    t.equal((await run(t, app, ["env", "ls"])).stderr, "");
    t.match((await run(t, app, ["deploy"])).stderr, /staging is unchanged/);
    const back = await run(t, app, ["rollback"]);
    t.match(back.stderr, /it has the variables of its own deploy; other than version 2 had: KEY$/m);
    t.equal((await environmentOf(it)).KEY, make("one"), "rolled back");
    await run(t, app, ["rollback"]);
    await run(t, app, ["env", "rm", "KEY"]);
    t.match(
      (await run(t, app, ["env", "ls", "--format", "json"])).stdout,
      /"redeploy": \[\s*"staging"\s*\]/,
      "removed",
    );
    t.equal((await environmentOf(it)).KEY, make("two"), "removed from the store alone");
    await run(t, app, ["deploy"]);
    t.equal((await environmentOf(it)).KEY, undefined);

    // Nobody but the store and the function's configuration has a value.
    for (const { input } of aws.journal.entries.filter(({ service }) => service !== "ssm" && service !== "lambda")) {
      t.notMatch(JSON.stringify(input ?? null), SECRET);
    }
    const lambda = new Lambda(aws.client);
    const { Aliases = [] } = await lambda.listAliases({ FunctionName: "hello" });
    t.notMatch(JSON.stringify(Aliases), SECRET);
    const archive = aws.state.service("lambda", aws.region).state.functions.get("hello")!.latest.code.zip.read();
    for (const { name, content } of unzip(Buffer.from(archive)))
      t.notMatch(content.toString("latin1"), SECRET, `not in ${name}`);
    const logs = await app.tool(["logs", "--format", "json"]);
    t.match(logs.stdout, /app listening/);
    t.notMatch(logs.stdout, SECRET, "not in the log");

    await run(t, app, ["prune", "-r", "0"]);
    await run(t, app, ["stack", "delete", "--yes", "--env"]);
    t.same(parameters(aws), []);
  });
}

const HARD_VALUES: Record<string, string> = {
  EMPTY: "",
  ONE: "1",
  QUOTES: `it's "quoted" \\ $HOME %PATH% \`x\` $(x)`,
  LINES: "-----BEGIN KEY-----\nMIIC\n-----END KEY-----\n",
  EMOJI: "😀 é 漢字",
  BRACES: "{{mustache}}",
  BLANKS: "  x  ",
  TWENTY: "kB".repeat(10_000),
};

t.test("two hundred and hard ones, as they were set", async (t) => {
  const it = await open(t, { environment: { FROM: "file", ONE: "file" } });
  const { aws, app } = it;
  const many = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`NAME_${i}`, `${SECRET} ${i}`]));
  const values: Record<string, string> = { ...many, ...HARD_VALUES };
  const quoted = (text: string) => `\`${text}\``;
  const single = (text: string) => (text.includes("'") ? undefined : `'${text}'`);
  const lines = Object.entries(values).flatMap(([name, text]) => {
    const written = single(text) ?? (text.includes("`") ? undefined : quoted(text));
    return written === undefined ? [] : [`${name}=${written}`];
  });
  app.write({ "all.env": lines.join("\n") });
  await run(t, app, ["env", "add", "--file", "all.env"]);
  await run(t, app, ["env", "add", `QUOTES=${HARD_VALUES.QUOTES}`]);
  await run(t, app, ["env", "add", "-s", "staging", "NAME_7=of staging"]);
  const deployed = await run(t, app, ["deploy"]);
  t.match(
    deployed.stderr,
    /\d+ variables do not fit into the function's configuration, which has 4 KB: each cold start/,
  );
  const seen = await environmentOf(it);
  for (const [name, value] of Object.entries({ ...values, NAME_7: "of staging", FROM: "file" })) {
    t.equal(seen[name], value, name);
  }
  t.equal(seen.TOOL_VARIABLES, undefined, "the app does not see where they come from");

  await run(t, app, ["env", "add", `NOISE=${noise(60_000)}`]);
  const before = snapshots(aws);
  const wide = Array.from({ length: 17 }, (_, i) => `WIDE_${i}=${"x".repeat(65_000)}`);
  for (const one of wide) await run(t, app, ["env", "add", "-s", "production", one]);
  t.match(await app.tool(["deploy", "production"]), {
    code: 1,
    stderr: /take 1,\d{3},\d{3} bytes, and the limit is 1,048,576/,
  });
  const refused = await app.tool(["deploy"]);
  t.match(refused, {
    code: 1,
    stderr:
      /^error: the variables of staging that do not fit .* take [\d,]+ bytes when packed, and the limit is 65,536\n {2}move the largest .*: NOISE \(60,000 bytes\)/m,
  });
  t.notMatch(refused.stderr, /build:/, "before anything is built");
  t.same(snapshots(aws), before);
});

/** Text that does not compress. */
function noise(length: number): string {
  let state = 1;
  return Array.from({ length }, () => {
    state = (state * 48_271) % 2_147_483_647;
    return String.fromCharCode(35 + (state % 88));
  })
    .join("")
    .replaceAll("\\", "/");
}

t.test("stages share a role: one that fits leaves another what it needs", async (t) => {
  const it = await open(t);
  const { aws, app } = it;
  await run(t, app, ["env", "add", "-s", "staging", `KEY=${large("one")}`]);
  const [one, two] = await Promise.all([app.tool(["deploy", "staging"]), app.tool(["deploy", "production"])]);
  t.same([one.code, two.code], [0, 0]);
  t.equal((await environmentOf(it)).KEY, large("one"));
  app.write({
    "tool.json": JSON.stringify({
      name: "hello",
      function: { policy: [{ Effect: "Allow", Action: "s3:GetObject", Resource: "*" }] },
    }),
  });
  await run(t, app, ["deploy", "production"]);
  t.equal((await environmentOf(it)).KEY, large("one"), "after a deploy that changed the role's policy");
  const policy = await new IAM(aws.client).getRolePolicy({
    RoleName: `hello-${aws.region}-function`,
    PolicyName: "tool",
  });
  t.match(decodeURIComponent(policy.PolicyDocument!), /ssm:GetParameters.*s3:GetObject/);
});

t.test("two stages deployed at once, one of which reads snapshots: neither takes the other's permission", async (t) => {
  const it = await open(t);
  const { aws, app } = it;
  await run(t, app, ["deploy", "staging"]);
  await run(t, app, ["env", "add", "-s", "staging", `KEY=${large("one")}`]);
  const statement = { Effect: "Allow", Action: "s3:GetObject", Resource: "*" };
  app.write({ "tool.json": JSON.stringify({ name: "hello", function: { policy: [statement] } }) });
  // Production writes the role's policy as it read it, after staging has written its own.
  let staging: Promise<unknown> | undefined;
  aws.controls.failures.plan({
    service: "iam",
    operation: "PutRolePolicy",
    run: async () => {
      staging = app.tool(["deploy", "staging"]);
      await staging;
    },
  });
  await run(t, app, ["deploy", "production"]);
  t.match(await staging, { code: 0 });
  t.equal((await environmentOf(it)).KEY, large("one"));
});

t.test("a prune beside a deploy that names an old snapshot again", async (t) => {
  const it = await open(t);
  const { aws, app } = it;
  for (const word of ["one", "two", "three", "four"]) {
    await run(t, app, ["env", "set", `KEY=${large(word)}`]);
    await run(t, app, ["deploy"]);
  }
  aws.controls.clock.advance(7_200_000);
  await run(t, app, ["env", "set", `KEY=${large("one")}`]);
  let deployed: Promise<unknown> | undefined;
  aws.controls.failures.plan({
    service: "lambda",
    operation: "DeleteFunction",
    run: async () => {
      deployed = app.tool(["deploy"]);
      await deployed;
    },
  });
  await run(t, app, ["prune", "-r", "0"]);
  t.match(await deployed, { code: 0 });
  t.equal((await environmentOf(it)).KEY, large("one"));
});

t.test("a snapshot that others wrote into, and a rollback to one that is gone", async (t) => {
  const it = await open(t);
  const { aws, app } = it;
  const ssm = new SSM(aws.client);
  await run(t, app, ["env", "add", `KEY=${large("one")}`]);
  await run(t, app, ["deploy"]);
  const [part = ""] = snapshots(aws);
  const folder = part.slice(0, part.lastIndexOf("/"));
  for (const [name, Value] of [
    ["99", "AAAA"],
    ["foo", "AAAA"],
    ["01", "AAAA"],
    ["1", `${(await ssm.getParameter({ Name: part, WithDecryption: true })).Parameter!.Value}\nAAAA`],
  ] as const) {
    await ssm.putParameter({ Name: `${folder}/${name}`, Value, Type: "SecureString", Overwrite: true });
  }
  await run(t, app, ["deploy"]);
  t.equal((await environmentOf(it)).KEY, large("one"), "put right");
  await run(t, app, ["env", "set", "KEY=small"]);
  await run(t, app, ["deploy"]);
  await ssm.deleteParameter({ Name: part });
  const back = await app.tool(["rollback"]);
  t.match(back, {
    code: 1,
    stderr:
      /^error: version 1 cannot start: the variables that it reads at a cold start are gone\n {2}nothing was rolled back/,
  });
  t.equal((await environmentOf(it)).KEY, "small");
});

t.test("a snapshot whose part is gone: said at the cold start, and put right by a deploy", async (t) => {
  const it = await open(t);
  const { aws, app } = it;
  const ssm = new SSM(aws.client);
  await run(t, app, ["env", "add", `KEY=${SECRET}${noise(9000)}`]);
  await run(t, app, ["deploy"]);
  const parts = snapshots(aws).sort();
  t.ok(parts.length > 1, "several parts");
  await ssm.deleteParameter({ Name: parts[1]! });
  await t.rejects(environmentOf(it), /502/);
  const logs = await app.tool(["logs", "--format", "json"]);
  t.match(logs.stdout, new RegExp(`part 2 of ${parts.length} .* is missing \\(${parts[1]}\\): deploy the stage again`));
  t.notMatch(logs.stdout, SECRET);
  t.match((await run(t, app, ["deploy"])).stderr, /staging is unchanged/);
  t.match((await environmentOf(it)).KEY, SECRET, "stored again");
});

const place = (operation: string, more: Partial<Failure>): Failure => ({ service: "ssm", operation, ...more });

t.test("each call of a deploy fails, or the command is killed there", async (t) => {
  const it = await open(t);
  const { aws, app } = it;
  await run(t, app, ["env", "add", `KEY=${large("one")}`]);
  await run(t, app, ["deploy"]);
  const broken = (operation: string) => ({
    code: "InternalServerError",
    // As the service words it for what it is sent.
    message: `Value ${operation === "PutParameter" ? `'${SECRET}'` : "'name'"} is not valid`,
    status: 400,
  });
  let n = 1;
  for (const [operation, nth] of [
    ["GetParametersByPath", 1],
    ["GetParametersByPath", 2],
    ["GetParametersByPath", 3],
    ["GetParametersByPath", 4],
    ["PutParameter", 1],
  ] as const) {
    for (const how of ["refused", "killed"] as const) {
      await run(t, app, ["env", "set", `KEY=${large(`${++n}`)}`]);
      const running = spawnTool(["deploy"], { cwd: app.directory, env: app.env });
      const kill = async () => {
        running.kill("SIGKILL");
        await sleep(30);
      };
      aws.controls.failures.plan(
        place(
          operation,
          how === "refused" ? { nth, times: Number.POSITIVE_INFINITY, error: broken(operation) } : { nth, run: kill },
        ),
      );
      const { code, stderr, stdout } = await running.ended;
      aws.controls.failures.clear();
      const name = `${how} at ${operation} ${nth}`;
      t.equal(code, how === "killed" ? null : 1, name);
      t.notMatch(stdout + stderr, SECRET);
      t.notMatch((await environmentOf(it)).KEY, large(`${n}`), `${name}: not in force`);
      await run(t, app, ["deploy"]);
      t.equal((await environmentOf(it)).KEY, large(`${n}`), `${name}: the next deploy`);
    }
  }
  // Snapshots of deploys that broke are gone when they are old, those of versions stay.
  aws.controls.clock.advance(7_200_000);
  await run(t, app, ["prune", "-r", "0"]);
  t.match((await environmentOf(it)).KEY, SECRET);
});

t.test("in the sandbox, with its own roles", async (t) => {
  const sandbox = testSandbox(t);
  const folder = t.testdir(
    files({
      hooks: {
        build:
          'node -e \'require("fs").writeFileSync("built", process.env.KEY.length + process.env.NODE_ENV)\' --input-type=commonjs',
      },
    }),
  );
  const set = await sandbox.tool(folder, "env", "add", `KEY=${large("one")}`, "-s", "production");
  t.equal(set.code, 0, set.stderr);
  const deployed = await sandbox.tool(folder, "deploy", "production");
  t.equal(deployed.code, 0, deployed.stderr);
  t.match(deployed.stderr, /the variable KEY does not fit into the function's configuration/);
  t.equal(readFileSync(join(folder, "built"), "utf8"), `${large("one").length}production`);
  const seen = JSON.parse((await sandbox.ask("hello", "production")).body);
  t.equal(seen.KEY, large("one"));
  await sandbox.tool(folder, "env", "set", "KEY=two", "-s", "production");
  await sandbox.tool(folder, "deploy", "production");
  t.equal(JSON.parse((await sandbox.ask("hello", "production")).body).KEY, "two");
  t.equal((await sandbox.tool(folder, "rollback", "-s", "production")).code, 0);
  t.equal(JSON.parse((await sandbox.ask("hello", "production")).body).KEY, large("one"));
  t.notMatch((await sandbox.tool(folder, "logs", "--format", "json")).stdout, SECRET);
});
