// AWS::CloudWatch::Alarm, AWS::SNS::*, AWS::Scheduler::Schedule, AWS::Events::Rule, AWS::Logs::LogGroup
import type { PutMetricAlarmCommandInput } from "@aws-sdk/client-cloudwatch";
import type { CreateScheduleCommandInput } from "@aws-sdk/client-scheduler";
import {
  badRequest,
  ignoreNotFound,
  type Properties,
  parseProperties,
  type ResourceContext,
  type ResourceType,
  tagsOf,
  textOrNone,
} from "./type.ts";

const COMPARISONS = /^(GreaterThanOrEqualTo|GreaterThan|LessThan|LessThanOrEqualTo)Threshold$/;
const MISSING = /^(breaching|notBreaching|ignore|missing)$/;

function putAlarm({ world, region }: ResourceContext, name: string, properties: Properties): string {
  if (!COMPARISONS.test(String(properties.ComparisonOperator)))
    throw badRequest(
      `Value '${properties.ComparisonOperator}' at 'comparisonOperator' failed to satisfy constraint: Member must satisfy enum value set`,
    );
  if (properties.TreatMissingData !== undefined && !MISSING.test(String(properties.TreatMissingData)))
    throw badRequest(`Value ${properties.TreatMissingData} at 'treatMissingData' is not valid`);
  if (
    properties.MetricName !== undefined &&
    properties.Statistic === undefined &&
    properties.ExtendedStatistic === undefined
  )
    throw badRequest("Exactly one of statistic or extended statistic must be specified");
  const period = Number(properties.Period ?? 0);
  if (properties.MetricName !== undefined && period !== 10 && period !== 30 && (period === 0 || period % 60 !== 0))
    throw badRequest(`Period must be 10, 30 or a multiple of 60`);
  if (period * Number(properties.EvaluationPeriods ?? 1) > 7 * 86_400)
    throw badRequest("Metrics cannot be checked across more than 7 days");
  const numbers = ["Threshold", "Period", "EvaluationPeriods", "DatapointsToAlarm"];
  const input = Object.fromEntries(
    Object.entries(properties).map(([key, value]) => [key, numbers.includes(key) ? Number(value) : value]),
  );
  const service = world.service("monitoring", region);
  service.operations.PutMetricAlarm({ ...(input as unknown as PutMetricAlarmCommandInput), AlarmName: name });
  return name;
}

export const alarm: ResourceType = {
  properties:
    parseProperties(`ActionConfiguration{} ActionsEnabled& AlarmActions[] AlarmDescription AlarmName! ComparisonOperator DatapointsToAlarm#
    Dimensions[] EvaluateLowSampleCountPercentile EvaluationCriteria{} EvaluationInterval# EvaluationPeriods# EvaluationWindow{}
    ExtendedStatistic InsufficientDataActions[] MetricName Metrics[] Namespace OKActions[] Period# Statistic Tags[]
    Threshold# ThresholdMetricId TreatMissingData Unit WarmUpConfiguration{}`),
  durationMs: 2_000,
  attributes: ["Arn"],
  create: (context, properties) =>
    putAlarm(context, String(properties.AlarmName ?? context.uniqueName(255)), properties),
  update: (context, id, properties) => void putAlarm(context, id, properties),
  delete: ({ world, region }, id) => void world.service("monitoring", region).alarms.delete(id),
  attribute: ({ world, region }, id) => world.service("monitoring", region).arnOf(id),
};

const sns = ({ world, region }: ResourceContext) => world.service("sns", region);

export const topic: ResourceType = {
  properties:
    parseProperties(`ArchivePolicy~ ContentBasedDeduplication& DataProtectionPolicy~ DeliveryStatusLogging[] DisplayName
    FifoThroughputScope FifoTopic!& KmsMasterKeyId MaximumMessageSize# SignatureVersion Subscription[] Tags[] TopicName! TracingConfig`),
  durationMs: 5_000,
  attributes: ["TopicArn", "TopicName"],
  create(context, properties) {
    const { operations } = sns(context);
    const name = String(properties.TopicName ?? context.uniqueName(256));
    const { TopicArn } = operations.CreateTopic({
      Name: name,
      ...(properties.DisplayName !== undefined && { Attributes: { DisplayName: String(properties.DisplayName) } }),
      Tags: Object.entries(tagsOf(properties.Tags)).map(([Key, Value]) => ({ Key, Value })),
    });
    for (const one of (properties.Subscription ?? []) as { Endpoint: string; Protocol: string }[])
      operations.Subscribe({ TopicArn, ...one });
    return TopicArn;
  },
  update(context, id, properties) {
    sns(context).topicByArn(id).displayName = String(properties.DisplayName ?? "");
  },
  delete: (context, id) => sns(context).operations.DeleteTopic({ TopicArn: id }),
  attribute: (_context, id, name) => (name === "TopicArn" ? id : id.split(":").pop()),
};

export const subscription: ResourceType = {
  properties:
    parseProperties(`DeliveryPolicy~ Endpoint! FilterPolicy~ FilterPolicyScope Protocol*! RawMessageDelivery& RedrivePolicy~
    Region? ReplayPolicy~ SubscriptionRoleArn TopicArn*!`),
  durationMs: 2_000,
  attributes: ["Arn"],
  create: (context, properties) =>
    sns(context).operations.Subscribe({
      TopicArn: String(properties.TopicArn),
      Protocol: String(properties.Protocol),
      Endpoint: textOrNone(properties.Endpoint),
      ReturnSubscriptionArn: true,
    }).SubscriptionArn,
  update() {},
  delete: (context, id) => sns(context).operations.Unsubscribe({ SubscriptionArn: id }),
  attribute: (_context, id) => id,
};

function putTopicPolicy(context: ResourceContext, properties: Properties): void {
  for (const arn of properties.Topics as string[])
    sns(context).topicByArn(arn).policy = JSON.stringify(properties.PolicyDocument);
}

export const topicPolicy: ResourceType = {
  properties: parseProperties("PolicyDocument*~ Topics*[]"),
  durationMs: 2_000,
  attributes: ["Id"],
  create(context, properties) {
    putTopicPolicy(context, properties);
    return context.uniqueName(64);
  },
  update: (context, _id, properties) => putTopicPolicy(context, properties),
  delete(context, _id, properties) {
    for (const arn of properties.Topics as string[]) {
      const existing = sns(context).topics.get(arn);
      if (existing !== undefined) existing.policy = undefined;
    }
  },
  attribute: (_context, id) => id,
};

const scheduler = ({ world, region }: ResourceContext) => world.service("scheduler", region);

export const schedule: ResourceType = {
  properties: parseProperties(`Description EndDate FlexibleTimeWindow*{} GroupName KmsKeyArn Name! ScheduleExpression*
    ScheduleExpressionTimezone StartDate State Target*{}`),
  durationMs: 3_000,
  attributes: ["Arn"],
  create(context, properties) {
    const name = String(properties.Name ?? context.uniqueName(64));
    scheduler(context).operations.CreateSchedule({
      ...(properties as unknown as CreateScheduleCommandInput),
      Name: name,
    });
    return name;
  },
  update(context, id, properties) {
    scheduler(context).operations.UpdateSchedule({
      ...(properties as unknown as CreateScheduleCommandInput),
      Name: id,
    });
  },
  delete: (context, id, properties) =>
    ignoreNotFound(() =>
      scheduler(context).operations.DeleteSchedule({
        Name: id,
        ...(properties.GroupName !== undefined && { GroupName: String(properties.GroupName) }),
      }),
    ),
  attribute: ({ world, region }, id, _name, properties) =>
    `arn:aws:scheduler:${region}:${world.accountId}:schedule/${properties.GroupName ?? "default"}/${id}`,
};

/** EventBridge's rules have no other side here: nobody calls that service. */
export const rule: ResourceType = {
  properties: parseProperties(
    "Description EventBusName? EventPattern~ Name! RoleArn ScheduleExpression State Tags[] Targets[]",
  ),
  durationMs: 3_000,
  attributes: ["Arn"],
  create: (context, properties) => String(properties.Name ?? context.uniqueName(64)),
  update() {},
  delete() {},
  attribute: ({ world, region }, id) => `arn:aws:events:${region}:${world.accountId}:rule/${id}`,
};

const logs = ({ world, region }: ResourceContext) => world.service("logs", region);

export const logGroup: ResourceType = {
  properties:
    parseProperties(`BearerTokenAuthenticationEnabled& DataProtectionPolicy~ DeletionProtectionEnabled& FieldIndexPolicies[]
    KmsKeyId LogGroupClass LogGroupName! ResourcePolicyDocument{} RetentionInDays# Tags[]`),
  durationMs: 3_000,
  attributes: ["Arn"],
  create(context, properties) {
    const name = String(properties.LogGroupName ?? context.uniqueName(512));
    logs(context).operations.CreateLogGroup({ logGroupName: name, tags: tagsOf(properties.Tags) });
    this.update(context, name, properties, {});
    return name;
  },
  update(context, id, properties) {
    if (properties.RetentionInDays === undefined) logs(context).operations.DeleteRetentionPolicy({ logGroupName: id });
    else
      logs(context).operations.PutRetentionPolicy({
        logGroupName: id,
        retentionInDays: Number(properties.RetentionInDays),
      });
  },
  delete: (context, id) => ignoreNotFound(() => logs(context).operations.DeleteLogGroup({ logGroupName: id })),
  attribute: ({ world, region }, id) => `arn:aws:logs:${region}:${world.accountId}:log-group:${id}:*`,
};
