import type { IncomingMessage, ServerResponse } from "node:http";
import { crc32 } from "node:zlib";
import { RpcError } from "../error.ts";
import { RequestBodies } from "../http/body.ts";
import { sendJson } from "../http/send.ts";
import { readCloudWatchEvents } from "../integrations/cloudwatch-events.ts";
import { commonAttribute, readFirehoseRequest } from "../integrations/firehose.ts";
import { type CloudWatchEvent, readSubscription } from "../integrations/subscription.ts";
import { LIMITS } from "../limits.ts";
import type { ProjectMode } from "../records/projects.ts";
import { append } from "../rpc/append.ts";
import type { GrantedAnswer } from "./exchange.ts";
import { requestHeader } from "./headers.ts";
import type { RequestHandler } from "./methods.ts";
import type { RouteState } from "./state.ts";

/** The largest buffer that a stream can be told to send, in base64. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;

/** All records of a request, decompressed. CloudWatch's log compresses to about a tenth. */
const MAX_UNPACKED_BYTES = 256 * 1024 * 1024;

/**
 * Answers `POST /integrations/cloudwatch`, to which Firehose sends what subscriptions of CloudWatch Logs deliver. The project is
 * that of `?project=` or of the stream's attribute `project`. All records are read before the first event is stored: a request
 * with one that cannot be read is refused whole. It is stored in parts; if it is sent again, those that are there count once.
 */
export function cloudwatchAnswer({ service, limits }: RouteState): GrantedAnswer {
  const bodies = new RequestBodies({
    ...limits,
    bodyBytes: MAX_BODY_BYTES,
    inflatedBytes: MAX_BODY_BYTES,
    bodyBytesInFlight: 2 * MAX_BODY_BYTES,
  });
  return async (request, response, grant, signal) => {
    const id = projectOf(request);
    const requestId = await bodies.receive(request, signal, async (body) => {
      const { requestId, records } = readFirehoseRequest(body);
      const events = await eventsOf(records);
      const now = new Date(service.nowMs()).toISOString();
      for (let at = 0; at < events.length; at += LIMITS.eventsPerBatch) {
        signal.throwIfAborted();
        const part = events.slice(at, at + LIMITS.eventsPerBatch);
        const batchKey = { idempotencyKey: `firehose/${requestId}/${at}`, digest: digestOf(part) };
        const read = (mode: ProjectMode) => ({ events: readCloudWatchEvents(part, mode, now), errors: [] });
        await append(service, { grant, project: id }, read, batchKey);
      }
      return requestId;
    });
    sendJson(response, 200, { requestId, timestamp: service.nowMs() });
  };
}

async function eventsOf(records: readonly Buffer[]): Promise<readonly CloudWatchEvent[]> {
  const events: CloudWatchEvent[] = [];
  let bytesLeft = MAX_UNPACKED_BYTES;
  for (const [index, record] of records.entries()) {
    const read = await readSubscription(record, { place: `records[${index}].data`, maxBytes: bytesLeft });
    bytesLeft -= read.bytes;
    for (const event of read.events) events.push(event);
  }
  return events;
}

/** Tells apart requests that have the same id by mistake. */
function digestOf(events: readonly CloudWatchEvent[]): string {
  let sum = 0;
  for (const { id, message } of events) sum = crc32(`${id}\n${message}\n`, sum);
  return `${sum.toString(36)}.${events.length}`;
}

function projectOf(request: IncomingMessage): string {
  const { searchParams } = new URL(request.url!, "http://localhost");
  const named = searchParams.get("project") ?? commonAttribute(attributesOf(request), "project");
  if (named) return named;
  throw new RpcError(
    "invalid",
    "the project is not named: add ?project=NAME to the URL of the endpoint, or the parameter project to the stream",
  );
}

const attributesOf = (request: IncomingMessage) => requestHeader(request, "x-amz-firehose-common-attributes");

/** Firehose sends the token as its access key, and nothing else that names its sender. */
export function withAccessKey(handler: RequestHandler): RequestHandler {
  return (request: IncomingMessage, response: ServerResponse) => {
    const key = requestHeader(request, "x-amz-firehose-access-key");
    if (key !== "" && request.headers.authorization === undefined) request.headers.authorization = `Bearer ${key}`;
    handler(request, response);
  };
}

/** The form of errors that Firehose shows among the stream's own. */
export function firehoseError(request: IncomingMessage, error: RpcError, nowMs: number): object {
  const requestId = requestHeader(request, "x-amz-firehose-request-id");
  return { requestId, timestamp: nowMs, errorMessage: error.message };
}
