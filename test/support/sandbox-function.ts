import type { CreateFunctionCommandInput } from "@aws-sdk/client-lambda";
import { type ZipFile, zipOf } from "../../cli/sandbox/cloud/lambda/zip.ts";
import type { World } from "../../cli/sandbox/cloud/world.ts";
import type { InvokeResult } from "../../cli/sandbox/function/function.ts";
import { until } from "./until.ts";

type Settings = Pick<CreateFunctionCommandInput, "Environment" | "Runtime">;

/** Creates the function `app` in the account. Returns what invokes it with a payload. */
export async function activeFunction(
  world: World,
  files: Readonly<Record<string, string | ZipFile>>,
  settings: Settings = {},
): Promise<(payload: string) => Promise<InvokeResult>> {
  const Statement = [{ Effect: "Allow", Principal: { Service: "lambda.amazonaws.com" }, Action: "sts:AssumeRole" }];
  const AssumeRolePolicyDocument = JSON.stringify({ Version: "2012-10-17", Statement });
  world.service("iam").operations.CreateRole({ RoleName: "app", AssumeRolePolicyDocument });
  const { operations, state, runner } = world.service("lambda");
  operations.CreateFunction({
    FunctionName: "app",
    Role: `arn:aws:iam::${world.accountId}:role/app`,
    Runtime: "nodejs24.x",
    Handler: "index.handler",
    Timeout: 60,
    MemorySize: 512,
    Code: { ZipFile: zipOf(files) },
    ...settings,
  });
  const lambdaFunction = state.function("app");
  await until("the function", () => lambdaFunction.latest.state !== "Pending");
  return (payload) => runner.invoke(lambdaFunction, lambdaFunction.latest, undefined, payload);
}
