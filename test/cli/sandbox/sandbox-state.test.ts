// The sandbox's state over the end of its process: what a folder has after a normal end, after a write that was cut, on a
// full disk, and what becomes of work that was under way.
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import t, { type Test } from "tap";
import { CloudClock } from "../../../cli/sandbox/cloud/clock.ts";
import { zipOf } from "../../../cli/sandbox/cloud/lambda/zip.ts";
import { openWorld } from "../../../cli/sandbox/cloud/open-world.ts";
import { decode, encode } from "../../../cli/sandbox/cloud/store/codec.ts";
import { StoredBytes } from "../../../cli/sandbox/cloud/stored-bytes.ts";
import type { World } from "../../../cli/sandbox/cloud/world.ts";
import { TestClock } from "../../support/aws/clock.ts";
import { FAILING, FIRST, leftOver, SECOND, TRUST } from "../../support/sandbox-stack.ts";
import { until } from "../../support/until.ts";

const REGION = "eu-west-1";
const NAME = "app";

interface Opened {
  readonly world: World;
  readonly said: string[];
}

function folderOf(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), "sandbox-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** An account in the folder; its clock is so fast that all work ends in some milliseconds. */
function openIn(t: Test, folder: string, clock = new CloudClock({ speed: 20_000 })): Opened {
  const said: string[] = [];
  const world = openWorld({ folder, clock, report: (text) => void said.push(text) });
  t.teardown(() => world.close());
  return { world, said };
}

/** A clock that shows a time when all that was under way is due. */
function muchLater(): CloudClock {
  const clock = new CloudClock({ speed: 20_000 });
  clock.now = () => Date.now() + 1e12;
  return clock;
}

const parameters = (world: World) => world.service("ssm", REGION);
const CALL = { region: REGION, service: "ssm", operation: "PutParameter", accessKeyId: "AKIAEXAMPLE" };
const putNow = (world: World, Name: string, Value: string) =>
  parameters(world).operations.PutParameter({ Name, Value, Type: "String", Overwrite: true }, CALL);
const put = (world: World, Name: string, Value: string) => world.run("PutParameter", () => putNow(world, Name, Value));
const valuesOf = (world: World) =>
  Object.fromEntries([...parameters(world).parameters.values()].map(({ name, value }) => [name, value]));

t.test("values come back from their text", async (t) => {
  const bytes = StoredBytes.of(Buffer.alloc(10_000, "x"));
  for (const value of [
    { text: "a\tb\nc\u2028", number: 1.5, none: null, list: [1, "two", [3]] },
    new Map([["key", new Set([new Date(0), "text"])]]),
    { deep: { bytes: Buffer.from([0, 255]), at: new Date(1e12) } },
    { $map: 1 },
    { $date: { $set: [] }, other: {} },
    { $object: { $stored: ["x"] } },
  ]) {
    const { text } = encode(value);
    t.strictSame(
      decode(text, () => Buffer.alloc(0)),
      value,
    );
  }
  const { text, bytes: named } = encode({ small: StoredBytes.of(Buffer.from("small")), large: bytes });
  t.same([named, text.includes("xxx")], [[bytes], false], "large bytes are named only");
  const back = decode(text, (sha256) => (sha256 === bytes.sha256 ? bytes.read() : Buffer.alloc(0))) as {
    small: StoredBytes;
    large: StoredBytes;
  };
  t.equal(back.small.read().toString(), "small");
  t.equal(back.large.read().length, 10_000);
});

/** Some of everything, made by calls. */
async function furnish(world: World): Promise<void> {
  const call = <Result>(work: () => Result) => world.run("Change", work);
  const { operations: iam } = world.service("iam");
  const { operations: lambda, state } = world.service("lambda", REGION);
  const { operations: s3 } = world.service("s3");
  const { operations: logs } = world.service("logs", REGION);
  const statement = { Effect: "Allow", Principal: { Service: "lambda.amazonaws.com" }, Action: "sts:AssumeRole" };
  const trust = JSON.stringify({ Version: "2012-10-17", Statement: [statement] });
  await call(() => iam.CreateRole({ RoleName: "role", AssumeRolePolicyDocument: trust }));
  const Role = `arn:aws:iam::${world.accountId}:role/role`;
  const ZipFile = zipOf({ "index.js": "x".repeat(20_000) });
  const Code = { ZipFile };
  await call(() =>
    lambda.CreateFunction({
      FunctionName: NAME,
      Role,
      Runtime: "nodejs24.x",
      Handler: "index.handler",
      Code,
      Publish: true,
    }),
  );
  await until("the function", () => state.function(NAME).latest.updateStatus === "Successful");
  await call(() => lambda.CreateAlias({ FunctionName: NAME, Name: "live", FunctionVersion: "1" }));
  await call(() =>
    lambda.AddPermission({
      FunctionName: NAME,
      Qualifier: "live",
      StatementId: "a",
      Action: "lambda:*",
      Principal: "*",
    }),
  );
  await call(() => lambda.PublishLayerVersion({ LayerName: "layer", Content: { ZipFile } }));
  const bucket = { Bucket: "a-bucket" };
  const context = { region: REGION, service: "s3", operation: "", accessKeyId: "" };
  const location = { CreateBucketConfiguration: { LocationConstraint: REGION } } as const;
  await call(() => s3.CreateBucket({ ...bucket, ...location }, context));
  for (const Key of ["small", "large"]) {
    const Body = Buffer.alloc(Key === "small" ? 10 : 100_000, Key);
    await call(() => s3.PutObject({ ...bucket, Key, Body }));
  }
  await put(world, "/a", "one");
  await call(() => world.service("sns", REGION).operations.CreateTopic({ Name: "topic" }));
  await call(() => world.service("route53").operations.CreateHostedZone({ Name: "shop.com", CallerReference: "x" }));
  const acm = world.service("acm", "us-east-1").operations;
  await call(() => acm.RequestCertificate({ DomainName: "shop.com", ValidationMethod: "DNS" }));
  const group = { logGroupName: "/aws/lambda/app" };
  await call(() => logs.CreateLogGroup(group));
  await call(() => logs.CreateLogStream({ ...group, logStreamName: "one" }));
  const logEvents = [1, 2, 3].map((timestamp) => ({ timestamp, message: `event ${timestamp}` }));
  await call(() => logs.PutLogEvents({ ...group, logStreamName: "one", logEvents }));
  const metrics = world.service("monitoring", REGION).operations;
  const MetricData = [{ MetricName: "Count", Timestamp: new Date(120_000), Value: 7 }];
  await call(() => metrics.PutMetricData({ Namespace: "own", MetricData }));
  await call(() =>
    world
      .service("cloudformation", REGION)
      .operations.CreateStack({ StackName: "first", TemplateBody: FIRST, Capabilities: ["CAPABILITY_IAM"] }),
  );
  await world.service("cloudformation", REGION).settled();
  await world.commit();
}

/** Returns all answers of the account to questions about it. */
async function pictureOf(world: World): Promise<object> {
  const { operations: lambda, state, layers } = world.service("lambda", REGION);
  const { operations: stacks } = world.service("cloudformation", REGION);
  const group = { logGroupName: "/aws/lambda/app" };
  const metrics = world.service("monitoring", REGION).operations;
  return {
    roles: world.service("iam").operations.ListRoles({}),
    functions: lambda.ListFunctions({}),
    versions: lambda.ListVersionsByFunction({ FunctionName: NAME }),
    aliases: lambda.ListAliases({ FunctionName: NAME }),
    policy: lambda.GetPolicy({ FunctionName: NAME, Qualifier: "live" }),
    code: state.function(NAME).latest.code.zip.read().toString("base64"),
    layers: [...layers.versions.values()].map(({ arn, code }) => [arn, code.zip.read().length]),
    objects: ["small", "large"].map((Key) =>
      world.service("s3").operations.GetObject({ Bucket: "a-bucket", Key }).Body.toString(),
    ),
    parameters: valuesOf(world),
    topics: world.service("sns", REGION).operations.ListTopics(),
    zones: world.service("route53").operations.ListHostedZones(),
    certificates: world.service("acm", "us-east-1").operations.ListCertificates({}),
    groups: world.service("logs", REGION).operations.DescribeLogGroups({}),
    events: await world.service("logs", REGION).operations.FilterLogEvents(group),
    figures: metrics.GetMetricStatistics({
      Namespace: "own",
      MetricName: "Count",
      StartTime: new Date(0),
      EndTime: new Date(600_000),
      Period: 60,
      Statistics: ["Sum"],
    }),
    stacks: stacks.DescribeStacks({}),
    resources: stacks.DescribeStackResources({ StackName: "first" }),
    history: stacks.DescribeStackEvents({ StackName: "first" }),
  };
}

t.test("an account is the same when it is opened again", async (t) => {
  const folder = folderOf(t);
  const { world } = openIn(t, folder);
  await furnish(world);
  const before = await pictureOf(world);
  await world.close();
  for (const way of ["at once", "again"]) {
    const again = openIn(t, folder);
    t.same(await pictureOf(again.world), before, way);
    t.same(again.said, []);
    await again.world.close();
  }
  t.same(readdirSync(join(folder, "blobs")).length, 2, "an archive of a function and a layer is one file");
  t.equal(statSync(folder).mode & 0o777 & ~0o700, 0, "nobody else may read it");
});

t.test("a call is answered when its change is in the journal", async (t) => {
  const folder = folderOf(t);
  const { world } = openIn(t, folder);
  // A copy is what a process that is killed now leaves behind.
  for (const value of ["one", "two", "three"]) {
    await put(world, "/a", value);
    const copy = folderOf(t);
    cpSync(folder, join(copy, value), { recursive: true });
    t.same(valuesOf(openIn(t, join(copy, value)).world), { "/a": value });
  }
  const { size } = statSync(join(folder, "journal"));
  await world.run("GetParameter", () => parameters(world).operations.GetParameter({ Name: "/a" }));
  await world.run("AddTags", () => parameters(world).parameters.get("/a"));
  t.equal(statSync(join(folder, "journal")).size, size, "what is the same is not written");
});

t.test("a parameter that was written before parameters had descriptions, tags and writers", async (t) => {
  const folder = folderOf(t);
  const first = openIn(t, folder);
  const before = { name: "/a", value: "one", type: "SecureString", version: 3, modifiedAt: new Date(0) };
  await first.world.run("Change", () => first.world.collection("ssm", REGION, "parameters").set("/a", before));
  await first.world.close();
  const { world } = openIn(t, folder);
  const { operations } = parameters(world);
  t.match(operations.DescribeParameters({}).Parameters, [
    { Name: "/a", Version: 3, LastModifiedDate: new Date(0), LastModifiedUser: /:user\/deployer$/, Tier: "Standard" },
  ]);
  t.same(operations.ListTagsForResource({ ResourceType: "Parameter", ResourceId: "/a" }), { TagList: [] });
  t.same(operations.PutParameter({ Name: "/a", Value: "two", Overwrite: true }, CALL), {
    Version: 4,
    Tier: "Standard",
  });
});

t.test("a journal that is cut anywhere in its last batch is as before it", async (t) => {
  const folder = folderOf(t);
  const first = openIn(t, folder);
  await put(first.world, "/a", "one");
  const path = join(folder, "journal");
  const before = statSync(path).size;
  // One call, two records.
  await first.world.run("Change", () => {
    for (const name of ["/a", "/b"]) putNow(first.world, name, "two");
  });
  await first.world.close();
  const whole = readFileSync(path);
  t.ok(whole.length > before);
  for (let length = before; length <= whole.length; length++) {
    writeFileSync(path, whole.subarray(0, length));
    const { world, said } = openIn(t, folder);
    const wanted = length === whole.length ? { "/a": "two", "/b": "two" } : { "/a": "one" };
    if (JSON.stringify(valuesOf(world)) !== JSON.stringify(wanted)) t.fail(`cut at ${length} of ${whole.length}`);
    const isSaid = length > before && length < whole.length;
    if (isSaid !== /the last \d+ bytes are not whole/.test(said[0] ?? "")) t.fail(`cut at ${length}: ${said}`);
    // The next call is kept, and what was cut does not come back.
    await put(world, "/c", "three");
    await world.close();
    const again = openIn(t, folder);
    if (valuesOf(again.world)["/c"] !== "three" || again.said.length > 0)
      t.fail(`after a cut at ${length}: ${again.said}`);
    await again.world.close();
  }
  t.pass(`${whole.length - before} cuts`);
});

t.test("a damaged byte before the last batch is an error, and nothing is changed", async (t) => {
  const folder = folderOf(t);
  const { world } = openIn(t, folder);
  await put(world, "/a", "one");
  const path = join(folder, "journal");
  const from = statSync(path).size;
  await put(world, "/b", "two");
  const to = statSync(path).size;
  await put(world, "/c", "three");
  await world.close();
  const whole = readFileSync(path);
  for (let at = from; at < to; at++) {
    const damaged = Buffer.from(whole);
    damaged[at]! ^= 0x15;
    writeFileSync(path, damaged);
    let message = "opened";
    try {
      openIn(t, folder);
    } catch (error) {
      message = (error as Error).message;
    }
    if (!message.startsWith(`${path} is damaged at byte ${from}, and whole records follow. Nothing was changed`))
      t.fail(`byte ${at}: ${message}`);
    if (!readFileSync(path).equals(damaged)) t.fail(`byte ${at}: the file was changed`);
  }
  t.pass(`${to - from} bytes`);
});

const NEWER = '0\t.\t"format"\t"2"\t\t';

const FILES: readonly (readonly [name: string, text: string, message: RegExp])[] = [
  [
    "of a newer version",
    `${crc32(NEWER).toString(16).padStart(8, "0")}\t${NEWER}\n`,
    /newer version of the tool \(format 2, this one reads 1\)\. Update the tool/,
  ],
  ["that is something else", "hello\n", /does not begin as a sandbox's state\. .*`tool sandbox reset`/],
  ["that is empty", "", /does not begin as a sandbox's state/],
];

for (const [name, text, message] of FILES) {
  t.test(`a journal ${name} is refused`, async (t) => {
    const folder = folderOf(t);
    writeFileSync(join(folder, "journal"), text);
    t.throws(() => openIn(t, folder), { name: "StoreProblem", message });
    t.equal(readFileSync(join(folder, "journal"), "utf8"), text);
  });
}

/** Until the function that it gives is called, each write of a file writes a half and fails. */
async function fillDisk(): Promise<() => void> {
  const handle = await open(import.meta.filename);
  const prototype = Object.getPrototypeOf(handle) as FileHandle;
  await handle.close();
  const { write, writeFile } = prototype;
  const writeAt = write as (bytes: Buffer, at: number, length: number, position: number) => Promise<unknown>;
  const full = () => Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
  Object.assign(prototype, {
    async write(this: FileHandle, bytes: Buffer, at: number, length: number, position: number) {
      await writeAt.call(this, bytes, at, Math.floor(length / 2), position);
      throw full();
    },
    async writeFile() {
      throw full();
    },
  });
  return () => Object.assign(prototype, { write, writeFile });
}

t.test("a full disk: calls fail, what is kept stays, and it goes on when there is room", async (t) => {
  const folder = folderOf(t);
  const { world, said } = openIn(t, folder);
  await furnish(world);
  const before = await pictureOf(world);
  const empty = await fillDisk();
  t.teardown(empty);
  const full = { code: "SandboxStorageFull", status: 507, message: /ENOSPC.*Make room on the disk and try again/ };
  const { operations: s3, buckets } = world.service("s3");
  const large = { Bucket: "a-bucket", Key: "new", Body: Buffer.alloc(50_000) };
  // Those that come together are written together, and all fail.
  const calls = [
    put(world, "/a", "lost"),
    put(world, "/b", "lost"),
    world.run("PutObject", () => s3.PutObject(large)),
    world.run("DeleteFunction", () =>
      world.service("lambda", REGION).operations.DeleteFunction({ FunctionName: NAME }),
    ),
  ];
  for (const call of calls) await t.rejects(call, { ...full, message: /Make room on the disk/ });
  await t.rejects(put(world, "/a", "lost"), full);
  t.same(await pictureOf(world), before, "all is as before");
  t.notOk(buckets.get("a-bucket")!.objects.has("new"));
  empty();
  await put(world, "/a", "kept");
  await world.close();
  const again = openIn(t, folder);
  t.same(await pictureOf(again.world), { ...before, parameters: { "/a": "kept" } });
  // A call that takes long is caught by a write of the timer's, which tells nobody else that it failed.
  const others = said.filter((text) => !/^The sandbox cannot write its state/.test(text));
  t.same([...others, ...again.said], []);
  t.equal(readdirSync(join(folder, "blobs")).length, 2, "no archive of a call that failed");
});

t.test("a full disk stops a stack, which ends when there is room", async (t) => {
  const folder = folderOf(t);
  const { world, said } = openIn(t, folder, new CloudClock({ speed: 100 }));
  const stacks = world.service("cloudformation", REGION);
  await world.run("CreateStack", () =>
    stacks.operations.CreateStack({ StackName: "first", TemplateBody: FIRST, Capabilities: ["CAPABILITY_IAM"] }),
  );
  const empty = await fillDisk();
  t.teardown(empty);
  await until("a report", () => said.length > 0);
  t.match(said[0], /cannot write its state/);
  t.equal(stacks.find("first")?.status, "CREATE_IN_PROGRESS");
  empty();
  await stacks.settled();
  t.equal(stacks.find("first")?.status, "CREATE_COMPLETE");
  t.same(leftOver(world, "first", REGION), []);
});

t.test("the journal is written anew when most of it is out of date", async (t) => {
  const folder = folderOf(t);
  const { world } = openIn(t, folder);
  await furnish(world);
  const value = (i: number) => `${i}`.padEnd(4000, "x");
  let largest = 0;
  const other = world.collection<string>("ssm", REGION, "other");
  for (let i = 0; i < 30; i++) {
    await world.run("Change", () => {
      for (let key = 0; key < 100; key++) other.set(`key ${key}`, value(i));
    });
    largest = Math.max(largest, statSync(join(folder, "journal")).size);
  }
  const before = await pictureOf(world);
  await world.close();
  t.ok(largest < 5 * 1024 * 1024, `${largest} bytes at most, of 12 MB that were written`);
  const again = openIn(t, folder);
  t.same(await pictureOf(again.world), before);
  t.equal(again.world.collection("ssm", REGION, "other").get("key 9"), value(29));
  t.notOk(existsSync(join(folder, "journal.new")));
});

t.test("files that nothing names are removed at opening, those that a version names are not", async (t) => {
  const folder = folderOf(t);
  const { world } = openIn(t, folder);
  await furnish(world);
  const { operations } = world.service("lambda", REGION);
  const named = readdirSync(join(folder, "blobs"));
  await world.run("Change", () => operations.DeleteLayerVersion({ LayerName: "layer", VersionNumber: 1 }));
  await world.close();
  for (const name of ["left-over", `${"0".repeat(64)}.new`]) writeFileSync(join(folder, "blobs", name), "x");
  writeFileSync(join(folder, "journal.new"), "x");
  const again = openIn(t, folder);
  t.same(readdirSync(join(folder, "blobs")), named, "the function has the same archive");
  t.same(readdirSync(folder).sort(), ["blobs", "journal", "series"]);
  await again.world.run("Change", () =>
    again.world.service("lambda", REGION).operations.DeleteFunction({ FunctionName: NAME }),
  );
  t.equal(readdirSync(join(folder, "blobs")).length, 1, "of the bucket's object");
});

const damages: readonly [name: string, damage: (path: string) => void, said: RegExp][] = [
  ["has another byte", (path) => writeFileSync(path, Buffer.alloc(statSync(path).size)), /is damaged: its content/],
  ["is shorter", (path) => truncateSync(path, statSync(path).size - 1), /is damaged: its content/],
  ["is missing", (path) => rmSync(path), /cannot be read: ENOENT/],
  [
    "is a folder",
    (path) => {
      rmSync(path);
      mkdirSync(join(path, "other"), { recursive: true });
    },
    /cannot be read: EISDIR/,
  ],
];

for (const [name, damage, wanted] of damages) {
  t.test(`an archive that ${name} is said, and written anew by the next that has it`, async (t) => {
    const folder = folderOf(t);
    const { world } = openIn(t, folder);
    await furnish(world);
    const { sha256 } = world.service("lambda", REGION).state.function(NAME).latest.code.zip;
    await world.close();
    damage(join(folder, "blobs", sha256));
    mkdirSync(join(folder, "blobs/stray/folder"), { recursive: true });
    const again = openIn(t, folder);
    t.notOk(existsSync(join(folder, "blobs/stray")), "a stray folder does not stop it");
    const { operations, state } = again.world.service("lambda", REGION);
    const Payload = Buffer.from("{}");
    const message = /^the code of this version is damaged or missing in the sandbox: tool stack delete --sandbox, /;
    for (const way of ["first", "second"]) {
      const invoking = again.world.run("Invoke", () => operations.Invoke({ FunctionName: NAME, Payload }));
      await t.rejects(invoking, { status: 502, message }, way);
    }
    t.equal(again.said.length, 1);
    t.match(again.said[0], wanted);
    const change = (work: () => unknown) => again.world.run("Change", work);
    await change(() => operations.UpdateFunctionConfiguration({ FunctionName: NAME, Description: "changed" }));
    await until("the function", () => state.function(NAME).latest.updateStatus === "Successful");
    const ZipFile = zipOf({ "index.js": "x".repeat(20_000) });
    await change(() => operations.UpdateFunctionCode({ FunctionName: NAME, ZipFile }));
    await until("the function", () => state.function(NAME).latest.updateStatus === "Successful");
    await again.world.commit();
    t.ok(readFileSync(join(folder, "blobs", sha256)).equals(Buffer.from(ZipFile)));
    await again.world.close();
    const last = openIn(t, folder);
    t.equal(last.world.service("lambda", REGION).state.function(NAME).latest.code.zip.read().length, ZipFile.length);
    t.same(last.said, []);
  });
}

t.test("log events and figures: what a killed process wrote is there, the oldest go", async (t) => {
  const folder = folderOf(t);
  const { world } = openIn(t, folder);
  const group = "/aws/lambda/app";
  const total = 3000;
  // No commit: a function writes when nobody calls.
  for (let i = 0; i < total; i++) {
    world.service("logs", REGION).append(group, "stream", [{ timestamp: i, message: `${i} ${"x".repeat(400)}` }]);
  }
  await world.commit();
  const copy = join(folderOf(t), "copy");
  cpSync(folder, copy, { recursive: true });
  const [series] = readdirSync(join(copy, "series"));
  const newest = readdirSync(join(copy, "series", series!))
    .sort()
    .at(-1)!;
  const path = join(copy, "series", series!, newest);
  truncateSync(path, statSync(path).size - 10);
  const again = openIn(t, copy).world.service("logs", REGION);
  const numbers = async (startTime: number, endTime: number) => {
    const results: number[] = [];
    for (let nextToken: string | undefined; ; ) {
      const input = { logGroupName: group, startTime, endTime, ...(nextToken !== undefined && { nextToken }) };
      const page = await again.operations.FilterLogEvents(input);
      for (const { message } of page.events) results.push(Number(message!.split(" ")[0]));
      nextToken = page.nextToken;
      if (nextToken === undefined) return results;
    }
  };
  const all = Array.from({ length: total - 1 }, (_, i) => i);
  t.same(await numbers(0, total), all, "all but the one that was cut");
  t.same(await numbers(1000, 1010), all.slice(1000, 1011));
  again.append(group, "stream", [{ timestamp: total, message: `${total} new` }]);
  t.same(await numbers(total - 2, total), [total - 2, total]);
  const bytes = again.operations.DescribeLogGroups({}).logGroups[0]!.storedBytes;
  t.ok(bytes > 400 * total, `${bytes} bytes`);
  again.operations.DeleteLogGroup({ logGroupName: group });
  t.same(readdirSync(join(copy, "series")), []);
});

/** Gets the folder of the series and the names of its parts, the newest last. */
type Spoil = (folder: string, parts: readonly string[]) => void;
const folderInPlaceOf = (path: string) => {
  rmSync(path);
  mkdirSync(join(path, "other"), { recursive: true });
};

const spoiled: readonly [name: string, spoil: Spoil, left: (events: number) => boolean, isKept: boolean][] = [
  [
    "whose folder is a file",
    (folder) => {
      rmSync(folder, { recursive: true });
      writeFileSync(folder, "x");
    },
    (events) => events === 0,
    false,
  ],
  [
    "of which one part is a folder",
    (folder, [first = ""]) => folderInPlaceOf(join(folder, first)),
    (events) => events > 0 && events < 1500,
    true,
  ],
  [
    "whose newest part is a folder",
    (folder, parts) => folderInPlaceOf(join(folder, parts.at(-1)!)),
    (events) => events > 1000 && events < 1500,
    true,
  ],
];

for (const [name, spoil, isLeft, isKept] of spoiled) {
  t.test(`a log ${name} is said once, and the rest goes on`, async (t) => {
    const folder = folderOf(t);
    const { world } = openIn(t, folder);
    const logGroupName = "/aws/lambda/app";
    const write = (to: World, from: number, count: number) => {
      for (let i = from; i < from + count; i += 1) {
        const message = `${i} ${"x".repeat(400)}`;
        to.service("logs", REGION).append(logGroupName, "stream", [{ timestamp: i, message }]);
      }
    };
    write(world, 0, 1500);
    await put(world, "/a", "one");
    await world.close();
    const [series = ""] = readdirSync(join(folder, "series"));
    const own = join(folder, "series", series);
    spoil(own, readdirSync(own).sort());
    const again = openIn(t, folder);
    const numbers = async (from: World) => {
      const { events } = await from.service("logs", REGION).operations.FilterLogEvents({ logGroupName });
      return events.map(({ timestamp }) => timestamp!);
    };
    const left = await numbers(again.world);
    t.ok(isLeft(left.length), `${left.length} of 1500`);
    write(again.world, 1500, 2);
    t.same(await numbers(again.world), [...left, 1500, 1501]);
    t.same(valuesOf(again.world), { "/a": "one" });
    t.match(again.said[0], /^some log events or samples cannot be read and are left out: E(NOTDIR|ISDIR)/);
    if (!isKept) t.match(again.said[1], /^log events and samples are not kept: EEXIST/);
    t.equal(again.said.length, isKept ? 1 : 2);
    await again.world.close();
    const last = await numbers(openIn(t, folder).world);
    t.same(last, isKept ? [...left, 1500, 1501] : []);
  });
}

t.test("output without a text makes no log group", async (t) => {
  const { world } = openIn(t, folderOf(t));
  const logs = world.service("logs", REGION);
  // A function that writes empty lines alone.
  logs.append("/aws/lambda/app", "stream", []);
  t.equal(logs.groups.size, 0);
  logs.append("/aws/lambda/app", "stream", [{ timestamp: 1, message: "a" }]);
  t.equal(logs.groups.size, 1);
  await world.close();
});

t.test("pages of a large log are in the order of time, and others work in between", async (t) => {
  const { world } = openIn(t, folderOf(t));
  const logs = world.service("logs", REGION);
  const [logGroupName, total] = ["/aws/lambda/app", 20_000];
  // Each tenth comes late, by more than what one part has.
  const times = Array.from({ length: total }, (_, i) => (i % 10 === 0 ? Math.max(0, i - 5_000) : i));
  for (const [i, timestamp] of times.entries()) {
    logs.append(logGroupName, `${i % 3}`, [{ timestamp, message: `${i} ${"x".repeat(300)}` }]);
  }
  const numberOf = ({ message = "" }: { message?: string | undefined }) => Number(message.split(" ")[0]);
  const wanted = [...times.keys()].sort((a, b) => times[a]! - times[b]! || a - b);
  logs.settings.scannedEvents = 5_000;
  const rows: readonly [name: string, filter: object, isWanted: (i: number) => boolean, pages: number][] = [
    // A megabyte each.
    ["all", {}, () => true, 6],
    ["those of a stream", { logStreamNames: ["1"] }, (i) => i % 3 === 1, 2],
    ["few", { limit: 8_000, filterPattern: '"7 xx"' }, (i) => i % 10 === 7, 4],
    ["none", { filterPattern: "nothing" }, () => false, 4],
    ["a part", { startTime: 3_000, endTime: 3_999 }, (i) => times[i]! >= 3_000 && times[i]! < 4_000, 1],
  ];
  for (const [name, filter, isWanted, wantedPages] of rows) {
    const matches: number[] = [];
    let [pages, turns, isOver] = [0, 0, false];
    const turn = () => {
      turns += 1;
      if (!isOver) setImmediate(turn);
    };
    turn();
    for (let nextToken: string | undefined; ; ) {
      const page = await logs.operations.FilterLogEvents({ logGroupName, ...filter, ...(nextToken && { nextToken }) });
      matches.push(...page.events.map(numberOf));
      pages += 1;
      nextToken = page.nextToken;
      if (nextToken === undefined) break;
    }
    isOver = true;
    t.strictSame(matches, wanted.filter(isWanted), name);
    t.equal(pages, wantedPages, `${name}: pages`);
    t.ok(turns > pages, `${name}: others worked ${turns} times`);
  }
});

t.test("a stack goes on from wherever its process was killed", async (t) => {
  const folder = folderOf(t);
  const clock = new TestClock({ speed: 0 });
  const recording = openIn(t, folder, clock);
  const stacks = recording.world.service("cloudformation", REGION);
  const StackName = NAME;
  const Capabilities = ["CAPABILITY_IAM" as const];
  const made = { StackName, Capabilities };
  const steps: readonly (readonly [work: () => unknown, end: string])[] = [
    [
      () =>
        stacks.operations.CreateChangeSet({
          ...made,
          ChangeSetName: "set",
          ChangeSetType: "CREATE",
          TemplateBody: FIRST,
        }),
      "REVIEW_IN_PROGRESS",
    ],
    [() => stacks.operations.ExecuteChangeSet({ StackName, ChangeSetName: "set" }), "CREATE_COMPLETE"],
    [() => stacks.operations.UpdateStack({ ...made, TemplateBody: SECOND }), "UPDATE_COMPLETE"],
    [() => stacks.operations.UpdateStack({ ...made, TemplateBody: FAILING }), "UPDATE_ROLLBACK_COMPLETE"],
    [() => stacks.operations.DeleteStack({ StackName }), "DELETE_COMPLETE"],
  ];
  let id = "";
  for (const [work, end] of steps) {
    await recording.world.run("Change", work);
    id ||= stacks.find(StackName)!.id;
    // Each step is a batch of its own.
    const isOver = () => {
      const stack = stacks.stacks.peek(id)!;
      return stack.status === end && stack.changeSets.get("set")?.status !== "CREATE_PENDING";
    };
    while (!isOver()) {
      clock.advance(500);
      await recording.world.commit();
    }
  }
  t.same(leftOver(recording.world, StackName, REGION), []);
  await recording.world.close();
  const journal = readFileSync(join(folder, "journal"));
  const ends: number[] = [];
  for (let at = 0; at < journal.length; ) {
    const end = journal.indexOf("\n", at) + 1;
    if (journal.toString("latin1", at + 8, end).split("\t")[2] === ".") ends.push(end);
    at = end;
  }
  t.ok(ends.length > 40, `${ends.length} places`);
  const statuses = new Set<string>();
  const copies = folderOf(t);
  await Promise.all(
    ends.map(async (end) => {
      const copy = join(copies, `${end}`);
      mkdirSync(copy);
      writeFileSync(join(copy, "journal"), journal.subarray(0, end));
      const { world, said } = openIn(t, copy, muchLater());
      const again = world.service("cloudformation", REGION);
      await again.settled();
      const status = again.stacks.peek(id)?.status ?? "none";
      statuses.add(status);
      const changeSet = () => again.stacks.peek(id)?.changeSets.get("set")?.status;
      if (status === "REVIEW_IN_PROGRESS") await until("the change set", () => changeSet() === "CREATE_COMPLETE");
      const problems = [...leftOver(world, StackName, REGION), ...said];
      if (!/^(none|REVIEW_IN_PROGRESS|.*_COMPLETE)$/.test(status)) problems.push(status);
      // The next thing that somebody does works.
      if (again.find(StackName) !== undefined) {
        await world.run("DeleteStack", () => again.operations.DeleteStack({ StackName }));
        await again.settled();
        problems.push(...leftOver(world, StackName, REGION));
      }
      if (problems.length > 0) t.fail(`killed at ${end}: ${problems.join("; ")}`);
      await world.close();
    }),
  );
  t.same(
    [...statuses].sort(),
    [
      "CREATE_COMPLETE",
      "DELETE_COMPLETE",
      "REVIEW_IN_PROGRESS",
      "UPDATE_COMPLETE",
      "UPDATE_ROLLBACK_COMPLETE",
      "none",
    ].sort(),
  );
});

t.test("an event that a function was promised to get is delivered after a restart", async (t) => {
  const folder = folderOf(t);
  const { world } = openIn(t, folder);
  const call = <Result>(work: () => Result) => world.run("Change", work);
  const lambda = world.service("lambda", REGION);
  const policy = { RoleName: "role", AssumeRolePolicyDocument: JSON.stringify(TRUST) };
  await call(() => world.service("iam").operations.CreateRole(policy));
  const [output, go] = ["told", "go"].map((name) => join(folder, name)) as [string, string];
  const code = `exports.handler = async ({ file, go, text }) => {
    const fs = require("node:fs");
    while (!fs.existsSync(go)) await new Promise((resolve) => setTimeout(resolve, 5));
    fs.appendFileSync(file, text);
  };`;
  const Role = `arn:aws:iam::${world.accountId}:role/role`;
  const settings = { Role, Runtime: "nodejs24.x", Handler: "index.handler" } as const;
  const Code = { ZipFile: zipOf({ "index.js": code }) };
  await call(() => lambda.operations.CreateFunction({ FunctionName: NAME, ...settings, Code }));
  await until("the function", () => lambda.state.function(NAME).latest.updateStatus === "Successful");
  await world.commit();
  const Payload = Buffer.from(JSON.stringify({ file: output, go, text: "once " }));
  await world.run("Invoke", () => lambda.operations.Invoke({ FunctionName: NAME, InvocationType: "Event", Payload }));
  // The files that a process leaves if it is killed now.
  const copy = join(folderOf(t), "copy");
  cpSync(folder, copy, { recursive: true });
  writeFileSync(go, "");
  const text = () => (existsSync(output) ? readFileSync(output, "utf8") : "");
  await until("the event", () => text() === "once ");
  await world.close();
  const again = openIn(t, copy);
  await until("the same event again", () => text() === "once once ");
  await until("no event is left", () => again.world.collection("lambda", REGION, "events").size === 0);
  await again.world.close();
  const last = openIn(t, copy);
  t.equal(last.world.collection("lambda", REGION, "events").size, 0);
});

t.test("work that was under way is done after a restart", async (t) => {
  const folder = folderOf(t);
  // So slow that nothing ends before the process.
  const { world } = openIn(t, folder, new CloudClock({ speed: 0.001 }));
  const call = <Result>(work: () => Result) => world.run("Change", work);
  await call(() =>
    world.service("iam").operations.CreateRole({ RoleName: "role", AssumeRolePolicyDocument: JSON.stringify(TRUST) }),
  );
  const Code = { ZipFile: zipOf({ "index.js": "" }) };
  const made = {
    Role: `arn:aws:iam::${world.accountId}:role/role`,
    Runtime: "nodejs24.x",
    Handler: "index.handler",
  } as const;
  await call(() => world.service("lambda", REGION).operations.CreateFunction({ FunctionName: NAME, ...made, Code }));
  const zone = await call(() =>
    world.service("route53").operations.CreateHostedZone({ Name: "shop.com", CallerReference: "x" }),
  );
  const acm = world.service("acm", REGION);
  const { CertificateArn } = await call(() =>
    acm.operations.RequestCertificate({ DomainName: "shop.com", ValidationMethod: "DNS" }),
  );
  const { record } = acm.certificates.get(CertificateArn!)!;
  const ResourceRecordSet = {
    Name: record.name,
    Type: "CNAME" as const,
    TTL: 60,
    ResourceRecords: [{ Value: record.value }],
  };
  await call(() =>
    world.service("route53").operations.ChangeResourceRecordSets({
      HostedZoneId: zone.HostedZone.Id,
      ChangeBatch: { Changes: [{ Action: "CREATE", ResourceRecordSet }] },
    }),
  );
  const names = world.service("route53domains", "us-east-1").operations;
  const { OperationId } = await call(() => names.RegisterDomain({ DomainName: "ours.com" } as never));
  await world.close();

  const path = join(folder, "journal");
  // Their times are far ahead; as if the sandbox had not run for so long, they are past.
  const records = readFileSync(path, "utf8");
  t.match(records, /"tasks"\t.*"dueAt":\d+/);
  const { world: later } = openIn(t, folder, muchLater());
  const state = () => ({
    function: later.service("lambda", REGION).state.function(NAME).latest.updateStatus,
    certificate: later.service("acm", REGION).certificates.get(CertificateArn!)!.status,
    domain: later.service("route53domains", "us-east-1").operations.GetOperationDetail({ OperationId }).Status,
  });
  const done = { function: "Successful", certificate: "ISSUED", domain: "SUCCESSFUL" };
  await until("the work to be done", () => JSON.stringify(state()) === JSON.stringify(done), state);
  t.same(state(), done);
});
