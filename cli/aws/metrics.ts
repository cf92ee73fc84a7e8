import type { MetricDataQuery } from "@aws-sdk/client-cloudwatch";
import { forStage } from "../../schema/index.ts";
import type { Cost, MetricsPeriod, StageMetrics } from "../platform/metrics.ts";
import type { TargetOptions } from "../platform/target.ts";
import { openCloud } from "./clients.ts";
import { explained } from "./errors.ts";
import { apiName, functionName, stageAlias } from "./names.ts";
import { PRICES } from "./prices.ts";

const MINUTE_S = 60;
const DAY_S = 86_400;

/**
 * The finest period by age of the data (CloudWatch, "metrics retention"): a minute, five after 15 days, an hour after 63.
 */
const GRAINS: readonly (readonly [ageDays: number, seconds: number])[] = [
  [63, 3600],
  [15, 300],
  [0, MINUTE_S],
];

/** Reads the figures of one stage with one call; each covers the whole period. */
export async function readMetrics(
  { env, clock, config, resolved, sandbox }: TargetOptions,
  { stage, sinceMs, untilMs }: MetricsPeriod,
  signal: AbortSignal,
): Promise<StageMetrics> {
  const region = resolved.regions[0]!;
  const { profile } = resolved;
  const cloud = openCloud({ env, clock, region, profile, sandbox });
  const grain = GRAINS.find(([ageDays]) => untilMs - sinceMs >= ageDays * DAY_S * 1000)![1];
  const start = Math.floor(sinceMs / 1000 / grain) * grain;
  const period = Math.max(1, Math.ceil((untilMs / 1000 - start) / grain)) * grain;
  const queries = queriesOf(config.name, stage, period);
  const results = await explained({ region, profile, isSandbox: sandbox !== undefined }, async () => {
    const client = await cloud.cloudWatch();
    const values = new Map<string, number[]>();
    for (let NextToken: string | undefined; ; ) {
      const page = await client.getMetricData(
        {
          StartTime: new Date(start * 1000),
          EndTime: new Date((start + period) * 1000),
          MetricDataQueries: queries,
          ...(NextToken !== undefined && { NextToken }),
        },
        { abortSignal: signal },
      );
      for (const { Id, Values = [] } of page.MetricDataResults ?? [])
        values.set(Id!, [...(values.get(Id!) ?? []), ...Values]);
      NextToken = page.NextToken;
      if (NextToken === undefined) return values;
    }
  });
  const sum = (id: string) => (results.get(id) ?? []).reduce((a, b) => a + b, 0);
  const mean = (id: string, count: number) => (count === 0 ? undefined : sum(id) / count);
  // Usually one value; if the service splits the period, the worst part counts.
  const worst = (id: string) => {
    const values = results.get(id) ?? [];
    return values.length === 0 ? undefined : Math.max(...values);
  };
  const counts = { requests: sum("requests"), invocations: sum("invocations"), totalMs: sum("duration") };
  return {
    requests: {
      count: counts.requests,
      clientErrors: sum("client"),
      serverErrors: sum("server"),
      avgMs: mean("latency", sum("latencies")),
      p95Ms: worst("latency95"),
    },
    invocations: {
      count: counts.invocations,
      errors: sum("errors"),
      throttles: sum("throttles"),
      avgMs: mean("duration", sum("durations")),
      p95Ms: worst("duration95"),
      totalMs: counts.totalMs,
    },
    cost: costOf(counts, forStage(resolved, stage).function.memory),
  };
}

/** The cost of these requests and invocations. Pure. */
export function costOf(
  {
    requests,
    invocations,
    totalMs,
  }: { readonly requests: number; readonly invocations: number; readonly totalMs: number },
  memoryMiB: number,
): Cost {
  const cost = {
    requests: requests * PRICES.perGatewayRequest,
    invocations: invocations * PRICES.perInvocation,
    duration: (totalMs / 1000) * (memoryMiB / 1024) * PRICES.perGibSecond,
  };
  const total = cost.requests + cost.invocations + cost.duration;
  return { ...cost, total, region: PRICES.region, asOf: PRICES.asOf };
}

function queriesOf(app: string, stage: string, Period: number): MetricDataQuery[] {
  const from = (Namespace: string, dimensions: Record<string, string>) => {
    const Dimensions = Object.entries(dimensions).map(([Name, Value]) => ({ Name, Value }));
    return (Id: string, MetricName: string, Stat: string) => ({
      Id,
      MetricStat: { Metric: { Namespace, MetricName, Dimensions }, Period, Stat },
    });
  };
  const api = from("AWS/ApiGateway", { ApiName: apiName(app), Stage: stage });
  const lambda = from("AWS/Lambda", {
    FunctionName: functionName(app),
    Resource: `${functionName(app)}:${stageAlias(stage)}`,
  });
  return [
    api("requests", "Count", "SampleCount"),
    api("client", "4XXError", "Sum"),
    api("server", "5XXError", "Sum"),
    api("latency", "Latency", "Sum"),
    api("latencies", "Latency", "SampleCount"),
    api("latency95", "Latency", "p95"),
    lambda("invocations", "Invocations", "Sum"),
    lambda("errors", "Errors", "Sum"),
    lambda("throttles", "Throttles", "Sum"),
    lambda("duration", "Duration", "Sum"),
    lambda("durations", "Duration", "SampleCount"),
    lambda("duration95", "Duration", "p95"),
  ];
}
