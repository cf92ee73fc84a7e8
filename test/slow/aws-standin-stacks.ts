// Stacks of the stand-in, asked by the SDK's own client: what a template is refused for, what is made in which order and
// taken back, what a change set announces; and the requests that reach a function through what a stack made.
import { readFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { ACM } from "@aws-sdk/client-acm";
import { APIGateway } from "@aws-sdk/client-api-gateway";
import { type Change, CloudFormation } from "@aws-sdk/client-cloudformation";
import { IAM } from "@aws-sdk/client-iam";
import { Lambda } from "@aws-sdk/client-lambda";
import { Route53 } from "@aws-sdk/client-route-53";
import t, { type Test } from "tap";
import { zipOf } from "../../cli/sandbox/cloud/lambda/zip.ts";
import { type Aws, type AwsOptions, startAws } from "../support/aws/index.ts";
import { bundle } from "../support/runtime-api/deployed.ts";
import { until } from "../support/until.ts";

type Resources = Record<string, { Type: string; Properties?: Record<string, unknown>; [attribute: string]: unknown }>;

const topic = (more: object = {}) => ({ Type: "AWS::SNS::Topic", ...more });
const StackName = "app";

async function open(t: Test, options: AwsOptions = {}) {
  const aws = await startAws(t, options);
  const client = { ...aws.client, maxAttempts: 1 };
  return { aws, client, cloud: new CloudFormation(client), stacks: aws.state.service("cloudformation") };
}

const bodyOf = (Resources: Resources, more: object = {}) => JSON.stringify({ Resources, ...more });

async function failure(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return "no failure";
  } catch (error) {
    return `${(error as Error).name}: ${(error as Error).message}`;
  }
}

/** Runs a change of the stack to its end: its state, and what failed first. */
async function outcome(
  aws: Aws,
  call: Promise<unknown>,
): Promise<{ status: string; cause: string | undefined; events: string[] }> {
  const stacks = aws.state.service("cloudformation");
  const before = stacks.find(StackName)?.events.length ?? 0;
  await call;
  await stacks.settled();
  const stack = stacks.find(StackName) ?? stacks.stacks.find(({ name }) => name === StackName)!;
  const events = stack.events.slice(before);
  return {
    status: stack.status,
    cause: events.find(({ status }) => status.endsWith("_FAILED"))?.reason,
    events: events.map(({ logicalId, status }) => `${logicalId} ${status}`),
  };
}

const REFUSED: readonly (readonly [name: string, body: string, message: string])[] = [
  ["no JSON", "Resources:\n  A: {}", "Template format error: JSON not well-formed"],
  ["nothing in it", bodyOf({}), "Template format error: At least one Resources member must be defined."],
  [
    "a section that there is not",
    bodyOf({ A: topic() }, { Things: {} }),
    "Invalid template property or properties [Things]",
  ],
  ["a name with a hyphen", bodyOf({ "a-b": topic() }), "Template format error: Resource name a-b is non alphanumeric."],
  [
    "no type",
    bodyOf({ A: {} as never }),
    "Template format error: [/Resources/A] Every Resources object must contain a Type member.",
  ],
  [
    "types that there are not",
    bodyOf({ A: { Type: "AWS::X::Y" }, B: { Type: "AWS::SNS::Topik" } }),
    "Template format error: Unrecognized resource types: [AWS::SNS::Topik, AWS::X::Y]",
  ],
  [
    "an attribute that there is not",
    bodyOf({ A: topic({ Depends: "B" }) }),
    "Invalid template resource property 'Depends'",
  ],
  [
    "a reference to nothing",
    bodyOf({ A: topic({ Properties: { DisplayName: { Ref: "B" } } }) }),
    "Template format error: Unresolved resource dependencies [B] in the Resources block of the template",
  ],
  [
    "a reference in a text",
    bodyOf({ A: topic({ Properties: { DisplayName: { "Fn::Sub": `x \${B} \${!C}` } } }) }),
    "Template format error: Unresolved resource dependencies [B] in the Resources block of the template",
  ],
  [
    "an attribute of nothing",
    bodyOf({ A: topic({ Properties: { DisplayName: { "Fn::GetAtt": ["B", "Arn"] } } }) }),
    "Template error: instance of Fn::GetAtt references undefined resource B",
  ],
  [
    "an attribute that the type has not",
    bodyOf({ A: topic(), B: topic({ Properties: { DisplayName: { "Fn::GetAtt": "A.Arn" } } }) }),
    "Template error: resource A does not support attribute type Arn in Fn::GetAtt",
  ],
  [
    "DependsOn nothing",
    bodyOf({ A: topic({ DependsOn: "B" }) }),
    "Template format error: Unresolved resource dependencies [B] in the Resources block of the template",
  ],
  [
    "in a circle",
    bodyOf({ A: topic({ DependsOn: "B" }), B: topic({ Properties: { DisplayName: { Ref: "A" } } }), C: topic() }),
    "Circular dependency between resources: [A, B]",
  ],
  [
    "a condition that there is not",
    bodyOf({ A: topic({ Condition: "X" }) }),
    "Template format error: Unresolved condition dependency X in the Resources block of the template",
  ],
  [
    "a function that there is not",
    bodyOf({ A: topic({ Properties: { DisplayName: { "Fn::Upper": "x" } } }) }),
    "Template error: Encountered unsupported function: Fn::Upper",
  ],
  [
    "an output of nothing",
    bodyOf({ A: topic() }, { Outputs: { B: { Value: { Ref: "C" } } } }),
    "Template format error: Unresolved resource dependencies [C] in the Outputs block of the template",
  ],
  [
    "a parameter without a value",
    bodyOf({ A: topic() }, { Parameters: { P: { Type: "String" } } }),
    "Parameters: [P] must have values",
  ],
  [
    "501 resources",
    bodyOf(Object.fromEntries(Array.from({ length: 501 }, (_, i) => [`A${i}`, topic()]))),
    "Template format error: Number of resources, 501, is greater than maximum allowed, 500",
  ],
  [
    "51,201 bytes",
    bodyOf({ A: topic({ Metadata: "x".repeat(51_201) }) }),
    "1 validation error detected: Value at 'templateBody' failed to satisfy constraint: Member must have length less than or equal to 51200",
  ],
];

t.test("templates that are refused at once", async (t) => {
  const { cloud } = await open(t);
  for (const [name, TemplateBody, message] of REFUSED) {
    const said = await failure(cloud.createStack({ StackName, TemplateBody }));
    t.ok(said.startsWith(`ValidationError: ${message}`), `${name}: ${said}`);
  }
  const role = bodyOf({ A: { Type: "AWS::IAM::Role", Properties: { RoleName: "x", AssumeRolePolicyDocument: {} } } });
  t.match(
    await failure(cloud.createStack({ StackName, TemplateBody: role, Capabilities: ["CAPABILITY_IAM"] })),
    "InsufficientCapabilitiesException: Requires capabilities : [CAPABILITY_NAMED_IAM]",
  );
  t.match(
    await failure(cloud.createStack({ StackName: "1", TemplateBody: bodyOf({ A: topic() }) })),
    "ValidationError",
  );
});

const FAILING: readonly (readonly [name: string, resource: Resources[string], cause: string])[] = [
  ["a property that there is not", topic({ Properties: { Name: "x" } }), "extraneous key [Name] is not permitted"],
  [
    "without a property",
    { Type: "AWS::SNS::Subscription", Properties: { Protocol: "email" } },
    "required key [TopicArn] not found",
  ],
  [
    "a property of another kind",
    topic({ Properties: { Tags: "x" } }),
    "#/Tags: expected type: JSONArray, found: String",
  ],
  [
    "what the service refuses",
    topic({ Properties: { TopicName: "a b" } }),
    'Resource handler returned message: "Invalid parameter: Topic Name"',
  ],
];

t.test("resources that cannot be made", async (t) => {
  for (const [name, resource, cause] of FAILING) {
    const { aws, cloud } = await open(t);
    const result = await outcome(aws, cloud.createStack({ StackName, TemplateBody: bodyOf({ A: resource }) }));
    t.equal(result.status, "ROLLBACK_COMPLETE", name);
    t.ok(result.cause?.includes(cause), `${name}: ${result.cause}`);
  }
});

t.test("a stack from its beginning to its end", async (t) => {
  const { aws, cloud, stacks } = await open(t, { clock: { speed: 0 } });
  const TemplateBody = bodyOf(
    {
      B: topic({
        Properties: {
          TopicName: { "Fn::Join": ["-", ["b", { "Fn::GetAtt": ["A", "TopicName"] }]] },
          DisplayName: { "Fn::If": ["IsBig", "big", { Ref: "AWS::NoValue" }] },
        },
      }),
      A: topic({
        Properties: {
          TopicName: { "Fn::Sub": [`\${Stage}-\${Own}`, { Own: { Ref: "AWS::Region" } }] },
        },
      }),
      C: topic({ Condition: "IsBig" }),
    },
    {
      Parameters: { Stage: { Type: "String", Default: "staging" } },
      Conditions: { IsBig: { "Fn::Equals": [{ Ref: "Stage" }, "production"] } },
      Outputs: { Arn: { Value: { Ref: "B" }, Description: "of B" } },
    },
  );
  const { StackId } = await cloud.createStack({
    StackName,
    TemplateBody,
    Tags: [{ Key: "tool:app", Value: "app" }],
    ClientRequestToken: "first",
  });
  const status = async () => (await cloud.describeStacks({ StackName: StackId })).Stacks?.[0]?.StackStatus;
  t.equal(await status(), "CREATE_IN_PROGRESS", "it takes its time");
  t.match(
    await failure(cloud.createStack({ StackName, TemplateBody })),
    "AlreadyExistsException: Stack [app] already exists",
  );
  t.match(
    await failure(cloud.updateStack({ StackName, TemplateBody })),
    /is in CREATE_IN_PROGRESS state and can not be updated/,
  );
  const pass = async () => {
    for (let i = 0; i < 20; i += 1) {
      aws.controls.clock.advance(10_000);
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  await pass();
  t.match(await cloud.describeStacks({ StackName }), {
    Stacks: [
      {
        StackStatus: "CREATE_COMPLETE",
        Outputs: [
          {
            OutputKey: "Arn",
            OutputValue: "arn:aws:sns:eu-west-1:123456789012:b-staging-eu-west-1",
            Description: "of B",
          },
        ],
        Tags: [{ Key: "tool:app", Value: "app" }],
      },
    ],
  });
  const { StackEvents = [] } = await cloud.describeStackEvents({ StackName });
  t.same(
    StackEvents.map(({ LogicalResourceId, ResourceStatus }) => `${LogicalResourceId} ${ResourceStatus}`).reverse(),
    [
      "app CREATE_IN_PROGRESS",
      "A CREATE_IN_PROGRESS",
      "A CREATE_IN_PROGRESS",
      "A CREATE_COMPLETE",
      "B CREATE_IN_PROGRESS",
      "B CREATE_IN_PROGRESS",
      "B CREATE_COMPLETE",
      "app CREATE_COMPLETE",
    ],
    "what depends on A comes after it; C is left out",
  );
  t.ok(
    StackEvents.every((event, i) => i === 0 || event.Timestamp! < StackEvents[i - 1]!.Timestamp!),
    "newest first",
  );
  t.equal(StackEvents[0]?.ClientRequestToken, "first");
  t.match(await cloud.listStackResources({ StackName }), {
    StackResourceSummaries: [
      { LogicalResourceId: "A", PhysicalResourceId: /staging-eu-west-1$/ },
      { LogicalResourceId: "B" },
    ],
  });
  t.equal((await cloud.getTemplate({ StackName })).TemplateBody, TemplateBody);
  t.match(
    await failure(cloud.updateStack({ StackName, UsePreviousTemplate: true })),
    "ValidationError: No updates are to be performed.",
  );
  await cloud.updateStack({
    StackName,
    UsePreviousTemplate: true,
    Parameters: [{ ParameterKey: "Stage", ParameterValue: "production" }],
  });
  await pass();
  t.equal(await status(), "UPDATE_COMPLETE");
  t.same(
    [...aws.state.service("sns").topics.values()].map(({ name }) => name.replace(/C-\w{12}$/, "C")).sort(),
    ["app-C", "b-production-eu-west-1", "production-eu-west-1"],
    "replaced topics are gone",
  );
  await cloud.updateTerminationProtection({ StackName, EnableTerminationProtection: true });
  t.match(await failure(cloud.deleteStack({ StackName })), /cannot be deleted while TerminationProtection is enabled/);
  await cloud.updateTerminationProtection({ StackName, EnableTerminationProtection: false });
  await cloud.deleteStack({ StackName });
  await pass();
  t.equal(await status(), "DELETE_COMPLETE", "by its id it is still found");
  t.match(await failure(cloud.describeStacks({ StackName })), "ValidationError: Stack with id app does not exist");
  t.equal(aws.state.service("sns").topics.size, 0);
  t.equal(await failure(cloud.deleteStack({ StackName })), "no failure", "deleting nothing succeeds");
  t.equal(stacks.stacks.size, 1);
});

t.test("going back", async (t) => {
  const { aws, cloud, stacks } = await open(t);
  const names = () =>
    [...aws.state.service("sns").topics.values()]
      .map(({ name, displayName }) => `${name}${displayName && `: ${displayName}`}`)
      .sort();
  const create = (more: object = {}) =>
    outcome(
      aws,
      cloud.createStack({
        StackName,
        TemplateBody: bodyOf({
          A: topic({ Properties: { TopicName: "a" } }),
          B: topic({ Properties: { TopicName: "b" }, DependsOn: "A" }),
          C: topic({ DependsOn: "B" }),
        }),
        ...more,
      }),
    );
  stacks.fail({ logicalId: "B", on: "create", reason: "no room", times: 1 });
  const failed = await create();
  t.match(failed, { status: "ROLLBACK_COMPLETE", cause: "no room" });
  t.notOk(
    failed.events.some((event) => event.startsWith("C ")),
    "what comes after is not begun",
  );
  t.same(names(), []);
  t.match(
    await failure(cloud.updateStack({ StackName, TemplateBody: bodyOf({ A: topic() }) })),
    /is in ROLLBACK_COMPLETE state and can not be updated/,
  );
  await outcome(aws, cloud.deleteStack({ StackName }));
  stacks.fail({ logicalId: "B", on: "create", reason: "no room", times: 1 });
  t.match(await create({ DisableRollback: true }), { status: "CREATE_FAILED" });
  t.same(names(), ["a"], "without going back");
  await outcome(aws, cloud.deleteStack({ StackName }));
  t.match(await create(), { status: "CREATE_COMPLETE" });
  const update = (resources: Resources) =>
    outcome(aws, cloud.updateStack({ StackName, TemplateBody: bodyOf(resources) }));
  const a = (more: object) => topic({ Properties: { TopicName: "a", ...more } });
  stacks.fail({ logicalId: "D", on: "create", reason: "no room", times: 1 });
  const undone = await update({
    A: a({ DisplayName: "new" }),
    B: topic({ Properties: { TopicName: "b2" } }),
    D: topic({ DependsOn: ["A", "B"] }),
  });
  t.match(undone, { status: "UPDATE_ROLLBACK_COMPLETE", cause: "no room" });
  t.same(
    names().map((name) => name.replace(/-\w{12}$/, "")),
    ["a", "app-C", "b"],
    "changed, replaced, made and removed ones are as before",
  );
  stacks.fail({ logicalId: "C", on: "delete", reason: "in use", times: 1 });
  t.match(await outcome(aws, cloud.deleteStack({ StackName })), { status: "DELETE_FAILED", cause: "in use" });
  t.same(
    names().map((name) => name.replace(/-\w{12}$/, "")),
    ["a", "app-C", "b"],
    "what something depends on stays",
  );
  t.match(await outcome(aws, cloud.deleteStack({ StackName })), { status: "DELETE_COMPLETE" });
});

t.test("one fails, others are under way", async (t) => {
  const { aws, cloud, stacks } = await open(t);
  stacks.fail({ logicalId: "A", on: "create", reason: "no room" });
  const slow = { Type: "AWS::Route53::HostedZone", Properties: { Name: "example.dev" } };
  const result = await outcome(aws, cloud.createStack({ StackName, TemplateBody: bodyOf({ A: topic(), Slow: slow }) }));
  t.same(result.events, [
    "app CREATE_IN_PROGRESS",
    "A CREATE_IN_PROGRESS",
    "Slow CREATE_IN_PROGRESS",
    "A CREATE_FAILED",
    "Slow CREATE_FAILED",
    "app ROLLBACK_IN_PROGRESS",
    "app ROLLBACK_COMPLETE",
  ]);
  t.equal(
    stacks.find(StackName)?.events.find(({ logicalId, status }) => logicalId === "Slow" && status === "CREATE_FAILED")
      ?.reason,
    "Resource creation cancelled",
  );
});

t.test("change sets", async (t) => {
  const { aws, client, cloud } = await open(t);
  const zone = (Name: string) => ({ Type: "AWS::Route53::HostedZone", Properties: { Name } });
  const record = (more: object = {}) => ({
    Type: "AWS::Route53::RecordSet",
    Properties: {
      HostedZoneId: { Ref: "Zone" },
      Name: "a.example.dev",
      Type: "A",
      TTL: "60",
      ResourceRecords: ["192.0.2.1"],
      ...more,
    },
  });
  const plan = async (ChangeSetName: string, resources: Resources, more: object = {}) => {
    await cloud.createChangeSet({ StackName, ChangeSetName, TemplateBody: bodyOf(resources), ...more });
    const changeSet = await until("the change set", async () => {
      const set = await cloud.describeChangeSet({ StackName, ChangeSetName, IncludePropertyValues: true });
      return /COMPLETE|FAILED/.test(set.Status ?? "") ? set : undefined;
    });
    return {
      status: changeSet.Status,
      reason: changeSet.StatusReason,
      execution: changeSet.ExecutionStatus,
      changes: (changeSet.Changes ?? []).map(line),
    };
  };
  const before = { Zone: zone("example.dev"), Record: record(), Old: topic() };
  t.match(
    await failure(cloud.createChangeSet({ StackName, ChangeSetName: "x", TemplateBody: bodyOf(before) })),
    "ValidationError: Stack with id app does not exist",
  );
  t.same((await plan("first", before, { ChangeSetType: "CREATE" })).changes, ["Add Old", "Add Record", "Add Zone"]);
  t.match(await cloud.describeStacks({ StackName }), { Stacks: [{ StackStatus: "REVIEW_IN_PROGRESS" }] });
  t.match(await outcome(aws, cloud.executeChangeSet({ StackName, ChangeSetName: "first" })), {
    status: "CREATE_COMPLETE",
  });
  t.match(await plan("same", before), {
    status: "FAILED",
    reason: /didn't contain changes/,
    execution: "UNAVAILABLE",
    changes: [],
  });
  t.match(
    await failure(cloud.executeChangeSet({ StackName, ChangeSetName: "same" })),
    "InvalidChangeSetStatusException",
  );
  t.same((await plan("ttl", { ...before, Record: record({ TTL: "300" }) })).changes, [
    "Modify Record False: /Properties/TTL Never Static 60 -> 300",
  ]);
  t.same((await plan("name", { ...before, Record: record({ Name: "b.example.dev" }) })).changes, [
    "Modify Record True: /Properties/Name Always Static a.example.dev -> b.example.dev",
  ]);
  t.same(
    (await plan("zone", { ...before, Zone: zone("example.org"), Old: undefined as never })).changes,
    [
      "Modify Record Conditional: /Properties/HostedZoneId Always Dynamic by Zone",
      "Modify Zone True: /Properties/Name Always Static example.dev -> example.org",
      "Remove Old",
    ].sort((a, b) => (a.split(" ")[1]! < b.split(" ")[1]! ? -1 : 1)),
    "what refers to a replaced resource is perhaps replaced",
  );
  t.match(await failure(cloud.describeChangeSet({ StackName, ChangeSetName: "none" })), "ChangeSetNotFoundException");
  const hidden = await cloud.describeChangeSet({ StackName, ChangeSetName: "ttl" });
  t.equal(
    hidden.Changes?.[0]?.ResourceChange?.Details?.[0]?.Target?.AfterValue,
    undefined,
    "values only where they are asked for",
  );
  t.match(await outcome(aws, cloud.executeChangeSet({ StackName, ChangeSetName: "ttl" })), {
    status: "UPDATE_COMPLETE",
  });
  t.match(
    await failure(cloud.executeChangeSet({ StackName, ChangeSetName: "name" })),
    /does not exist/,
    "the others are gone with it",
  );
  const { HostedZones: [hostedZone] = [] } = await new Route53(client).listHostedZonesByName({
    DNSName: "example.dev",
  });
  const { ResourceRecordSets = [] } = await new Route53(client).listResourceRecordSets({
    HostedZoneId: hostedZone?.Id,
    StartRecordName: "a.example.dev",
  });
  t.equal(ResourceRecordSets[0]?.TTL, 300);
  await cloud.createChangeSet({
    StackName,
    ChangeSetName: "late",
    TemplateBody: bodyOf({ Zone: zone("example.dev") }),
  });
  t.equal(await failure(cloud.deleteChangeSet({ StackName, ChangeSetName: "late" })), "no failure");
  await new Route53(client).changeResourceRecordSets({
    HostedZoneId: hostedZone?.Id,
    ChangeBatch: {
      Changes: [
        {
          Action: "CREATE",
          ResourceRecordSet: { Name: "mine.example.dev", Type: "TXT", TTL: 60, ResourceRecords: [{ Value: '"x"' }] },
        },
      ],
    },
  });
  t.match(
    await outcome(aws, cloud.deleteStack({ StackName })),
    { status: "DELETE_FAILED", cause: /contains non-required resource record sets/ },
    "a zone with records of others",
  );
  t.match(await outcome(aws, cloud.deleteStack({ StackName, RetainResources: ["Zone"] })), {
    status: "DELETE_COMPLETE",
  });
});

/** A change in one line. */
function line({ ResourceChange: change }: Change): string {
  const details = (change?.Details ?? []).map(({ Target, Evaluation, CausingEntity }) =>
    [
      Target?.Path,
      Target?.RequiresRecreation,
      Evaluation,
      CausingEntity ? `by ${CausingEntity}` : `${Target?.BeforeValue} -> ${Target?.AfterValue}`,
    ].join(" "),
  );
  const head = [change?.Action, change?.LogicalResourceId, change?.Replacement].filter(Boolean).join(" ");
  return details.length === 0 ? head : `${head}: ${details.join("; ")}`;
}

const FUNCTION = `arn:aws:lambda:\${AWS::Region}:\${AWS::AccountId}:function:app:\${!stageVariables.qualifier}`;

function gatewayOf(stage: string, mode: "STREAM" | "BUFFERED"): Resources {
  const path = mode === "STREAM" ? "2021-11-15/functions" : "2015-03-31/functions";
  const end = mode === "STREAM" ? "response-streaming-invocations" : "invocations";
  const method = (ResourceId: unknown) => ({
    Type: "AWS::ApiGateway::Method",
    Properties: {
      RestApiId: { Ref: "Api" },
      ResourceId,
      HttpMethod: "ANY",
      AuthorizationType: "NONE",
      Integration: {
        Type: "AWS_PROXY",
        IntegrationHttpMethod: "POST",
        ResponseTransferMode: mode,
        Uri: { "Fn::Sub": `arn:aws:apigateway:\${AWS::Region}:lambda:path/${path}/${FUNCTION}/${end}` },
      },
    },
  });
  return {
    Api: {
      Type: "AWS::ApiGateway::RestApi",
      Properties: { Name: "app", BinaryMediaTypes: ["*/*"], Tags: [{ Key: "tool:app", Value: "app" }] },
    },
    Proxy: {
      Type: "AWS::ApiGateway::Resource",
      Properties: {
        RestApiId: { Ref: "Api" },
        ParentId: { "Fn::GetAtt": ["Api", "RootResourceId"] },
        PathPart: "{proxy+}",
      },
    },
    Root: method({ "Fn::GetAtt": ["Api", "RootResourceId"] }),
    Any: method({ Ref: "Proxy" }),
    Deployment: {
      Type: "AWS::ApiGateway::Deployment",
      DependsOn: ["Root", "Any"],
      Properties: { RestApiId: { Ref: "Api" } },
    },
    Stage: {
      Type: "AWS::ApiGateway::Stage",
      Properties: {
        RestApiId: { Ref: "Api" },
        DeploymentId: { Ref: "Deployment" },
        StageName: stage,
        Variables: { qualifier: stage },
      },
    },
    Permission: {
      Type: "AWS::Lambda::Permission",
      Properties: {
        FunctionName: `app:${stage}`,
        Action: "lambda:InvokeFunction",
        Principal: "apigateway.amazonaws.com",
        SourceArn: { "Fn::Sub": `arn:aws:execute-api:\${AWS::Region}:\${AWS::AccountId}:\${Api}/${stage}/*` },
      },
    },
  };
}

t.test("requests through what a stack made, to the function's process", async (t) => {
  const { aws, client, cloud } = await open(t);
  const lambda = new Lambda(client);
  await new IAM(client).createRole({
    RoleName: "app",
    AssumeRolePolicyDocument: JSON.stringify({
      Statement: [{ Effect: "Allow", Action: "sts:AssumeRole", Principal: { Service: "lambda.amazonaws.com" } }],
    }),
  });
  const publish = async (page: string) => {
    const deployment = JSON.stringify({
      config: { name: "app", type: "static", static: { dir: "." } },
      stage: "staging",
    });
    const ZipFile = zipOf({
      "index.html": page,
      "big.bin": { bytes: Buffer.alloc(5_000_000), mode: 0o644 },
      ".tool/deployment.json": deployment,
      ".tool/bootstrap.cjs": { bytes: readFileSync(bundle), mode: 0o755 },
    });
    const isNew = aws.state.service("lambda").state.functions.size === 0;
    if (isNew) {
      await lambda.createFunction({
        FunctionName: "app",
        Role: "arn:aws:iam::123456789012:role/app",
        Runtime: "nodejs24.x",
        Handler: "index.handler",
        Timeout: 20,
        Code: { ZipFile },
        Environment: { Variables: { AWS_LAMBDA_EXEC_WRAPPER: "/var/task/.tool/bootstrap.cjs", TOOL_STAGE: "staging" } },
      });
    } else await lambda.updateFunctionCode({ FunctionName: "app", ZipFile });
    await until(
      "the function",
      async () => (await lambda.getFunctionConfiguration({ FunctionName: "app" })).LastUpdateStatus === "Successful",
    );
    return (await lambda.publishVersion({ FunctionName: "app" })).Version;
  };
  await lambda
    .createAlias({ FunctionName: "app", Name: "staging", FunctionVersion: (await publish("one"))! })
    .catch((error) => t.fail(error.message));
  const resources = gatewayOf("staging", "STREAM");
  const { Permission, ...others } = resources;
  t.match(await outcome(aws, cloud.createStack({ StackName, TemplateBody: bodyOf(others) })), {
    status: "CREATE_COMPLETE",
  });
  const { items: [api] = [] } = await new APIGateway(client).getRestApis({});
  t.match(api, { name: "app", tags: { "tool:app": "app" } });
  t.match(await new APIGateway(client).getStages({ restApiId: api?.id }), {
    item: [{ stageName: "staging", variables: { qualifier: "staging" } }],
  });
  const host = `${api?.id}.execute-api.eu-west-1.amazonaws.com`;
  t.match(
    await ask(aws, host, "/staging/"),
    { status: 500, body: '{"message":"Internal server error"}' },
    "without a permission",
  );
  t.match(await outcome(aws, cloud.updateStack({ StackName, TemplateBody: bodyOf(resources) })), {
    status: "UPDATE_COMPLETE",
  });
  t.match(await ask(aws, host, "/staging/"), { status: 200, body: "one" });
  t.match(await ask(aws, host, "/production/"), { status: 403 }, "another stage");
  t.match(await ask(aws, host, "/staging/none"), { status: 404 });
  t.equal(
    (await ask(aws, host, "/staging/big.bin")).body.length,
    5_000_000,
    "5 MB, which are 6.7 MB in base64, in a stream",
  );
  const version = await publish("two");
  t.match(await ask(aws, host, "/staging/"), { body: "one" }, "a new version alone changes nothing");
  await lambda.updateAlias({ FunctionName: "app", Name: "staging", FunctionVersion: version });
  t.match(await ask(aws, host, "/staging/"), { body: "two" }, "the alias does");

  const buffered = gatewayOf("staging", "BUFFERED");
  t.match(await outcome(aws, cloud.updateStack({ StackName, TemplateBody: bodyOf(buffered) })), {
    status: "UPDATE_COMPLETE",
  });
  t.match(await ask(aws, host, "/staging/big.bin"), { status: 200 }, "a changed method counts when it is deployed");
  const { Deployment, ...kept } = buffered;
  const redeployed: Resources = {
    ...kept,
    Deployment2: Deployment!,
    Stage: { ...buffered.Stage!, Properties: { ...buffered.Stage!.Properties, DeploymentId: { Ref: "Deployment2" } } },
  };
  t.match(await outcome(aws, cloud.updateStack({ StackName, TemplateBody: bodyOf(redeployed) })), {
    status: "UPDATE_COMPLETE",
  });
  t.match(await ask(aws, host, "/staging/big.bin"), { status: 502 }, "by a gateway that does not stream");
  t.match(await outcome(aws, cloud.updateStack({ StackName, TemplateBody: bodyOf(resources) })), {
    status: "UPDATE_COMPLETE",
  });
  const { CertificateArn = "" } = await new ACM({ ...client, region: "us-east-1" }).requestCertificate({
    DomainName: "www.example.dev",
    ValidationMethod: "EMAIL",
  });
  const named: Resources = {
    ...resources,
    Domain: { Type: "AWS::ApiGateway::DomainName", Properties: { DomainName: "www.example.dev", CertificateArn } },
    Mapping: {
      Type: "AWS::ApiGateway::BasePathMapping",
      Properties: {
        DomainName: { Ref: "Domain" },
        BasePath: "shop",
        RestApiId: { Ref: "Api" },
        Stage: { Ref: "Stage" },
      },
    },
  };
  t.match(
    await outcome(aws, cloud.updateStack({ StackName, TemplateBody: bodyOf(named) })),
    { status: "UPDATE_ROLLBACK_COMPLETE", cause: /Unable to associate certificate/ },
    "a certificate that is not issued",
  );
  aws.state.service("acm", "us-east-1").issue(CertificateArn);
  t.match(await outcome(aws, cloud.updateStack({ StackName, TemplateBody: bodyOf(named) })), {
    status: "UPDATE_COMPLETE",
  });
  t.match(await ask(aws, "www.example.dev", "/"), { status: 403 }, "outside the base path");
  t.match(await ask(aws, "www.example.dev", "/shop/shop/big.bin"), { status: 404 }, "the base path stays in the path");
  t.match(
    await failure(new ACM({ ...client, region: "us-east-1" }).deleteCertificate({ CertificateArn })),
    "ResourceInUseException",
  );
  t.match(await outcome(aws, cloud.deleteStack({ StackName })), { status: "DELETE_COMPLETE" });
  t.match(await ask(aws, host, "/staging/"), { status: 403 });
  t.match(
    await failure(lambda.getPolicy({ FunctionName: "app", Qualifier: "staging" })),
    "ResourceNotFoundException",
    "the permission went with the stack",
  );
});

function ask(aws: Aws, host: string, path: string): Promise<{ status: number | undefined; body: string }> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(`${aws.endpoint}${path}`, { headers: { host } }, (response) => {
      const parts: Buffer[] = [];
      response.on("data", (part: Buffer) => parts.push(part));
      response.once("end", () => resolve({ status: response.statusCode, body: Buffer.concat(parts).toString() }));
    });
    request.once("error", reject);
    request.end();
  });
}
