import type { Readable } from "node:stream";
import type { Clock } from "../../grammar/units/clock.ts";
import { discard, headerOf, isStream, type ProxyRequest, type ProxyResponse, type Sent } from "../exchange.ts";
import type { Application } from "../index.ts";
import { proxyError } from "../proxy-error.ts";
import { checkApp } from "./check.ts";
import { type HttpEvent, readPlatformEvent } from "./event.ts";
import { requestOfEvent } from "./request.ts";
import { answerDocument, HEAD_END, MAX_DOCUMENT_BYTES, MAX_HEAD_BYTES, streamHead } from "./response.ts";

/** One event that the platform hands to the function. */
export interface LambdaInvocation {
  readonly id: string;
  /** Undefined if the event is not JSON. */
  readonly event: unknown;
  /** Milliseconds since 1970; then the platform ends the process. */
  readonly deadlineMs: number;
  readonly traceId?: string | undefined;
}

/** Takes the answer: one of the two is called, once. Each rejects if the platform does not accept it. */
export interface AnswerSink {
  /** A whole answer, JSON. */
  document(json: string): Promise<void>;
  /** An answer in parts. */
  stream(): AnswerStream;
}

export interface AnswerStream {
  /** Resolves when more may be written. */
  write(chunk: Buffer): Promise<void>;
  end(): Promise<void>;
  /** Ends an answer that broke off, so that it does not look complete. */
  fail(type: string, message: string): Promise<void>;
}

export interface InvocationOptions {
  /** The gateway takes answers in parts (`responseTransferMode: STREAM`, or a function URL's RESPONSE_STREAM). */
  readonly streams: boolean;
}

/** The time that is left when the proxy gives up on the app: to make the 504, write the log and hand it over. */
const MARGIN_MS = 300;

/**
 * Answers one invocation. Whatever the event holds, and whatever becomes of the app, the platform gets an answer: an
 * invocation error would be a bare "Internal Server Error" of the gateway. Rejects only if the answer is not accepted.
 * Returns whether it was a request, which others may follow at once.
 */
export async function answerInvocation(
  application: Application,
  invocation: LambdaInvocation,
  answer: AnswerSink,
  options: InvocationOptions,
): Promise<boolean> {
  const event = readPlatformEvent(invocation.event);
  if (event.kind === "http") {
    await answerRequest(event, { application, invocation, answer, options });
    return true;
  }
  if (event.kind === "warming") {
    const doneByMs = invocation.deadlineMs - MARGIN_MS;
    const { clock } = application;
    const heldSinceMs = clock.nowMs();
    await untilListening(application, doneByMs);
    const endMs = Math.min(heldSinceMs + event.holdMs, doneByMs);
    if (clock.nowMs() < endMs) await clock.sleep(endMs - clock.nowMs());
    await answer.document(JSON.stringify({ warm: true }));
    return false;
  }
  if (event.kind === "check") {
    const check = await checkApp(application, invocation.id, invocation.deadlineMs - MARGIN_MS);
    await answer.document(JSON.stringify({ check }));
    return false;
  }
  application.entries.write("error", "event is not an HTTP request", {
    invocation: invocation.id,
    reason: event.reason,
  });
  const error = {
    code: "runtime/unknown-event",
    message: `this function answers HTTP requests only: ${event.reason}`,
    hint: 'invoke it through its gateway or a function URL, or with {"tool": "warm"} to keep it warm',
  };
  await answer.document(JSON.stringify({ error }));
  return false;
}

interface RequestContext {
  readonly application: Application;
  readonly invocation: LambdaInvocation;
  readonly answer: AnswerSink;
  readonly options: InvocationOptions;
}

async function answerRequest(event: HttpEvent, context: RequestContext): Promise<void> {
  const { application, invocation, answer, options } = context;
  const abort = new AbortController();
  let settleSent!: (sent: Sent) => void;
  const sent = new Promise<Sent>((resolve) => {
    settleSent = resolve;
  });
  const answerByMs = invocation.deadlineMs - MARGIN_MS;
  const { traceId } = invocation;
  const request = requestOfEvent(event, { traceId, answerByMs, signal: abort.signal, sent });
  const response = await handled(application, request);
  const sending = { application, request, response, event, answer, answerByMs };
  let last: Sent = { status: response.status, bytes: 0 };
  try {
    last = options.streams && event.canStream ? await sendInParts(sending) : await sendWhole(sending);
  } catch (error) {
    abort.abort(error);
    throw error;
  } finally {
    settleSent(last);
  }
}

interface Sending {
  readonly application: Application;
  readonly request: ProxyRequest;
  readonly response: ProxyResponse;
  readonly event: HttpEvent;
  readonly answer: AnswerSink;
  readonly answerByMs: number;
}

/** The outside world fails in ways that no handler expects: that is a 500. */
async function handled({ handler, entries }: Application, request: ProxyRequest): Promise<ProxyResponse> {
  try {
    return await handler(request);
  } catch (error) {
    const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
    entries.write("error", "request failed inside the proxy", { ...about(request), reason });
    return proxyError(request, 500, "the request failed");
  }
}

async function sendWhole(sending: Sending): Promise<Sent> {
  const { application, request, response, event, answer, answerByMs } = sending;
  try {
    const body = await wholeBody(request, response, { byMs: answerByMs, clock: application.clock });
    const json = answerDocument(event, response, body);
    const documentBytes = Buffer.byteLength(json);
    if (documentBytes > MAX_DOCUMENT_BYTES) throw tooLarge(body.length, documentBytes);
    await answer.document(json);
    return { status: response.status, bytes: body.length, level: response.level };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return sendFailure(sending, error);
  }
}

async function sendFailure(sending: Sending, failure: Failure): Promise<Sent> {
  const { application, request, event, answer } = sending;
  application.entries.write("error", failure.entry, { ...about(request), ...failure.fields });
  const page = await application.failure(request, failure.status, failure.message);
  const body = bytesOf(page.body);
  await answer.document(answerDocument(event, page, body));
  return { status: page.status, bytes: body.length };
}

/** The app answered, but the rest of its answer cannot be sent. The message is for the client. */
class Failure extends Error {
  readonly status: number;
  readonly entry: string;
  readonly fields: Readonly<Record<string, unknown>>;

  constructor(status: number, message: string, entry: string, fields: Readonly<Record<string, unknown>>) {
    super(message);
    this.status = status;
    this.entry = entry;
    this.fields = fields;
  }
}

function tooLarge(size: number, documentBytes: number): Failure {
  const message = `the answer has ${size} bytes, more than the platform takes in one piece (6 MB, less where it is no text)`;
  const fields = { size, ...(documentBytes > size && { encoded: documentBytes }), limit: MAX_DOCUMENT_BYTES };
  return new Failure(502, message, "answer is over the limit", fields);
}

function brokenOff(reason: string, size: number): Failure {
  return new Failure(502, "the app broke off its answer", "app broke off its answer", { reason, size });
}

function timedOut(): Failure {
  const fields = { reason: "the answer did not end in time" };
  return new Failure(504, "the app took too long to answer", "request timed out", fields);
}

interface TimeLimit {
  /** Milliseconds since 1970. */
  readonly byMs: number;
  readonly clock: Clock;
}

/** The body in one piece. Rejects with a Failure. */
async function wholeBody(request: ProxyRequest, response: ProxyResponse, limit: TimeLimit): Promise<Buffer> {
  const { body } = response;
  if (isBodiless(request, response)) {
    discard(body);
    return Buffer.alloc(0);
  }
  if (!isStream(body)) return bytesOf(body);
  const announced = Number(headerOf(response, "content-length") ?? Number.NaN);
  if (announced > MAX_DOCUMENT_BYTES) {
    body.on("error", () => {});
    body.destroy();
    throw tooLarge(announced, announced);
  }
  const parts: Buffer[] = [];
  let bytes = 0;
  await read(body, limit, async (part) => {
    parts.push(part);
    bytes += part.length;
    // The rest is not read to be counted: it may have no end.
    if (bytes > MAX_DOCUMENT_BYTES) throw tooLarge(bytes, bytes);
  });
  if (bytes < announced) throw brokenOff(`${announced - bytes} bytes of it are missing`, bytes);
  return Buffer.concat(parts);
}

/** Hands out the parts of a body, one after another. Rejects with a Failure if the body or `onPart` fails. */
async function read(
  body: Readable,
  { byMs, clock }: TimeLimit,
  onPart: (part: Buffer) => Promise<void>,
): Promise<void> {
  const timer = clock.after(Math.max(0, byMs - clock.nowMs()), () => body.destroy(timedOut()));
  let bytes = 0;
  try {
    for await (const part of body) {
      bytes += (part as Buffer).length;
      await onPart(part as Buffer);
    }
  } catch (error) {
    body.destroy();
    throw error instanceof Failure ? error : brokenOff((error as Error).message, bytes);
  } finally {
    timer.stop();
  }
}

async function sendInParts(sending: Sending): Promise<Sent> {
  const { application, request, event, answer, answerByMs } = sending;
  let { response } = sending;
  let head = streamHead(event, response);
  if (head.length + HEAD_END.length > MAX_HEAD_BYTES) {
    discard(response.body);
    const fields = { ...about(request), size: head.length, limit: MAX_HEAD_BYTES };
    application.entries.write("error", "headers of the answer are over the limit", fields);
    // Without the header rules: they may be what is too long.
    response = proxyError(request, 502, "the headers of the answer are over the platform's 16 KB");
    head = streamHead(event, response);
  }
  const { status, body, level } = response;
  const stream = answer.stream();
  const start = Buffer.concat([head, HEAD_END]);
  if (isBodiless(request, response) || !isStream(body)) {
    if (isStream(body)) discard(body);
    const bytes = isBodiless(request, response) ? Buffer.alloc(0) : bytesOf(body);
    await stream.write(Buffer.concat([start, bytes]));
    await stream.end();
    return { status, bytes: bytes.length, level };
  }

  // A failing body must find its listener, also while the head is written.
  body.on("error", () => {});
  await stream.write(start);
  let bytes = 0;
  const announced = Number(headerOf(response, "content-length") ?? Number.NaN);
  try {
    await read(body, { byMs: answerByMs, clock: application.clock }, async (part) => {
      bytes += part.length;
      await stream.write(part);
    });
    if (bytes < announced) throw brokenOff(`${announced - bytes} bytes are missing`, bytes);
    await stream.end();
    return { status, bytes, level };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    application.entries.write("error", error.entry, { ...about(request), ...error.fields });
    await stream.fail(error.status === 504 ? "Tool.TimedOut" : "Tool.BrokenOff", error.message);
    return { status, bytes, level: "error", reason: String(error.fields.reason) };
  }
}

/** Resolves when the app listens, at the latest at the given time. */
export async function untilListening({ supervisor, clock }: Application, byMs: number): Promise<void> {
  if (supervisor === undefined) return;
  const abort = new AbortController();
  const timer = clock.after(Math.max(0, byMs - clock.nowMs()), () => abort.abort());
  // Whatever goes wrong is in the log, and is the answer to the next request.
  await Promise.resolve(supervisor.upstream(abort.signal)).catch(() => {});
  timer.stop();
}

function isBodiless({ method }: ProxyRequest, { status }: ProxyResponse): boolean {
  return method === "HEAD" || status === 204 || status === 304;
}

function bytesOf(body: ProxyResponse["body"]): Buffer {
  return body === undefined || isStream(body) ? Buffer.alloc(0) : Buffer.from(body as string | Buffer);
}

function about(request: ProxyRequest): Record<string, unknown> {
  return { id: request.id, method: request.method, path: request.clientPath };
}
