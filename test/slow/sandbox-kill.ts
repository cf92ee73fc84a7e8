// The sandbox under clients of the SDK, killed at random and opened again on the same folder: KILL_ROUNDS times (10), drawn
// by KILL_SEED. What a call was answered is there, stacks end, nothing is made twice or left over, and what was
// interrupted can be done again.
import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CloudFormation } from "@aws-sdk/client-cloudformation";
import { IAM } from "@aws-sdk/client-iam";
import { Lambda } from "@aws-sdk/client-lambda";
import { S3 } from "@aws-sdk/client-s3";
import { SSM } from "@aws-sdk/client-ssm";
import t from "tap";
import { CloudClock } from "../../cli/sandbox/cloud/clock.ts";
import { zipOf } from "../../cli/sandbox/cloud/lambda/zip.ts";
import { openWorld } from "../../cli/sandbox/cloud/open-world.ts";
import type { World } from "../../cli/sandbox/cloud/world.ts";
import { root } from "../support/cli.ts";
import { type Random, randomOf } from "../support/random.ts";
import { FAILING, FIRST, leftOver, SECOND, TRUST } from "../support/sandbox-stack.ts";

const ROUNDS = Number(process.env.KILL_ROUNDS ?? 10);
const SEED = Number(process.env.KILL_SEED ?? Date.now() % 100_000);
const REGION = "eu-west-1";
const ACCOUNT = "123456789012";
const BUCKET = "a-bucket";
/** A stack takes a third of a second, so that most kills meet one. */
const SPEED = 60;
/** On a busy machine a round ends after this, with fewer answers. */
const MAX_ROUND_MS = 6_000;

interface Running {
  readonly child: ChildProcess;
  readonly endpoint: string;
}

async function start(folder: string): Promise<Running> {
  const child = spawn(process.execPath, [join(root, "dist/test/support/aws/main.js")], {
    env: { PATH: process.env.PATH, FOLDER: folder, SPEED: String(SPEED) },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const endpoint = await new Promise<string>((resolve, reject) => {
    let text = "";
    child.once("exit", () => reject(new Error(`it did not start: ${text}`)));
    child.stdout!.setEncoding("utf8").on("data", (part: string) => {
      text += part;
      const [, address] = /TOOL_AWS_ENDPOINT=(\S+)\n/.exec(text) ?? [];
      if (address !== undefined) resolve(address);
    });
  });
  return { child, endpoint };
}

/** The values that a key may have: the one that an answer said, and those asked for since without an answer. */
class Expectations {
  readonly #values = new Map<string, Set<string>>();
  answered = 0;

  /** Sets a key by a call: until the answer it may be either. */
  set(key: string, value: string, call: () => Promise<unknown>): Promise<void> {
    return this.setAll({ [key]: value }, call);
  }

  async setAll(values: Readonly<Record<string, string>>, call: () => Promise<unknown>): Promise<void> {
    for (const [key, value] of Object.entries(values)) {
      this.#values.set(key, new Set([...(this.#values.get(key) ?? ["none"]), value]));
    }
    await call();
    for (const [key, value] of Object.entries(values)) this.#values.set(key, new Set([value]));
    this.answered += 1;
  }

  keys(prefix: string): string[] {
    return [...this.#values.keys()].filter((key) => key.startsWith(prefix));
  }

  /** After a restart it is known what came of calls without an answer. */
  check(actual: (key: string) => string, isChecked: (key: string) => boolean = () => true): string[] {
    const problems: string[] = [];
    for (const [key, values] of this.#values) {
      if (!isChecked(key)) continue;
      const value = actual(key);
      if (!values.has(value)) problems.push(`${key} is ${value}, not ${[...values].join(" or ")}`);
      this.#values.set(key, new Set([value]));
    }
    return problems;
  }
}

const hashOf = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("base64");

class Clients {
  readonly #expectations: Expectations;
  readonly #random: Random;
  readonly #lambda: Lambda;
  readonly #stacks: CloudFormation;
  readonly #s3: S3;
  readonly #ssm: SSM;
  #isOver = false;

  constructor(endpoint: string, expectations: Expectations, random: Random) {
    const credentials = { accessKeyId: "AKIATEST", secretAccessKey: "secret" };
    const client = { endpoint, region: REGION, credentials, maxAttempts: 1, forcePathStyle: true };
    this.#expectations = expectations;
    this.#random = random;
    this.#lambda = new Lambda(client);
    this.#stacks = new CloudFormation(client);
    this.#s3 = new S3(client);
    this.#ssm = new SSM(client);
  }

  /** All until the process is killed; gives what failed otherwise. */
  async run(): Promise<string[]> {
    const lanes = {
      parameters: () => this.#parameter(),
      objects: () => this.#object(),
      "function a": () => this.#function("a"),
      "function b": () => this.#function("b"),
      stack: () => this.#stack(),
    };
    const ends = Object.entries(lanes).map(async ([name, work]) => {
      try {
        while (!this.#isOver) await work();
      } catch (error) {
        const { name: code, message } = error as Error;
        const isCut = /ECONN|socket hang up|EPIPE|aborted/.test(`${(error as { code?: string }).code} ${message}`);
        if (!this.#isOver || !isCut) return [`${name}: ${code}: ${message}`];
      }
      return [];
    });
    return (await Promise.all(ends)).flat();
  }

  end(): void {
    this.#isOver = true;
  }

  async #parameter(): Promise<void> {
    const key = `/p${this.#random.below(5)}`;
    const value = String(this.#random.below(1e9));
    await this.#expectations.set(`parameter ${key}`, value, () =>
      this.#ssm.putParameter({ Name: key, Value: value, Type: "String", Overwrite: true }),
    );
  }

  async #object(): Promise<void> {
    const key = `object-${this.#random.below(3)}`;
    if (this.#random.chance(0.3)) {
      await this.#expectations.set(`object ${key}`, "none", () => this.#s3.deleteObject({ Bucket: BUCKET, Key: key }));
      return;
    }
    const body = Buffer.alloc(20_000 + this.#random.below(200_000), String(this.#random.below(1e9)));
    await this.#expectations.set(`object ${key}`, hashOf(body), () =>
      this.#s3.putObject({ Bucket: BUCKET, Key: key, Body: body }),
    );
  }

  /** As a deploy: the function, its code, a version, an alias. */
  async #function(name: string): Promise<void> {
    const FunctionName = `fn-${name}`;
    const zip = () => zipOf({ "index.js": `// ${this.#random.below(1e9)}\n${"x".repeat(this.#random.below(60_000))}` });
    const first = zip();
    const Role = `arn:aws:iam::${ACCOUNT}:role/role`;
    const made = {
      FunctionName,
      Role,
      Runtime: "nodejs22.x",
      Handler: "index.handler",
      Code: { ZipFile: first },
    } as const;
    const isThere = await this.#lambda.getFunction({ FunctionName }).then(
      () => true,
      (error: Error) => {
        if (error.name === "ResourceNotFoundException") return false;
        throw error;
      },
    );
    if (!isThere)
      await this.#expectations.set(`code ${FunctionName}`, hashOf(first), () => this.#lambda.createFunction(made));
    await this.#idle(FunctionName);
    const ZipFile = zip();
    let version = "";
    const hash = hashOf(ZipFile);
    const published = { [`code ${FunctionName}`]: hash, [`version ${FunctionName} ${hash}`]: "there" };
    await this.#expectations.setAll(published, async () => {
      version = (await this.#lambda.updateFunctionCode({ FunctionName, ZipFile, Publish: true })).Version!;
    });
    await this.#idle(FunctionName);
    const alias = { FunctionName, Name: "live", FunctionVersion: version };
    await this.#expectations.set(`alias ${FunctionName}`, version, async () => {
      const hasAlias = await this.#lambda.listAliases({ FunctionName });
      if (hasAlias.Aliases?.length === 0) await this.#lambda.createAlias(alias);
      else await this.#lambda.updateAlias(alias);
    });
    if (!this.#random.chance(0.1)) return;
    const gone = [
      `code ${FunctionName}`,
      `alias ${FunctionName}`,
      ...this.#expectations.keys(`version ${FunctionName} `),
    ];
    await this.#expectations.setAll(Object.fromEntries(gone.map((key) => [key, "none"])), () =>
      this.#lambda.deleteFunction({ FunctionName }),
    );
  }

  async #idle(FunctionName: string): Promise<void> {
    for (;;) {
      const { LastUpdateStatus } = await this.#lambda.getFunctionConfiguration({ FunctionName });
      if (LastUpdateStatus === "Successful") return;
      await pause();
    }
  }

  /** As a stack's life, from wherever it was interrupted. */
  async #stack(): Promise<void> {
    const StackName = "app";
    const status = await this.#settled(StackName);
    if (status === "none" || status === "REVIEW_IN_PROGRESS") {
      const ChangeSetName = `set-${this.#random.below(1e9)}`;
      const set = { StackName, ChangeSetName, ChangeSetType: "CREATE", TemplateBody: FIRST } as const;
      await this.#stacks.createChangeSet({ ...set, Capabilities: ["CAPABILITY_IAM"] });
      while ((await this.#stacks.describeChangeSet({ StackName, ChangeSetName })).Status !== "CREATE_COMPLETE")
        await pause();
      await this.#expectations.set("stack", "first", () => this.#stacks.executeChangeSet({ StackName, ChangeSetName }));
      // Some deletions come while it is made.
      if (this.#random.chance(0.7)) await this.#settled(StackName);
      else await this.#expectations.set("stack", "none", () => this.#stacks.deleteStack({ StackName }));
      return;
    }
    if (!/^(CREATE|UPDATE|UPDATE_ROLLBACK)_COMPLETE$/.test(status)) throw new Error(`the stack is ${status}`);
    const { TemplateBody } = await this.#stacks.getTemplate({ StackName });
    if (TemplateBody === SECOND || this.#random.chance(0.2)) {
      await this.#expectations.set("stack", "none", () => this.#stacks.deleteStack({ StackName }));
    } else {
      const isFailing = this.#random.chance(0.4);
      const body = isFailing ? FAILING : SECOND;
      // One that fails leaves the stack as it was.
      await this.#expectations.set("stack", isFailing ? "first" : "second", () =>
        this.#stacks.updateStack({ StackName, TemplateBody: body, Capabilities: ["CAPABILITY_IAM"] }),
      );
    }
    await this.#settled(StackName);
  }

  async #settled(StackName: string): Promise<string> {
    for (;;) {
      const { StackSummaries = [] } = await this.#stacks.listStacks({});
      const status = StackSummaries.find((one) => one.StackName === StackName)?.StackStatus ?? "none";
      if (status === "DELETE_COMPLETE") return "none";
      if (status === "REVIEW_IN_PROGRESS" || !status.endsWith("_IN_PROGRESS")) return status;
      await pause();
    }
  }
}

const pause = () => new Promise<void>((resolve) => setTimeout(resolve, 10));

/** Returns the value that an account has under a key of `Expectations`. */
function actualOf(world: World, key: string): string {
  const [kind, name = "", version = ""] = key.split(" ");
  const lambdaFunction = world.service("lambda", REGION).state.functions.get(name);
  switch (kind) {
    case "parameter":
      return world.service("ssm", REGION).parameters.get(name)?.value ?? "none";
    case "object": {
      const object = world.service("s3").buckets.get(BUCKET)?.objects.get(name);
      return object === undefined ? "none" : hashOf(object.body.read());
    }
    case "code":
      return lambdaFunction === undefined ? "none" : hashOf(lambdaFunction.latest.code.zip.read());
    case "version": {
      const hashes = [...(lambdaFunction?.versions.values() ?? [])].map(({ code }) => hashOf(code.zip.read()));
      return hashes.includes(version) ? "there" : "none";
    }
    case "alias":
      return lambdaFunction?.aliases.get("live")?.version ?? "none";
    default: {
      const stack = world.service("cloudformation", REGION).find("app");
      if (stack === undefined || stack.status === "REVIEW_IN_PROGRESS") return "none";
      return stack.desired.body === FIRST ? "first" : stack.desired.body === SECOND ? "second" : "another";
    }
  }
}

/** The names of all bytes that values name. */
function namedBytes(world: World): string[] {
  const { state, layers } = world.service("lambda", REGION);
  const codes = [...state.functions.values()].flatMap(({ latest, versions }) => [latest, ...versions.values()]);
  const bytes = [
    ...codes.map(({ code }) => code.zip),
    ...[...layers.versions.values()].map(({ code }) => code.zip),
    ...[...world.service("s3").buckets.values()].flatMap(({ objects }) =>
      Array.from(objects.values(), ({ body }) => body),
    ),
  ];
  return [...new Set(bytes.filter(({ length }) => length > 4096).map(({ sha256 }) => sha256))].sort();
}

t.test(`killed ${ROUNDS} times, KILL_SEED=${SEED}`, async (t) => {
  const random = randomOf(SEED);
  const folder = mkdtempSync(join(tmpdir(), "sandbox-kill-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  const expectations = new Expectations();
  const statuses = new Map<string, number>();
  let [cut, openMs] = [0, 0];

  const first = await start(folder);
  t.teardown(() => first.child.kill("SIGKILL"));
  const client = { endpoint: first.endpoint, region: REGION, credentials: { accessKeyId: "A", secretAccessKey: "s" } };
  await new IAM(client).createRole({ RoleName: "role", AssumeRolePolicyDocument: JSON.stringify(TRUST) });
  const CreateBucketConfiguration = { LocationConstraint: REGION } as const;
  await new S3({ ...client, forcePathStyle: true }).createBucket({ Bucket: BUCKET, CreateBucketConfiguration });
  let running = first;

  for (let round = 1; round <= ROUNDS; round++) {
    const clients = new Clients(running.endpoint, expectations, random);
    const ended = clients.run();
    // After some answers, and at any moment of what comes then.
    const enough = expectations.answered + random.below(40);
    for (const end = Date.now() + MAX_ROUND_MS; expectations.answered < enough && Date.now() < end; ) await pause();
    await new Promise((resolve) => setTimeout(resolve, random.below(50)));
    clients.end();
    const exited = new Promise((resolve) => running.child.once("exit", resolve));
    running.child.kill("SIGKILL");
    await exited;
    const problems = await ended;

    // The state at once, before anything goes on, and the one that it becomes.
    const said: string[] = [];
    const begin = performance.now();
    const world = openWorld({ folder, clock: new CloudClock({ speed: 500 }), report: (text) => void said.push(text) });
    openMs = Math.max(openMs, performance.now() - begin);
    cut += said.filter((text) => /are not whole and are cut off/.test(text)).length;
    problems.push(...said.filter((text) => !/are not whole and are cut off/.test(text)));
    const stacks = world.service("cloudformation", REGION);
    const before = stacks.find("app")?.status ?? "none";
    statuses.set(before, (statuses.get(before) ?? 0) + 1);
    const isOnTheWay = /_IN_PROGRESS$/.test(before);
    problems.push(
      ...expectations.check(
        (key) => actualOf(world, key),
        (key) => key !== "stack" || !isOnTheWay,
      ),
    );
    // In every other round the process that is started next finds the work that is under way.
    if (random.chance(0.5)) {
      await stacks.settled();
      const status = stacks.find("app")?.status ?? "none";
      if (!/^(none|REVIEW_IN_PROGRESS|.*_COMPLETE)$/.test(status)) problems.push(`the stack is ${status}`);
      problems.push(...expectations.check((key) => actualOf(world, key)));
      problems.push(...leftOver(world, "app", REGION, (id) => /^(fn-|role$)/.test(id)));
      const named = namedBytes(world);
      const files = readdirSync(join(folder, "blobs")).sort();
      if (JSON.stringify(named) !== JSON.stringify(files)) problems.push(`archives ${files}, named ${named}`);
    }
    await world.close();
    t.same(problems, [], `round ${round}: ${before}`);
    if (round === ROUNDS) break;
    const next = await start(folder);
    t.teardown(() => next.child.kill("SIGKILL"));
    running = next;
  }
  t.ok(expectations.answered > ROUNDS, `${expectations.answered} changes were answered`);
  t.comment(`${cut} torn writes, opened in ${openMs.toFixed(0)} ms at most, found: ${JSON.stringify([...statuses])}`);
});
