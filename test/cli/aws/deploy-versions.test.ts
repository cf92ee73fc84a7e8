// Versions and aliases of one function, by the calls that deploying makes: what others change meanwhile, what somebody
// made by hand, and what belongs to somebody else.

import { createHash } from "node:crypto";
import { IAM } from "@aws-sdk/client-iam";
import { Lambda } from "@aws-sdk/client-lambda";
import t, { type Test } from "tap";
import { writeZip } from "../../../cli/artifact/zip.ts";
import { openCloud } from "../../../cli/aws/clients.ts";
import { deployStage, lookAtStage, type StageDeploy } from "../../../cli/aws/function/deploy.ts";
import { listDeployments, pruneStage } from "../../../cli/aws/function/history.ts";
import { updateFunction } from "../../../cli/aws/function/publish.ts";
import { rollbackStage } from "../../../cli/aws/function/rollback.ts";
import { fixedVariables, functionSettings } from "../../../cli/aws/function/settings.ts";
import { functionCode } from "../../../cli/aws/function/upload.ts";
import { removeAll } from "../../../cli/aws/stack/remove.ts";
import type { Commit } from "../../../cli/platform/target.ts";
import { systemClock } from "../../../grammar/units/clock.ts";
import { type Config, forStage, withDefaults } from "../../../schema/index.ts";
import type { Failure } from "../../support/aws/failures.ts";
import { type Aws, startAws } from "../../support/aws/index.ts";
import { slow } from "../../support/slow.ts";

// Each has a cloud of its own, and waits for it most of the time.
t.jobs = 4;

const ROLE = "app-eu-west-1-function";

interface Deployed {
  readonly config?: object;
  readonly stage?: string;
  readonly commit?: Pick<Commit, "ref" | "sha"> & Partial<Commit>;
  readonly variables?: Readonly<Record<string, string>>;
  /** The archives hold nothing that could run: a deploy that checks its version fails. */
  readonly checks?: boolean;
  /** Called between the first look and the rest. */
  readonly meanwhile?: () => Promise<void>;
}

/** An app whose stages are in the gateway already, and a cloud of its own. */
async function open(t: Test) {
  const aws = await startAws(t);
  const cloud = openCloud({ env: aws.env, clock: systemClock, region: aws.region, sandbox: undefined });
  const lambda = new Lambda(aws.client);
  const watched = { signal: new AbortController().signal, report() {} };
  const endpoint = { apiId: "api", url: "https://app.example.com/", isBehind: false };
  const gateway = { stackHash: async () => "asked", find: async () => endpoint, ensure: async () => endpoint };
  return {
    aws,
    cloud,
    lambda,
    watched,
    async deploy(
      word: string,
      { config, stage = "staging", commit, checks = false, meanwhile, variables = {} }: Deployed = {},
    ) {
      const written = { name: "app", ...config } as Config;
      const resolved = withDefaults(written, { env: aws.env });
      const staged = { written: forStage(written, stage), config: forStage(resolved, stage) };
      const deploy: StageDeploy = { cloud, gateway, stage, written, staged };
      const before = await lookAtStage(deploy, watched);
      await meanwhile?.();
      const artifact = { ...archive(word), runtime: "nodejs24.x", wrapper: "/var/task/run", runtimeLayer: undefined };
      const named = commit === undefined ? undefined : { isDirty: false, author: undefined, ...commit };
      return deployStage(deploy, { before, artifact, commit: named, variables, checks }, watched);
    },
    rollback: (to?: string, stage = "staging") => rollbackStage(cloud, "app", { stage, to }, watched),
    prune: (retain: number, stage = "staging") => pruneStage(cloud, "app", { stage, retain }, watched),
    list: () => listDeployments(lambda, "app", watched),
    async version(alias = "staging") {
      return (await lambda.getAlias({ FunctionName: "app", Name: alias })).FunctionVersion;
    },
    async configured(alias = "staging") {
      return lambda.getFunctionConfiguration({ FunctionName: "app", Qualifier: alias });
    },
    /** Moves an alias, as other programs and people do. */
    async move(Name: string, FunctionVersion: string, Description?: string) {
      await lambda.updateAlias({
        FunctionName: "app",
        Name,
        FunctionVersion,
        ...(Description !== undefined && { Description }),
      });
    },
    alias: (Name: string, FunctionVersion: string, Description = "") =>
      lambda.createAlias({ FunctionName: "app", Name, FunctionVersion, Description }),
  };
}

const TRUST = JSON.stringify({
  Version: "2012-10-17",
  Statement: [{ Effect: "Allow", Principal: { Service: "lambda.amazonaws.com" }, Action: "sts:AssumeRole" }],
});

/** Each word is an archive of its own. */
function archive(word: string) {
  const entry = { mode: 0o100644, crc32: 0, unpackedBytes: 0, isDeflated: false, data: Buffer.alloc(0) };
  const zip = writeZip([{ ...entry, name: word }]);
  return { zip, bytes: zip.length, sha256Base64: createHash("sha256").update(zip).digest("base64") };
}

const hexOf = (word: string) => Buffer.from(archive(word).sha256Base64, "base64").toString("hex");

const meet = (aws: Aws, operation: string, run: () => Promise<unknown>, more: Partial<Failure> = {}) =>
  aws.controls.failures.plan({ service: "lambda", operation, run: async () => void (await run()), ...more });

/** Another deploy's change of the function, to its end. */
async function changed({ lambda, aws }: { lambda: Lambda; aws: Aws }, change: object) {
  const idle = async () => {
    while ((await lambda.getFunctionConfiguration({ FunctionName: "app" })).LastUpdateStatus === "InProgress")
      aws.controls.clock.advance(1000);
  };
  await idle();
  await lambda.updateFunctionConfiguration({ FunctionName: "app", ...change });
  await idle();
}

t.test("somebody else changes the function between configuration and code", { buffered: true }, async (t) => {
  const others: [change: object, is: string][] = [
    [{ MemorySize: 1024 }, "memory, which no answer to the code names as ours"],
    [{ Timeout: 3 }, "a limit of time"],
    [{ Environment: { Variables: { TOOL_STAGE: "production" } } }, "the environment of another stage"],
  ];
  for (const [change, is] of others) {
    const app = await open(t);
    await app.deploy("one");
    meet(app.aws, "UpdateFunctionCode", () => changed(app, change));
    await app.deploy("two", { config: { environment: { WORD: "two" } } });
    const { MemorySize, Timeout, Environment, CodeSha256 } = await app.configured();
    t.same([MemorySize, Timeout, Environment?.Variables?.TOOL_STAGE], [512, 30, "staging"], is);
    t.same([Environment?.Variables?.WORD, CodeSha256], ["two", archive("two").sha256Base64], is);
  }
});

t.test("a version that is not ours is not put in force", { buffered: true }, async (t) => {
  const app = await open(t);
  await app.deploy("one");
  const written = { name: "app", environment: { WORD: "two" } };
  const config = withDefaults(written, { env: app.aws.env });
  const settings = functionSettings({
    written,
    config,
    runtime: "nodejs24.x",
    runtimeLayerHash: undefined,
    environment: fixedVariables(config, { stage: "staging", commit: undefined, wrapper: "/var/task/run" }),
  });
  const publish = async (lambda: Lambda, code: () => Promise<{ ZipFile: Uint8Array }>) => {
    const published = await updateFunction(lambda, {
      functionName: "app",
      clock: systemClock,
      settings,
      mayBeConfigured: false,
      roleArn: `arn:aws:iam::${app.aws.accountId}:role/${ROLE}`,
      onRoleRefused: async () => {},
      runtimeLayerArn: undefined,
      tags: {},
      code,
      sha256Base64: archive("two").sha256Base64,
      signal: app.watched.signal,
      note() {},
    });
    const { Environment, CodeSha256 } = await app.lambda.getFunctionConfiguration({
      FunctionName: "app",
      Qualifier: published.version,
    });
    t.same([Environment?.Variables?.WORD, CodeSha256], ["two", archive("two").sha256Base64]);
  };
  const code = async () => ({ ZipFile: archive("two").zip });

  // Emulators take any revision.
  const careless = new Lambda(app.aws.client);
  careless.middlewareStack.add(
    (next) => (args) => {
      delete (args.input as { RevisionId?: string }).RevisionId;
      return next(args);
    },
    { step: "initialize" },
  );
  meet(app.aws, "UpdateFunctionCode", () => changed(app, { Environment: { Variables: { WORD: "other" } } }));
  await publish(careless, code);
  t.equal(app.aws.journal.count("lambda", "UpdateFunctionCode"), 2, "published again with our environment");

  // The archive of a bucket may be another by the time it is read.
  let uploads = 0;
  const replaced = new Lambda(app.aws.client);
  replaced.middlewareStack.add(
    (next) => (args) => {
      const input = args.input as { ZipFile?: Uint8Array };
      if (input.ZipFile !== undefined && uploads++ === 0) input.ZipFile = archive("other").zip;
      return next(args);
    },
    { step: "initialize" },
  );
  await publish(replaced, code);
  t.equal(uploads, 2, "published again with our code");

  // The same while the configuration is on its way: no code is sent for it.
  app.aws.journal.clear();
  let isChanged = false;
  meet(app.aws, "GetFunctionConfiguration", async () => {
    if (isChanged) return;
    isChanged = true;
    app.aws.controls.failures.clear();
    await changed(app, { Environment: { Variables: { WORD: "other" } } });
  });
  await publish(app.lambda, code);
  t.equal(app.aws.journal.count("lambda", "UpdateFunctionCode"), 1, "no code before the environment is ours");
});

t.test("somebody else moves the stage between the look and the change", { buffered: true }, async (t) => {
  const moved: [name: string, before: string[], run: (app: Awaited<ReturnType<typeof open>>) => Promise<unknown>][] = [
    ["a deploy", ["one", "two"], (app) => app.deploy("three", { meanwhile: () => app.move("staging", "1") })],
    [
      "a deploy of an archive that is there",
      ["one", "two", "three"],
      (app) => app.deploy("two", { meanwhile: () => app.move("staging", "1", "mine") }),
    ],
    [
      "a rollback",
      ["one", "two", "three"],
      async (app) => {
        meet(app.aws, "UpdateAlias", async () => {
          app.aws.controls.failures.clear();
          await app.move("staging", "1");
        });
        return app.rollback();
      },
    ],
    [
      "a rollback by name",
      ["one", "two", "three"],
      async (app) => {
        meet(app.aws, "UpdateAlias", async () => {
          app.aws.controls.failures.clear();
          await app.move("staging", "1");
        });
        return app.rollback("2");
      },
    ],
  ];
  for (const [name, words, run] of moved) {
    const app = await open(t);
    for (const word of words) await app.deploy(word);
    const said = /^another deployment of staging became active in the meantime: version 1$/;
    await t.rejects(run(app), { message: said, code: /^(deploy|rollback)\/overtaken$/ }, name);
    t.equal(await app.version(), "1", `${name} leaves it`);
  }
});

t.test("a refusal is no conflict", { buffered: true }, async (t) => {
  const app = await open(t);
  await app.deploy("one");
  await app.deploy("two");
  const error = { code: "AccessDeniedException", message: "no", status: 403 };
  const runs: (() => Promise<unknown>)[] = [() => app.deploy("three"), () => app.rollback(), () => app.rollback("1")];
  for (const run of runs) {
    app.aws.controls.failures.clear();
    app.aws.controls.failures.plan({ service: "lambda", operation: "UpdateAlias", error });
    await t.rejects(run(), { name: "AccessDeniedException", message: "no" });
    t.equal(await app.version(), "2");
  }
});

t.test("an answer that was lost is no conflict", { buffered: true }, async (t) => {
  const app = await open(t);
  await app.deploy("one");
  const lost = () => app.aws.controls.failures.plan({ service: "lambda", operation: "UpdateAlias", drop: "after" });
  lost();
  t.match(await app.deploy("two"), { outcome: "updated", version: "2" });
  lost();
  t.match(await app.rollback(), { outcome: "rolled-back", version: "1" });
  t.equal(await app.version(), "1");
});

t.test("what is somebody else's stays as it is", { buffered: true }, async (t) => {
  const policy = JSON.stringify({
    Version: "2012-10-17",
    Statement: [{ Effect: "Allow", Action: "s3:GetObject", Resource: "*" }],
  });
  for (const tags of [[], [{ Key: "tool:app", Value: "other" }]]) {
    const { aws, deploy, cloud, watched } = await open(t);
    const iam = new IAM(aws.client);
    const lambda = new Lambda(aws.client);
    const { Role } = await iam.createRole({ RoleName: "theirs", AssumeRolePolicyDocument: TRUST });
    await lambda.createFunction({
      FunctionName: "app",
      Runtime: "nodejs24.x",
      Handler: "a.b",
      Role: Role!.Arn!,
      Code: { ZipFile: archive("theirs").zip },
      Tags: Object.fromEntries(tags.map(({ Key, Value }) => [Key, Value])),
    });
    const whose = tags.length === 0 ? "by hand" : "of another app";
    await t.rejects(deploy("one"), { code: "function/foreign" }, `a function made ${whose}`);
    t.equal(aws.journal.count("iam", "GetRole"), 0, "before anything is made");

    await iam.createRole({ RoleName: ROLE, AssumeRolePolicyDocument: TRUST, Tags: tags });
    await iam.putRolePolicy({ RoleName: ROLE, PolicyName: "theirs", PolicyDocument: policy });
    const { removed, left } = await removeAll(cloud, "app", { logs: false, env: false }, watched);
    t.same(removed, [], whose);
    t.match(
      left.map(({ kind, reason }) => `${kind}: ${reason}`),
      [/^function: its tag tool:app is not this app/, /^role: its tag tool:app is not this app/],
    );
    await lambda.deleteFunction({ FunctionName: "app" });
    await t.rejects(deploy("one"), { code: "role/foreign" }, `a role made ${whose}`);
    const { PolicyNames } = await iam.listRolePolicies({ RoleName: ROLE });
    t.same(PolicyNames, ["theirs"], "its policy is theirs");
  }
});

t.test("aliases that somebody made by hand", { buffered: true, ...slow() }, async (t) => {
  const app = await open(t);
  for (const word of ["one", "two", "three", "four", "five"]) {
    await app.deploy(word, { commit: { ref: word, sha: hexOf(word).slice(0, 40), author: "Ann" } });
  }
  await app.alias("blue", "1");
  // Named like one of ours of another stage.
  await app.alias("commit-production-x", "2");
  t.same(
    (await app.list()).map(({ version, author, state }) => [version, author, state]),
    [
      ["5", "Ann", "current"],
      ["4", "Ann", "previous"],
      ["3", "Ann", "kept"],
      ["2", "Ann", "kept"],
      ["1", "Ann", "kept"],
    ],
  );
  t.same(await app.prune(0), { stage: "staging", removed: ["3"], kept: 4 }, "their versions are kept");
  const { Aliases } = await app.lambda.listAliases({ FunctionName: "app" });
  t.same(
    Aliases!.map(({ Name }) => Name),
    [
      "blue",
      "commit-production-x",
      "commit-staging-five",
      "commit-staging-four",
      "commit-staging-one",
      "commit-staging-two",
      "staging",
      "staging-previous",
    ],
    "and what names them",
  );

  // The stage itself, moved to the unpublished function.
  await app.move("staging", "$LATEST");
  await t.rejects(app.rollback(), { code: "stage/never-deployed" });
  t.match(await app.deploy("six"), { version: "6", outcome: "updated", previousVersion: undefined });

  // Descriptions that are not ours, or of another version.
  await app.move("staging", "5");
  t.match(await app.deploy("six"), { outcome: "updated", previousVersion: "5" }, "a record of another version");
  for (const description of ["", "mine", "null", "[]", '{"v":"6"}']) {
    await app.move("staging", "6", description);
    t.match(await app.deploy("six"), { outcome: "updated", version: "6" }, JSON.stringify(description));
    t.match(await app.deploy("six"), { outcome: "unchanged", version: "6" });
  }
});

t.test("archives of the bucket: which prune removes", { buffered: true }, async (t) => {
  const app = await open(t);
  const config = { function: { accelerate: true } };
  for (const word of ["one", "two", "three"]) await app.deploy(word, { config });
  const { objects } = app.aws.state.service("s3").buckets.get(`tool-${app.aws.accountId}-eu-west-1`)!;
  const age = (word: string, ms: number) => {
    const key = `app/${hexOf(word)}.zip`;
    objects.set(key, { ...objects.get(key)!, modifiedAt: new Date(Date.now() - ms) });
  };
  const put = (word: string) => objects.set(`app/${hexOf(word)}.zip`, [...objects.values()][0]!);
  const minute = 60_000;
  // A deploy is between its upload and its version.
  put("uploaded now");
  age("uploaded now", 59 * minute);
  put("left over");
  age("left over", 61 * minute);
  for (const word of ["one", "two", "three"]) age(word, 61 * minute);
  objects.set("apple/another.zip", { ...[...objects.values()][0]!, modifiedAt: new Date(0) });
  t.same((await app.prune(0)).removed, ["1"]);
  const words = ["one", "two", "three", "uploaded now", "left over"];
  t.same(
    words.filter((word) => objects.has(`app/${hexOf(word)}.zip`)),
    ["two", "three", "uploaded now"],
    "old ones that no version needs",
  );
  t.ok(objects.has("apple/another.zip"), "none of another app");
});

t.test("a bucket of our name that another account has", { buffered: true }, async (t) => {
  const app = await open(t);
  const config = { function: { accelerate: true } };
  const name = `tool-${app.aws.accountId}-eu-west-1`;
  for (const word of ["one", "two", "three"]) await app.deploy(word, { config });
  const bucket = app.aws.state.service("s3").buckets.get(name)!;
  const keys = () => [...bucket.objects.keys()].sort();
  for (const object of bucket.objects) bucket.objects.set(object[0], { ...object[1], modifiedAt: new Date(0) });
  const before = keys();
  bucket.owner = "999999999999";
  const refused = { message: new RegExp(`^the bucket ${name} may not be used: it belongs to another account`) };
  await t.rejects(app.deploy("two", { config }), refused, "an archive that is there");
  await t.rejects(app.deploy("four", { config }), refused, "an archive that is new");
  await t.rejects(app.prune(0), { name: "AccessDenied" });
  t.same(keys(), before, "nothing of it is removed");
  await t.rejects(removeAll(app.cloud, "app", { logs: false, env: false }, app.watched), { name: "AccessDenied" });
  t.same(keys(), before, "nor with the app");

  // The name is taken between the look and the upload.
  bucket.objects.clear();
  delete bucket.accelerate;
  const rows = [
    ["PutBucketAccelerateConfiguration", undefined],
    ["PutObject", "Enabled"],
  ] as const;
  for (const [operation, accelerate] of rows) {
    bucket.owner = app.aws.accountId;
    app.aws.controls.failures.clear();
    app.aws.controls.failures.plan({
      service: "s3",
      operation,
      run() {
        bucket.owner = "999999999999";
      },
    });
    const accountId = async () => app.aws.accountId;
    const options = { key: "app/five.zip", accelerate: true, accountId, signal: app.watched.signal };
    await t.rejects(functionCode(app.cloud, archive("five"), options), { name: "AccessDenied" }, operation);
    t.same([keys(), bucket.accelerate], [[], accelerate]);
  }
});

t.test("a policy that changed alone", { buffered: true }, async (t) => {
  const app = await open(t);
  const iam = new IAM(app.aws.client);
  const policy = async () => {
    const { PolicyDocument } = await iam.getRolePolicy({ RoleName: ROLE, PolicyName: "tool" });
    return JSON.parse(decodeURIComponent(PolicyDocument!))
      .Statement.slice(1)
      .map(({ Action }: { Action: string }) => Action);
  };
  const allowing = (...actions: string[]) => ({
    config: { function: { policy: actions.map((Action) => ({ Effect: "Allow", Action, Resource: "*" })) } },
  });
  await app.deploy("one");
  app.aws.journal.clear();
  t.match(await app.deploy("one", allowing("s3:GetObject")), { version: "1", outcome: "updated", uploadedBytes: 0 });
  t.same(await policy(), ["s3:GetObject"]);
  t.notOk(
    app.aws.journal.calls("lambda").some((call) => /Function/.test(call)),
    "no new version",
  );
  app.aws.journal.clear();
  t.match(await app.deploy("one", allowing("s3:GetObject")), { outcome: "unchanged" });
  t.same(app.aws.journal.calls("iam"), [], "not asked again");
  t.match(await app.deploy("one", allowing("s3:GetObject", "s3:PutObject")), { version: "1", uploadedBytes: 0 });
  t.same(await policy(), ["s3:GetObject", "s3:PutObject"]);
  t.match(await app.deploy("one"), { version: "1", uploadedBytes: 0 });
  t.same(await policy(), [], "taken away");
});

t.test("which deployment is the one before", { buffered: true }, async (t) => {
  const none = { code: "rollback/none-before" };
  const app = await open(t);
  await app.deploy("one");
  await t.rejects(app.rollback(), none, "after the first");
  t.match(await app.deploy("one"), { previousVersion: undefined });
  await app.deploy("two");
  t.match(await app.deploy("two"), { outcome: "unchanged", previousVersion: "1" }, "deployed again");
  t.match(await app.deploy("two", { config: { description: "more" } }), { version: "3", previousVersion: "2" });

  // The stage's own record goes before the alias.
  await app.move("staging-previous", "1");
  t.match(
    (await app.list()).map(({ state }) => state),
    ["current", "previous", "kept"],
  );
  t.match(await app.rollback(), { version: "2", previousVersion: "3" });
  t.equal(await app.version("staging-previous"), "3");

  // Without a record it is what the alias names.
  await app.move("staging", "2", "");
  t.match(
    (await app.list()).map(({ state }) => state),
    ["previous", "current", "kept"],
  );
  t.match(await app.rollback(), { version: "3", previousVersion: "2" });
  await app.move("staging", "3", "");
  await app.move("staging-previous", "3", "");
  await t.rejects(app.rollback(), none, "the alias names what is in force");
  await app.move("staging-previous", "$LATEST");
  await t.rejects(app.rollback(), none, "the alias names the unpublished function");
  await app.lambda.deleteAlias({ FunctionName: "app", Name: "staging-previous" });
  await t.rejects(app.rollback(), none, "there is neither");
  t.match(await app.rollback("2"), { version: "2", previousVersion: "3" }, "by its name");
  t.equal(await app.version("staging-previous"), "3", "the alias is made again");
  await app.lambda.deleteAlias({ FunctionName: "app", Name: "staging-previous" });
  t.match(await app.deploy("three"), { version: "4", previousVersion: "2" });
  t.equal(await app.version("staging-previous"), "2", "by a deploy, too");
});

t.test("a version that did not start", { buffered: true }, async (t) => {
  const cannotRun = { code: "deploy/cannot-run" };
  const commit = (ref: string) => ({ ref, sha: hexOf(ref).slice(0, 40), author: "Ann" });
  const states = async (app: Awaited<ReturnType<typeof open>>) =>
    (await app.list()).map(({ version, state, author }) => [version, state, author].filter(Boolean).join(" "));
  const changes = (app: Awaited<ReturnType<typeof open>>) =>
    app.aws.journal
      .calls("lambda")
      .filter((call) => /(Create|Update|Delete)Alias$/.test(call))
      .map((call) => call.slice("lambda.".length));

  const app = await open(t);
  await t.rejects(app.deploy("bad", { checks: true }), cannotRun, "the first of its stage");
  t.same(await states(app), ["1 failed"]);
  await t.rejects(app.rollback(), { code: "stage/never-deployed" });
  await app.deploy("one");
  await t.rejects(app.rollback(), { code: "rollback/none-before" }, "what did not start is no deployment before");
  await app.deploy("two");
  app.aws.journal.clear();
  await t.rejects(app.deploy("worse", { checks: true, commit: commit("v1") }), cannotRun, "a later one");
  t.same(changes(app), ["CreateAlias"], "marked by one call");
  const marked = ["4 failed Ann", "3 current", "2 previous", "1 failed"];
  t.same(await states(app), marked);
  await t.rejects(app.deploy("worse", { checks: true, commit: commit("v1") }), cannotRun, "the same once more");
  t.same(await states(app), marked);
  t.match(await app.rollback(), { version: "2", previousVersion: "3", wasFailed: false }, "without a name");
  t.match(await app.rollback(), { version: "3", previousVersion: "2", wasFailed: false }, "and back");

  app.aws.journal.clear();
  t.match(await app.rollback("4"), { version: "4", previousVersion: "3", wasFailed: true }, "by its number");
  t.same(changes(app), ["UpdateAlias", "UpdateAlias"]);
  t.same(await states(app), ["4 current Ann", "3 previous", "2 kept", "1 failed"]);
  t.match(await app.rollback(), { version: "3", previousVersion: "4", wasFailed: false });
  t.same(await states(app), ["4 failed Ann", "3 current", "2 kept", "1 failed"], "the mark stays");
  const refused = (version: string) => ({
    code: "rollback/did-not-start",
    message: `the deployment before this one, version ${version}, did not start when it was last deployed`,
    hint: `tool rollback ${version} --stage staging activates it all the same; tool deploys lists the others`,
  });
  await t.rejects(app.rollback(), refused("4"), "not without a name");
  t.match(await app.rollback("1"), { version: "1", previousVersion: "3", wasFailed: true });
  t.match(await app.rollback("4"), { version: "4", previousVersion: "1", wasFailed: true });
  await t.rejects(app.rollback(), refused("1"), "nor between two of them");
  t.same(await states(app), ["4 current Ann", "3 kept", "2 kept", "1 failed"]);

  t.match(await app.rollback("3"), { version: "3", wasFailed: false });

  // Deployed without a check, it becomes the one before, and does not start when it is deployed again.
  t.match(await app.deploy("worse", { commit: commit("v1") }), { version: "4", previousVersion: "3" });
  t.same(await states(app), ["4 current Ann", "3 previous", "2 kept", "1 failed"], "the mark is gone");
  t.match(await app.rollback(), { version: "3", previousVersion: "4", wasFailed: false });
  t.match((await states(app))[0], "4 previous Ann");
  await t.rejects(app.deploy("worse", { checks: true, commit: commit("v1") }), cannotRun, "the one before this one");
  t.same(await states(app), ["4 failed Ann", "3 current", "2 kept", "1 failed"]);
  await t.rejects(app.rollback(), refused("4"), "not without a name");
  t.match(await app.rollback("4"), { wasFailed: true });
  t.match(await app.deploy("worse", { commit: commit("v1") }), { version: "4" });
  t.match(await app.deploy("worse", { commit: commit("v1") }), { outcome: "unchanged" });

  // Versions that are published again are the same ones, with the same settings or others, which a commit is part of.
  const rows: [name: string, options: Deployed][] = [
    ["the code alone", {}],
    ["settings, too", { config: { environment: { WORD: "six" } }, commit: commit("v2") }],
  ];
  for (const [name, options] of rows) {
    await t.rejects(app.deploy(name, { ...options, checks: true }), cannotRun, name);
    const { version } = (await app.list())[0]!;
    app.aws.journal.clear();
    t.match(await app.deploy(name, options), { version, outcome: "updated" }, `${name}: without the check`);
    t.equal(changes(app)[0], "DeleteAlias", `${name}: the mark is removed first`);
    app.aws.journal.clear();
    await app.deploy(`${name}, again`, options);
    await app.deploy(`${name}, again`, { ...options, stage: "production" });
    await app.deploy(`${name}, again`, { ...options, config: { environment: { WORD: "more" } } });
    t.notOk(changes(app).includes("DeleteAlias"), `${name}: new versions have no mark`);
    t.same(
      (await app.list()).filter(({ state }) => state === "failed").map((one) => one.version),
      ["1"],
    );
  }

  // A version that the stage has or had before did start once. Without a record it looks like a new one.
  const other = await open(t);
  await other.deploy("one");
  await other.move("staging", "1", "");
  await t.rejects(other.deploy("one", { checks: true }), cannotRun);
  t.same(await states(other), ["1 current"]);
  const { Aliases } = await other.lambda.listAliases({ FunctionName: "app" });
  t.same(
    Aliases!.map(({ Name }) => Name),
    ["staging"],
    "no mark",
  );

  const denied = { code: "AccessDeniedException", message: "no", status: 403 };
  for (const operation of ["CreateAlias", "DeleteAlias"]) {
    other.aws.controls.failures.plan({ service: "lambda", operation, error: denied });
  }
  await t.rejects(other.deploy("two", { checks: true }), cannotRun, "a mark that cannot be made");
  t.same(await states(other), ["2 kept", "1 current"]);
  t.match(await other.deploy("two"), { version: "2", outcome: "updated" }, "nor removed");
});

t.test("a rollback to a version that did not start, by its commit or tag", { buffered: true }, async (t) => {
  const app = await open(t);
  const sha = (digits: string) => digits.padEnd(40, "0");
  const failing = async (word: string, ref: string, hash: string, stage = "staging") =>
    t.rejects(app.deploy(word, { checks: true, stage, commit: { ref, sha: hash, author: "Ann" } }), {
      code: "deploy/cannot-run",
    });
  await app.deploy("one");
  await failing("two", "v1.0", sha("abcd1"));
  await failing("three", "1234567", sha("1234567"));
  await failing("four", "feed123", sha("feed123"));
  await failing("five", "feed123", sha("feed123"));
  const production = await app.deploy("six", { stage: "production" });
  await failing("seven", "v2.0", sha("beef"), "production");

  const rows: [name: string, version: string][] = [
    ["v1.0", "2"],
    ["abcd1", "2"],
    ["ABCD", "2"],
    [sha("abcd1"), "2"],
    ["1234567", "3"],
    ["12345", "3"],
    ["feed123", "5"],
  ];
  for (const [name, version] of rows) {
    t.match(await app.rollback(name), { version, previousVersion: "1", wasFailed: true }, name);
    t.match(await app.rollback(), { version: "1", previousVersion: version, wasFailed: false });
  }
  for (const name of ["v2.0", "beef", "v1", "abc", "abcd2", "9999999"]) {
    await t.rejects(app.rollback(name), { code: "rollback/unknown-version" }, name);
  }
  const there = (name: string) => app.rollback(name, "production");
  t.match(await there("v2.0"), { version: "7", previousVersion: production.version, wasFailed: true });
  t.match(await app.deploy("eight", { stage: "production" }), { version: "8", previousVersion: "7" });
  await t.rejects(app.rollback(undefined, "production"), { code: "rollback/did-not-start" }, "nor after a deploy");
});

t.test("versions that did not start are removed first", { buffered: true }, async (t) => {
  const app = await open(t);
  for (const word of ["one", "two", "three", "four"]) {
    await app.deploy(word);
    await t.rejects(app.deploy(`not ${word}`, { checks: true }));
  }
  // More aliases than one page of them has.
  for (let i = 0; i < 50; i++) await app.alias(`2-${i}`, "7");
  const states = async () => (await app.list()).map(({ version, state }) => `${version} ${state}`);
  t.same(await states(), [
    "8 failed",
    "7 current",
    "6 failed",
    "5 previous",
    "4 failed",
    "3 kept",
    "2 failed",
    "1 kept",
  ]);
  await app.alias("blue", "4");
  t.same(await app.prune(3), { stage: "staging", removed: ["6", "2", "1"], kept: 5 }, "they take nobody's place");
  t.same(
    await states(),
    ["8 failed", "7 current", "5 previous", "4 failed", "3 kept"],
    "but the last one, which may be used again, and what somebody named",
  );
  await app.lambda.deleteAlias({ FunctionName: "app", Name: "blue" });
  t.same(await app.prune(3), { stage: "staging", removed: ["4"], kept: 4 });
  const { Aliases } = await app.lambda.listAliases({ FunctionName: "app", FunctionVersion: "8" });
  t.same(
    Aliases!.map(({ Name }) => Name),
    ["8-did-not-start"],
  );
});

t.test("calls of a deploy", { buffered: true, ...slow() }, async (t) => {
  const app = await open(t);
  const calls = async (...[word, options]: Parameters<typeof app.deploy>) => {
    app.aws.journal.clear();
    await app.deploy(word, options);
    const all = app.aws.journal.calls().map((call) => call.replace(/^lambda\./, ""));
    return all.filter((call, i) => call !== all[i - 1]).join(" ");
  };
  const CODE_ALONE =
    "GetAlias GetFunctionConfiguration UpdateFunctionCode GetFunctionConfiguration UpdateAlias CreateAlias";
  const ALL =
    "GetAlias UpdateFunctionConfiguration GetFunctionConfiguration UpdateFunctionCode GetFunctionConfiguration UpdateAlias";
  await app.deploy("one");
  t.equal(await calls("two"), CODE_ALONE, "the code alone");
  t.equal(await calls("two"), "GetAlias", "nothing");
  const config = { environment: { WORD: "3" } };
  t.equal(await calls("three", { config }), ALL, "settings too");
  t.equal(await calls("four", { config }), CODE_ALONE.replace(" CreateAlias", ""), "the code alone, again");

  const layer = await app.lambda.publishLayerVersion({ LayerName: "x", Content: { ZipFile: archive("layer").zip } });
  const { Role } = await new IAM(app.aws.client).createRole({ RoleName: "theirs", AssumeRolePolicyDocument: TRUST });
  const others: object[] = [
    { Role: Role!.Arn },
    { Layers: [layer.LayerVersionArn] },
    { MemorySize: 1024 },
    { Timeout: 3 },
    { Handler: "a.b" },
    { Description: "mine" },
    { Runtime: "nodejs22.x" },
    { Environment: { Variables: { TOOL_STAGE: "production" } } },
    { VpcConfig: { SubnetIds: ["subnet-aaaa1111"], SecurityGroupIds: ["sg-cccc3333"] } },
  ];
  for (const [i, other] of others.entries()) {
    const name = JSON.stringify(other);
    await changed(app, other);
    const all = await calls(`five ${i}`, { config });
    t.match(all, /^GetAlias GetFunctionConfiguration UpdateFunctionConfiguration /, `${name} before it`);
    await app.deploy("one", { config });
    meet(app.aws, "UpdateFunctionCode", () => changed(app, other));
    await app.deploy(`six ${i}`, { config });
    const configuration = await app.configured();
    const { MemorySize, Timeout, Handler, Description, Runtime, Environment, VpcConfig, Layers = [] } = configuration;
    t.same(
      [MemorySize, Timeout, Handler, Description, Runtime, Environment?.Variables?.WORD, VpcConfig?.SubnetIds ?? []],
      [512, 30, "tool.handler", "", "nodejs24.x", "3", []],
      `${name} between configuration and code`,
    );
    t.same(
      [Layers, configuration.Role],
      [[], `arn:aws:iam::${app.aws.accountId}:role/${ROLE}`],
      `${name} between configuration and code`,
    );
    app.aws.controls.failures.clear();
  }
});

t.test("a rollback is in force after two calls at once and one more", { buffered: true }, async (t) => {
  const app = await open(t);
  const calls = () => app.aws.journal.calls().map((call) => call.slice("lambda.".length));
  const back = async (to?: string) => {
    app.aws.journal.clear();
    return app.rollback(to);
  };
  const policy = { function: { policy: [{ Effect: "Allow", Action: "s3:GetObject", Resource: "*" }] } };
  const commit = { ref: "v1", sha: "a".repeat(40) };
  await app.deploy("one", { config: policy, commit });
  await app.deploy("two", { config: { environment: { WORD: "two" } } });

  t.match(await back(), { version: "1", previousVersion: "2", differingVariables: ["WORD"], commit: "v1" });
  const isActiveSoon = () =>
    t.same([...calls().slice(0, 2).sort(), calls()[2]], ["GetAlias", "GetFunctionConfiguration", "UpdateAlias"]);
  isActiveSoon();
  t.same(calls().slice(3).sort(), ["GetFunctionConfiguration", "UpdateAlias"], "what follows");
  t.equal(await app.version("staging-previous"), "2");
  t.match(await app.deploy("one", { config: policy, commit }), { outcome: "unchanged", version: "1" }, "it is known");
  t.match(await back(), { version: "2", previousVersion: "1" }, "from what a deploy without a change left");
  t.equal(calls().length, 5);
  t.match(await back(), { version: "1", previousVersion: "2" }, "and from what a rollback left");
  t.match(await back(), { version: "2", previousVersion: "1" });
  t.equal(calls().length, 5);
  t.match(await app.deploy("two", { config: { environment: { WORD: "two" } } }), {
    outcome: "unchanged",
    version: "2",
  });
  await back();
  t.match(await app.deploy("one", { config: { ...policy, environment: { WORD: "3" } } }), { version: "3" }, "a change");
  t.match(await back(), { version: "1", previousVersion: "3" }, "of which only the identity was known");
  t.match(await app.deploy("one", { config: policy, commit }), { outcome: "unchanged", version: "1" });

  t.match(await back("2"), { version: "2", previousVersion: "1" }, "by its name");
  t.match(await back(), { version: "1", previousVersion: "2" }, "and back from there");
  isActiveSoon();
  t.match(await app.deploy("one", { config: policy, commit }), { outcome: "unchanged", version: "1" });
  t.match(await back("v1"), { outcome: "unchanged", version: "1" });

  await app.deploy("four");
  await app.deploy("four", { config: policy });
  t.match(await back(), { version: "1", previousVersion: "4" }, "over a policy that changed alone");
  t.match(await app.deploy("one", { config: policy, commit }), { outcome: "unchanged", version: "1" });
  t.match(await back("2"), { version: "2" });
  t.match(await back("v1"), { version: "1" });

  // A record of an earlier version of the tool has no identity of the one before: its alias knows more.
  const [{ Description = "" } = {}] = [await app.lambda.getAlias({ FunctionName: "app", Name: "staging" })];
  const { o: _, ...older } = JSON.parse(Description);
  await app.move("staging", "1", JSON.stringify(older));
  await app.move("staging-previous", "3");
  t.match(await back(), { version: "2", previousVersion: "1" });
  const more = ["GetAlias", "GetAlias", "GetFunctionConfiguration", "UpdateAlias"];
  t.same(calls().slice(2, 6), more, "after the first two: the other alias, and whether it is marked");
});

t.test("tags of the role that deploying makes", { buffered: true }, async (t) => {
  const app = await open(t);
  const iam = new IAM(app.aws.client);
  const tags = async (RoleName = ROLE) => {
    const { Tags = [] } = (await iam.getRole({ RoleName })).Role!;
    return Object.fromEntries(Tags.flatMap(({ Key, Value }) => (Key === "tool:policy-hash" ? [] : [[Key, Value]])));
  };
  const tagged = (tags: object) => ({ config: { tags } });
  await app.deploy("one", tagged({ team: "orders", stage: "all" }));
  t.same(await tags(), { "tool:app": "app", team: "orders", stage: "all" }, "a new one");
  await iam.tagRole({ RoleName: ROLE, Tags: [{ Key: "audit", Value: "yes" }] });
  app.aws.journal.clear();
  await app.deploy("one", tagged({ team: "orders", stage: "all" }));
  t.same(app.aws.journal.calls("iam"), [], "nothing is asked for if nothing changed");

  // Ended between the role and the function: the next run knows what to take away.
  app.aws.controls.failures.plan({
    service: "lambda",
    operation: "UntagResource",
    error: { code: "Denied", status: 403 },
  });
  await t.rejects(app.deploy("one", tagged({ team: "payments", owner: "ann" })), { name: "Denied" });
  await app.deploy("one", tagged({ owner: "ann" }));
  t.same(await tags(), { "tool:app": "app", owner: "ann", audit: "yes" }, "changed, and what is not ours stays");
  await app.deploy("two", tagged({}));
  t.same(await tags(), { "tool:app": "app", audit: "yes" }, "taken away");

  const most = Object.fromEntries(Array.from({ length: 48 }, (_, i) => [`tag ${i}`, "x"]));
  await iam.untagRole({ RoleName: ROLE, TagKeys: ["audit"] });
  await app.deploy("two", tagged(most));
  t.equal((await iam.getRole({ RoleName: ROLE })).Role!.Tags!.length, 50, "as many as a role takes");

  // A role of the user's own, or one that somebody else made since.
  await iam.createRole({ RoleName: "mine", AssumeRolePolicyDocument: TRUST });
  const mine = { function: { role: `arn:aws:iam::${app.aws.accountId}:role/mine` }, tags: { team: "orders" } };
  await app.deploy("two", { config: mine });
  t.same(await tags("mine"), {}, "never on a role of the user's own");
  await app.deploy("two", tagged({ team: "orders" }));
  await iam.untagRole({ RoleName: ROLE, TagKeys: ["tool:app"] });
  const before = await tags();
  await app.deploy("two", tagged({ team: "payments" }));
  t.same(await tags(), before, "nor on one that is not ours any more");
});

t.test("names of deployments that fit several", { buffered: true }, async (t) => {
  const config = { stages: { beta: {}, "beta-two": {} } };
  const app = await open(t);
  const shas = ["abcd1".padEnd(40, "0"), "abcd2".padEnd(40, "0"), "abce3".padEnd(40, "0")];
  for (const [i, sha] of shas.entries()) {
    await app.deploy(`word ${i}`, { config, stage: "beta", commit: { ref: `v${i}`, sha } });
    await app.deploy(`word ${i}`, { config, stage: "beta-two", commit: { ref: `v${i}`, sha } });
  }
  const rows: [to: string, expected: string | { code: string; message?: string }][] = [
    ["abcd", { code: "rollback/ambiguous", message: "abcd names 2 deployments of beta: versions 1, 3" }],
    ["ABCD", { code: "rollback/ambiguous", message: "ABCD names 2 deployments of beta: versions 1, 3" }],
    ["abc", { code: "rollback/unknown-version" }],
    ["abcf", { code: "rollback/unknown-version" }],
    ["abcd1", "1"],
    ["ABCD2", "3"],
    [shas[2]!, "5"],
    ["v0", "1"],
    ["5", "5"],
    ["2", { code: "rollback/other-stage" }],
  ];
  for (const [to, expected] of rows) {
    if (typeof expected === "string") t.match(await app.rollback(to, "beta"), { version: expected }, to);
    else await t.rejects(app.rollback(to, "beta"), expected, to);
  }
  t.match(await app.rollback("abcd1", "beta-two"), { version: "2" }, "the same commit of a stage with a longer name");
  // Two aliases of one version are one deployment; the same commit as a tag is another one, with another variable.
  const { Description } = await app.lambda.getAlias({ FunctionName: "app", Name: "commit-beta-v0" });
  await app.alias("commit-beta-other", "1", Description);
  t.match(await app.rollback("abcd1", "beta"), { version: "1" });
  await app.deploy("word 0", { config, stage: "beta", commit: { ref: "abcd100", sha: shas[0]! } });
  await t.rejects(app.rollback("abcd1", "beta"), { message: "abcd1 names 2 deployments of beta: versions 1, 7" });
});
