import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { CreateFunctionCommandInput } from "@aws-sdk/client-lambda";
import { type ZipFile, zipOf } from "../../cli/sandbox/cloud/lambda/zip.ts";
import type { World } from "../../cli/sandbox/cloud/world.ts";
import { type FunctionOptions, type InvokeResult, LocalFunction } from "../../cli/sandbox/function/function.ts";
import { until } from "./until.ts";

const nodeRuntime = resolve(dirname(fileURLToPath(import.meta.url)), "../../cli/sandbox/cloud/lambda/node-runtime.js");

interface Test {
  teardown(handler: () => void): void;
}

/** Returns what makes a folder, and removes all of them after the test. */
export function foldersOf(t: Test): () => string {
  const all = realpathSync(mkdtempSync(join(tmpdir(), "tool-folders-")));
  t.teardown(() => rmSync(all, { recursive: true, force: true }));
  let count = 0;
  return () => {
    count += 1;
    const path = join(all, String(count));
    mkdirSync(path);
    return path;
  };
}

/** A function in the folder, on the Node runtime, whose handler is the code, or that has a command of its own. */
export function handlerFunction(
  t: Test,
  {
    directory,
    handler,
    ...options
  }: Partial<FunctionOptions> & { readonly directory: string; readonly handler: string },
): LocalFunction {
  writeFileSync(join(directory, "index.js"), `exports.handler = async (event) => { ${handler} };`);
  const target = new LocalFunction({
    command: [process.execPath, nodeRuntime],
    directory,
    timeoutMs: 60_000,
    initTimeoutMs: 60_000,
    ...options,
  });
  t.teardown(() => target.destroy());
  return target;
}

export const answerOf = (result: InvokeResult) =>
  result.kind === "document" ? JSON.parse(result.payload.toString()) : (result as { error: object }).error;

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
