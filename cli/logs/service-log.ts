import {
  isTimed,
  levelOf,
  NOTHING_SEEN,
  type PipesResult,
  printPipeline,
  printQuery,
  resultOf,
  type SeenFields,
  seenInService,
  type TableNotes,
} from "../../grammar/query/index.ts";
import type { Clock } from "../../grammar/units/clock.ts";
import type { Event, Operations } from "../../schema/rpc.generated.ts";
import { type RpcClient, RpcFailure, rpcClient } from "../../schema/rpc-client.ts";
import { idleFetch } from "../idle-fetch.ts";
import type { ServiceAddress } from "../service/service-address.ts";
import { connectionFailure } from "../team/connection-failure.ts";
import { userAgent } from "../user-agent.ts";
import { type Block, LineBlocks } from "./line-blocks.ts";
import { InputError } from "./read-files.ts";
import type { SourceAggregation } from "./source.ts";

export interface ServiceQuestion {
  readonly address: ServiceAddress;
  /** In the service's language; an empty query selects everything. */
  readonly query: string;
  readonly startMs: number;
  readonly stopMs: number;
  /** The number of the newest events; infinite for all. */
  readonly limit: number;
  readonly clock: Clock;
  readonly onDropped: (count: number | null) => void;
  readonly onTrouble: (message: string) => void;
  /** Called for each response that lacks events because the service has lost them. */
  readonly onMissing: (bytes: number) => void;
}

/** Events in a response: enough that the number of requests does not matter, few enough to be shown soon. */
const PAGE = 1_000;

/** The events of a period, oldest first, as lines of JSON. */
export async function* searchService(question: ServiceQuestion, signal: AbortSignal): AsyncGenerator<Block> {
  const lines = new LineBlocks();
  for await (const events of pages(question, signal)) yield* lines.push(linesOf(events));
}

/** The fields in events of the period; none if the service does not tell. */
export async function discoveredFields(question: ServiceQuestion, signal: AbortSignal): Promise<SeenFields> {
  const { address, startMs, stopMs } = question;
  const input = {
    project_id: address.project,
    start: new Date(startMs).toISOString(),
    stop: new Date(stopMs).toISOString(),
  };
  try {
    const { fields } = await clientOf(question).call("get_discovered_fields", input, { signal });
    return seenInService(fields);
  } catch (error) {
    if (error instanceof RpcFailure || signal.aborted) return NOTHING_SEEN;
    throw inputError(question, error);
  }
}

/** The number of events of the period that the query selects. Undefined if the service does not say. */
export async function countInService(question: ServiceQuestion, signal: AbortSignal): Promise<number | undefined> {
  const { address, query, startMs, stopMs } = question;
  const times = { start: new Date(startMs).toISOString(), stop: new Date(stopMs).toISOString() };
  try {
    const { count } = await clientOf(question).call(
      "get_count",
      { project_id: address.project, query, ...times },
      { signal },
    );
    return count;
  } catch (error) {
    if (error instanceof RpcFailure || signal.aborted) return undefined;
    throw inputError(question, error);
  }
}

/**
 * The result of stages that the service computes. Undefined if the events have to be read instead: if the stages give
 * events, if there are more rows than it answers, and if it is older than the operation.
 */
export async function aggregateInService(
  question: ServiceQuestion,
  { pipeline, range, signal }: SourceAggregation,
): Promise<PipesResult | undefined> {
  const output = resultOf(pipeline.pipes);
  if (output.kind === "events") return undefined;
  const times = await timesOf(question, { pipeline, range, signal });
  if (times === undefined) return undefined;
  const input = { project_id: question.address.project, query: printPipeline(pipeline), ...times };
  const call = () => clientOf(question).call("aggregate", input, { signal });
  let answer: Operations["aggregate"]["output"] | undefined;
  try {
    answer = await withRetries(question, signal, call);
  } catch (error) {
    const { cause } = error as InputError;
    if (cause instanceof RpcFailure && cause.status === 404) return undefined;
    throw error;
  }
  if (answer === undefined || answer.truncated) return undefined;
  if (answer.stats.missing_bytes !== undefined) question.onMissing(answer.stats.missing_bytes);
  const { columns } = output;
  const levels = columns.flatMap(({ type }, at) => (type === "level" ? [at] : []));
  const { step } = answer;
  const rows = answer.rows.map((row) => withLevels(row, levels));
  return { kind: "table", columns, rows, ...(step !== undefined && { stepMs: step }), notes: notesOf(answer) };
}

function notesOf({ columns }: Operations["aggregate"]["output"]): TableNotes {
  return {
    leftOut: new Map(columns.flatMap(({ name, left_out = 0 }) => (left_out > 0 ? [[name, left_out] as const] : []))),
    estimates: new Set(columns.flatMap(({ name, is_estimate = false }) => (is_estimate ? [name] : []))),
    withoutTime: 0,
  };
}

/** The service's names of levels are not those that are printed here. */
function withLevels(row: readonly unknown[], levels: readonly number[]): readonly unknown[] {
  if (levels.length === 0) return row;
  return row.map((cell, at) => (levels.includes(at) && typeof cell === "string" ? (levelOf(cell) ?? cell) : cell));
}

/** The period of steps and rates: as it was written, otherwise from the first selected event to the last. */
async function timesOf(
  question: ServiceQuestion,
  { pipeline, range, signal }: SourceAggregation,
): Promise<{ readonly start: string; readonly stop: string } | undefined> {
  const { startMs, stopMs } = question;
  const whole = {
    start: new Date(range.fromMs ?? startMs).toISOString(),
    stop: range.toMs === undefined ? new Date(stopMs).toISOString() : preciseText(range.toMs),
  };
  if (!pipeline.pipes.some(isTimed) || (range.fromMs !== undefined && range.toMs !== undefined)) return whole;
  const outermost = async (order: "ascending" | "descending") => {
    const input = {
      project_id: question.address.project,
      ...whole,
      query: printQuery(pipeline.query),
      limit: 1,
      order,
    };
    const answer = await withRetries(question, signal, () => clientOf(question).call("search", input, { signal }));
    return answer?.events[0]?.timestamp;
  };
  const [first, last] = await Promise.all([outermost("ascending"), outermost("descending")]);
  // Without an event there is no period either.
  if (!first || !last) return undefined;
  return {
    start: range.fromMs === undefined ? first : whole.start,
    stop: range.toMs === undefined ? last : whole.stop,
  };
}

/** A time with the nanoseconds that float64 has: the last instant of a period is just before its end. */
function preciseText(timeMs: number): string {
  const wholeMs = Math.floor(timeMs);
  const nanoseconds = Math.floor((timeMs - wholeMs) * 1e6);
  return new Date(wholeMs).toISOString().replace("Z", `${String(nanoseconds).padStart(6, "0")}Z`);
}

/** The events since `startMs` if `withPast`, then new ones, until the signal. A broken connection is reopened. */
export async function* followService(
  question: ServiceQuestion & { readonly withPast: boolean },
  signal: AbortSignal,
): AsyncGenerator<Block> {
  const lines = new LineBlocks();
  const client = clientOf(question);
  // Opened before the past is read: events that come in between are in both, and shown once.
  let stream: Response;
  try {
    stream = await openTail(client, question, undefined, signal);
  } catch (error) {
    if (signal.aborted) return;
    throw error;
  }
  const pastIds = new Set<string>();
  let last: string | undefined;
  if (question.withPast) {
    for await (const events of pages({ ...question, stopMs: question.clock.nowMs() + CLOCK_SKEW_MS }, signal)) {
      for (const { id } of events.slice(-PAGE)) pastIds.add(id);
      last = events.at(-1)?.id ?? last;
      yield* lines.push(linesOf(events));
    }
  }
  for (let waitMs = FIRST_WAIT_MS; !signal.aborted; ) {
    let trouble = "the log service closed the connection; trying again";
    try {
      for await (const message of messages(stream, signal)) {
        waitMs = FIRST_WAIT_MS;
        if (message.event === "dropped") {
          question.onDropped((JSON.parse(message.data) as { count: number | null }).count);
          continue;
        }
        if (message.event === "error") {
          const { type, message: text } = JSON.parse(message.data) as { type: string; message: string };
          throw inputError(question, new RpcFailure(stream.status, type, text));
        }
        last = message.id ?? last;
        if (message.id !== undefined && pastIds.delete(message.id)) continue;
        yield* lines.push(linesOf([JSON.parse(message.data) as Event]));
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof InputError) throw error;
      if (error instanceof RpcFailure) throw inputError(question, error);
      // It sends something every 15 seconds, whether or not there are events.
      if ((error as Error).name === "TimeoutError")
        trouble = `nothing came from the log service for ${IDLE_MS / 1000} s; trying again`;
    }
    if (signal.aborted) return;
    question.onTrouble(trouble);
    for (;;) {
      await question.clock.sleep(waitMs, signal).catch(() => undefined);
      if (signal.aborted) return;
      waitMs = Math.min(2 * waitMs, MAX_WAIT_MS);
      try {
        stream = await openTail(client, question, last, signal);
        break;
      } catch (error) {
        if (signal.aborted) return;
        // Other failures are temporary; a removed token is not.
        if (error instanceof InputError && !isPassing(error.cause)) throw error;
      }
    }
  }
}

const FIRST_WAIT_MS = 500;
/** A service that is back is noticed within this time. */
const MAX_WAIT_MS = 5_000;
/** The clocks of machines that write to one service differ by less. */
const CLOCK_SKEW_MS = 60_000;

/** The service closes a connection on which nothing happens for a minute: an answer that takes longer never comes. */
const IDLE_MS = 90_000;

function clientOf({ address, clock }: ServiceQuestion): RpcClient {
  return rpcClient({ ...address, userAgent: userAgent(), fetch: idleFetch({ idleMs: IDLE_MS, clock }) });
}

/** Pages of events, oldest first. With a limit they are the newest ones, found backwards and reversed. */
async function* pages(question: ServiceQuestion, signal: AbortSignal): AsyncGenerator<readonly Event[]> {
  const { address, query, startMs, stopMs, limit } = question;
  const isLimited = limit !== Number.POSITIVE_INFINITY;
  const client = clientOf(question);
  const newest: Event[] = [];
  let cursor: string | undefined;
  do {
    const input = {
      project_id: address.project,
      start: new Date(startMs).toISOString(),
      stop: new Date(stopMs).toISOString(),
      query,
      limit: Math.min(PAGE, limit - newest.length),
      order: isLimited ? ("descending" as const) : ("ascending" as const),
      ...(cursor !== undefined && { cursor }),
    };
    const answer = await withRetries(question, signal, () => client.call("search", input, { signal }));
    if (answer === undefined) return;
    cursor = answer.cursor;
    if (answer.stats.missing_bytes !== undefined) question.onMissing(answer.stats.missing_bytes);
    if (isLimited) newest.push(...answer.events);
    else yield answer.events;
  } while (cursor !== undefined && newest.length < limit);
  if (isLimited) yield newest.reverse();
}

/** Retries temporary failures when the service says; undefined after the signal. */
async function withRetries<T>(
  question: ServiceQuestion,
  signal: AbortSignal,
  ask: () => Promise<T>,
): Promise<T | undefined> {
  for (let tries = 0; ; tries++) {
    try {
      return await ask();
    } catch (error) {
      if (signal.aborted) return undefined;
      if (!isPassing(error) || tries === MAX_TRIES || !(error instanceof RpcFailure)) throw inputError(question, error);
      await question.clock.sleep(error.retryAfterMs ?? FIRST_WAIT_MS, signal).catch(() => undefined);
    }
  }
}

const MAX_TRIES = 4;

function isPassing(error: unknown): boolean {
  return !(error instanceof RpcFailure) || error.status === 429 || error.status >= 500;
}

async function openTail(
  client: RpcClient,
  question: ServiceQuestion,
  last: string | undefined,
  signal: AbortSignal,
): Promise<Response> {
  const search = new URLSearchParams({ project_id: question.address.project, query: question.query });
  const headers: Record<string, string> = { accept: "text/event-stream" };
  if (last !== undefined) headers["last-event-id"] = last;
  try {
    return await client.get(`/tail?${search}`, headers, signal);
  } catch (error) {
    throw inputError(question, error);
  }
}

function inputError({ address }: ServiceQuestion, error: unknown): InputError {
  const { url, remedy, absent, otherwise } = address;
  // Alone it is no alternative.
  const hints = (hint: string | undefined) =>
    hint === undefined ? otherwise?.replace(/^or /, "") : [hint, otherwise ?? []].flat().join("\n");
  const isOther = error instanceof RpcFailure && error.type === "unknown" && error.status < 300;
  if (isOther || error instanceof SyntaxError) {
    const reason = isOther ? error.message : "the answer is no JSON";
    const hint = "check the address; curl -i on it shows who answers";
    return new InputError(url, `it does not answer as a log service: ${reason}`, hints(hint), error);
  }
  if (error instanceof RpcFailure) {
    const isNoProject = error.type === "not_found" && error.message.startsWith("there is no project ");
    const advice = error.type === "unauthorized" ? remedy : isNoProject ? absent : undefined;
    return new InputError(url, error.message, hints(advice), error);
  }
  if ((error as Error).name === "TimeoutError") {
    const hint = "it hangs or has too much to do: try again, or ask for less time with --since";
    return new InputError(url, `nothing came for ${IDLE_MS / 1000} s`, hints(hint), error);
  }
  const { reason, hint = "is the log service running there?" } = connectionFailure(error, url);
  return new InputError(url, reason, hints(hint), error);
}

/** Events as lines that this command prints: the query language says `warn`, the service `warning`. */
function linesOf(events: readonly Event[]): Buffer {
  const lines = events.map(({ sent_level, ...event }) =>
    JSON.stringify(event.level === "warning" ? { ...event, level: "warn" } : event),
  );
  return Buffer.from(lines.map((line) => `${line}\n`).join(""));
}

interface Message {
  readonly event: string;
  readonly id: string | undefined;
  readonly data: string;
}

/** An event has at most 256 KB, and JSON may need six characters for one byte of it. */
const MAX_MESSAGE_LENGTH = 4 * 1024 * 1024;

/** Parses server-sent events (HTML section 9.2.6), as far as the service uses them, until the signal. */
async function* messages(response: Response, signal: AbortSignal): AsyncGenerator<Message> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of chunksOf(response, signal)) {
    text += decoder.decode(chunk, { stream: true });
    for (let end = text.indexOf("\n\n"); end !== -1; end = text.indexOf("\n\n")) {
      const fields = new Map<string, string>();
      for (const line of text.slice(0, end).split("\n")) {
        const colon = line.indexOf(": ");
        if (colon > 0) fields.set(line.slice(0, colon), line.slice(colon + 2));
      }
      text = text.slice(end + 2);
      const data = fields.get("data");
      if (data !== undefined) yield { event: fields.get("event") ?? "message", id: fields.get("id"), data };
    }
    if (text.length > MAX_MESSAGE_LENGTH) {
      const message = `a message has more than ${MAX_MESSAGE_LENGTH / 1024 / 1024} MB`;
      throw new RpcFailure(response.status, "unknown", message);
    }
  }
}

/** The body, until the signal: what joins `fetch` to its signal may be collected once the headers have come. */
async function* chunksOf(response: Response, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const reader = response.body!.getReader();
  const cancel = () => void reader.cancel().catch(() => undefined);
  signal.addEventListener("abort", cancel);
  try {
    while (!signal.aborted) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    signal.removeEventListener("abort", cancel);
    cancel();
  }
}
