// AWS::CloudWatch::Alarm, AWS::SNS::*, AWS::Scheduler::Schedule, AWS::Events::Rule, AWS::Logs::LogGroup
import type { PutMetricAlarmCommandInput } from "@aws-sdk/client-cloudwatch";
import type { CreateScheduleCommandInput } from "@aws-sdk/client-scheduler";
import {
  badRequest,
  type Context,
  type Properties,
  properties,
  type ResourceType,
  tagsOf,
  textOrNone,
  unlessGone,
} from "./type.ts";

const COMPARISONS = /^(GreaterThanOrEqualTo|GreaterThan|LessThan|LessThanOrEqualTo)Threshold$/;
const MISSING = /^(breaching|notBreaching|ignore|missing)$/;

function putAlarm({ world, region }: Context, name: string, given: Properties): string {
  if (!COMPARISONS.test(String(given.ComparisonOperator)))
    throw badRequest(
      `Value '${given.ComparisonOperator}' at 'comparisonOperator' failed to satisfy constraint: Member must satisfy enum value set`,
    );
  if (given.TreatMissingData !== undefined && !MISSING.test(String(given.TreatMissingData)))
    throw badRequest(`Value ${given.TreatMissingData} at 'treatMissingData' is not valid`);
  if (given.MetricName !== undefined && given.Statistic === undefined && given.ExtendedStatistic === undefined)
    throw badRequest("Exactly one of statistic or extended statistic must be specified");
  const period = Number(given.Period ?? 0);
  if (given.MetricName !== undefined && period !== 10 && period !== 30 && (period === 0 || period % 60 !== 0))
    throw badRequest(`Period must be 10, 30 or a multiple of 60`);
  if (period * Number(given.EvaluationPeriods ?? 1) > 7 * 86_400)
    throw badRequest("Metrics cannot be checked across more than 7 days");
  const numbers = ["Threshold", "Period", "EvaluationPeriods", "DatapointsToAlarm"];
  const input = Object.fromEntries(
    Object.entries(given).map(([key, value]) => [key, numbers.includes(key) ? Number(value) : value]),
  );
  const service = world.service("monitoring", region);
  service.operations.PutMetricAlarm({ ...(input as unknown as PutMetricAlarmCommandInput), AlarmName: name });
  return name;
}

export const alarm: ResourceType = {
  properties:
    properties(`ActionConfiguration{} ActionsEnabled& AlarmActions[] AlarmDescription AlarmName! ComparisonOperator DatapointsToAlarm#
    Dimensions[] EvaluateLowSampleCountPercentile EvaluationCriteria{} EvaluationInterval# EvaluationPeriods# EvaluationWindow{}
    ExtendedStatistic InsufficientDataActions[] MetricName Metrics[] Namespace OKActions[] Period# Statistic Tags[]
    Threshold# ThresholdMetricId TreatMissingData Unit WarmUpConfiguration{}`),
  durationMs: 2_000,
  attributes: ["Arn"],
  create: (context, given) => putAlarm(context, String(given.AlarmName ?? context.uniqueName(255)), given),
  update: (context, id, given) => void putAlarm(context, id, given),
  delete: ({ world, region }, id) => void world.service("monitoring", region).alarms.delete(id),
  attribute: ({ world, region }, id) => world.service("monitoring", region).arnOf(id),
};

const sns = ({ world, region }: Context) => world.service("sns", region);

export const topic: ResourceType = {
  properties:
    properties(`ArchivePolicy~ ContentBasedDeduplication& DataProtectionPolicy~ DeliveryStatusLogging[] DisplayName
    FifoThroughputScope FifoTopic!& KmsMasterKeyId MaximumMessageSize# SignatureVersion Subscription[] Tags[] TopicName! TracingConfig`),
  durationMs: 5_000,
  attributes: ["TopicArn", "TopicName"],
  create(context, given) {
    const { operations } = sns(context);
    const name = String(given.TopicName ?? context.uniqueName(256));
    const { TopicArn } = operations.CreateTopic({
      Name: name,
      ...(given.DisplayName !== undefined && { Attributes: { DisplayName: String(given.DisplayName) } }),
      Tags: Object.entries(tagsOf(given.Tags)).map(([Key, Value]) => ({ Key, Value })),
    });
    for (const one of (given.Subscription ?? []) as { Endpoint: string; Protocol: string }[])
      operations.Subscribe({ TopicArn, ...one });
    return TopicArn;
  },
  update(context, id, given) {
    sns(context).topic(id).displayName = String(given.DisplayName ?? "");
  },
  delete: (context, id) => sns(context).operations.DeleteTopic({ TopicArn: id }),
  attribute: (_context, id, name) => (name === "TopicArn" ? id : id.split(":").pop()),
};

export const subscription: ResourceType = {
  properties:
    properties(`DeliveryPolicy~ Endpoint! FilterPolicy~ FilterPolicyScope Protocol*! RawMessageDelivery& RedrivePolicy~
    Region? ReplayPolicy~ SubscriptionRoleArn TopicArn*!`),
  durationMs: 2_000,
  attributes: ["Arn"],
  create: (context, given) =>
    sns(context).operations.Subscribe({
      TopicArn: String(given.TopicArn),
      Protocol: String(given.Protocol),
      Endpoint: textOrNone(given.Endpoint),
      ReturnSubscriptionArn: true,
    }).SubscriptionArn,
  update() {},
  delete: (context, id) => sns(context).operations.Unsubscribe({ SubscriptionArn: id }),
  attribute: (_context, id) => id,
};

function putTopicPolicy(context: Context, given: Properties): void {
  for (const arn of given.Topics as string[]) sns(context).topic(arn).policy = JSON.stringify(given.PolicyDocument);
}

export const topicPolicy: ResourceType = {
  properties: properties("PolicyDocument*~ Topics*[]"),
  durationMs: 2_000,
  attributes: ["Id"],
  create(context, given) {
    putTopicPolicy(context, given);
    return context.uniqueName(64);
  },
  update: (context, _id, given) => putTopicPolicy(context, given),
  delete(context, _id, given) {
    for (const arn of given.Topics as string[]) {
      const found = sns(context).topics.get(arn);
      if (found !== undefined) found.policy = undefined;
    }
  },
  attribute: (_context, id) => id,
};

const scheduler = ({ world, region }: Context) => world.service("scheduler", region);

export const schedule: ResourceType = {
  properties: properties(`Description EndDate FlexibleTimeWindow*{} GroupName KmsKeyArn Name! ScheduleExpression*
    ScheduleExpressionTimezone StartDate State Target*{}`),
  durationMs: 3_000,
  attributes: ["Arn"],
  create(context, given) {
    const name = String(given.Name ?? context.uniqueName(64));
    scheduler(context).operations.CreateSchedule({ ...(given as unknown as CreateScheduleCommandInput), Name: name });
    return name;
  },
  update(context, id, given) {
    scheduler(context).operations.UpdateSchedule({ ...(given as unknown as CreateScheduleCommandInput), Name: id });
  },
  delete: (context, id, given) =>
    unlessGone(() =>
      scheduler(context).operations.DeleteSchedule({
        Name: id,
        ...(given.GroupName !== undefined && { GroupName: String(given.GroupName) }),
      }),
    ),
  attribute: ({ world, region }, id, _name, given) =>
    `arn:aws:scheduler:${region}:${world.accountId}:schedule/${given.GroupName ?? "default"}/${id}`,
};

/** EventBridge's rules have no other side here: nobody calls that service. */
export const rule: ResourceType = {
  properties: properties(
    "Description EventBusName? EventPattern~ Name! RoleArn ScheduleExpression State Tags[] Targets[]",
  ),
  durationMs: 3_000,
  attributes: ["Arn"],
  create: (context, given) => String(given.Name ?? context.uniqueName(64)),
  update() {},
  delete() {},
  attribute: ({ world, region }, id) => `arn:aws:events:${region}:${world.accountId}:rule/${id}`,
};

const logs = ({ world, region }: Context) => world.service("logs", region);

export const logGroup: ResourceType = {
  properties:
    properties(`BearerTokenAuthenticationEnabled& DataProtectionPolicy~ DeletionProtectionEnabled& FieldIndexPolicies[]
    KmsKeyId LogGroupClass LogGroupName! ResourcePolicyDocument{} RetentionInDays# Tags[]`),
  durationMs: 3_000,
  attributes: ["Arn"],
  create(context, given) {
    const name = String(given.LogGroupName ?? context.uniqueName(512));
    logs(context).operations.CreateLogGroup({ logGroupName: name, tags: tagsOf(given.Tags) });
    this.update(context, name, given, {});
    return name;
  },
  update(context, id, given) {
    if (given.RetentionInDays === undefined) logs(context).operations.DeleteRetentionPolicy({ logGroupName: id });
    else
      logs(context).operations.PutRetentionPolicy({ logGroupName: id, retentionInDays: Number(given.RetentionInDays) });
  },
  delete: (context, id) => unlessGone(() => logs(context).operations.DeleteLogGroup({ logGroupName: id })),
  attribute: ({ world, region }, id) => `arn:aws:logs:${region}:${world.accountId}:log-group:${id}:*`,
};
