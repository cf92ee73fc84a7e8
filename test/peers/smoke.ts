// The same calls, in the same order, to the stand-in and to public emulators; what each answers, in a few words.
import { ACM } from "@aws-sdk/client-acm";
import { CloudFormation } from "@aws-sdk/client-cloudformation";
import { CloudWatchLogs } from "@aws-sdk/client-cloudwatch-logs";
import { IAM } from "@aws-sdk/client-iam";
import { Lambda } from "@aws-sdk/client-lambda";
import { Route53 } from "@aws-sdk/client-route-53";
import { S3 } from "@aws-sdk/client-s3";
import { Scheduler } from "@aws-sdk/client-scheduler";
import { SNS } from "@aws-sdk/client-sns";
import { SSM } from "@aws-sdk/client-ssm";
import { STS } from "@aws-sdk/client-sts";
import { zipOf } from "../../cli/sandbox/cloud/lambda/zip.ts";

export interface Clients {
  readonly acm: ACM;
  readonly cloud: CloudFormation;
  readonly iam: IAM;
  readonly lambda: Lambda;
  readonly logs: CloudWatchLogs;
  readonly route53: Route53;
  readonly s3: S3;
  readonly scheduler: Scheduler;
  readonly sns: SNS;
  readonly ssm: SSM;
  readonly sts: STS;
}

export function clientsOf(endpoint: string): Clients {
  const client = {
    endpoint,
    region: "eu-west-1",
    credentials: { accessKeyId: "test", secretAccessKey: "test" },
    forcePathStyle: true,
    maxAttempts: 1,
  };
  return {
    acm: new ACM({ ...client, region: "us-east-1" }),
    cloud: new CloudFormation(client),
    iam: new IAM(client),
    lambda: new Lambda(client),
    logs: new CloudWatchLogs(client),
    route53: new Route53(client),
    s3: new S3(client),
    scheduler: new Scheduler(client),
    sns: new SNS(client),
    ssm: new SSM(client),
    sts: new STS(client),
  };
}

export interface Step {
  readonly name: string;
  /** The result that the documentation says comes of it. */
  readonly documented: string;
  /** Where it says so. */
  readonly page: string;
  readonly run: (clients: Clients) => Promise<unknown>;
}

const ROLE = "arn:aws:iam::123456789012:role/app";
const app = { FunctionName: "app" };
const code = (text: string) => zipOf({ "index.js": `exports.handler = async () => "${text}";` });
const trust = JSON.stringify({
  Version: "2012-10-17",
  Statement: [{ Effect: "Allow", Action: "sts:AssumeRole", Principal: { Service: "lambda.amazonaws.com" } }],
});

async function idle({ lambda }: Clients): Promise<void> {
  for (let i = 0; i < 100; i += 1) {
    const { State, LastUpdateStatus } = await lambda.getFunctionConfiguration(app);
    if (State !== "Pending" && LastUpdateStatus !== "InProgress") return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Whether an update of the code makes a version. */
async function published(clients: Clients, ZipFile: Buffer): Promise<string> {
  await idle(clients);
  const { Versions = [] } = await clients.lambda.listVersionsByFunction(app);
  const { Version } = await clients.lambda.updateFunctionCode({ ...app, ZipFile, Publish: true });
  return Versions.some((one) => one.Version === Version) ? "the one before" : "a new one";
}

const topics = (resources: object, more: object = {}) => JSON.stringify({ Resources: resources, ...more });
const topic = (Properties: object = {}, more: object = {}) => ({ Type: "AWS::SNS::Topic", Properties, ...more });

async function stackStatus({ cloud }: Clients, StackName: string): Promise<string | undefined> {
  for (let i = 0; ; i += 1) {
    const { Stacks: [stack] = [] } = await cloud.describeStacks({ StackName });
    if (!stack?.StackStatus?.endsWith("_IN_PROGRESS") || i === 100) return stack?.StackStatus;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function plan({ cloud }: Clients, ChangeSetName: string, TemplateBody: string): Promise<string> {
  await cloud.createChangeSet({ StackName: "plans", ChangeSetName, TemplateBody });
  for (let i = 0; ; i += 1) {
    const { Status, Changes = [] } = await cloud.describeChangeSet({ StackName: "plans", ChangeSetName });
    if (/PENDING|IN_PROGRESS/.test(Status ?? "") && i < 100) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      continue;
    }
    const changes = Changes.map(({ ResourceChange: one }) =>
      [one?.Action, one?.LogicalResourceId, one?.Replacement].filter(Boolean).join(" "),
    );
    return [Status, ...changes].join("; ");
  }
}

/** 10 s apart, the last one a while ago. */
const EPOCH = Date.now() - 600_000;
const MESSAGES = [
  '{"level":"error","n":1}',
  '{"level":"info","n":2}',
  "plain ERROR text",
  "plain WARN text",
  '{"level":"error","n":10}',
];

async function messageNumbers({ logs }: Clients, more: object): Promise<string> {
  const { events = [] } = await logs.filterLogEvents({ logGroupName: "/app", ...more });
  return events.map(({ message = "" }) => MESSAGES.indexOf(message) + 1).join(" ") || "none";
}

const filters = (filterPattern: string, documented: string): Step => ({
  name: `filter ${filterPattern}`,
  documented,
  page: "Filter pattern syntax",
  run: (clients) => messageNumbers(clients, { filterPattern }),
});

const www = { Name: "www.example.dev.", Type: "A" as const, TTL: 60, ResourceRecords: [{ Value: "192.0.2.1" }] };

async function record({ route53 }: Clients, ResourceRecordSet: object) {
  const { HostedZones: [zone] = [] } = await route53.listHostedZonesByName({ DNSName: "example.dev" });
  const change = { Action: "CREATE" as const, ResourceRecordSet: { ...www, ...ResourceRecordSet } };
  return route53.changeResourceRecordSets({ HostedZoneId: zone?.Id, ChangeBatch: { Changes: [change] } });
}

export const STEPS: readonly Step[] = [
  {
    name: "who asks",
    documented: "123456789012",
    page: "GetCallerIdentity",
    run: async ({ sts }) => (await sts.getCallerIdentity({})).Account,
  },
  {
    name: "a role",
    documented: ROLE,
    page: "CreateRole",
    run: async ({ iam }) => (await iam.createRole({ RoleName: "app", AssumeRolePolicyDocument: trust })).Role?.Arn,
  },
  {
    name: "the same role",
    documented: "EntityAlreadyExistsException",
    page: "CreateRole",
    run: ({ iam }) => iam.createRole({ RoleName: "app", AssumeRolePolicyDocument: trust }),
  },
  {
    name: "delete a role that has a policy",
    documented: "DeleteConflictException",
    page: "DeleteRole",
    async run({ iam }) {
      await iam.createRole({ RoleName: "other", AssumeRolePolicyDocument: trust });
      const document = JSON.stringify({
        Version: "2012-10-17",
        Statement: [{ Effect: "Allow", Action: "logs:*", Resource: "*" }],
      });
      await iam.putRolePolicy({ RoleName: "other", PolicyName: "p", PolicyDocument: document });
      return iam.deleteRole({ RoleName: "other" });
    },
  },
  {
    name: "a policy without JSON",
    documented: "MalformedPolicyDocumentException",
    page: "PutRolePolicy",
    run: ({ iam }) => iam.putRolePolicy({ RoleName: "app", PolicyName: "p", PolicyDocument: "{" }),
  },

  {
    name: "a function with a role that nobody can assume",
    documented: "InvalidParameterValueException",
    page: "CreateFunction",
    run: ({ lambda }) =>
      lambda.createFunction({
        ...app,
        Role: ROLE.replace("app", "none"),
        Runtime: "nodejs22.x",
        Handler: "index.handler",
        Code: { ZipFile: code("one") },
      }),
  },
  {
    name: "a function is pending at first",
    documented: "Pending",
    page: "Lambda function states",
    async run({ lambda }) {
      // Where the one before was made in spite of its role.
      await lambda.deleteFunction(app).catch(() => {});
      return (
        await lambda.createFunction({
          ...app,
          Role: ROLE,
          Runtime: "nodejs22.x",
          Handler: "index.handler",
          Code: { ZipFile: code("one") },
          Publish: true,
        })
      ).State;
    },
  },
  {
    name: "with Publish it has a version",
    documented: "$LATEST 1",
    page: "CreateFunction",
    async run(clients) {
      await idle(clients);
      return (await clients.lambda.listVersionsByFunction(app)).Versions?.map(({ Version }) => Version).join(" ");
    },
  },
  {
    name: "publish what is published",
    documented: "1",
    page: "PublishVersion",
    run: async ({ lambda }) => (await lambda.publishVersion(app)).Version,
  },
  {
    name: "an alias of a missing version",
    documented: "ResourceNotFoundException",
    page: "CreateAlias",
    run: ({ lambda }) => lambda.createAlias({ ...app, Name: "x", FunctionVersion: "9" }),
  },
  {
    name: "an alias",
    documented: "1",
    page: "CreateAlias",
    run: async ({ lambda }) =>
      (await lambda.createAlias({ ...app, Name: "live", FunctionVersion: "1" })).FunctionVersion,
  },
  {
    name: "an alias by another revision",
    documented: "PreconditionFailedException",
    page: "UpdateAlias",
    run: ({ lambda }) =>
      lambda.updateAlias({
        ...app,
        Name: "live",
        FunctionVersion: "1",
        RevisionId: "00000000-0000-0000-0000-000000000000",
      }),
  },
  {
    name: "a configuration by another revision",
    documented: "PreconditionFailedException",
    page: "UpdateFunctionConfiguration",
    run: ({ lambda }) =>
      lambda.updateFunctionConfiguration({ ...app, Timeout: 5, RevisionId: "00000000-0000-0000-0000-000000000000" }),
  },
  {
    name: "a reserved variable",
    documented: "InvalidParameterValueException",
    page: "Environment variables",
    run: ({ lambda }) =>
      lambda.updateFunctionConfiguration({ ...app, Environment: { Variables: { AWS_REGION: "x" } } }),
  },
  {
    name: "5,000 bytes of variables",
    documented: "InvalidParameterValueException",
    page: "Lambda quotas",
    run: ({ lambda }) =>
      lambda.updateFunctionConfiguration({ ...app, Environment: { Variables: { TEXT: "x".repeat(5000) } } }),
  },
  {
    name: "901 seconds",
    documented: "ValidationException",
    page: "UpdateFunctionConfiguration",
    run: ({ lambda }) => lambda.updateFunctionConfiguration({ ...app, Timeout: 901 }),
  },
  {
    name: "a change is in progress at first",
    documented: "InProgress",
    page: "Lambda function states",
    async run(clients) {
      await idle(clients);
      return (await clients.lambda.updateFunctionConfiguration({ ...app, Environment: { Variables: { AB: "2" } } }))
        .LastUpdateStatus;
    },
  },
  {
    name: "another change meanwhile",
    documented: "ResourceConflictException",
    page: "Lambda function states",
    run: ({ lambda }) => lambda.updateFunctionCode({ ...app, ZipFile: code("two") }),
  },
  {
    name: "changed code is a version",
    documented: "a new one",
    page: "UpdateFunctionCode",
    run: (clients) => published(clients, code("two")),
  },
  {
    name: "the same code again is none",
    documented: "the one before",
    page: "UpdateFunctionCode",
    run: (clients) => published(clients, code("two")),
  },
  {
    name: "the alias after an update",
    documented: "1",
    page: "UpdateFunctionCode",
    run: async ({ lambda }) => (await lambda.getAlias({ ...app, Name: "live" })).FunctionVersion,
  },
  {
    name: "a version keeps its variables",
    documented: "{}",
    page: "Manage Lambda function versions",
    run: async ({ lambda }) =>
      JSON.stringify((await lambda.getFunctionConfiguration({ ...app, Qualifier: "1" })).Environment?.Variables ?? {}),
  },
  {
    name: "delete a version that an alias needs",
    documented: "ResourceConflictException",
    page: "DeleteFunction",
    run: ({ lambda }) => lambda.deleteFunction({ ...app, Qualifier: "1" }),
  },
  {
    name: "delete a missing alias",
    documented: "done",
    page: "DeleteAlias",
    run: ({ lambda }) => lambda.deleteAlias({ ...app, Name: "none" }),
  },
  {
    name: "a permission twice",
    documented: "ResourceConflictException",
    page: "AddPermission",
    async run({ lambda }) {
      const permission = {
        ...app,
        Qualifier: "live",
        StatementId: "s",
        Action: "lambda:InvokeFunction",
        Principal: "apigateway.amazonaws.com",
      };
      await lambda.addPermission(permission);
      return lambda.addPermission(permission);
    },
  },
  {
    name: "the policy of the alias is not the function's",
    documented: "ResourceNotFoundException",
    page: "GetPolicy",
    run: ({ lambda }) => lambda.getPolicy(app),
  },

  {
    name: "events of a log group",
    documented: "1 2 3 4 5",
    page: "FilterLogEvents",
    async run(clients) {
      const { logs } = clients;
      const stream = { logGroupName: "/app", logStreamName: "s" };
      await logs.createLogGroup(stream);
      await logs.createLogStream(stream);
      await logs.putLogEvents({
        ...stream,
        logEvents: MESSAGES.map((message, i) => ({ message, timestamp: EPOCH + i * 10_000 })),
      });
      return messageNumbers(clients, {});
    },
  },
  {
    name: "events until a time, itself included",
    documented: "1 2 3",
    page: "FilterLogEvents",
    run: (clients) => messageNumbers(clients, { endTime: EPOCH + 20_000 }),
  },
  {
    name: "events in pages",
    documented: "2 and more",
    page: "FilterLogEvents",
    async run({ logs }) {
      const { events = [], nextToken } = await logs.filterLogEvents({ logGroupName: "/app", limit: 2 });
      return `${events.length}${nextToken === undefined ? "" : " and more"}`;
    },
  },
  filters("ERROR", "3"),
  filters("?ERROR ?WARN", "3 4"),
  filters("plain -WARN", "3"),
  filters("%^plain [EW]%", "3 4"),
  filters('{ $.level = "error" }', "1 5"),
  filters("{ $.n > 2 }", "5"),
  filters('{ $.n = 1* && $.level = "err*" }', "1 5"),
  filters("{ $.n NOT EXISTS }", "none"),
  filters("[first = plain, second, third]", "3 4"),
  filters("{ $.n EXISTS }", "InvalidParameterException"),
  {
    name: "a retention of 2 days",
    documented: "InvalidParameterException",
    page: "PutRetentionPolicy",
    run: ({ logs }) => logs.putRetentionPolicy({ logGroupName: "/app", retentionInDays: 2 }),
  },

  {
    name: "a missing bucket",
    documented: "NotFound",
    page: "HeadBucket",
    run: ({ s3 }) => s3.headBucket({ Bucket: "missing-bucket" }),
  },
  {
    name: "put into a missing bucket",
    documented: "NoSuchBucket",
    page: "PutObject",
    run: ({ s3 }) => s3.putObject({ Bucket: "missing-bucket", Key: "k", Body: "x" }),
  },
  {
    name: "a bucket of another region",
    documented: "IllegalLocationConstraintException",
    page: "CreateBucket",
    run: ({ s3 }) =>
      s3.createBucket({ Bucket: "tool-bucket", CreateBucketConfiguration: { LocationConstraint: "us-west-2" } }),
  },
  {
    name: "a function of a missing bucket",
    documented: "InvalidParameterValueException",
    page: "UpdateFunctionCode",
    async run(clients) {
      await idle(clients);
      return clients.lambda.updateFunctionCode({ ...app, S3Bucket: "missing-bucket", S3Key: "k" });
    },
  },

  {
    name: "a missing stack",
    documented: "ValidationError",
    page: "DescribeStacks",
    run: ({ cloud }) => cloud.describeStacks({ StackName: "none" }),
  },
  {
    name: "a stack takes its time",
    documented: "CREATE_IN_PROGRESS",
    page: "CreateStack",
    async run({ cloud }) {
      const TemplateBody = topics(
        { A: topic({ TopicName: "a", DisplayName: { "Fn::Sub": `\${!x} \${AWS::Region}` } }) },
        { Outputs: { Text: { Value: { "Fn::Sub": `\${!x} \${AWS::Region}` } } } },
      );
      await cloud.createStack({ StackName: "plans", TemplateBody });
      return (await cloud.describeStacks({ StackName: "plans" })).Stacks?.[0]?.StackStatus;
    },
  },
  {
    name: "Fn::Sub with an exclamation mark",
    documented: `\${x} eu-west-1`,
    page: "Fn::Sub",
    async run(clients) {
      await stackStatus(clients, "plans");
      return (await clients.cloud.describeStacks({ StackName: "plans" })).Stacks?.[0]?.Outputs?.[0]?.OutputValue;
    },
  },
  {
    name: "a reference to nothing",
    documented: "ValidationError",
    page: "Ref",
    run: ({ cloud }) =>
      cloud.createStack({ StackName: "bad", TemplateBody: topics({ A: topic({ TopicName: { Ref: "B" } }) }) }),
  },
  {
    name: "a type that there is not",
    documented: "ValidationError",
    page: "Template anatomy",
    run: ({ cloud }) => cloud.createStack({ StackName: "bad2", TemplateBody: topics({ A: { Type: "AWS::X::Y" } }) }),
  },
  {
    name: "a circle",
    documented: "ValidationError",
    page: "DependsOn",
    run: ({ cloud }) =>
      cloud.createStack({
        StackName: "bad3",
        TemplateBody: topics({ A: topic({}, { DependsOn: "B" }), B: topic({}, { DependsOn: "A" }) }),
      }),
  },
  {
    name: "a property that there is not",
    documented: "ROLLBACK_COMPLETE",
    page: "Troubleshooting CloudFormation",
    async run(clients) {
      await clients.cloud.createStack({ StackName: "bad4", TemplateBody: topics({ A: topic({ Name: "x" }) }) });
      return stackStatus(clients, "bad4");
    },
  },
  {
    name: "an update without changes",
    documented: "ValidationError",
    page: "UpdateStack",
    run: ({ cloud }) => cloud.updateStack({ StackName: "plans", UsePreviousTemplate: true }),
  },
  {
    name: "a change set that changes in place",
    documented: "CREATE_COMPLETE; Modify A False",
    page: "DescribeChangeSet",
    run: (clients) => plan(clients, "place", topics({ A: topic({ TopicName: "a", DisplayName: "new" }) })),
  },
  {
    name: "a change set that replaces",
    documented: "CREATE_COMPLETE; Modify A True",
    page: "DescribeChangeSet",
    run: (clients) =>
      plan(
        clients,
        "replace",
        topics({ A: topic({ TopicName: "b", DisplayName: { "Fn::Sub": `\${!x} \${AWS::Region}` } }) }),
      ),
  },
  {
    name: "a change set without changes",
    documented: "FAILED",
    page: "CreateChangeSet",
    async run(clients) {
      const { TemplateBody = "" } = await clients.cloud.getTemplate({ StackName: "plans" });
      return plan(clients, "same", typeof TemplateBody === "string" ? TemplateBody : JSON.stringify(TemplateBody));
    },
  },
  {
    name: "a stack with a role, without the capability",
    documented: "InsufficientCapabilitiesException",
    page: "CreateStack",
    run: ({ cloud }) =>
      cloud.createStack({
        StackName: "bad5",
        TemplateBody: topics({
          A: { Type: "AWS::IAM::Role", Properties: { AssumeRolePolicyDocument: JSON.parse(trust) } },
        }),
      }),
  },

  {
    name: "a certificate waits",
    documented: "PENDING_VALIDATION",
    page: "RequestCertificate",
    async run({ acm }) {
      const { CertificateArn } = await acm.requestCertificate({ DomainName: "example.dev", ValidationMethod: "EMAIL" });
      await acm.describeCertificate({ CertificateArn });
      await new Promise((resolve) => setTimeout(resolve, 1500));
      return (await acm.describeCertificate({ CertificateArn })).Certificate?.Status;
    },
  },
  {
    name: "a record twice",
    documented: "InvalidChangeBatch",
    page: "ChangeResourceRecordSets",
    async run(clients) {
      await clients.route53.createHostedZone({ Name: "example.dev", CallerReference: "1" });
      await record(clients, {});
      return record(clients, {});
    },
  },
  {
    name: "a CNAME beside it",
    documented: "InvalidChangeBatch",
    page: "ChangeResourceRecordSets",
    run: (clients) => record(clients, { Type: "CNAME", ResourceRecords: [{ Value: "x.dev" }] }),
  },
  {
    name: "a record of another zone",
    documented: "InvalidChangeBatch",
    page: "ChangeResourceRecordSets",
    run: (clients) => record(clients, { Name: "a.example.com." }),
  },
  {
    name: "delete a zone with records",
    documented: "HostedZoneNotEmpty",
    page: "DeleteHostedZone",
    async run({ route53 }) {
      const { HostedZones: [zone] = [] } = await route53.listHostedZonesByName({ DNSName: "example.dev" });
      return route53.deleteHostedZone({ Id: zone?.Id });
    },
  },
  {
    name: "a parameter twice",
    documented: "ParameterAlreadyExists",
    page: "PutParameter",
    async run({ ssm }) {
      await ssm.putParameter({ Name: "/tool/a", Value: "secret", Type: "SecureString" });
      return ssm.putParameter({ Name: "/tool/a", Value: "secret", Type: "SecureString" });
    },
  },
  {
    name: "a secret without decryption is not shown",
    documented: "hidden",
    page: "GetParameter",
    run: async ({ ssm }) =>
      (await ssm.getParameter({ Name: "/tool/a" })).Parameter?.Value === "secret" ? "shown" : "hidden",
  },
  {
    name: "a subscription by mail waits",
    documented: "pending confirmation",
    page: "Subscribe",
    async run({ sns }) {
      const { TopicArn } = await sns.createTopic({ Name: "t" });
      const { SubscriptionArn } = await sns.subscribe({ TopicArn, Protocol: "email", Endpoint: "a@example.dev" });
      return SubscriptionArn?.startsWith("arn:") ? "confirmed" : SubscriptionArn;
    },
  },
  {
    name: "a schedule that is none",
    documented: "ValidationException",
    page: "CreateSchedule",
    run: ({ scheduler }) =>
      scheduler.createSchedule({
        Name: "s",
        ScheduleExpression: "every day",
        FlexibleTimeWindow: { Mode: "OFF" },
        Target: { Arn: "arn:aws:lambda:eu-west-1:123456789012:function:app", RoleArn: ROLE },
      }),
  },
];

/** A value as text, an error by its name. */
export async function observe(step: Step, clients: Clients): Promise<string> {
  try {
    const value = await step.run(clients);
    return typeof value === "string" ? value : value === undefined ? "nothing" : "done";
  } catch (error) {
    return (error as Error).name;
  }
}
