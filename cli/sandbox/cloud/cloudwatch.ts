// CloudWatch: the figures that the other services record and that callers put there, and alarms on them.
import type {
  DescribeAlarmsCommandInput,
  GetMetricDataCommandInput,
  GetMetricStatisticsCommandInput,
  PutMetricAlarmCommandInput,
  PutMetricDataCommandInput,
} from "@aws-sdk/client-cloudwatch";
import {
  type AlarmRule,
  type AlarmState,
  type DataPoint,
  evaluateAlarm,
  retrievedPeriods,
} from "./alarm-evaluation.ts";
import { everyMs } from "./by-clock.ts";
import { type Digest, statisticOf } from "./digest.ts";
import { MetricStore, type WrittenMinute } from "./metrics.ts";
import { AwsError } from "./protocol/error.ts";
import type { World } from "./world.ts";

export interface Alarm extends PutMetricAlarmCommandInput {
  state: AlarmState;
  reason: string;
  /** When the state was last set. */
  updatedAt: Date;
  configuredAt: Date;
}

type Dimensions = readonly { Name?: string | undefined; Value?: string | undefined }[] | undefined;

/** "GetMetricStatistics: the maximum number of data points returned is 1,440." */
const MAX_DATA_POINTS = 1440;

/** In real time. */
const EVALUATION_MS = 10_000;

export function openCloudWatch(world: World, region: string) {
  const written = world.series<WrittenMinute>("monitoring", region, "minutes", ({ at }) => at);
  const metrics = new MetricStore(written, () => world.clock.now());
  const alarms = world.collection<Alarm>("monitoring", region, "alarms");
  const arnOf = (name: string) => `arn:aws:cloudwatch:${region}:${world.accountId}:alarm:${name}`;

  const operations = {
    PutMetricData(input: PutMetricDataCommandInput) {
      for (const one of input.MetricData ?? []) {
        metrics.add(
          { namespace: input.Namespace ?? "", name: one.MetricName ?? "", dimensions: namesOf(one.Dimensions) },
          one.Timestamp?.getTime() ?? world.clock.now(),
          one.Values ?? (one.Value === undefined ? [] : [one.Value]),
          one.Counts,
        );
      }
      // Data is on disk before the answer; figures of requests may wait until their minute is over.
      metrics.flush(true);
    },
    GetMetricStatistics(input: GetMetricStatisticsCommandInput) {
      const [start, end, period] = [input.StartTime!, input.EndTime!, input.Period ?? 60];
      if (start >= end)
        throw new AwsError(
          "InvalidParameterCombination",
          "The parameter StartTime must be less than the parameter EndTime.",
        );
      if ((end.getTime() - start.getTime()) / 1000 / period > MAX_DATA_POINTS) {
        throw new AwsError(
          "InvalidParameterCombination",
          `You have requested up to ${Math.ceil((end.getTime() - start.getTime()) / 1000 / period)} datapoints, which exceeds the limit of ${MAX_DATA_POINTS}. You may reduce the datapoints requested by increasing Period, or decreasing the time range.`,
        );
      }
      const metric = metricOf(input);
      const range = { startMs: start.getTime(), endMs: end.getTime(), periodMs: period * 1000 };
      const points = metrics.periods(metric, range).map(([at, digest]) => ({
        Timestamp: new Date(at),
        ...Object.fromEntries((input.Statistics ?? []).map((statistic) => [statistic, figureOf(statistic, digest)])),
        ...((input.ExtendedStatistics?.length ?? 0) > 0 && {
          ExtendedStatistics: Object.fromEntries(input.ExtendedStatistics!.map((one) => [one, figureOf(one, digest)])),
        }),
        Unit: "None",
      }));
      return { Label: input.MetricName, Datapoints: points };
    },
    GetMetricData(input: GetMetricDataCommandInput) {
      const [start, end] = [input.StartTime!, input.EndTime!];
      const results = (input.MetricDataQueries ?? []).flatMap((query) => {
        const { Id, Label, MetricStat: metricStat, ReturnData = true } = query;
        if (!/^[a-z]\w*$/.test(Id ?? ""))
          throw new AwsError(
            "ValidationError",
            `The value ${Id} for parameter MetricDataQueries.member.1.Id is not matching the expected pattern ^[a-z][a-zA-Z0-9_]*$.`,
          );
        if (!ReturnData) return [];
        if (metricStat === undefined) throw new AwsError("NotImplemented", "expressions", 501);
        const periods = metrics.periods(metricOf(metricStat.Metric ?? {}), {
          startMs: start.getTime(),
          endMs: end.getTime(),
          periodMs: (metricStat.Period ?? 60) * 1000,
        });
        if (input.ScanBy !== "TimestampAscending") periods.reverse();
        return {
          Id,
          Label: Label ?? metricStat.Metric?.MetricName,
          Timestamps: periods.map(([at]) => new Date(at)),
          Values: periods.map(([, digest]) => figureOf(metricStat.Stat ?? "Average", digest)),
          StatusCode: "Complete",
        };
      });
      return { MetricDataResults: results };
    },
    PutMetricAlarm(input: PutMetricAlarmCommandInput) {
      const name = input.AlarmName ?? "";
      const now = world.clock.date();
      // "When you update an existing alarm, its state is left unchanged."
      const { state, reason, updatedAt } = alarms.get(name) ?? {
        state: "INSUFFICIENT_DATA" as const,
        reason: "Unchecked: Initial alarm creation",
        updatedAt: now,
      };
      alarms.set(name, { ...input, state, reason, updatedAt, configuredAt: now });
    },
    DeleteAlarms(input: { AlarmNames?: string[] }) {
      for (const name of input.AlarmNames ?? []) {
        if (!alarms.delete(name)) throw new AwsError("ResourceNotFound", `Alarm ${name} does not exist`, 404);
      }
    },
    DescribeAlarms(input: DescribeAlarmsCommandInput) {
      const own = [...alarms.values()].filter(
        ({ AlarmName = "", state }) =>
          (input.AlarmNames?.includes(AlarmName) ?? true) &&
          AlarmName.startsWith(input.AlarmNamePrefix ?? "") &&
          (input.StateValue === undefined || state === input.StateValue),
      );
      return {
        MetricAlarms: own.map(({ state, reason, updatedAt, configuredAt, Tags: _tags, ...alarm }) => ({
          ...alarm,
          AlarmArn: arnOf(alarm.AlarmName ?? ""),
          AlarmConfigurationUpdatedTimestamp: configuredAt,
          StateValue: state,
          StateReason: reason,
          StateUpdatedTimestamp: updatedAt,
        })),
        CompositeAlarms: [],
      };
    },
    /** As when the figures pass the threshold: the alarm's actions get their message. */
    async SetAlarmState(input: { AlarmName?: string; StateValue?: AlarmState; StateReason?: string }) {
      const alarm = alarms.get(input.AlarmName ?? "");
      if (alarm === undefined) throw new AwsError("ResourceNotFound", `Alarm ${input.AlarmName} does not exist`, 404);
      await change(alarm, input.StateValue ?? "OK", input.StateReason ?? "");
    },
  };

  const change = async (alarm: Alarm, state: AlarmState, reason: string) => {
    const before = alarm.state;
    const { AlarmName = "" } = alarm;
    Object.assign(alarm, { state, reason, updatedAt: world.clock.date() });
    alarms.touch(AlarmName);
    if (alarm.ActionsEnabled === false) return;
    const actions =
      state === "ALARM" ? alarm.AlarmActions : state === "OK" ? alarm.OKActions : alarm.InsufficientDataActions;
    const Message = JSON.stringify(
      messageOf(alarm, before, { region, accountId: world.accountId, arn: arnOf(AlarmName) }),
    );
    for (const TopicArn of actions ?? []) {
      const Subject = `${state}: "${AlarmName}" in ${region}`;
      await world.service("sns", region).operations.Publish({ TopicArn, Subject, Message });
    }
  };

  /** Evaluates every alarm from the periods that are over. */
  const evaluate = async () => {
    metrics.flush();
    const now = world.clock.now();
    for (const name of [...alarms.keys()]) {
      const alarm = alarms.peek(name);
      const rule = alarm && ruleOf(alarm);
      if (alarm === undefined || rule === undefined) continue;
      const verdict = evaluateAlarm(rule, pointsOf(alarm, rule, now));
      if (verdict === undefined || verdict.state === alarm.state) continue;
      await change(alarm, verdict.state, verdict.reason).catch((error: Error) => {
        // "CloudWatch doesn't test or validate the actions that you specify": a topic may be gone.
        if (!(error instanceof AwsError)) throw error;
      });
    }
  };

  const pointsOf = (alarm: Alarm, rule: AlarmRule, now: number): DataPoint[] => {
    // Figures are kept by minute.
    const periodMs = Math.max(60, alarm.Period ?? 60) * 1000;
    const endMs = Math.floor(now / periodMs) * periodMs;
    const startMs = endMs - retrievedPeriods(rule) * periodMs;
    const digests = new Map(metrics.periods(metricOf(alarm), { startMs, endMs, periodMs }));
    const statistic = alarm.ExtendedStatistic ?? alarm.Statistic ?? "Average";
    return Array.from({ length: retrievedPeriods(rule) }, (_, i) => {
      const at = startMs + i * periodMs;
      const digest = digests.get(at);
      return { at, value: digest && figureOf(statistic, digest) };
    });
  };

  const stop = world.options.runsByClock ? everyMs(world, EVALUATION_MS, evaluate) : undefined;

  return {
    operations,
    alarms,
    arnOf,
    /** Evaluates all alarms, as the clock does. */
    evaluate,
    /** Records the figures of a service about its own work: each value of each figure, under each set of dimensions. */
    record(namespace: string, dimensions: readonly Readonly<Record<string, string>>[], figures: Figures) {
      const now = world.clock.now();
      for (const set of dimensions) {
        const names = Object.entries(set).map(([name, value]) => `${name}=${value}`);
        metrics.addAll({ namespace, dimensions: names }, now, figures);
      }
    },
    close() {
      stop?.();
      metrics.flush(true);
    },
  };
}

type Figures = Readonly<Record<string, number>>;

const namesOf = (dimensions: Dimensions) => (dimensions ?? []).map(({ Name, Value }) => `${Name}=${Value}`);

const metricOf = (input: {
  readonly Namespace?: string | undefined;
  readonly MetricName?: string | undefined;
  readonly Dimensions?: Dimensions;
}) => ({
  namespace: input.Namespace ?? "",
  name: input.MetricName ?? "",
  dimensions: namesOf(input.Dimensions),
});

function figureOf(statistic: string, digest: Digest): number {
  const figure = statisticOf(statistic, digest);
  if (figure === undefined)
    throw new AwsError("InvalidParameterValue", `The parameter Statistic ${statistic} is not valid`);
  return figure;
}

/** Undefined for an alarm on an expression: those are not evaluated. */
function ruleOf(alarm: Alarm): AlarmRule | undefined {
  if (alarm.MetricName === undefined) return undefined;
  const evaluationPeriods = alarm.EvaluationPeriods ?? 1;
  return {
    comparison: alarm.ComparisonOperator ?? "",
    threshold: alarm.Threshold ?? 0,
    evaluationPeriods,
    datapointsToAlarm: alarm.DatapointsToAlarm ?? evaluationPeriods,
    missing: (alarm.TreatMissingData ?? "missing") as AlarmRule["missing"],
  };
}

interface Place {
  readonly region: string;
  readonly accountId: string;
  readonly arn: string;
}

/** The message that subscribers of a topic get. */
function messageOf(alarm: Alarm, before: AlarmState, { region, accountId, arn }: Place) {
  const time = (date: Date) => date.toISOString().replace("Z", "+0000");
  return {
    AlarmName: alarm.AlarmName,
    AlarmDescription: alarm.AlarmDescription ?? null,
    AWSAccountId: accountId,
    AlarmConfigurationUpdatedTimestamp: time(alarm.configuredAt),
    NewStateValue: alarm.state,
    NewStateReason: alarm.reason,
    StateChangeTime: time(alarm.updatedAt),
    Region: region,
    AlarmArn: arn,
    OldStateValue: before,
    OKActions: alarm.OKActions ?? [],
    AlarmActions: alarm.AlarmActions ?? [],
    InsufficientDataActions: alarm.InsufficientDataActions ?? [],
    Trigger: {
      MetricName: alarm.MetricName,
      Namespace: alarm.Namespace,
      StatisticType: alarm.ExtendedStatistic === undefined ? "Statistic" : "ExtendedStatistic",
      Statistic: alarm.ExtendedStatistic ?? alarm.Statistic?.toUpperCase(),
      Unit: alarm.Unit ?? null,
      Dimensions: (alarm.Dimensions ?? []).map(({ Name, Value }) => ({ name: Name, value: Value })),
      Period: alarm.Period,
      EvaluationPeriods: alarm.EvaluationPeriods,
      DatapointsToAlarm: alarm.DatapointsToAlarm ?? alarm.EvaluationPeriods,
      ComparisonOperator: alarm.ComparisonOperator,
      Threshold: alarm.Threshold,
      TreatMissingData: alarm.TreatMissingData ?? "missing",
      EvaluateLowSampleCountPercentile: alarm.EvaluateLowSampleCountPercentile ?? "",
    },
  };
}
