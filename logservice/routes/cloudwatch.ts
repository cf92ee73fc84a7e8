import type { IncomingMessage, ServerResponse } from "node:http";
import { crc32 } from "node:zlib";
import type { Grant } from "../access/grant.ts";
import { FIREHOSE_BUFFERING, firehoseLateness, MOST_FIREHOSE_BUFFERING } from "../alerts/lateness.ts";
import { ERROR_STATUS, RpcError } from "../error.ts";
import { RequestBodies } from "../http/body.ts";
import { type ErrorForm, sendJson } from "../http/send.ts";
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

/** The largest buffer of a stream, 64 MiB, in base64. */
const MAX_BODY_BYTES = 88 * 1024 * 1024;

/** All records of a request, decompressed: that buffer full of what compresses to a thirtieth. */
const MAX_UNPACKED_BYTES = 2 * 1024 * 1024 * 1024;

/** The events of as many decompressed bytes are kept from the first reading of the records to the second. */
const KEPT_BYTES = 64 * 1024 * 1024;

/** The messages of the events that are stored at once, beside LIMITS.eventsPerBatch. */
const PART_CHARACTERS = 16 * 1024 * 1024;

/** How long Firehose waits for an answer. A large request takes longer than a connection may be idle. */
const ANSWER_MS = 180_000;

/**
 * Answers `POST /integrations/cloudwatch`, to which Firehose sends what subscriptions of CloudWatch Logs deliver. The project is
 * that of `?project=` or of the stream's attribute `project` or `project_id`. All records are read before the first event is
 * stored: a request with one that cannot be read is refused whole. It is stored in parts; if it is sent again, those that are
 * there count once.
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
    refuseFunctions(grant);
    const lateness = firehoseLateness(bufferingOf(request));
    request.socket.setTimeout(ANSWER_MS);
    response.once("finish", () => request.socket.setTimeout(limits.stalledMs));
    const requestId = await bodies.receive(request, signal, async (body) => {
      const { requestId, records } = readFirehoseRequest(body);
      const now = new Date(service.nowMs()).toISOString();
      let at = 0;
      for await (const part of partsOf(records, signal)) {
        signal.throwIfAborted();
        const batchKey = { idempotencyKey: `firehose/${requestId}/${at}`, digest: digestOf(part) };
        const read = (mode: ProjectMode) => ({ events: readCloudWatchEvents(part, mode, now), errors: [] });
        await append(service, { grant, project: id, lateness }, read, batchKey);
        at += part.length;
      }
      return requestId;
    });
    sendJson(response, 200, { requestId, timestamp: service.nowMs() });
  };
}

/**
 * The events of all records, in parts that depend on the request alone. Records are read twice, so that one that cannot be
 * read is found before the first part: the events of all of them together may take gigabytes. Without events, there is one
 * part that has none, so that a test of the destination finds out whether its project is there.
 */
async function* partsOf(records: readonly Buffer[], signal: AbortSignal): AsyncGenerator<readonly CloudWatchEvent[]> {
  const kept = await checked(records, signal);
  let part: CloudWatchEvent[] = [];
  let characters = 0;
  let isFirst = true;
  for (const [index, record] of records.entries()) {
    const events = kept[index] ?? (await readSubscription(record, placeOf(index))).events;
    for (const event of events) {
      part.push(event);
      characters += event.message.length;
      if (part.length < LIMITS.eventsPerBatch && characters < PART_CHARACTERS) continue;
      yield part;
      part = [];
      characters = 0;
      isFirst = false;
    }
  }
  if (part.length > 0 || isFirst) yield part;
}

/** Reads all records, and returns the events of the first of them, as many as may be kept. */
async function checked(records: readonly Buffer[], signal: AbortSignal): Promise<(readonly CloudWatchEvent[])[]> {
  const kept: (readonly CloudWatchEvent[])[] = [];
  let bytes = 0;
  for (const [index, record] of records.entries()) {
    signal.throwIfAborted();
    const read = await readSubscription(record, placeOf(index));
    bytes += read.bytes;
    if (bytes > MAX_UNPACKED_BYTES) throw new RpcError("too_large", "records: are too large when decompressed");
    if (bytes <= KEPT_BYTES) kept.push(read.events);
  }
  return kept;
}

const placeOf = (index: number) => `records[${index}].data`;

/** Tells apart requests that have the same id by mistake. */
function digestOf(events: readonly CloudWatchEvent[]): string {
  let sum = 0;
  for (const { id, message } of events) sum = crc32(`${id}\n${message}\n`, sum);
  return `${sum.toString(36)}.${events.length}`;
}

function projectOf(request: IncomingMessage): string {
  const { searchParams } = new URL(request.url!, "http://localhost");
  const attributes = attributesOf(request);
  // The second is that of the public forwarder, whose endpoint has no query.
  const named =
    searchParams.get("project") ?? commonAttribute(attributes, "project") ?? commonAttribute(attributes, "project_id");
  if (named) return named;
  throw new RpcError(
    "invalid",
    "the project is not named: add ?project=NAME to the URL of the endpoint, or the parameter project to the stream",
  );
}

/**
 * Refuses the token of one stage, which its function has: with it, code of a preview could have alerts of production wait for its
 * stream, and the service unpack gigabytes. Streams have the token of all stages.
 */
function refuseFunctions({ app }: Grant): void {
  if (app?.stage)
    throw new RpcError("forbidden", "this token is that of one stage, which sends to /ingest: a stream needs its own");
}

/** The seconds that the stream collects events for, by its attribute `buffering`. */
function bufferingOf(request: IncomingMessage): number {
  const seconds = Number(commonAttribute(attributesOf(request), "buffering") ?? FIREHOSE_BUFFERING);
  return seconds >= 0 && seconds <= MOST_FIREHOSE_BUFFERING ? seconds : FIREHOSE_BUFFERING;
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

/**
 * The form of errors that Firehose shows among the stream's own. It takes 413 for final and drops the records; with any other
 * status it sends them again, and puts them into its bucket at last.
 */
export function firehoseError(request: IncomingMessage, error: RpcError, nowMs: number): ErrorForm {
  const requestId = requestHeader(request, "x-amz-firehose-request-id");
  const errorMessage = error.message.slice(0, MAX_ERROR_LENGTH);
  return {
    body: { requestId, timestamp: nowMs, errorMessage },
    ...(error.type === "too_large" && { status: ERROR_STATUS.bad_request }),
  };
}

/** By Firehose's schema of an answer. */
const MAX_ERROR_LENGTH = 8_192;
