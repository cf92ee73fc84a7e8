// The parts between the command and the cloud: credentials, errors in words, names, what Git says.
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { inspect } from "node:util";
import t from "tap";
import { openCloud } from "../../../cli/aws/clients.ts";
import { credentialsOf, credentialsSource } from "../../../cli/aws/credentials.ts";
import { explainError } from "../../../cli/aws/errors.ts";
import { functionPolicy, policyHash } from "../../../cli/aws/function/policy.ts";
import { type DeployRecord, readRecord, writeRecord } from "../../../cli/aws/function/record.ts";
import { commitAlias } from "../../../cli/aws/names.ts";
import { hideValues, withoutValues } from "../../../cli/aws/without-values.ts";
import { PlatformError } from "../../../cli/platform/error.ts";
import { readCommit } from "../../../cli/project/commit.ts";
import { profileNames, profileRegion } from "../../../cli/project/profile-region.ts";
import { systemClock } from "../../../grammar/units/clock.ts";
import { cleanEnv, root, tool } from "../../support/cli.ts";
import { requires } from "../../support/require.ts";

t.test("which credentials are used", (t) => {
  const keys = { CLOUD_ACCESS_KEY_ID: "AKIA1", CLOUD_SECRET_ACCESS_KEY: "secret1" };
  const rows: [profile: string | undefined, profiles: string[], env: Record<string, string>, expected: string][] = [
    ["work", ["work"], {}, "profile work"],
    ["work", ["work"], keys, "profile work"],
    ["work", ["home"], keys, "keys AKIA1"],
    ["work", [], { AWS_WEB_IDENTITY_TOKEN_FILE: "/token" }, "chain"],
    ["work", [], { AWS_ACCESS_KEY_ID: "AKIA2" }, "chain"],
    ["work", ["home"], {}, 'there is no credentials profile "work" on this machine'],
    [undefined, ["default"], {}, "chain"],
    [undefined, ["default"], keys, "keys AKIA1"],
    [undefined, [], { ...keys, CLOUD_SESSION_TOKEN: "token1" }, "keys AKIA1 with token"],
    [undefined, [], { ...keys, CLOUD_SESSION_TOKEN: "" }, "keys AKIA1"],
    [undefined, [], { CLOUD_ACCESS_KEY_ID: "AKIA1" }, "CLOUD_ACCESS_KEY_ID is set but CLOUD_SECRET_ACCESS_KEY is not"],
    [undefined, [], { CLOUD_SECRET_ACCESS_KEY: "x" }, "CLOUD_SECRET_ACCESS_KEY is set but CLOUD_ACCESS_KEY_ID is not"],
    [undefined, [], { CLOUD_ACCESS_KEY_ID: "", CLOUD_SECRET_ACCESS_KEY: "" }, "chain"],
    [undefined, [], {}, "chain"],
  ];
  for (const [profile, profiles, env, expected] of rows) {
    const source = credentialsSource({ env, profile }, (name) => profiles.includes(name));
    const got =
      source.kind === "profile"
        ? `profile ${source.name}`
        : source.kind === "keys"
          ? `keys ${source.keys.accessKeyId}${source.keys.sessionToken === undefined ? "" : " with token"}`
          : source.kind === "wrong"
            ? source.message
            : "chain";
    t.equal(
      got,
      expected,
      `profile ${profile}, on this machine ${profiles.join(", ") || "none"}, ${JSON.stringify(env)}`,
    );
  }
  t.end();
});

t.test("the profiles of the shared files", (t) => {
  const home = t.testdir({
    ".aws": {
      config: "[default]\nregion = eu-west-1\n[profile work]\nregion = us-east-1\n[sso-session corp]\nsso_region = x\n",
      credentials: "[ci]\naws_access_key_id = AKIA\n[work]\n",
    },
  });
  t.same([...profileNames({ HOME: home })].sort(), ["ci", "default", "work"]);
  t.same([...profileNames({ HOME: "/nonexistent" })], []);
  t.end();
});

t.test("profiles in a pipe or a device are not waited for", { skip: requires("mkfifo") }, async (t) => {
  const pipe = (path: string) => execFileSync("mkfifo", [path]);
  const endless = (path: string) => symlinkSync("/dev/zero", path);
  const rows: [name: string, make: ((path: string) => void) | undefined, variable?: string][] = [
    ["config", pipe],
    ["credentials", endless],
    ["elsewhere", pipe, "AWS_CONFIG_FILE"],
    ["elsewhere", endless, "AWS_SHARED_CREDENTIALS_FILE"],
    ["config", undefined],
    ["config", mkdirSync],
    ["config", (path) => symlinkSync("nowhere", path)],
  ];
  const open = (env: Record<string, string>) => () =>
    openCloud({ env, clock: systemClock, region: "eu-west-1", sandbox: undefined });
  for (const [name, make, variable] of rows) {
    const HOME = t.testdir({ ".aws": {} });
    const path = join(HOME, ".aws", name);
    make?.(path);
    const env = { HOME, ...(variable !== undefined && { [variable]: path }) };
    if (make === pipe || make === endless) {
      t.throws(open(env), { code: "credentials/not-a-file", message: `cannot read ${path}: it is not a file` }, path);
    } else t.doesNotThrow(open(env), path);
    t.equal(profileNames(env).size, 0, `${path}: no profiles`);
  }
  t.doesNotThrow(open({ AWS_CONFIG_FILE: "/dev/null", AWS_SHARED_CREDENTIALS_FILE: "/dev/null" }), "no profiles");
  const cwd = t.testdir({ "tool.json": '{ "name": "app", "profile": "work" }', "app.js": "", pipe: {} });
  const HOME = join(cwd, "pipe");
  mkdirSync(join(HOME, ".aws"));
  pipe(join(HOME, ".aws/config"));
  const { code, stderr } = await tool(["url"], { cwd, env: { HOME } });
  t.same([code, stderr.split("\n")[0]], [1, `error: cannot read ${HOME}/.aws/config: it is not a file`]);
});

/** As PowerShell's `>` writes a text, or with the bytes the other way round. */
const utf16 = (text: string) => Buffer.from(`\ufeff${text}`, "utf16le");
const PROFILE = "[profile work]\r\nregion = eu-west-3\r\n";

t.test("profiles are read in UTF-16", async (t) => {
  const texts: [name: string, bytes: Buffer][] = [
    ["UTF-16", utf16(PROFILE)],
    ["UTF-16, big end first", utf16(PROFILE).swap16()],
    ["UTF-8 with a byte order mark", Buffer.from(`\ufeff${PROFILE}`)],
  ];
  for (const [name, config] of texts) {
    const HOME = t.testdir({ ".aws": { config } });
    t.equal(profileRegion("work", { HOME }), "eu-west-3", name);
  }

  // The SDK, too, in the command.
  const callers: string[] = [];
  const cloud = createServer(({ headers }, response) => {
    callers.push(
      /Credential=([^/]+)\/\d+\/([^/]+)/
        .exec(headers.authorization ?? "")
        ?.slice(1)
        .join(" ") ?? "nobody",
    );
    response.writeHead(403, { "x-amzn-errortype": "AccessDeniedException" }).end("{}");
  });
  await once(cloud.listen(0, "127.0.0.1"), "listening");
  t.teardown(() => cloud.close());
  const cwd = t.testdir({
    ".aws": {
      config: utf16(PROFILE),
      credentials: utf16("[work]\naws_access_key_id = AKIA16\naws_secret_access_key = secret\n").swap16(),
    },
    "tool.json": '{ "name": "app", "profile": "work" }',
  });
  const TOOL_AWS_ENDPOINT = `http://127.0.0.1:${(cloud.address() as AddressInfo).port}`;
  await tool(["deploys"], { cwd, env: { HOME: cwd, TOOL_AWS_ENDPOINT } });
  t.same([...new Set(callers)], ["AKIA16 eu-west-3"]);
});

t.test("profiles that cannot be read are named where they are missed", async (t) => {
  const HOME = t.testdir({
    folder: {},
    unmarked: utf16(PROFILE).subarray(2),
    large: "",
    cut: utf16(PROFILE).subarray(0, 41),
  });
  const at = (name: string) => join(HOME, name);
  truncateSync(at("large"), 2 ** 30);
  symlinkSync("circle", at("circle"));
  const encoding = "it is neither UTF-8 nor UTF-16 with a byte order mark";
  const rows: [name: string, reason: string][] = [
    ["folder", "it is a folder"],
    ["unmarked", encoding],
    ["circle", "its symbolic links lead in a circle"],
  ];
  const region = "eu-west-1";
  for (const [name, reason] of rows) {
    for (const variable of ["AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"]) {
      const env = { HOME, [variable]: at(name) };
      t.doesNotThrow(() => openCloud({ env, clock: systemClock, region, sandbox: undefined }), "others may do");
      const message = `cannot read ${at(name)}: ${reason}`;
      await t.rejects(credentialsOf({ env, region, profile: "work" })(), { message }, `${variable}: ${name}`);
      const keys = { CLOUD_ACCESS_KEY_ID: "AKIA", CLOUD_SECRET_ACCESS_KEY: "secret" };
      t.match(await credentialsOf({ env: { ...env, ...keys }, region })(), { accessKeyId: "AKIA" }, "not missed");
    }
  }
  const open = (env: Record<string, string>) => () =>
    openCloud({ env, clock: systemClock, region, sandbox: undefined });
  const large = { HOME, AWS_CONFIG_FILE: at("large") };
  t.throws(
    open(large),
    { message: `cannot read ${at("large")}: it is larger than 16 MiB` },
    "is not read by the SDK either",
  );
  t.same([...profileNames(large)], [], "nor by us");
  t.equal(profileRegion("work", { HOME, AWS_CONFIG_FILE: at("cut") }), undefined, "a text that ends in a character");

  // Without a profile the SDK asks for credentials everywhere, and the command says what it could not read.
  const cwd = t.testdir({ "tool.json": '{ "name": "app" }', ".aws": { credentials: {} } });
  const env = { HOME: cwd, AWS_EC2_METADATA_DISABLED: "true" };
  const { code, stderr } = await tool(["deploys"], { cwd, env });
  t.same([code, stderr.split("\n")[0]], [1, `error: cannot read ${cwd}/.aws/credentials: it is a folder`]);
});

t.test("a region that can be none is told before the cloud is asked", async (t) => {
  const open = (region: string) => () => openCloud({ env: {}, clock: systemClock, region, sandbox: undefined });
  for (const region of ["eu west", "eu_west_1", "", "-", "eu-west-1.", "eu\u001b[31m", "https://x"]) {
    const message = `${JSON.stringify(region)} is not a region`;
    t.throws(open(region), { code: "region/invalid", message }, message);
  }
  for (const region of ["eu-west-1", "us-gov-east-1", "custom"]) t.doesNotThrow(open(region), region);
  const cwd = t.testdir({
    "tool.json": '{ "name": "app", "profile": "work" }',
    "app.js": "",
    ".aws": { config: "[profile work]\nregion = eu\u001b[31m-west\n" },
  });
  const { code, stderr } = await tool(["deploys"], { cwd, env: { HOME: cwd } });
  t.same([code, stderr.split("\n")[0]], [1, 'error: "eu\\u001b[31m-west" is not a region']);
});

t.test("where there are no credentials, the hint names the same ways to give them as the README", (t) => {
  const missing = { name: "CredentialsProviderError", message: "Could not load credentials from any providers" };
  const hint = explainError(Object.assign(new Error(missing.message), missing), { region: "eu-west-1" })?.hint ?? "";
  const readme = readFileSync(join(root, "README.md"), "utf8");
  const [sentence = ""] = /^You need credentials of an AWS account: [^.]*(?:\.(?!\s)[^.]*)*\./m.exec(readme) ?? [];
  const ways = (text: string) =>
    text.match(/~\/\.aws|"?\bprofile\b"? in tool\.json|\b[A-Z]+(?:_[A-Z]+)+\b|aws sso login/g);
  const plain = (text: string) => ways(text.replaceAll("`", "").replace('"profile"', "profile"));
  t.same(plain(sentence), plain(hint));
  t.equal(plain(hint)?.length, 8, "each is looked for");
  t.end();
});

t.test("what an error of the cloud means and what to do", (t) => {
  const rows: [fields: Record<string, unknown>, message: string, hint: string | undefined, profile?: string][] = [
    [
      { name: "ExpiredTokenException", message: "The security token included in the request is expired" },
      "the cloud credentials have expired",
      "get new ones: aws sso login, or the key and session token of CLOUD_ACCESS_KEY_ID, CLOUD_SECRET_ACCESS_KEY and CLOUD_SESSION_TOKEN",
    ],
    [
      { name: "ExpiredToken", message: "The provided token has expired." },
      "the cloud credentials have expired",
      "get new ones: aws sso login --profile work, or the way you got them",
      "work",
    ],
    [
      { name: "CredentialsProviderError", message: "The SSO session associated with this profile has expired." },
      "the single sign-on session has expired, or was never started",
      "get new ones: aws sso login --profile work, or the way you got them",
      "work",
    ],
    [
      { name: "CredentialsProviderError", message: "Could not load credentials from any providers" },
      "there are no cloud credentials",
      'name a profile of ~/.aws as "profile" in tool.json or by CLOUD_PROFILE, set CLOUD_ACCESS_KEY_ID and CLOUD_SECRET_ACCESS_KEY (or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY), or sign in: aws sso login; without an account, add --sandbox to work on this machine',
    ],
    [
      { name: "CredentialsProviderError", message: "Profile work requires source_profile." },
      'the credentials of the profile "work" cannot be used: Profile work requires source_profile',
      "see ~/.aws/config and ~/.aws/credentials, or set CLOUD_ACCESS_KEY_ID and CLOUD_SECRET_ACCESS_KEY",
      "work",
    ],
    [
      {
        name: "InvalidSignatureException",
        message: "Signature expired: 20240101T000000Z is now earlier than 20240101T001000Z",
        status: 403,
      },
      "this machine's clock is wrong: the cloud rejects requests with an old timestamp",
      "set the clock",
    ],
    [
      {
        name: "RequestTimeTooSkewed",
        message: "The difference between the request time and the current time is too large.",
      },
      "this machine's clock is wrong: the cloud rejects requests with an old timestamp",
      "set the clock",
    ],
    [
      { name: "UnrecognizedClientException", message: "The security token included in the request is invalid." },
      "the cloud does not know the access key",
      "it was deleted, disabled or mistyped: check where the credentials come from",
    ],
    [
      {
        name: "InvalidClientTokenId",
        message: "The security token included in the request is invalid.",
        region: "eu-south-2",
      },
      "the cloud does not know the access key",
      "it was deleted or mistyped, or the region eu-south-2 is not enabled for the account",
    ],
    [
      {
        name: "SignatureDoesNotMatch",
        message:
          "The request signature we calculated does not match. The Canonical String should have been 'x-amz-security-token:SECRET'",
      },
      "the secret access key does not belong to the access key",
      "check where the credentials come from",
    ],
    [
      {
        name: "OptInRequired",
        message: "The AWS Access Key Id needs a subscription for the service",
        region: "me-south-1",
      },
      "the account may not use this service in the region me-south-1",
      "enable the region in the account's settings, or name another in tool.json",
    ],
    [
      {
        name: "AccessDeniedException",
        message:
          "User: arn:aws:iam::123456789012:user/ann is not authorized to perform: lambda:GetAlias on resource: arn:aws:lambda:us-west-2:123456789012:function:app because no identity-based policy allows the lambda:GetAlias action",
      },
      "arn:aws:iam::123456789012:user/ann may not do lambda:GetAlias on arn:aws:lambda:us-west-2:123456789012:function:app",
      "allow it to that user or role; tool stack policy prints all that is needed",
    ],
    [
      {
        name: "AccessDenied",
        message:
          "User: arn:aws:sts::1:assumed-role/dev/ann is not authorized to perform: iam:CreateRole on resource: arn:aws:iam::1:role/x with an explicit deny in a service control policy",
      },
      "arn:aws:sts::1:assumed-role/dev/ann may not do iam:CreateRole on arn:aws:iam::1:role/x",
      "a policy denies it: ask the account's administrator",
    ],
    [
      { name: "AccessDenied", message: "Access Denied" },
      "the account's user may not do this",
      "allow it to that user or role; tool stack policy prints all that is needed",
    ],
    [
      { name: "TooManyRequestsException", message: "Rate Exceeded.", status: 429 },
      "the cloud is throttling requests, after several retries too",
      "another client of this account may cause it: wait a minute, then run the command again: it continues with what exists",
    ],
    [
      { name: "CodeStorageExceededException", message: "Code storage limit exceeded." },
      "the account's storage for function code is full",
      "remove old deployments: tool prune, in each app; or ask the cloud provider for a higher limit",
    ],
    [
      { name: "LimitExceeded", message: "Cannot exceed quota for RolesPerAccount: 1000." },
      "a limit of the account is reached: Cannot exceed quota for RolesPerAccount: 1000",
      "remove unused resources, or ask the cloud provider for a higher limit",
    ],
    [
      {
        name: "Error",
        code: "ENOTFOUND",
        message: "getaddrinfo ENOTFOUND",
        hostname: "lambda.us-west-2.amazonaws.com",
      },
      "cannot reach lambda.us-west-2.amazonaws.com: its name is not found",
      "check the network",
    ],
    [
      {
        name: "Error",
        code: "ENOTFOUND",
        message: "getaddrinfo ENOTFOUND",
        hostname: "lambda.oregon.amazonaws.com",
        region: "oregon",
      },
      "cannot reach lambda.oregon.amazonaws.com: its name is not found",
      'check the network, and the region: "oregon" looks like none',
    ],
    [
      { name: "Error", code: "ECONNREFUSED", message: "connect ECONNREFUSED 127.0.0.1:9" },
      "the connection to the cloud failed: connect ECONNREFUSED 127.0.0.1:9",
      "check the network, then run the command again: it continues with what exists",
    ],
    [
      { name: "TimeoutError", message: "Connection timed out after 5000 ms" },
      "the connection to the cloud failed: Connection timed out after 5000 ms",
      "check the network, then run the command again: it continues with what exists",
    ],
    [
      { name: "Error", code: "SELF_SIGNED_CERT_IN_CHAIN", message: "self-signed certificate in certificate chain" },
      "the connection to the cloud is not trusted: SELF_SIGNED_CERT_IN_CHAIN",
      "a corporate proxy may intercept it: set NODE_EXTRA_CA_CERTS to its certificate",
    ],
    [
      { name: "ServiceException", message: "An error occurred", status: 500 },
      "the cloud reported an internal error: ServiceException (500)",
      "wait a minute and run the command again",
    ],
    [
      { name: "InvalidParameterValueException", message: "The provided subnet does not exist.", status: 400 },
      "the cloud refused the request: The provided subnet does not exist",
      undefined,
    ],
  ];
  for (const [fields, message, hint, profile] of rows) {
    const { name, status, region = "us-west-2", ...more } = fields;
    const error = Object.assign(new Error(fields.message as string), more, {
      name,
      ...(status !== undefined && { $metadata: { httpStatusCode: status } }),
    });
    const explained = explainError(error, { region: region as string, profile });
    t.same(
      { message: explained?.message, hint: explained?.hint },
      { message, hint },
      `${name} ${fields.code ?? ""} ${fields.message}`,
    );
    t.equal(explained?.cause, error);
  }
  t.equal(explainError(new TypeError("x is undefined"), { region: "us-west-2" }), undefined, "a mistake of ours");
  const own = new PlatformError("a/b", "c");
  t.equal(explainError(own, { region: "us-west-2" }), undefined, "what is explained already");
  t.end();
});

t.test("an endpoint that is not an address", async (t) => {
  const cwd = t.testdir({ "tool.json": '{ "name": "app" }', "app.js": "" });
  const keys = { CLOUD_ACCESS_KEY_ID: "AKIA1", CLOUD_SECRET_ACCESS_KEY: "secret1", CLOUD_REGION: "eu-west-1" };
  for (const endpoint of ["junk", "localhost:4566", "ftp://x"]) {
    for (const argv of [["stack"], ["deploy"], ["url"]]) {
      const { code, stdout, stderr } = await tool(argv, { cwd, env: { ...keys, TOOL_AWS_ENDPOINT: endpoint } });
      t.same([code, stdout], [1, ""], `${argv[0]} with ${endpoint}`);
      t.match(stderr, `error: TOOL_AWS_ENDPOINT is "${endpoint}", which is not an address\n`);
      t.notMatch(stderr, "mistake in tool");
    }
  }
});

t.test("errors without the values of variables", async (t) => {
  const variables = {
    API_KEY: "hunter2-secret",
    URL: "https://x.example/hunter2-secret",
    NL: 'two\nlines "q"',
    ON: "1",
    NO: "",
  };
  const rows: [message: string, expected: string][] = [
    [
      `Lambda was unable to configure your environment variables because the environment variables you have provided exceeded the 4KB limit. String measured: ${JSON.stringify(variables)}`,
      "Lambda was unable to configure your environment variables because the environment variables you have provided exceeded the 4KB limit",
    ],
    ["Value 'hunter2-secret' is refused", "Value '...' is refused"],
    ["Value 'https://x.example/hunter2-secret' is refused", "Value '...' is refused"],
    [JSON.stringify(variables), '{"API_KEY":"...","URL":"...","NL":"...","ON":"...","NO":""}'],
    ["{API_KEY=hunter2-secret, ON=1} has 1 error", "{API_KEY=..., ON=...} has 1 error"],
    [variables.NL, "..."],
    ["Memory of 1 MB is refused", "Memory of 1 MB is refused"],
    ["", ""],
  ];
  for (const [message, expected] of rows) t.equal(hideValues(message, variables), expected, message.slice(-40));

  const name = "InvalidParameterValueException";
  const thrown = Object.assign(new Error("no: hunter2-secret"), {
    ...{ name, $metadata: { httpStatusCode: 400 }, $response: { body: "hunter2-secret" } },
  });
  const caught: Error = await withoutValues(variables, () => Promise.reject(thrown)).then(
    () => t.fail("it succeeded"),
    (error) => error,
  );
  t.match(caught, { name, message: "no: ...", $metadata: { httpStatusCode: 400 } });
  t.notMatch(inspect(caught, { depth: 9, showHidden: true }), "hunter2");
  const other = new Error("no");
  await t.rejects(
    withoutValues(variables, () => Promise.reject(other)),
    other,
    "an error that quotes nothing stays as it is",
  );
});

t.test("the record of a deployment", (t) => {
  const whole: DeployRecord = {
    version: "12345",
    code: "n".repeat(44),
    settings: "s".repeat(22),
    policy: "p".repeat(22),
    previous: "12344",
    api: "abcdef1234",
    sha: "f".repeat(40),
    author: "Ann",
  };
  t.same(readRecord(writeRecord(whole), "12345"), whole, "comes back whole");
  const { previous: _, api: __, sha: ___, author: ____, ...least } = whole;
  t.same(readRecord(writeRecord(least), "12345"), least, "without what is not there");
  t.equal(readRecord(writeRecord(whole), "12346"), undefined, "of another version");
  for (const text of [undefined, "", "{", "null", "7", "made by hand", '{"v":"12345"}']) {
    t.equal(readRecord(text, "12345"), undefined, `not ours: ${text}`);
  }
  const stage = { before: "o".repeat(22), stack: "t".repeat(22), tags: "g".repeat(22) };
  const { sha: _____, author: ______, ...staged } = { ...whole, ...stage };
  t.same(readRecord(writeRecord(staged), "12345"), staged, "a stage's");
  t.ok(writeRecord(staged).length <= 256, `${writeRecord(staged).length} characters, all that a stage's can have`);
  const long = writeRecord({ ...whole, author: "Ä😀".repeat(100) });
  t.ok(long.length <= 256, `${long.length} characters`);
  t.match(readRecord(long, "12345")?.author, /^(Ä😀)+Ä?$/, "a long name is cut between characters");
  t.end();
});

t.test("aliases of commits", (t) => {
  const rows: [stage: string, ref: string, expected: string][] = [
    ["staging", "abc1234", "commit-staging-abc1234"],
    ["staging", "v1.2.0", "commit-staging-v1-2-0"],
    ["pr-1", "release/2024.1+rc", "commit-pr-1-release-2024-1-rc"],
    ["staging", "x".repeat(200), `commit-staging-${"x".repeat(113)}`],
  ];
  for (const [stage, ref, expected] of rows) t.equal(commitAlias(stage, ref), expected, `${stage} ${ref.slice(0, 20)}`);
  t.end();
});

t.test("the policy of the function's role", (t) => {
  const region = "us-west-2";
  const accountId = "123456789012";
  const logs = {
    Effect: "Allow",
    Action: ["logs:CreateLogGroup", "logs:CreateLogStream", "logs:PutLogEvents"],
    Resource: [
      "arn:aws:logs:us-west-2:123456789012:log-group:/aws/lambda/app",
      "arn:aws:logs:us-west-2:123456789012:log-group:/aws/lambda/app:*",
    ],
  };
  const read = { Effect: "Allow", Action: "s3:GetObject", Resource: "*" } as const;
  const write = { Effect: "Allow", Action: "s3:PutObject", Resource: "*" } as const;
  const statements = (config: Parameters<typeof functionPolicy>[0]["config"]) =>
    JSON.parse(functionPolicy({ config, region, accountId, readsSnapshots: false })).Statement;
  const hash = (config: Parameters<typeof statements>[0]) => policyHash({ config, readsSnapshots: false });
  t.same(statements({ name: "app" }), [logs], "least");
  t.same(statements({ name: "app", function: { policy: [read] } }), [logs, read]);
  const staged = {
    name: "app",
    function: { policy: [read] },
    stages: { production: { function: { policy: [write] } } },
  };
  t.same(statements(staged), [logs, read, write], "of all stages, as they share the role");
  const networked = statements({
    name: "app",
    function: { vpc: { subnets: ["subnet-aaaa1111"], security_groups: ["sg-cccc3333"] } },
  });
  t.match(networked[1].Action, ["ec2:AssignPrivateIpAddresses"], "with network interfaces in a private network");
  t.equal(hash({ name: "app" }), hash({ name: "app", description: "x" }), "the hash is of the policy alone");
  t.not(hash({ name: "app" }), hash(staged));
  const reading = { config: { name: "app" }, readsSnapshots: true };
  t.not(hash({ name: "app" }), policyHash(reading));
  t.same(JSON.parse(functionPolicy({ ...reading, region, accountId })).Statement, [
    logs,
    {
      Effect: "Allow",
      Action: ["ssm:GetParameters"],
      Resource: ["arn:aws:ssm:us-west-2:123456789012:parameter/tool/app/.deployed/*"],
    },
  ]);
  t.end();
});

t.test("what Git says", async (t) => {
  const folder = t.testdir({ "app.js": "1" });
  const env = cleanEnv({
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_AUTHOR_NAME: "Ann Ö",
    GIT_AUTHOR_EMAIL: "a@example.com",
    GIT_COMMITTER_NAME: "Ann",
    GIT_COMMITTER_EMAIL: "a@example.com",
    GIT_CEILING_DIRECTORIES: join(folder, ".."),
  });
  const git = (...args: string[]) => execFileSync("git", args, { cwd: folder, env, encoding: "utf8" }).trim();
  t.equal(await readCommit(folder, env), undefined, "outside a repository");
  git("init", "--quiet");
  t.equal(await readCommit(folder, env), undefined, "before the first commit");
  git("add", ".");
  git("commit", "--quiet", "-m", "one");
  const sha = git("rev-parse", "HEAD");
  const short = git("rev-parse", "--short", "HEAD");
  t.same(await readCommit(folder, env), { ref: short, sha, isDirty: false, author: "Ann Ö" }, "a commit");
  git("tag", "v1.0.0");
  t.equal((await readCommit(folder, env))?.ref, "v1.0.0", "a tag");
  writeFileSync(join(folder, "app.js"), "2");
  t.equal((await readCommit(folder, env))?.ref, "v1.0.0-dirty", "a changed file");
  git("checkout", "--quiet", "app.js");
  writeFileSync(join(folder, "new.js"), "");
  t.equal((await readCommit(folder, env))?.ref, "v1.0.0-dirty", "a new file");
  git("add", ".");
  git("commit", "--quiet", "-m", "two");
  mkdirSync(join(folder, "apps/one"), { recursive: true });
  writeFileSync(join(folder, "elsewhere.txt"), "");
  const below = await readCommit(join(folder, "apps/one"), env);
  t.same(
    [below?.isDirty, below?.ref],
    [false, git("rev-parse", "--short", "HEAD")],
    "only the project's folder counts",
  );
  t.equal(await readCommit(folder, { ...env, PATH: "/nonexistent" }), undefined, "without Git");
});

t.test("a log service on this machine is warned of by what is for the cloud alone", async (t) => {
  const config = { name: "app", type: "static", logs: { service: "http://127.0.0.1:5000" } };
  const directory = t.testdir({ "tool.json": JSON.stringify(config), "index.html": "<p>hello</p>" });
  const env = { AWS_EC2_METADATA_DISABLED: "true", AWS_CONFIG_FILE: "/nonexistent" };
  const rows: [isWarned: boolean, ...argv: string[]][] = [
    [true, "validate"],
    [true, "build"],
    [true, "stack", "plan"],
    [false, "config"],
    [false, "url"],
    [false, "stack"],
    [false, "logs", "--count"],
  ];
  for (const [isWarned, ...argv] of rows) {
    const { stdout, stderr } = await tool(["-C", directory, ...argv], { env });
    t.equal(/is this machine, which no deployed app reaches/.test(stdout + stderr), isWarned, argv.join(" "));
  }
});
