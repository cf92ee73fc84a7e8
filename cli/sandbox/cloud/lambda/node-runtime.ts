// A substitute for the platform's own Node runtime: asks for events and calls an exported handler, in the least that a
// small function of ours needs.

import { createRequire } from "node:module";
import { join } from "node:path";
import { systemClock } from "../../../../grammar/units/clock.ts";

const root = process.env.LAMBDA_TASK_ROOT ?? ".";
const api = `http://${process.env.AWS_LAMBDA_RUNTIME_API}/2018-06-01/runtime`;
const [module = "index", name = "handler"] = (process.env._HANDLER ?? "").split(".");

const reallyFetch = globalThis.fetch;
const { host: ownHost } = new URL(api);

/** In place of the network: who is not the Runtime API gets nothing, and it is kept what they would have got. */
async function keepMessage(...args: Parameters<typeof fetch>): Promise<Response> {
  const request = new Request(...args);
  const { url, method } = request;
  if (new URL(url).host === ownHost) return reallyFetch(request);
  const message = { url, method, headers: Object.fromEntries(request.headers), body: await request.text() };
  const body = JSON.stringify(message);
  return reallyFetch(`http://${process.env.AWS_LAMBDA_RUNTIME_API}/sandbox/messages`, { method: "POST", body });
}

if (process.env.TOOL_SANDBOX_KEEPS_MESSAGES === "1") globalThis.fetch = keepMessage;

type Handler = (event: unknown, context: object) => unknown;

async function load(): Promise<Handler> {
  const require = createRequire(join(root, "index.js"));
  let exported: Record<string, unknown>;
  try {
    exported = require(join(root, module));
  } catch (error) {
    if (!/ERR_REQUIRE_ESM|MODULE_NOT_FOUND/.test((error as NodeJS.ErrnoException).code ?? "")) throw error;
    exported = (await import(join(root, `${module}.mjs`))) as Record<string, unknown>;
  }
  const handler = exported[name];
  if (typeof handler !== "function") throw new Error(`${module}.${name} is not a function`);
  return handler as Handler;
}

function described(error: unknown): string {
  const { name: errorType, message: errorMessage, stack } = error as Error;
  return JSON.stringify({ errorType, errorMessage, trace: stack?.split("\n") ?? [] });
}

async function post(path: string, body: string): Promise<void> {
  await reallyFetch(`${api}/${path}`, { method: "POST", body });
}

async function main(): Promise<void> {
  let handler: Handler;
  try {
    handler = await load();
  } catch (error) {
    await post("init/error", described(error));
    process.exit(1);
  }
  for (;;) await handleNext(handler);
}

async function handleNext(handler: Handler): Promise<void> {
  const next = await reallyFetch(`${api}/invocation/next`);
  const id = next.headers.get("lambda-runtime-aws-request-id") ?? "";
  const event = await next.json();
  const context = {
    awsRequestId: id,
    functionName: process.env.AWS_LAMBDA_FUNCTION_NAME,
    functionVersion: process.env.AWS_LAMBDA_FUNCTION_VERSION,
    invokedFunctionArn: next.headers.get("lambda-runtime-invoked-function-arn"),
    getRemainingTimeInMillis: () => Number(next.headers.get("lambda-runtime-deadline-ms")) - systemClock.nowMs(),
  };
  try {
    await post(`invocation/${id}/response`, JSON.stringify((await handler(event, context)) ?? null));
  } catch (error) {
    process.stdout.write(
      `${new Date(systemClock.nowMs()).toISOString()}\t${id}\tERROR\tInvoke Error \t${described(error)}\n`,
    );
    await post(`invocation/${id}/error`, described(error));
  }
}

void main();
