import { parseDuration } from "../../../grammar/units/duration.ts";
import type { Action, ResolvedConfig } from "../../../schema/index.ts";
import { functionName, stageAlias } from "../names.ts";
import { CHAT_SOURCE } from "./chat-function.ts";
import { helperFunction } from "./helper-function.ts";
import { logicalId } from "./logical-id.ts";
import {
  type AppStack,
  type Parts,
  type Resources,
  resourceTags,
  type Secret,
  type TemplateProblem,
} from "./resource.ts";

type Alert = ResolvedConfig["alerts"][number];

/** The gateway's names for the app's own metrics. */
const METRICS: Readonly<Record<string, string>> = {
  "http.count": "Count",
  "http.latency": "Latency",
  "http.4xx": "4XXError",
  "http.5xx": "5XXError",
};

const STATISTICS = { sum: "Sum", min: "Minimum", max: "Maximum", avg: "Average", count: "SampleCount" } as const;

const OPERATORS = {
  ">": "GreaterThanThreshold",
  ">=": "GreaterThanOrEqualToThreshold",
  "<": "LessThanThreshold",
  "<=": "LessThanOrEqualToThreshold",
} as const;

/** A topic for each action, and its subscriptions. */
export function actionResources(input: AppStack): Partial<Parts> {
  const resources: Resources = {};
  const secrets: Secret[] = [];
  for (const action of input.config.actions) {
    const topic = topicId(action.name);
    resources[topic] = {
      Type: "AWS::SNS::Topic",
      // Shown as the sender of text messages.
      Properties: { DisplayName: input.name, Tags: resourceTags(input) },
      Metadata: { tool: { about: `action ${action.name}` } },
    };
    for (const [Protocol, Endpoint] of endpointsOf(action)) {
      resources[logicalId("Subscription", action.name, Endpoint)] = {
        Type: "AWS::SNS::Subscription",
        Properties: { TopicArn: { Ref: topic }, Protocol, Endpoint },
        Metadata: { tool: { about: `${Endpoint} of action ${action.name}` } },
      };
    }
    if (action.type !== "chat" || action.url === undefined) continue;
    const id = logicalId("Chat", action.name);
    const parameter = logicalId("ChatUrl", action.name);
    secrets.push({ parameter, value: action.url, about: `Webhook of action ${action.name}` });
    Object.assign(
      resources,
      helperFunction(id, {
        about: `action ${action.name}`,
        source: CHAT_SOURCE,
        timeoutSeconds: 10,
        environment: {
          WEBHOOK_URL: { Ref: parameter },
          ...(action.channel !== undefined && { CHANNEL: action.channel }),
          ...(action.gifs === true && { GIFS: "true" }),
        },
        statements: [],
      }),
    );
    resources[`${id}Permission`] = {
      Type: "AWS::Lambda::Permission",
      Properties: {
        Action: "lambda:InvokeFunction",
        FunctionName: { "Fn::GetAtt": [id, "Arn"] },
        Principal: "sns.amazonaws.com",
        SourceArn: { Ref: topic },
      },
      Metadata: { tool: { about: `permission of action ${action.name}` } },
    };
    resources[`${id}Subscription`] = {
      Type: "AWS::SNS::Subscription",
      Properties: { TopicArn: { Ref: topic }, Protocol: "lambda", Endpoint: { "Fn::GetAtt": [id, "Arn"] } },
      DependsOn: [`${id}Permission`],
      Metadata: { tool: { about: `chat of action ${action.name}` } },
    };
  }
  return { resources, secrets };
}

/**
 * The alarms of one stage: one for each alert on a metric that exists per stage. For `undefined`, those of the app: the
 * alerts on metrics of other namespaces.
 */
export function alarmResources(input: AppStack, stage: string | undefined): Partial<Parts> {
  const resources: Resources = {};
  const problems: TemplateProblem[] = [];
  const used = new Map<string, number>();
  for (const alert of input.config.alerts) {
    const metric = metricOf(input, alert, stage);
    if (metric === undefined) continue;
    const period = periodSeconds(alert);
    const spanSeconds = period * alert.evaluation_periods;
    const maxSeconds = period >= HOUR ? 7 * DAY : DAY;
    if (spanSeconds > maxSeconds) {
      problems.push({
        code: "stack/alarm-span",
        message: `the alert on ${alert.metric} looks at ${alert.evaluation_periods} periods of ${alert.period}, longer than ${maxSeconds / DAY === 1 ? "a day" : "7 days"}`,
        hint: "write fewer periods, or periods of an hour or more, which may span 7 days",
      });
      continue;
    }
    // Several alerts on one figure are numbered in order, so a changed threshold changes the alarm and does not replace it.
    const key = [
      alert.metric,
      alert.namespace ?? "",
      alert.statistic,
      alert.operator.charAt(0) === ">" ? "above" : "below",
    ];
    const count = (used.get(key.join(" ")) ?? 0) + 1;
    used.set(key.join(" "), count);
    const ordinal = count === 1 ? [] : [String(count)];
    const said = `${alert.metric} ${alert.statistic} ${alert.operator} ${alert.threshold}`;
    resources[logicalId("Alarm", stage ?? "", ...key, ...ordinal)] = {
      Type: "AWS::CloudWatch::Alarm",
      Properties: {
        AlarmName: [
          input.name,
          ...(stage === undefined ? [] : [stage]),
          ...key.filter((word) => word !== ""),
          ...ordinal,
        ].join("-"),
        AlarmDescription: alert.description === "" ? said : alert.description,
        ...metric,
        Statistic: STATISTICS[alert.statistic],
        Period: period,
        EvaluationPeriods: alert.evaluation_periods,
        Threshold: alert.threshold,
        ComparisonOperator: OPERATORS[alert.operator],
        TreatMissingData: alert.missing,
        ActionsEnabled: !alert.disable,
        AlarmActions: [{ Ref: topicId(alert.action) }],
        OKActions: [{ Ref: topicId(alert.action) }],
      },
      Metadata: { tool: { ...(stage !== undefined && { stage }), about: `alert ${said}` } },
    };
  }
  return { resources, problems };
}

const HOUR = 3600;
const DAY = 24 * HOUR;

/** Namespace and dimensions of the metric, for a stage or for the app; undefined if it belongs to the other. */
function metricOf({ name }: AppStack, { metric, namespace }: Alert, stage: string | undefined) {
  const dimensions = (record: Record<string, string>) =>
    Object.entries(record).map(([Name, Value]) => ({ Name, Value }));
  const ofStage: Readonly<Record<string, (stage: string) => Record<string, string>>> = {
    "AWS/ApiGateway": (one) => ({ ApiName: name, Stage: one }),
    "AWS/Lambda": (one) => ({ FunctionName: functionName(name), Resource: `${functionName(name)}:${stageAlias(one)}` }),
  };
  const Namespace = namespace ?? "AWS/ApiGateway";
  const byStage = ofStage[Namespace];
  if ((byStage === undefined) !== (stage === undefined)) return undefined;
  return {
    Namespace,
    MetricName: namespace === undefined ? METRICS[metric]! : metric,
    ...(byStage !== undefined && { Dimensions: dimensions(byStage(stage!)) }),
  };
}

function endpointsOf(action: Action): [protocol: string, endpoint: string][] {
  if (action.type === "email") return (action.emails ?? []).map((email) => ["email", email]);
  return action.type === "sms" ? (action.numbers ?? []).map((number) => ["sms", number]) : [];
}

function periodSeconds({ period }: Alert): number {
  const duration = parseDuration(period);
  if (!duration.ok) throw new Error(`the period ${period} was not checked`);
  return duration.value / 1000;
}

const topicId = (action: string) => logicalId("Topic", action);
