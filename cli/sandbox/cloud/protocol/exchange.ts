// A request of an SDK's client to the operation's name and input; an output or an error to what the client reads.
import { randomUUID } from "node:crypto";
import { AwsError } from "./error.ts";
import { eventFrame } from "./event-stream.ts";
import { fromForm, parseForm } from "./form.ts";
import { fromJson, toJson } from "./json.ts";
import type { Model, Operation } from "./model.ts";
import { framesOf, matchRest, readRest, writeRest } from "./rest.ts";
import type { WireRequest, WireResponse } from "./wire.ts";
import { escapeXml, toXml } from "./xml.ts";

export interface OperationRequest {
  readonly operation: Operation;
  input(): unknown;
}

export function readRequest(model: Model, request: WireRequest): OperationRequest {
  switch (model.protocol) {
    case "query": {
      const form = parseForm(request.body.toString());
      const operation = operationNamed(model, String(form.get("Action")));
      return { operation, input: () => fromForm(operation.input, form) };
    }
    case "json-1.0":
    case "json-1.1": {
      const operation = operationNamed(model, String(request.headers["x-amz-target"]).split(".").pop()!);
      return { operation, input: () => fromJson(operation.input, JSON.parse(request.body.toString() || "{}"), false) };
    }
    default: {
      const { operation, labels } = matchRest(model, request);
      return { operation, input: () => readRest(model, operation, labels, request) };
    }
  }
}

function operationNamed(model: Model, name: string): Operation {
  const operation = model.operations.get(name);
  if (operation === undefined) throw new AwsError("NotImplemented", `the sandbox has no operation ${name}`, 501);
  return operation;
}

export function writeOutput(model: Model, operation: Operation, output: unknown): WireResponse {
  checkMembers(operation, output);
  const requestId = randomUUID();
  switch (model.protocol) {
    case "query": {
      const { name, output: shape } = operation;
      const result = shape.kind === "unit" ? "" : toXml(`${name}Result`, shape, output ?? {});
      return {
        status: 200,
        headers: { "Content-Type": "text/xml", "x-amzn-RequestId": requestId },
        body: `<${name}Response>${result}<ResponseMetadata><RequestId>${requestId}</RequestId></ResponseMetadata></${name}Response>`,
      };
    }
    case "json-1.0":
    case "json-1.1": {
      const { events } = operation.output;
      if (events !== undefined) {
        const [name, union] = events;
        return {
          status: 200,
          headers: { "Content-Type": "application/vnd.amazon.eventstream", "x-amzn-RequestId": requestId },
          body: startedStream(
            framesOf(union, (output as Record<string, AsyncIterable<Record<string, unknown>>>)[name]!),
          ),
        };
      }
      return {
        status: 200,
        headers: { "Content-Type": `application/x-amz-${model.protocol}`, "x-amzn-RequestId": requestId },
        body: operation.output.kind === "unit" ? "{}" : JSON.stringify(toJson(operation.output, output ?? {}, false)),
      };
    }
    default:
      return writeRest(model, operation, output, requestId);
  }
}

/** A stream of the RPC protocols begins with the data that a REST answer has in its headers. */
async function* startedStream(frames: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  yield eventFrame("initial-response", Buffer.from("{}"));
  yield* frames;
}

/** A member that the service's shape does not have is a slip of ours, which the clients would not show. */
function checkMembers({ name, output: shape }: Operation, output: unknown): void {
  if (output === undefined || shape.kind === "unit") return;
  const unknownMembers = Object.keys(output as object).filter((key) => !shape.members.has(key));
  if (unknownMembers.length > 0) throw new Error(`the output of ${name} has no ${unknownMembers.join(", ")}`);
}

export function writeServiceError(model: Model | undefined, error: AwsError): WireResponse {
  const { code, message } = error;
  const status = error.status ?? model?.statusOf.get(code) ?? 400;
  const requestId = randomUUID();
  const type = status < 500 ? "Sender" : "Receiver";
  const headers = { "x-amzn-RequestId": requestId, "x-amz-request-id": requestId };
  switch (model?.protocol) {
    case "query":
    case "rest-xml": {
      const inner = `<Type>${type}</Type><Code>${escapeXml(code)}</Code><Message>${escapeXml(message)}</Message>`;
      return {
        status,
        headers: { ...headers, "Content-Type": "text/xml" },
        body: `<ErrorResponse><Error>${inner}</Error><RequestId>${requestId}</RequestId></ErrorResponse>`,
      };
    }
    case "rest-json":
      return {
        status,
        headers: { ...headers, "Content-Type": "application/json", "x-amzn-ErrorType": code },
        body: JSON.stringify({ Type: type === "Sender" ? "User" : "Service", message, Message: message }),
      };
    default:
      return {
        status,
        headers: { ...headers, "Content-Type": "application/x-amz-json-1.1", "x-amzn-query-error": `${code};${type}` },
        body: JSON.stringify({ __type: code, message }),
      };
  }
}
