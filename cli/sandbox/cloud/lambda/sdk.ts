// The part of the SDK that a function can import here, as it can in the Node runtimes of the platform: as much of it as
// invokes a function.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AwsError } from "../protocol/error.ts";
import type { World } from "../world.ts";

/** The address below the Runtime API of a function that asks; it needs no keys. */
const SOURCE = `"use strict";
exports.InvokeCommand = class InvokeCommand {
  constructor(input) {
    this.input = input;
  }
};
exports.LambdaClient = class LambdaClient {
  async send({ input: { Payload = "{}", ...input } }) {
    const body = JSON.stringify({ ...input, Payload: Buffer.from(Payload).toString("base64") });
    const url = "http://" + process.env.AWS_LAMBDA_RUNTIME_API + "/sandbox/invocations";
    const response = await fetch(url, { method: "POST", body });
    const { code, message, ...answer } = await response.json();
    if (!response.ok) throw Object.assign(new Error(message), { name: code, $metadata: { httpStatusCode: response.status } });
    return { ...answer, ...(answer.Payload !== undefined && { Payload: new Uint8Array(Buffer.from(answer.Payload, "base64")) }) };
  }
  destroy() {}
};
`;

/** Next to the folder of the function, whose own packages come first. */
export async function addSdk(directory: string): Promise<void> {
  const folder = join(directory, "node_modules/@aws-sdk/client-lambda");
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "index.js"), SOURCE);
}

/** Answers a call of the package above. */
export async function answerSdk(
  world: World,
  region: string,
  request: Buffer,
): Promise<{ status: number; body: object }> {
  try {
    const { Payload, ...input } = JSON.parse(request.toString());
    const { operations } = world.service("lambda", region);
    const output = await operations.Invoke({ ...input, Payload: Buffer.from(String(Payload), "base64") });
    return {
      status: 200,
      body: "Payload" in output ? { ...output, Payload: output.Payload.toString("base64") } : output,
    };
  } catch (error) {
    if (!(error instanceof AwsError)) throw error;
    return { status: error.status ?? 400, body: { code: error.code, message: error.message } };
  }
}
