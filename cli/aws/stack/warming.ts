import { parseDuration } from "../../../grammar/units/duration.ts";
import type { ResolvedConfig } from "../../../schema/index.ts";
import { functionName, partition, stageAlias } from "../names.ts";
import { helperFunction, policyDocument, trust } from "./helper-function.ts";
import { logicalId } from "./logical-id.ts";
import type { AppStack, Parts } from "./resource.ts";
import { WARMER_SOURCE } from "./warmer-function.ts";

/**
 * Active warming of a stage: a schedule that invokes the warmer, which invokes the alias `warm_count` times at once. A
 * schedule alone would invoke it once and keep one container warm.
 */
export function warmingResources(
  { name, region, accountId }: AppStack,
  stage: string,
  { warm, warm_count, warm_rate }: ResolvedConfig["function"],
): Partial<Parts> {
  if (!warm) return {};
  const target = `arn:${partition(region)}:lambda:${region}:${accountId}:function:${functionName(name)}`;
  return {
    resources: {
      ...helperFunction("Warmer", {
        about: "warming",
        source: WARMER_SOURCE,
        // The app may take this long to listen.
        timeoutSeconds: 60,
        environment: { FUNCTION: functionName(name) },
        statements: [{ Effect: "Allow", Action: "lambda:InvokeFunction", Resource: `${target}:*` }],
      }),
      WarmingRole: {
        Type: "AWS::IAM::Role",
        Properties: {
          AssumeRolePolicyDocument: trust("scheduler.amazonaws.com"),
          Policies: [
            {
              PolicyName: "tool",
              PolicyDocument: policyDocument([
                { Effect: "Allow", Action: "lambda:InvokeFunction", Resource: { "Fn::GetAtt": ["Warmer", "Arn"] } },
              ]),
            },
          ],
        },
        Metadata: { tool: { about: "role of the schedules of warming" } },
      },
      [logicalId("Warming", stage)]: {
        Type: "AWS::Scheduler::Schedule",
        Properties: {
          Description: `Keeps ${warm_count} containers of ${name} ${stage} warm`,
          ScheduleExpression: rate(warm_rate),
          FlexibleTimeWindow: { Mode: "OFF" },
          Target: {
            Arn: { "Fn::GetAtt": ["Warmer", "Arn"] },
            RoleArn: { "Fn::GetAtt": ["WarmingRole", "Arn"] },
            Input: JSON.stringify({ qualifier: stageAlias(stage), count: warm_count }),
            // The next run makes up for a missed one.
            RetryPolicy: { MaximumRetryAttempts: 0 },
          },
        },
        Metadata: { tool: { stage, about: `warming of ${warm_count} containers every ${warm_rate}` } },
      },
    },
  };
}

/** A schedule expression for a rate, which the check of tool.json ensures is in whole minutes. */
function rate(text: string): string {
  const duration = parseDuration(text);
  if (!duration.ok) throw new Error(`the rate ${text} was not checked`);
  const minutes = duration.value / 60_000;
  return `rate(${minutes} minute${minutes === 1 ? "" : "s"})`;
}
