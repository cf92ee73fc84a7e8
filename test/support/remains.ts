// The resources in an account of the stand-in, asked for as anybody would: through the SDK's clients.
import { ACM } from "@aws-sdk/client-acm";
import { APIGateway } from "@aws-sdk/client-api-gateway";
import { CloudFormation } from "@aws-sdk/client-cloudformation";
import { CloudWatch } from "@aws-sdk/client-cloudwatch";
import { CloudWatchLogs } from "@aws-sdk/client-cloudwatch-logs";
import { IAM } from "@aws-sdk/client-iam";
import { Lambda } from "@aws-sdk/client-lambda";
import { Route53 } from "@aws-sdk/client-route-53";
import { S3 } from "@aws-sdk/client-s3";
import { Scheduler } from "@aws-sdk/client-scheduler";
import { SNS } from "@aws-sdk/client-sns";
import { SSM } from "@aws-sdk/client-ssm";
import type { Aws } from "./aws/index.ts";

/** Everything that costs or confuses, as `kind name`, sorted. Stacks that were deleted are gone. */
export async function remains({ client }: Aws): Promise<string[]> {
  const [functions, layers, roles, stacks, apis, domains, buckets, groups, zones, certificates] = await Promise.all([
    new Lambda(client).listFunctions({}),
    new Lambda(client).listLayers({}),
    new IAM(client).listRoles({}),
    new CloudFormation(client).describeStacks({}),
    new APIGateway(client).getRestApis({}),
    new APIGateway(client).getDomainNames({}),
    new S3(client).listBuckets({}),
    new CloudWatchLogs(client).describeLogGroups({}),
    new Route53(client).listHostedZones({}),
    new ACM({ ...client, region: "us-east-1" }).listCertificates({}),
  ]);
  const [parameters, topics, alarms, schedules] = await Promise.all([
    new SSM(client).getParametersByPath({ Path: "/", Recursive: true }),
    new SNS(client).listTopics({}),
    new CloudWatch(client).describeAlarms({}),
    new Scheduler(client).listSchedules({}),
  ]);
  const named = (kind: string, names: readonly (string | undefined)[] | undefined) =>
    (names ?? []).map((name) => `${kind} ${name}`);
  return [
    ...named(
      "function",
      functions.Functions?.map(({ FunctionName }) => FunctionName),
    ),
    ...named(
      "layer",
      layers.Layers?.map(({ LayerName }) => LayerName),
    ),
    ...named(
      "role",
      roles.Roles?.map(({ RoleName }) => RoleName),
    ),
    ...named(
      "stack",
      stacks.Stacks?.map(({ StackName }) => StackName),
    ),
    ...named(
      "api",
      apis.items?.map(({ name }) => name),
    ),
    ...named(
      "domain",
      domains.items?.map(({ domainName }) => domainName),
    ),
    ...named(
      "bucket",
      buckets.Buckets?.map(({ Name }) => Name),
    ),
    ...named(
      "log group",
      groups.logGroups?.map(({ logGroupName }) => logGroupName),
    ),
    ...named(
      "zone",
      zones.HostedZones?.map(({ Name }) => Name),
    ),
    ...named(
      "certificate",
      certificates.CertificateSummaryList?.map(({ DomainName }) => DomainName),
    ),
    ...named(
      "parameter",
      parameters.Parameters?.map(({ Name }) => Name),
    ),
    ...named(
      "topic",
      topics.Topics?.map(({ TopicArn }) => TopicArn),
    ),
    ...named(
      "alarm",
      alarms.MetricAlarms?.map(({ AlarmName }) => AlarmName),
    ),
    ...named(
      "schedule",
      schedules.Schedules?.map(({ Name }) => Name),
    ),
  ].sort();
}
