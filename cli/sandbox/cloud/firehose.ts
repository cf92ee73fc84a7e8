// A stream of Firehose gathers events, and sends them to an HTTP endpoint, or puts them into a bucket at last.
import { randomUUID } from "node:crypto";
import { gzipSync } from "node:zlib";
import type { LogEvent } from "./log-group.ts";
import type { World } from "./world.ts";

/** The parts of the settings of a stream that have an effect here. */
export interface StreamDestination {
  readonly url: string;
  readonly accessKey: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly isCompressed: boolean;
  readonly bufferSeconds: number;
  /**
   * Here of the events' text; the platform counts their records, which are compressed. Streams that an older version kept
   * have none.
   */
  readonly bufferBytes?: number;
  readonly retrySeconds: number;
  /** For what was not delivered. */
  readonly bucket: string;
}

export interface LogStream {
  readonly name: string;
  readonly arn: string;
  /** By its tags. */
  readonly app: string | undefined;
  readonly destination: StreamDestination;
}

/** An event on its way, and the subscription that gave it. */
export interface Pending {
  readonly group: string;
  readonly filter: string;
  readonly event: LogEvent;
}

/** "The default value is 5." */
const DEFAULT_BYTES = 5 * 1024 * 1024;

interface FirehoseRequest {
  /** The same when it is sent again. */
  readonly id: string;
  readonly records: readonly Buffer[];
  readonly attempts: number;
  readonly waitedMs: number;
}

/** "A timeout of 3 minutes" for an answer of the endpoint. */
const ANSWER_MS = 180_000;

/** Between two attempts, in the cloud's time: it doubles. */
const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 120_000;

/** So many events are sent before the buffer's time is over. */
const MAX_PENDING = 10_000;

/** The text of the events in one record, as JSON has it; an event that has more is a record of its own. */
const RECORD_BYTES = 1_000_000;

export function openFirehose(world: World, streamNamed: (name: string) => LogStream | undefined) {
  /** By the stream's name. In memory: what waits when this process ends is in the log alone. */
  const pending = new Map<string, { readonly events: Pending[]; bytes: number }>();
  const closed = new AbortController();

  /** Sends all that waits once the buffer's time is over, or it is full. */
  const put = ({ name, destination }: LogStream, one: Pending) => {
    let waiting = pending.get(name);
    if (waiting === undefined) {
      waiting = { events: [], bytes: 0 };
      pending.set(name, waiting);
      // If that is sent sooner as it is full, the next one has the rest of the time.
      world.clock.after(destination.bufferSeconds * 1000, () => send(name));
    }
    waiting.events.push(one);
    waiting.bytes += textBytes(one);
    if (waiting.events.length >= MAX_PENDING || waiting.bytes >= (destination.bufferBytes ?? DEFAULT_BYTES)) send(name);
  };

  const send = (name: string) => {
    const { events } = pending.get(name) ?? { events: [] };
    pending.delete(name);
    if (events.length === 0) return;
    void deliver(name, { id: randomUUID(), records: recordsOf(events, world.accountId), attempts: 0, waitedMs: 0 });
  };

  /** Sends a request until it is taken, or until the time for that is over: then its records go into the bucket. */
  const deliver = async (name: string, request: FirehoseRequest): Promise<void> => {
    const stream = streamNamed(name);
    if (stream === undefined || closed.signal.aborted) return;
    const failure = await post(world, stream, request, closed.signal);
    if (failure === undefined || closed.signal.aborted) return;
    const attempts = request.attempts + 1;
    const waitMs = Math.min(FIRST_RETRY_MS * 2 ** request.attempts, MAX_RETRY_MS);
    const waitedMs = request.waitedMs + waitMs;
    const isOver = failure.isFinal || waitedMs > stream.destination.retrySeconds * 1000;
    if (isOver) return keepFailed(world, stream, { ...request, attempts }, failure);
    world.clock.after(waitMs, () => void deliver(name, { ...request, attempts, waitedMs }));
  };

  return {
    put,
    forget: (name: string) => void pending.delete(name),
    close: () => closed.abort(),
  };
}

/** As a record has it: of control characters JSON makes several. */
const textBytes = ({ event }: Pending) => Buffer.byteLength(JSON.stringify(event.message));

/** Records of each log stream, as a subscription makes them: another one where a record has enough. */
function recordsOf(events: readonly Pending[], owner: string): Buffer[] {
  const parts: Pending[][] = [];
  const open = new Map<string, { readonly part: Pending[]; bytes: number }>();
  for (const one of events) {
    const key = JSON.stringify([one.group, one.filter, one.event.stream]);
    let last = open.get(key);
    if (last === undefined || last.bytes + textBytes(one) > RECORD_BYTES) {
      last = { part: [], bytes: 0 };
      open.set(key, last);
      parts.push(last.part);
    }
    last.part.push(one);
    last.bytes += textBytes(one);
  }
  return parts.map((some) =>
    gzipSync(
      JSON.stringify({
        messageType: "DATA_MESSAGE",
        owner,
        logGroup: some[0]!.group,
        logStream: some[0]!.event.stream,
        subscriptionFilters: [some[0]!.filter],
        logEvents: some.map(({ event: { id, timestamp, message } }) => ({ id, timestamp, message })),
      }),
    ),
  );
}

/** Returns why it was not taken; undefined if it was, or if there is no place for it here. */
async function post(
  world: World,
  { arn, app, destination }: LogStream,
  { id, records }: FirehoseRequest,
  closed: AbortSignal,
): Promise<DeliveryFailure | undefined> {
  const { redirectsStream } = world.options;
  let place: { readonly url: string; readonly accessKey: string } | undefined = destination;
  try {
    if (redirectsStream !== undefined) place = app === undefined ? undefined : await redirectsStream(app);
  } catch (error) {
    return { code: "HttpEndpoint.ConnectionFailed", message: (error as Error).message, isFinal: false };
  }
  if (place === undefined) return undefined;
  const { attributes, isCompressed } = destination;
  const timestamp = world.clock.now();
  const body = JSON.stringify({
    requestId: id,
    timestamp,
    records: records.map((record) => ({ data: record.toString("base64") })),
  });
  const timeout = new AbortController();
  const timer = world.clock.base.after(ANSWER_MS, () => timeout.abort());
  try {
    const response = await fetch(place.url, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        "X-Amz-Firehose-Protocol-Version": "1.0",
        "X-Amz-Firehose-Request-Id": id,
        "X-Amz-Firehose-Source-Arn": arn,
        "X-Amz-Firehose-Access-Key": place.accessKey,
        "X-Amz-Firehose-Common-Attributes": JSON.stringify({ commonAttributes: attributes }),
        "User-Agent": "Amazon Kinesis Data Firehose Agent/1.0",
        ...(isCompressed && { "Content-Encoding": "gzip" }),
      },
      body: isCompressed ? gzipSync(body) : body,
      redirect: "error",
      signal: AbortSignal.any([closed, timeout.signal]),
    });
    return failureOf(response.status, await response.text(), id);
  } catch (error) {
    const { message, cause } = error as Error;
    const reason = cause instanceof Error ? cause.message : message;
    return { code: "HttpEndpoint.ConnectionFailed", message: reason, isFinal: false };
  } finally {
    timer.stop();
  }
}

function keepFailed(
  world: World,
  { name, destination }: LogStream,
  request: FirehoseRequest,
  failure: DeliveryFailure,
): void {
  const s3 = world.service("s3");
  // Whoever removed it wanted none of this.
  if (!s3.buckets.has(destination.bucket)) return;
  const at = world.clock.date();
  const lines = request.records.map((record) =>
    JSON.stringify({
      attemptsMade: request.attempts,
      arrivalTimestamp: at.getTime(),
      errorCode: failure.code,
      errorMessage: failure.message,
      attemptEndingTimestamp: at.getTime(),
      rawData: record.toString("base64"),
    }),
  );
  const hour = at.toISOString().slice(0, 13).replace(/[-T]/g, "/");
  const key = `http-endpoint-failed/${hour}/${name}-1-${at.toISOString().slice(0, 19).replace(/[:T]/g, "-")}-${request.id}.gz`;
  const Body = gzipSync(`${lines.join("\n")}\n`);
  s3.operations.PutObject({ Bucket: destination.bucket, Key: key, Body });
}

interface DeliveryFailure {
  readonly code: string;
  readonly message: string;
  /** Firehose does not send it again. */
  readonly isFinal: boolean;
}

/** "The response must be 200 with the id of the request, and a timestamp"; anything else is an error. */
function failureOf(status: number, text: string, id: string): DeliveryFailure | undefined {
  let answer: { requestId?: unknown; timestamp?: unknown; errorMessage?: unknown } = {};
  try {
    answer = JSON.parse(text) ?? {};
  } catch {
    // The message says the status.
  }
  const isAnswer = answer.requestId === id && typeof answer.timestamp === "number";
  if (status === 200 && isAnswer) return undefined;
  const said = typeof answer.errorMessage === "string" ? `: ${answer.errorMessage}` : "";
  const code = isAnswer ? "HttpEndpoint.DestinationException" : "HttpEndpoint.InvalidResponseFromDestination";
  return { code, message: `the endpoint answered ${status}${said}`, isFinal: status === 413 };
}
