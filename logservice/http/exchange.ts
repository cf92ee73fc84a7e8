import type { IncomingMessage, ServerResponse } from "node:http";
import type { Clock } from "../../grammar/units/clock.ts";
import { RpcError } from "../error.ts";
import { StoreError } from "../events/store.ts";
import { RecordsAway } from "../records/away.ts";
import { isRecordsFull } from "../records/check.ts";
import { RecordsReplaced } from "../records/replaced.ts";
import { ClientGone } from "./body.ts";
import { type ErrorForm, sendError, writeErrorResponse } from "./send.ts";

export interface ServiceLog {
  /** Reports a failure to the operators of the service. */
  error(message: string, error: unknown): void;
  /** Says what needs somebody to look at it, though nothing failed here. */
  warn(message: string): void;
}

/** A request and its response, and what running them needs. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly log: ServiceLog;
  readonly clock: Clock;
  /** The form of the answer to an error, if it is not the usual one. */
  readonly errorAnswer?: ((error: RpcError) => ErrorForm) | undefined;
}

/**
 * Runs one exchange. The signal is aborted when the client disconnects, and by `end`, whose error then becomes the answer.
 * Otherwise the answer to a thrown error is that error if it is an RpcError or StoreError, and else `internal`, with the
 * cause in the log only.
 */
export async function runExchange(
  exchange: Exchange,
  answer: (signal: AbortSignal, end: (error: RpcError) => void) => Promise<void>,
): Promise<void> {
  const { response } = exchange;
  const over = new AbortController();
  const leave = () => {
    // Creating the error costs more than the rest of this function; it is not needed if the answer was sent.
    if (!response.writableFinished) over.abort(new ClientGone("the client left"));
  };
  response.once("close", leave);
  try {
    await answer(over.signal, (error) => over.abort(error));
  } catch (thrown) {
    const reason: unknown = over.signal.aborted ? over.signal.reason : thrown;
    answerFailure(exchange, thrown, reason);
  }
}

/** Runs what finds the handler of a request and calls it. What that throws is answered: uncaught, it would end the service. */
export function runHandler(exchange: Exchange, handle: () => void): void {
  try {
    handle();
  } catch (thrown) {
    answerFailure(exchange, thrown, thrown);
  }
}

/** Answers `reason`, and logs `thrown` if that is a failure of the service. */
function answerFailure(exchange: Exchange, thrown: unknown, reason: unknown): void {
  const { request, response, log } = exchange;
  // The client of an exchange that `end` ended may have disconnected since.
  if (reason instanceof ClientGone || response.destroyed) {
    response.destroy();
    return;
  }
  const error = asRpcError(reason);
  if (error.type === "internal") log.error(`${request.method} ${request.url} failed`, thrown);
  if (response.headersSent) {
    // Half an answer must not look like a whole one.
    response.destroy();
    return;
  }
  if (request.complete) sendError(response, error, exchange.errorAnswer?.(error));
  else answerEarly(exchange, error);
}

function asRpcError(thrown: unknown): RpcError {
  if (thrown instanceof RpcError) return thrown;
  if (thrown instanceof StoreError) {
    const { retryAfterMs } = thrown;
    return new RpcError(thrown.type, thrown.message, {
      cause: thrown,
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    });
  }
  const code = (thrown as { code?: unknown } | undefined)?.code;
  if (thrown instanceof RecordsReplaced)
    return new RpcError("unavailable", thrown.message, { cause: thrown, retryAfterMs: 30_000 });
  if (isRecordsFull(thrown)) {
    return new RpcError("unavailable", "the disk is full: nothing was changed; make room, then send it again", {
      cause: thrown,
      retryAfterMs: 30_000,
    });
  }
  if (typeof code === "string" && /^(SQLITE_READONLY.*|EROFS)$/.test(code)) {
    const message = "the data directory is on a file system that is read-only: nothing was changed";
    return new RpcError("unavailable", message, { cause: thrown, retryAfterMs: 30_000 });
  }
  if (thrown instanceof RecordsAway)
    return new RpcError("unavailable", `${thrown.message}: ${thrown.advice}`, { cause: thrown, retryAfterMs: 2_000 });
  // The others are PostgreSQL's: a transaction that was taken back too often, and a statement that took too long.
  if (typeof code === "string" && /^(SQLITE_(BUSY|LOCKED|IOERR).*|40001|40P01|57014)$/.test(code)) {
    return new RpcError("unavailable", "the records cannot be reached at the moment: try again", {
      cause: thrown,
      retryAfterMs: 1_000,
    });
  }
  return new RpcError("internal", "the service failed; see its log", { cause: thrown });
}

/** How long the rest of a body is read after an early answer. */
const LINGER_MS = 2_000;

/**
 * Answers before the whole body has arrived. The rest is read and discarded for a moment before the connection is closed:
 * closed at once it would be reset, and a client that is still sending would lose the answer.
 */
function answerEarly({ request, response, clock, errorAnswer }: Exchange, error: RpcError): void {
  response.setHeader("Connection", "close");
  writeErrorResponse(response, error, errorAnswer?.(error));
  request.on("data", () => {});
  request.resume();
  const end = () => {
    timer.stop();
    response.end();
  };
  const timer = clock.after(LINGER_MS, end);
  request.once("end", end);
  request.once("close", end);
}
