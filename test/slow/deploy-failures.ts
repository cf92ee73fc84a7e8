// The failures that can occur while a stage is deployed: each row breaks one deploy at one place, says what is in force
// then, and what the next run makes of it. After every row the account has to hold one whole deployment and nothing
// twice. With DEPLOY_KILLS=all (`npm run crash:deploy`) deploys are killed before the other calls, too.
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { CloudFormation } from "@aws-sdk/client-cloudformation";
import { IAM } from "@aws-sdk/client-iam";
import { Lambda } from "@aws-sdk/client-lambda";
import t, { type Test } from "tap";
import { writeZip } from "../../cli/artifact/zip.ts";
import { TEST_SPEED } from "../support/aws/clock.ts";
import { type Failure, THROTTLING } from "../support/aws/failures.ts";
import { type Aws, type AwsOptions, openAws, startAws } from "../support/aws/index.ts";
import { type Outcome, type Running, spawnTool } from "../support/cli.ts";
import { type AppFolder, appFolder, askEndpoint } from "../support/deployed-app.ts";
import { remains } from "../support/remains.ts";
import { until } from "../support/until.ts";

/** The word of the deployed version, by its variables; both words are the same where code and variables belong. */
type Word = "one" | "two";

interface Row {
  readonly name: string;
  /** Whether version "one" is in force already; the deploy that breaks is that of "two". */
  readonly before: "nothing" | "one";
  readonly options?: AwsOptions;
  /** Settles what breaks; `kill` sends a signal to the command. */
  readonly breaks: (aws: Aws, kill: (signal: NodeJS.Signals) => void) => Promise<void> | void;
  /** Exit code of the broken deploy; null if it was killed. */
  readonly code: number | null;
  readonly says?: RegExp;
  /** The version that is in force as staging after it. */
  readonly inForce: Word | undefined;
  /** Exit code of the run after it. */
  readonly next: "created" | "updated" | "unchanged";
  readonly isPreviousLost?: boolean;
  readonly mends?: (aws: Aws) => Promise<void> | void;
}

type Place = `${string}.${string}`;

function failure(place: Place, more: Omit<Failure, "service" | "operation">): Failure {
  const [service, operation] = place.split(".") as [string, string];
  return { service, operation, ...more };
}

const plan =
  (...failures: Failure[]): Row["breaks"] =>
  (aws) =>
    aws.controls.failures.plan(...failures);

/** SIGKILL when a call arrives, which then happens, or does not. */
function killed(
  before: Row["before"],
  place: Place,
  when: "before" | "after",
  after: Pick<Row, "inForce" | "next" | "options"> & { readonly nth?: number },
): Row {
  const { nth = 1, inForce, next, options } = after;
  const kill = (send: (signal: NodeJS.Signals) => void) => async () => {
    send("SIGKILL");
    // Until the process is gone: it must not see an answer.
    await sleep(30);
  };
  return {
    name: `killed ${when} ${place}${nth === 1 ? "" : ` (${nth})`}`,
    before,
    ...(options !== undefined && { options }),
    breaks: (aws, send) =>
      aws.controls.failures.plan(
        failure(place, { nth, run: kill(send), ...(when === "before" && { drop: "before" as const }) }),
      ),
    code: null,
    inForce,
    next,
  };
}

/** Ctrl-C when a call arrives. */
function interrupted(before: Row["before"], place: Place, after: Pick<Row, "inForce" | "next" | "says">): Row {
  return {
    name: `interrupted at ${place}`,
    before,
    breaks: (aws, send) =>
      aws.controls.failures.plan(
        failure(place, {
          run: async () => {
            send("SIGINT");
            // Longer than the command takes to hear it.
            await sleep(300);
          },
        }),
      ),
    code: 130,
    ...after,
  };
}

/** The answer does not arrive, and the SDK calls again: no harm is done. */
function lost(before: Row["before"], place: Place): Row {
  return {
    name: `the answer of ${place} is lost`,
    before,
    breaks: plan(failure(place, { drop: "after" })),
    code: 0,
    inForce: "two",
    next: "unchanged",
  };
}

/** The service refuses for good; what was done stays, and the next run continues from there. */
function refused(
  name: string,
  before: Row["before"],
  place: Place,
  error: Failure["error"],
  after: Pick<Row, "inForce" | "next" | "says">,
): Row {
  return {
    name,
    before,
    breaks: plan(failure(place, { error: error!, times: Number.POSITIVE_INFINITY })),
    code: 1,
    ...after,
    mends: (aws) => aws.controls.failures.clear(),
  };
}

const nothing = { inForce: undefined, next: "created" } as const;
const made = { inForce: "two", next: "unchanged" } as const;
const old = { inForce: "one", next: "updated" } as const;

const SERVICE_FAULT = { code: "ServiceException", message: "An error occurred.", status: 500 };

const denied = (action: string) => ({
  code: "AccessDeniedException",
  message: `User: arn:aws:iam::123456789012:user/ann is not authorized to perform: ${action} on resource: * because no identity-based policy allows the ${action} action`,
  status: 403,
});

const rows: readonly Row[] = [
  // A first deploy, killed at every call that changes something.
  killed("nothing", "lambda.GetAlias", "before", nothing),
  killed("nothing", "iam.CreateRole", "before", nothing),
  killed("nothing", "iam.CreateRole", "after", nothing),
  killed("nothing", "iam.PutRolePolicy", "after", nothing),
  killed("nothing", "iam.TagRole", "after", nothing),
  killed("nothing", "lambda.CreateFunction", "after", nothing),
  killed("nothing", "lambda.CreateAlias", "before", nothing),
  killed("nothing", "lambda.CreateAlias", "after", made),
  killed("nothing", "cloudformation.CreateStack", "after", made),
  // Slow enough that the stack is not complete at the first poll, however busy the machine is.
  killed("nothing", "cloudformation.DescribeStackEvents", "after", {
    ...made,
    nth: 2,
    options: { clock: { speed: 10 } },
  }),
  killed("nothing", "lambda.UpdateAlias", "before", made),
  killed("nothing", "lambda.UpdateAlias", "after", made),

  // A later deploy.
  killed("one", "lambda.GetAlias", "before", old),
  killed("one", "lambda.UpdateFunctionConfiguration", "after", old),
  killed("one", "lambda.UpdateFunctionCode", "after", old),
  killed("one", "lambda.Invoke", "after", old),
  killed("one", "lambda.UpdateAlias", "before", old),
  killed("one", "lambda.UpdateAlias", "after", made),
  killed("one", "lambda.CreateAlias", "after", made),

  // The account is then as after the call before it.
  ...(process.env.DEPLOY_KILLS === "all"
    ? [
        killed("nothing", "lambda.GetFunction", "before", nothing),
        killed("nothing", "iam.GetRole", "before", nothing),
        killed("nothing", "iam.PutRolePolicy", "before", nothing),
        killed("nothing", "iam.TagRole", "before", nothing),
        killed("nothing", "lambda.CreateFunction", "before", nothing),
        killed("nothing", "cloudformation.DescribeStacks", "before", made),
        killed("nothing", "cloudformation.CreateStack", "before", made),
        killed("nothing", "cloudformation.DescribeStackEvents", "before", made),
        killed("one", "lambda.UpdateFunctionConfiguration", "before", old),
        killed("one", "lambda.GetFunctionConfiguration", "before", old),
        killed("one", "lambda.UpdateFunctionCode", "before", old),
        killed("one", "lambda.Invoke", "before", old),
        killed("one", "lambda.CreateAlias", "before", made),
      ]
    : []),

  interrupted("nothing", "lambda.GetAlias", {
    ...nothing,
    says: /^interrupted: staging is as it was\n {2}tool deploy staging continues from there$/m,
  }),
  interrupted("nothing", "iam.PutRolePolicy", {
    ...nothing,
    says: /^interrupted while setting up the function's role: staging is as it was$/m,
  }),
  interrupted("nothing", "lambda.CreateFunction", {
    ...nothing,
    says: /^interrupted while publishing the version: staging is as it was\n {2}done: setting up the function's role$/m,
  }),
  interrupted("nothing", "cloudformation.DescribeStackEvents", {
    ...made,
    says: /^interrupted while creating the gateway: staging runs the new version$/m,
  }),
  interrupted("one", "lambda.UpdateFunctionCode", {
    ...old,
    says: /^interrupted while publishing the version: staging is as it was$/m,
  }),
  interrupted("one", "lambda.Invoke", {
    says: /interrupted while checking that the version runs: staging is as it was/,
    ...old,
  }),
  interrupted("one", "lambda.UpdateAlias", {
    ...made,
    says: /^interrupted while activating the version: whether staging runs the new version is unknown: run tool deploys$/m,
  }),

  lost("nothing", "iam.CreateRole"),
  lost("nothing", "lambda.CreateFunction"),
  lost("nothing", "lambda.CreateAlias"),
  lost("nothing", "cloudformation.CreateStack"),
  lost("nothing", "lambda.UpdateAlias"),
  lost("one", "lambda.UpdateFunctionConfiguration"),
  lost("one", "lambda.UpdateFunctionCode"),
  lost("one", "lambda.UpdateAlias"),
  lost("one", "lambda.CreateAlias"),

  {
    name: "the connection is cut once while the code is sent",
    before: "one",
    breaks: plan(failure("lambda.UpdateFunctionCode", { drop: "before" })),
    code: 0,
    ...made,
  },
  {
    name: "the network is gone from the beginning",
    before: "one",
    breaks: plan({ drop: "before", times: Number.POSITIVE_INFINITY }),
    code: 1,
    says: /^error: the connection to the cloud failed: .*\n {2}check the network, then run the command again/m,
    ...old,
    mends: (aws) => aws.controls.failures.clear(),
  },
  {
    name: "the network is gone before the version is put in force",
    before: "one",
    breaks: plan(failure("lambda.UpdateAlias", { drop: "before", times: Number.POSITIVE_INFINITY })),
    code: 1,
    says: /^error: the connection to the cloud failed/m,
    ...old,
    mends: (aws) => aws.controls.failures.clear(),
  },

  {
    name: "throttled twice while the role is made",
    before: "nothing",
    breaks: plan(failure("iam.CreateRole", { error: THROTTLING.query, times: 2 })),
    code: 0,
    ...made,
  },
  {
    name: "throttled while the code is sent",
    before: "one",
    breaks: plan(failure("lambda.UpdateFunctionCode", { error: THROTTLING.lambda, times: 2 })),
    code: 0,
    ...made,
  },
  {
    name: "throttled while the stack is made",
    before: "nothing",
    breaks: plan(
      failure("cloudformation.CreateStack", { error: THROTTLING.query }),
      failure("cloudformation.DescribeStackEvents", { error: THROTTLING.query, nth: 2, times: 2 }),
    ),
    code: 0,
    ...made,
  },
  refused("throttled for good", "one", "lambda.UpdateAlias", THROTTLING.lambda, {
    ...old,
    says: /^error: the cloud is throttling requests, after several retries too$/m,
  }),
  refused("the service has trouble for good", "one", "lambda.UpdateFunctionCode", SERVICE_FAULT, {
    ...old,
    says: /^error: the cloud reported an internal error: ServiceException \(500\)$/m,
  }),
  {
    name: "the service has trouble once",
    before: "nothing",
    breaks: plan(failure("lambda.CreateFunction", { error: SERVICE_FAULT })),
    code: 0,
    ...made,
  },

  {
    name: "a role that may not be assumed yet",
    before: "nothing",
    options: { roleRefusals: 2 },
    breaks: () => {},
    code: 0,
    says: /^publish: waiting for the function's role to become usable$/m,
    ...made,
  },
  {
    name: "a role that somebody removed",
    before: "one",
    async breaks({ client }) {
      const iam = new IAM(client);
      const RoleName = "hello-eu-west-1-function";
      await iam.deleteRolePolicy({ RoleName, PolicyName: "tool" });
      await iam.deleteRole({ RoleName });
    },
    code: 0,
    says: /^role: created/m,
    ...made,
  },

  refused("lambda:GetAlias is not allowed", "one", "lambda.GetAlias", denied("lambda:GetAlias"), {
    ...old,
    says: /^error: arn:aws:iam::123456789012:user\/ann may not do lambda:GetAlias on \*\n {2}allow it to that user or role; tool stack policy/m,
  }),
  refused(
    "iam:CreateRole is not allowed",
    "nothing",
    "iam.CreateRole",
    { ...denied("iam:CreateRole"), code: "AccessDenied" },
    {
      ...nothing,
      says: /may not do iam:CreateRole/,
    },
  ),
  refused(
    "lambda:UpdateFunctionCode is not allowed",
    "one",
    "lambda.UpdateFunctionCode",
    denied("lambda:UpdateFunctionCode"),
    {
      ...old,
      says: /may not do lambda:UpdateFunctionCode/,
    },
  ),
  refused(
    "cloudformation:CreateStack is not allowed",
    "nothing",
    "cloudformation.CreateStack",
    { ...denied("cloudformation:CreateStack"), code: "AccessDenied" },
    {
      ...made,
      says: /may not do cloudformation:CreateStack/,
    },
  ),
  refused(
    "the session expires on the way",
    "one",
    "lambda.UpdateFunctionCode",
    { code: "ExpiredTokenException", message: "The security token included in the request is expired", status: 403 },
    { ...old, says: /^error: the cloud credentials have expired$/m },
  ),
  refused(
    "the account's storage for code is full",
    "one",
    "lambda.UpdateFunctionCode",
    { code: "CodeStorageExceededException", message: "Code storage limit exceeded.", status: 400 },
    { ...old, says: /remove old deployments: tool prune/ },
  ),

  {
    name: "a resource of the stack fails",
    before: "nothing",
    breaks: (aws) =>
      aws.state
        .service("cloudformation")
        .fail({ logicalId: "Api", on: "create", reason: "Limit Exceeded for RestApis", times: 1 }),
    code: 1,
    says: /^error: cannot create the gateway: Limit Exceeded for RestApis$/m,
    ...made,
  },
  {
    name: "a later resource of the stack fails",
    before: "nothing",
    breaks: (aws) =>
      aws.state.service("cloudformation").fail({
        logicalId: "ProxyMethod",
        on: "create",
        reason: "Internal failure of the service",
        times: 1,
      }),
    code: 1,
    says: /^error: cannot create .*: Internal failure of the service$/m,
    ...made,
  },

  {
    name: "a function of this name that is somebody else's",
    before: "nothing",
    async breaks({ client }) {
      const Role = await foreignRole(client);
      await new Lambda(client).createFunction({
        FunctionName: "hello",
        Runtime: "nodejs22.x",
        Handler: "a.b",
        Role,
        Code: { ZipFile: ZIP },
      });
    },
    code: 1,
    says: /^error: there is already a function hello in this account and region, which tool did not make$/m,
    ...nothing,
    async mends({ client }) {
      await new Lambda(client).deleteFunction({ FunctionName: "hello" });
      await new IAM(client).deleteRole({ RoleName: "foreign" });
    },
  },
  {
    name: "a role of this name that is somebody else's",
    before: "nothing",
    breaks: async ({ client }) => void (await foreignRole(client, "hello-eu-west-1-function")),
    code: 1,
    says: /^error: there is already a role hello-eu-west-1-function, which was not made for this app$/m,
    ...nothing,
    mends: async ({ client }) => void (await new IAM(client).deleteRole({ RoleName: "hello-eu-west-1-function" })),
  },
  {
    name: "somebody changes the function between configuration and code",
    before: "one",
    breaks: (aws) =>
      aws.controls.failures.plan(
        failure("lambda.UpdateFunctionCode", {
          run: async () => {
            await settled(aws);
            await new Lambda(aws.client).updateFunctionConfiguration({ FunctionName: "hello", MemorySize: 1024 });
            await settled(aws);
          },
        }),
      ),
    code: 0,
    ...made,
  },
  {
    name: "somebody moves the stage's alias meanwhile",
    before: "one",
    breaks: (aws) =>
      aws.controls.failures.plan(
        failure("lambda.UpdateAlias", {
          run: async () => {
            aws.controls.failures.clear();
            await new Lambda(aws.client).updateAlias({ FunctionName: "hello", Name: "staging", Description: "mine" });
          },
        }),
      ),
    code: 1,
    says: /^error: another deployment of staging became active in the meantime: version 1$/m,
    ...old,
  },
  {
    name: "somebody wrote another description on the stage's alias",
    before: "one",
    breaks: async (aws) =>
      void (await new Lambda(aws.client).updateAlias({ FunctionName: "hello", Name: "staging", Description: "mine" })),
    code: 0,
    ...made,
  },
  {
    name: "somebody removed the stage's alias",
    before: "one",
    breaks: async (aws) => void (await new Lambda(aws.client).deleteAlias({ FunctionName: "hello", Name: "staging" })),
    code: 0,
    ...made,
    // Which version it named nobody knows any more.
    isPreviousLost: true,
  },
  {
    name: "the function cannot be set up",
    before: "one",
    breaks: plan(
      failure("lambda.UpdateFunctionConfiguration", {
        error: {
          code: "InvalidParameterValueException",
          message: "The subnet ID 'subnet-1' does not exist.",
          status: 400,
        },
        times: Number.POSITIVE_INFINITY,
      }),
    ),
    code: 1,
    says: /^error: the cloud refused the request: The subnet ID 'subnet-1' does not exist$/m,
    ...old,
    mends: (aws) => aws.controls.failures.clear(),
  },
];

for (const row of rows) {
  t.test(`${row.before === "nothing" ? "first deploy" : "later deploy"}: ${row.name}`, async (t) => {
    const { aws, app } = await prepared(t, row.before, row.options);
    let running: Running | undefined;
    await row.breaks(aws, (signal) => running?.kill(signal));
    running = start(app);
    const outcome = await running.ended;
    t.equal(outcome.code, row.code, `exit code ${row.code}`) || t.comment(outcome.stderr);
    if (row.says !== undefined) t.match(outcome.stderr, row.says);
    // The last request of a command takes effect all the same.
    if (row.code === null || row.code === 130) await sleep(500);
    aws.controls.failures.clear();
    t.equal(await inForce(aws), row.inForce, `in force: ${row.inForce ?? "nothing"}`);
    await row.mends?.(aws);
    // Where the deploy has ended well, isWhole makes the next run, and counts its calls.
    if (row.code !== 0) t.equal(await deployed(t, app), row.next, `the next run: ${row.next}`);
    await isWhole(t, aws, app, row.before === "one" && !row.isPreviousLost ? "one" : undefined);
  });
}

t.test("two first deploys of two stages at once", async (t) => {
  const { aws, app } = await prepared(t, "nothing");
  const [one, two] = await Promise.all([start(app, ["staging"]).ended, start(app, ["production"]).ended]);
  for (const { code, stderr } of [one, two]) t.equal(code, 0) || t.comment(stderr);
  for (const { stdout } of [one, two]) t.match(await askEndpoint(aws, stdout.trim()), { status: 200, body: "two two" });
  await isWhole(t, aws, app, undefined, 2);
});

t.test("two stages at once, both deployed before", async (t) => {
  const { aws, app } = await prepared(t, "one");
  app.write(filesOf("one"));
  await deployed(t, app, "production");
  app.write(filesOf("two"));
  const outcomes = await Promise.all([start(app, ["staging"]).ended, start(app, ["production"]).ended]);
  for (const { code, stderr } of outcomes) t.equal(code, 0) || t.comment(stderr);
  for (const { stdout } of outcomes) t.match(await askEndpoint(aws, stdout.trim()), { body: "two two" });
  t.equal(await inForce(aws, "production"), "two");
  await isWhole(t, aws, app, "one", 2);
});

t.test("the same deploy of one stage twice at once", async (t) => {
  const { aws, app } = await prepared(t, "one");
  const outcomes = await Promise.all([start(app).ended, start(app).ended]);
  const codes = outcomes.map(({ code }) => code).sort();
  t.ok(codes[0] === 0 && (codes[1] === 0 || codes[1] === 1), `exit codes ${codes}`);
  for (const { code, stderr } of outcomes) if (code === 1) t.match(stderr, /another deployment of staging/);
  t.equal(await inForce(aws), "two");
  t.equal(await deployed(t, app), "unchanged");
  await isWhole(t, aws, app, "one");
});

t.test("a first deploy of one stage twice at once", async (t) => {
  const { aws, app } = await prepared(t, "nothing");
  const outcomes = await Promise.all([start(app).ended, start(app).ended]);
  t.ok(
    outcomes.some(({ code }) => code === 0),
    outcomes.map(({ code }) => code).join(" and "),
  );
  for (const { code, stderr } of outcomes) {
    if (code !== 0) t.match(stderr, /another deployment of staging/) || t.comment(stderr);
  }
  t.equal(await inForce(aws), "two");
  t.not(await deployed(t, app), "created");
  await isWhole(t, aws, app, undefined);
});

t.test("a first deploy that finds the same stage made since it read the stack", async (t) => {
  const { aws, app } = await prepared(t, "nothing");
  const { clock, failures } = aws.controls;
  let other: Promise<Outcome> | undefined;
  let isUnderWay = false;
  let isExtended = false;
  failures.plan(
    // The second look: the first one found no stack, and nothing to wait for.
    failure("cloudformation.DescribeStacks", {
      nth: 2,
      run: async () => {
        other = start(app).ended;
        await until("the other's stack is being made", () => isUnderWay);
      },
    }),
    failure("cloudformation.CreateStack", { run: () => clock.setSpeed(0) }),
    failure("cloudformation.DescribeStackEvents", {
      run: () => {
        isUnderWay = true;
      },
    }),
    failure("cloudformation.GetTemplate", {
      run: async () => {
        isExtended = true;
        clock.setSpeed(TEST_SPEED);
        await other;
      },
    }),
  );
  t.match(await deployedTo(t, app), { outcome: "created" });
  t.match(await other, { code: 0 });
  t.ok(isExtended, "it went to add its stage to the stack of the other");
  await isWhole(t, aws, app, undefined);
});

t.test("different deploys of one stage at once: one is in force, the other says so", async (t) => {
  const { aws, app } = await prepared(t, "one");
  const other = appFolder(aws, join(t.testdirName, "other"), { ...filesOf("one"), "more.txt": "more" });
  const outcomes = await Promise.all([start(app).ended, start(other).ended]);
  const winners = outcomes.filter(({ code }) => code === 0);
  t.ok(winners.length >= 1);
  for (const { code, stderr } of outcomes) {
    if (code !== 0)
      t.match(stderr, /^error: another deployment of staging became active in the meantime: version \d+$/m);
  }
  const winner = await inForce(aws);
  t.equal(await deployed(t, app), winner === "two" ? "unchanged" : "updated");
});

t.test("a rollback while a deploy is under way", async (t) => {
  const { aws, app } = await prepared(t, "one");
  await deployed(t, app);
  app.write({ "more.txt": "more" });
  let back: Outcome | undefined;
  aws.controls.failures.plan(
    failure("lambda.UpdateFunctionCode", {
      run: async () => {
        back = await app.tool(["rollback"]);
      },
    }),
  );
  const { code, stderr } = await start(app).ended;
  t.equal(back?.code, 0, "the rollback");
  t.equal(code, 1, "the deploy is told");
  t.match(stderr, /another deployment of staging became active in the meantime: version 1/);
  t.equal(await inForce(aws), "one", "the rollback stays in force");
});

t.test("a prune while a deploy is under way", async (t) => {
  const { aws, app } = await prepared(t, "one");
  let pruned: Outcome | undefined;
  aws.controls.failures.plan(
    failure("lambda.UpdateAlias", {
      run: async () => {
        pruned = await app.tool(["prune", "--retain", "1"]);
      },
    }),
  );
  const { code, stderr } = await start(app).ended;
  t.equal(pruned?.code, 0, "the prune");
  t.equal(code, 0, "the deploy") || t.comment(stderr);
  t.equal(await inForce(aws), "two");
});

t.test("a hook that fails before the deploy changes nothing", async (t) => {
  const { aws, app } = await prepared(t, "one");
  for (const hook of ["prebuild", "build", "postbuild", "predeploy"]) {
    app.write({ "tool.json": JSON.stringify({ ...CONFIG, hooks: { [hook]: "echo told >&2; exit 3" } }) });
    const { code, stderr } = await start(app).ended;
    t.equal(code, 1, hook);
    t.match(stderr, new RegExp(`^told\\nerror: ${hook} failed: echo told >&2; exit 3 ended with exit code 3$`, "m"));
    t.equal(await inForce(aws), "one");
  }
});

t.test("a hook that fails after the deploy leaves it in force", async (t) => {
  const { aws, app } = await prepared(t, "one");
  for (const hook of ["postdeploy", "clean"]) {
    app.write({
      "tool.json": JSON.stringify({ ...CONFIG, hooks: { [hook]: "exit 3" }, environment: { WORD: "two" } }),
    });
    const { code, stderr } = await start(app).ended;
    t.equal(code, 1, hook);
    t.match(
      stderr,
      new RegExp(`error: ${hook} failed: exit 3 .*\\n {2}staging is deployed; tool run ${hook} -s staging`),
    );
    t.equal(await inForce(aws), "two");
  }
});

const CONFIG = { name: "hello", environment: { WORD: "two" } };

function filesOf(word: Word): Record<string, string> {
  return {
    "tool.json": JSON.stringify({ name: "hello", environment: { WORD: word } }),
    "app.js": `require("node:http").createServer((_, response) => response.end(process.env.WORD + " ${word}")).listen(process.env.PORT);`,
  };
}

/** The folder of an account and of an app whose version "one" is deployed there: made once, and copied for each row. */
let firstDeployed: Promise<string> | undefined;

async function deployFirst(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "deploy-failures-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const aws = await openAws({ folder: join(folder, "account") });
  await deployed(t, appFolder(aws, join(folder, "app"), filesOf("one")));
  await aws.close();
  return folder;
}

/** An account, and an app that has version "two" to deploy. */
async function prepared(t: Test, before: Row["before"], options: AwsOptions = {}) {
  const folder = t.testdir({});
  if (before === "one") {
    firstDeployed ??= deployFirst();
    cpSync(await firstDeployed, folder, { recursive: true });
  }
  const aws = await startAws(t, { ...options, ...(before === "one" && { folder: join(folder, "account") }) });
  const app = appFolder(aws, join(folder, "app"), filesOf("two"));
  return { aws, app };
}

/** A deploy that may be signalled. */
function start(app: AppFolder, argv: readonly string[] = []): Running {
  return spawnTool(argv, { cwd: app.directory, env: app.env });
}

/** A deploy that has to succeed: what it came to. */
async function deployed(t: Test, app: AppFolder, stage = "staging"): Promise<string> {
  return (await deployedTo(t, app, stage)).outcome;
}

async function deployedTo(t: Test, app: AppFolder, stage = "staging") {
  const { code, stdout, stderr } = await app.tool(["deploy", stage, "--format", "json"]);
  t.equal(code, 0, `tool deploy ${stage}`) || t.comment(stderr);
  return (code === 0 ? JSON.parse(stdout) : { outcome: "failed" }) as { outcome: string; url: string };
}

/** Returns the word of the version that the stage's alias names. */
async function inForce({ client }: Aws, stage = "staging"): Promise<string | undefined> {
  try {
    const configuration = await new Lambda(client).getFunctionConfiguration({
      FunctionName: "hello",
      Qualifier: stage,
    });
    return configuration.Environment?.Variables?.WORD;
  } catch (error) {
    if ((error as Error).name === "ResourceNotFoundException") return undefined;
    throw error;
  }
}

async function settled({ client }: Aws): Promise<void> {
  const lambda = new Lambda(client);
  for (;;) {
    const { LastUpdateStatus } = await lambda.getFunctionConfiguration({ FunctionName: "hello" });
    if (LastUpdateStatus !== "InProgress") return;
    await sleep(5);
  }
}

/** One whole deployment, nothing twice, and nothing left to do. */
async function isWhole(t: Test, aws: Aws, app: AppFolder, previous: Word | undefined, stages = 1): Promise<void> {
  aws.journal.clear();
  const { outcome, url } = await deployedTo(t, app);
  t.equal(outcome, "unchanged", "another run: unchanged");
  const calls = aws.journal.calls();
  // The variables of the stage and of all stages are read at once.
  t.ok(calls.length <= 5, `${calls.length} calls: ${calls.join(" ")}`);
  t.match(await askEndpoint(aws, url), { status: 200, body: "two two" }, "code and variables of one deploy answer");
  t.equal(await inForce(aws, "staging-previous"), previous, `before it: ${previous ?? "nothing"}`);
  const left = (await remains(aws)).filter((what) => !what.startsWith("log group "));
  t.same(left, ["api hello", "function hello", "role hello-eu-west-1-function", "stack hello"], "nothing twice");
  const { Stacks } = await new CloudFormation(aws.client).describeStacks({ StackName: "hello" });
  t.match(Stacks?.[0]?.StackStatus, /^(CREATE|UPDATE)_COMPLETE$/);
  const { Tags } = (await new IAM(aws.client).getRole({ RoleName: "hello-eu-west-1-function" })).Role!;
  t.equal(Tags?.length, 2, "the role has the tags of the app and of its policy");
  if (stages === 2) {
    t.equal(await deployed(t, app, "production"), "unchanged");
    t.equal((await app.tool(["url"])).stdout.trim(), url, "tool url");
  }
}

async function foreignRole(client: Aws["client"], RoleName = "foreign"): Promise<string> {
  const AssumeRolePolicyDocument = JSON.stringify({
    Version: "2012-10-17",
    Statement: [{ Effect: "Allow", Principal: { Service: "lambda.amazonaws.com" }, Action: "sts:AssumeRole" }],
  });
  const { Role } = await new IAM(client).createRole({ RoleName, AssumeRolePolicyDocument });
  return Role!.Arn!;
}

/** An archive with one small file. */
const ZIP = writeZip([
  { name: "a.js", mode: 0o100644, crc32: 0, unpackedBytes: 0, isDeflated: false, data: Buffer.alloc(0) },
]);
