// A process with functions, which is to be killed: the first argument is the code of a handler, the second an event that is
// handled before "idle" is printed, the third one that stays under way, printed as "busy".
import { zipOf } from "../../cli/sandbox/cloud/lambda/zip.ts";
import { openAws } from "./aws/index.ts";

const [code = "", first = "{}", second = "{}"] = process.argv.slice(2);
const { state } = await openAws({ clock: { speed: 1_000_000 }, roleDelayMs: 0 });
state.service("iam").operations.CreateRole({ RoleName: "app", AssumeRolePolicyDocument: trust() });
const lambda = state.service("lambda");
lambda.operations.CreateFunction({
  FunctionName: "app",
  Role: `arn:aws:iam::${state.accountId}:role/app`,
  Runtime: "nodejs24.x",
  Handler: "index.handler",
  Timeout: 60,
  MemorySize: 512,
  Code: { ZipFile: zipOf({ "index.js": code }) },
});
const found = lambda.state.function("app");
while (found.latest.state === "Pending") await new Promise((resolve) => setTimeout(resolve, 5));
const result = await lambda.runner.invoke(found, found.latest, undefined, first);
if (result.kind !== "document") throw new Error(JSON.stringify(result));
console.log("idle");
void lambda.runner.invoke(found, found.latest, undefined, second);
setTimeout(() => console.log("busy"), 500);

function trust(): string {
  const Principal = { Service: "lambda.amazonaws.com" };
  return JSON.stringify({
    Version: "2012-10-17",
    Statement: [{ Effect: "Allow", Principal, Action: "sts:AssumeRole" }],
  });
}
