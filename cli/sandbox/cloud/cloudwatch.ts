// CloudWatch: figures that a test puts there, and alarms.
import type {
  DescribeAlarmsCommandInput,
  GetMetricDataCommandInput,
  GetMetricStatisticsCommandInput,
  PutMetricAlarmCommandInput,
  PutMetricDataCommandInput,
} from "@aws-sdk/client-cloudwatch";
import { AwsError } from "./protocol/error.ts";
import type { World } from "./world.ts";

interface Sample {
  readonly namespace: string;
  readonly name: string;
  readonly dimensions: readonly string[];
  readonly at: number;
  readonly value: number;
}

export interface Alarm extends PutMetricAlarmCommandInput {
  state: "OK" | "ALARM" | "INSUFFICIENT_DATA";
  updatedAt: Date;
}

type Dimensions = readonly { Name?: string | undefined; Value?: string | undefined }[] | undefined;

/** "GetMetricStatistics: the maximum number of data points returned is 1,440." */
const MAX_DATA_POINTS = 1440;

export function openCloudWatch(world: World, region: string) {
  const samples = world.series<Sample>("monitoring", region, "samples", ({ at }) => at);
  const alarms = world.collection<Alarm>("monitoring", region, "alarms");
  const arnOf = (name: string) => `arn:aws:cloudwatch:${region}:${world.accountId}:alarm:${name}`;

  const select = (
    namespace: string | undefined,
    name: string | undefined,
    dimensions: Dimensions,
    start: Date,
    end: Date,
  ) => {
    // A metric is told apart by all of its dimensions.
    const wanted = namesOf(dimensions).join();
    return samples
      .between(start.getTime(), end.getTime())
      .filter((one) => one.namespace === namespace && one.name === name && one.dimensions.join() === wanted);
  };

  const operations = {
    PutMetricData(input: PutMetricDataCommandInput) {
      const given: Sample[] = [];
      for (const one of input.MetricData ?? []) {
        const values = one.Values ?? (one.Value === undefined ? [] : [one.Value]);
        for (const [i, value] of values.entries()) {
          for (let count = one.Counts?.[i] ?? 1; count > 0; count -= 1) {
            given.push({
              namespace: input.Namespace ?? "",
              name: one.MetricName ?? "",
              dimensions: namesOf(one.Dimensions),
              at: one.Timestamp?.getTime() ?? world.clock.now(),
              value,
            });
          }
        }
      }
      samples.append(given);
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
      const found = select(input.Namespace, input.MetricName, input.Dimensions, start, end);
      const points = Array.from(periods(found, start.getTime(), period), ([at, values]) => ({
        Timestamp: new Date(at),
        ...Object.fromEntries((input.Statistics ?? []).map((statistic) => [statistic, statisticOf(statistic, values)])),
        ...((input.ExtendedStatistics?.length ?? 0) > 0 && {
          ExtendedStatistics: Object.fromEntries(
            input.ExtendedStatistics!.map((one) => [one, statisticOf(one, values)]),
          ),
        }),
        Unit: "None",
      }));
      return { Label: input.MetricName, Datapoints: points };
    },
    GetMetricData(input: GetMetricDataCommandInput) {
      const [start, end] = [input.StartTime!, input.EndTime!];
      const results = (input.MetricDataQueries ?? []).flatMap((query) => {
        const { Id, Label, MetricStat: wanted, ReturnData = true } = query;
        if (!/^[a-z]\w*$/.test(Id ?? ""))
          throw new AwsError(
            "ValidationError",
            `The value ${Id} for parameter MetricDataQueries.member.1.Id is not matching the expected pattern ^[a-z][a-zA-Z0-9_]*$.`,
          );
        if (!ReturnData) return [];
        if (wanted === undefined) throw new AwsError("NotImplemented", "expressions", 501);
        const { Namespace, MetricName, Dimensions } = wanted.Metric ?? {};
        const found = [
          ...periods(select(Namespace, MetricName, Dimensions, start, end), start.getTime(), wanted.Period ?? 60),
        ];
        if (input.ScanBy !== "TimestampAscending") found.reverse();
        return {
          Id,
          Label: Label ?? MetricName,
          Timestamps: found.map(([at]) => new Date(at)),
          Values: found.map(([, values]) => statisticOf(wanted.Stat ?? "Average", values)),
          StatusCode: "Complete",
        };
      });
      return { MetricDataResults: results };
    },
    PutMetricAlarm(input: PutMetricAlarmCommandInput) {
      alarms.set(input.AlarmName ?? "", { ...input, state: "INSUFFICIENT_DATA", updatedAt: world.clock.date() });
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
        MetricAlarms: own.map(({ state, updatedAt, Tags: _tags, ...alarm }) => ({
          ...alarm,
          AlarmArn: arnOf(alarm.AlarmName ?? ""),
          StateValue: state,
          StateUpdatedTimestamp: updatedAt,
        })),
        CompositeAlarms: [],
      };
    },
    /** As when the figures pass the threshold: the alarm's actions get their message. */
    async SetAlarmState(input: { AlarmName?: string; StateValue?: Alarm["state"]; StateReason?: string }) {
      const alarm = alarms.get(input.AlarmName ?? "");
      if (alarm === undefined) throw new AwsError("ResourceNotFound", `Alarm ${input.AlarmName} does not exist`, 404);
      const before = alarm.state;
      alarm.state = input.StateValue ?? "OK";
      alarm.updatedAt = world.clock.date();
      const actions =
        alarm.state === "ALARM"
          ? alarm.AlarmActions
          : alarm.state === "OK"
            ? alarm.OKActions
            : alarm.InsufficientDataActions;
      for (const TopicArn of actions ?? []) {
        const message = {
          AlarmName: alarm.AlarmName,
          AlarmDescription: alarm.AlarmDescription ?? null,
          AWSAccountId: world.accountId,
          NewStateValue: alarm.state,
          NewStateReason: input.StateReason,
          StateChangeTime: alarm.updatedAt.toISOString().replace("Z", "+0000"),
          Region: region,
          AlarmArn: arnOf(alarm.AlarmName ?? ""),
          OldStateValue: before,
          Trigger: {
            MetricName: alarm.MetricName,
            Namespace: alarm.Namespace,
            Statistic: alarm.Statistic?.toUpperCase(),
            Dimensions: (alarm.Dimensions ?? []).map(({ Name, Value }) => ({ name: Name, value: Value })),
            Period: alarm.Period,
            EvaluationPeriods: alarm.EvaluationPeriods,
            ComparisonOperator: alarm.ComparisonOperator,
            Threshold: alarm.Threshold,
            TreatMissingData: alarm.TreatMissingData ?? "missing",
          },
        };
        await world.service("sns", region).operations.Publish({
          TopicArn,
          Subject: `${alarm.state}: "${alarm.AlarmName}" in ${region}`,
          Message: JSON.stringify(message),
        });
      }
    },
  };
  return { operations, alarms, arnOf };
}

const namesOf = (dimensions: Dimensions) => (dimensions ?? []).map(({ Name, Value }) => `${Name}=${Value}`).sort();

function periods(samples: readonly Sample[], start: number, seconds: number): Map<number, number[]> {
  const found = new Map<number, number[]>();
  for (const { at, value } of [...samples].sort((a, b) => a.at - b.at)) {
    const begin = start + Math.floor((at - start) / 1000 / seconds) * seconds * 1000;
    found.set(begin, [...(found.get(begin) ?? []), value]);
  }
  return found;
}

function statisticOf(statistic: string, values: readonly number[]): number {
  const sum = values.reduce((total, value) => total + value, 0);
  const [, percent] = /^p(\d+(?:\.\d+)?)$/.exec(statistic) ?? [];
  if (percent !== undefined) {
    const sorted = [...values].sort((a, b) => a - b);
    return sorted[Math.min(sorted.length - 1, Math.ceil((Number(percent) / 100) * sorted.length) - 1)] ?? 0;
  }
  switch (statistic) {
    case "Sum":
      return sum;
    case "Average":
      return sum / values.length;
    case "Minimum":
      return Math.min(...values);
    case "Maximum":
      return Math.max(...values);
    case "SampleCount":
      return values.length;
    default:
      throw new AwsError("InvalidParameterValue", `The parameter Statistic ${statistic} is not valid`);
  }
}
