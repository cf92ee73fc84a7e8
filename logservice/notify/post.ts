import { Agent as HttpAgent, request as requestHttp } from "node:http";
import { Agent as HttpsAgent, request as requestHttps } from "node:https";
import type { Clock } from "../../grammar/units/clock.ts";
import { type CheckedTarget, checkTarget, type GuardOptions } from "./target-guard.ts";

/** A request that a channel makes of a message. The method is POST. */
export interface Post {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The answer to a request. The body is not read: it is nothing that is shown or counts. */
export interface PostAnswer {
  readonly status: number;
  /** The header Retry-After as it was sent, or "". */
  readonly retryAfter: string;
}

/** There was no answer. The message names the part of the request that failed, in words that may be shown to anybody. */
export class PostFailure extends Error {
  override readonly name = "PostFailure";
}

export interface PostOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** The options of the check of the target; without them, the operator has set the address and it may be any. */
  readonly guard: GuardOptions | undefined;
  /** Certificates of authorities that are trusted instead of the usual ones. */
  readonly ca?: string | undefined;
  /** For all of it, from the lookup of the name to the answer. */
  readonly timeoutMs?: number | undefined;
}

/** Long enough for a slow receiver, and short enough for a queue of them. */
const TIMEOUT_MS = 10_000;

/** Longest body of an answer. It is read at all so that the receiver can finish its answer. */
const MAX_ANSWER_BYTES = 64 * 1024;

/** Longest head of an answer; the process may have been started with another limit. */
const MAX_HEAD_BYTES = 16 * 1024;

/**
 * Posts to a target. Redirects are not followed: they are an answer. Each request has a connection of its own, so that none
 * uses one that was checked for another target. Rejects with what `checkTarget` does, a PostFailure, or the reason of the
 * signal.
 */
export async function post(sent: Post, options: PostOptions): Promise<PostAnswer> {
  const { clock, signal, guard, timeoutMs = TIMEOUT_MS } = options;
  const late = new AbortController();
  const timer = clock.after(timeoutMs, () => late.abort());
  const ended = AbortSignal.any([signal, late.signal]);
  try {
    const target = guard === undefined ? { url: new URL(sent.url) } : await before(ended, checkTarget(sent.url, guard));
    return await before(ended, exchange(target, sent, ended, options.ca));
  } catch (error) {
    signal.throwIfAborted();
    if (late.signal.aborted) throw new PostFailure(`gave no answer within ${timeoutMs / 1000} s`);
    throw error;
  } finally {
    timer.stop();
  }
}

/** The lookup of a name cannot be stopped, but what waits for it can. */
function before<T>(ended: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    ended.addEventListener("abort", () => reject(ended.reason), { once: true });
    ended.throwIfAborted();
    work.then(resolve, reject);
  });
}

function exchange(
  target: CheckedTarget | { readonly url: URL },
  sent: Post,
  signal: AbortSignal,
  ca: string | undefined,
): Promise<PostAnswer> {
  const isHttps = target.url.protocol === "https:";
  const [request, Agent] = isHttps ? [requestHttps, HttpsAgent] : [requestHttp, HttpAgent];
  return new Promise((resolve, reject) => {
    const outgoing = request(target.url, {
      method: "POST",
      headers: { "User-Agent": "tool-logservice", ...sent.headers, "Content-Length": Buffer.byteLength(sent.body) },
      agent: new Agent({ keepAlive: false }),
      maxHeaderSize: MAX_HEAD_BYTES,
      signal,
      ...("lookup" in target && { lookup: target.lookup }),
      ...(ca !== undefined && { ca }),
    });
    outgoing.on("response", (answer) => {
      // The receiver has answered: what happens to the rest of its answer changes nothing.
      resolve({ status: answer.statusCode!, retryAfter: answer.headers["retry-after"] ?? "" });
      let bytes = 0;
      answer.on("error", () => {});
      answer.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > MAX_ANSWER_BYTES) outgoing.destroy();
      });
    });
    // A change of the protocol (101) is neither an answer nor an error to Node: it only closes the connection.
    outgoing.on("upgrade", (_, socket) => socket.destroy());
    outgoing.on("close", () => reject(new PostFailure("closed the connection before it answered")));
    outgoing.on("error", (error: NodeJS.ErrnoException) => reject(new PostFailure(whatFailed(error))));
    outgoing.end(sent.body);
  });
}

/**
 * Describes what failed, without the text that the other end sent: the messages of node quote certificates and parts of
 * answers.
 */
function whatFailed({ code = "" }: NodeJS.ErrnoException): string {
  const failure = FAILURES.find(({ codes }) => codes.test(code));
  return failure?.what ?? "could not be connected to";
}

const FAILURES: readonly { readonly codes: RegExp; readonly what: string }[] = [
  { codes: /^ECONNREFUSED$/, what: "refused the connection" },
  { codes: /^(?:ECONNRESET|EPIPE)$/, what: "closed the connection before it answered" },
  { codes: /^(?:ENOTFOUND|EAI_.*)$/, what: "has no address" },
  { codes: /^HPE_/, what: "gave an answer that is not HTTP" },
  {
    codes: /CERT|^ERR_TLS|^ERR_SSL|SIGNATURE|^EPROTO$/,
    what: "could not be spoken to over TLS: check its certificate",
  },
];
