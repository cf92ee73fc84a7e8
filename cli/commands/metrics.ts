import { humanDuration, parseDuration } from "../../grammar/units/duration.ts";
import { readConfigFile } from "../config-file.ts";
import { type Context, EXIT } from "../context.ts";
import { interruptible } from "../interruption.ts";
import { readMetrics } from "../open-platform.ts";
import { openSandbox, placed } from "../open-sandbox.ts";
import type { StageMetrics } from "../platform/metrics.ts";
import { resolveProject } from "../project/resolve-config.ts";
import { explainStage } from "../project/stage-word.ts";
import type { Options } from "../table.ts";

const DEFAULT_SINCE = "1M";

/** `tool metrics`: prints requests, durations, invocations, errors, throttles and the estimated cost of a stage. */
export async function metrics(context: Context, options: Options<"metrics">): Promise<number> {
  const { stage, since: written } = options;
  const since = parseDuration(written ?? DEFAULT_SINCE);
  if (!since.ok || since.value === 0) {
    const problem = since.ok ? undefined : since.problems[0];
    return context.misuse(
      `--since ${written} is not a period${problem === undefined ? "" : `: ${problem.message}`}`,
      problem?.hint ?? "write --since 7d",
    );
  }
  const { config } = await readConfigFile(context);
  const wrong = explainStage(stage, config);
  if (wrong !== undefined) return context.misuse(wrong.message, wrong.hint);
  const { config: resolved } = resolveProject(context, config, { development: false });
  const untilMs = context.io.nowMs();
  const sinceMs = untilMs - since.value;
  return interruptible(context, { interrupted: () => "interrupted" }, async ({ signal }) => {
    const sandbox = await openSandbox(context, options.sandbox, { app: config.name });
    const target = {
      env: context.io.env,
      clock: context.io.clock,
      config,
      resolved: placed(resolved, sandbox),
      sandbox,
    };
    const metrics = await readMetrics(target, { stage, sinceMs, untilMs }, signal);
    if (context.format === "json") {
      const times = { since: new Date(sinceMs).toISOString(), until: new Date(untilMs).toISOString() };
      const document = { stage, ...times, ...metrics };
      await context.print(JSON.stringify(document, (_, value) => (value === undefined ? null : value), 2));
    } else {
      await context.print(render(metrics, `${resolved.name} ${stage}, last ${written ?? "30d"}`, context.io.stdout));
    }
    return EXIT.ok;
  });
}

function render(
  { requests, invocations, cost }: StageMetrics,
  title: string,
  { color }: { readonly color: boolean },
): string {
  const paint = (code: number, text: string) => (color ? `\u001b[${code}m${text}\u001b[0m` : text);
  const took = (ms: number | undefined) => (ms === undefined ? "-" : humanDuration(ms < 10 ? ms : Math.round(ms)));
  const rows: [name: string, value: string][] = [
    ["Requests", number(requests.count)],
    ["  4xx", number(requests.clientErrors)],
    ["  5xx", number(requests.serverErrors)],
    ["  duration avg", took(requests.avgMs)],
    ["  duration p95", took(requests.p95Ms)],
    ["Invocations", number(invocations.count)],
    ["  errors", number(invocations.errors)],
    ["  throttles", number(invocations.throttles)],
    ["  duration avg", took(invocations.avgMs)],
    ["  duration p95", took(invocations.p95Ms)],
    ["Cost", dollars(cost.total)],
    ["  requests", dollars(cost.requests)],
    ["  invocations", dollars(cost.invocations)],
    ["  duration", dollars(cost.duration)],
  ];
  const left = Math.max(...rows.map(([name]) => name.length)) + 2;
  const right = Math.max(...rows.map(([, value]) => value.length));
  const lines = rows.map(([name, value]) => `${name.padEnd(left)}${value.padStart(right)}`);
  const note = `prices of ${cost.region} as of ${cost.asOf}; free tier, data transfer and logs are not counted`;
  return [paint(1, title), ...lines, paint(2, note)].join("\n");
}

const number = (value: number) => Math.round(value).toLocaleString("en-US");

/** In cents; smaller amounts with two digits. */
const dollars = (value: number) => `$${value > 0 && value < 0.01 ? value.toPrecision(2) : value.toFixed(2)}`;
