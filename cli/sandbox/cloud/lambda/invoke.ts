// Invoking: with the answer in one piece, in parts, or later.
import { randomUUID } from "node:crypto";
import type { InvokeCommandInput, InvokeWithResponseStreamCommandInput } from "@aws-sdk/client-lambda";
import type { InvokeResult } from "../../function/function.ts";
import { AwsError } from "../protocol/error.ts";
import { recordThrottle } from "./figures.ts";
import type { Runner } from "./run.ts";
import { conflict, type LambdaState } from "./state.ts";

/** "6 MB each for request and response (synchronous)", "1 MB (asynchronous)". */
const MAX_PAYLOAD_BYTES = 6_291_456;
const MAX_EVENT_BYTES = 1_048_576;

interface PendingEvent {
  readonly function: string | undefined;
  readonly qualifier: string | undefined;
  readonly payload: Uint8Array | undefined;
}

export function invokeOperations(state: LambdaState, runner: Runner) {
  const begin = (
    reference: string | undefined,
    requestedQualifier: string | undefined,
    payload: Uint8Array | undefined,
    limit: number,
  ) => {
    const { lambdaFunction, qualifier } = state.locate(reference, requestedQualifier);
    const version = state.resolve(lambdaFunction, qualifier);
    const text = Buffer.from(payload ?? "{}").toString() || "{}";
    if (Buffer.byteLength(text) > limit) {
      throw new AwsError(
        "RequestTooLargeException",
        `${Buffer.byteLength(text)} byte payload is too large for the Event invocation type (limit ${limit} bytes)`,
        413,
      );
    }
    try {
      JSON.parse(text);
    } catch (error) {
      throw new AwsError(
        "InvalidRequestContentException",
        `Could not parse request body into json: ${(error as Error).message}`,
      );
    }
    if (version.state === "Pending") {
      throw conflict(
        "The operation cannot be performed at this time. The function is currently in the following state: Pending",
      );
    }
    if (lambdaFunction.reservedConcurrency === 0) {
      recordThrottle(state, lambdaFunction.name, qualifier);
      throw new AwsError("TooManyRequestsException", "Rate Exceeded.", 429);
    }
    return { version, run: () => runner.invoke(lambdaFunction, version, qualifier, text) };
  };

  /** The events that a function was promised to get: once at least, after a restart again. */
  const events = state.world.collection<PendingEvent>("lambda", state.region, "events");
  const deliver = (id: string, run: () => Promise<InvokeResult>) => {
    const done = () => void events.delete(id);
    void run().then(bodyOf).then(done, done);
  };

  const operations = {
    async Invoke(input: InvokeCommandInput) {
      const isEvent = input.InvocationType === "Event";
      const { version, run } = begin(
        input.FunctionName,
        input.Qualifier,
        input.Payload as Uint8Array | undefined,
        isEvent ? MAX_EVENT_BYTES : MAX_PAYLOAD_BYTES,
      );
      if (input.InvocationType === "DryRun") return { StatusCode: 204 };
      if (isEvent) {
        const id = randomUUID();
        events.set(id, {
          function: input.FunctionName,
          qualifier: input.Qualifier,
          payload: input.Payload as Uint8Array | undefined,
        });
        deliver(id, run);
        return { StatusCode: 202 };
      }
      const result = await run();
      const body = await bodyOf(result);
      return {
        StatusCode: 200,
        ExecutedVersion: version.version,
        ...(result.kind === "error" && { FunctionError: "Unhandled" }),
        Payload: body,
      };
    },
    InvokeWithResponseStream(input: InvokeWithResponseStreamCommandInput) {
      const { version, run } = begin(
        input.FunctionName,
        input.Qualifier,
        input.Payload as Uint8Array | undefined,
        MAX_PAYLOAD_BYTES,
      );
      return {
        StatusCode: 200,
        ExecutedVersion: version.version,
        ResponseStreamContentType: "application/octet-stream",
        EventStream: partsOf(run()),
      };
    },
  };

  return {
    operations,
    /** Gives the functions what they did not get before the last run ended. */
    resume() {
      for (const [id, { function: name, qualifier, payload }] of events) {
        try {
          deliver(id, begin(name, qualifier, payload, MAX_EVENT_BYTES).run);
        } catch (error) {
          // The function is gone.
          if (!(error instanceof AwsError)) throw error;
          events.delete(id);
        }
      }
    },
  };
}

async function bodyOf(result: InvokeResult): Promise<Buffer> {
  if (result.kind === "error") return Buffer.from(JSON.stringify(result.error));
  if (result.kind === "document") return result.payload;
  const parts: Buffer[] = [];
  for await (const part of result.body) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

async function* partsOf(running: Promise<InvokeResult>) {
  const result = await running;
  if (result.kind === "error") {
    yield { InvokeComplete: { ErrorCode: result.error.errorType, ErrorDetails: JSON.stringify(result.error) } };
    return;
  }
  if (result.kind === "document") yield { PayloadChunk: { Payload: result.payload } };
  else for await (const part of result.body) yield { PayloadChunk: { Payload: part as Buffer } };
  yield { InvokeComplete: {} };
}
