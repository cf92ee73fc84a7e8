import type { BatchReport, Operations } from "./rpc.generated.ts";

export interface RpcClientOptions {
  /** Where the service answers, without an operation's name. */
  readonly url: string;
  /** Absent for operations that everybody may call. */
  readonly token?: string;
  /** The User-Agent header: the name of the program, and its version. */
  readonly userAgent?: string;
  /** Bytes of the longest answer of a service: a longer one is given up, as that of no log service. */
  readonly maxAnswerBytes?: number;
  readonly fetch?: typeof fetch;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Makes a retried add_events count once. */
  readonly idempotencyKey?: string;
}

/** Calls the operations of a log service. Rejects with an RpcFailure where it refuses, and with fetch's errors. */
export interface RpcClient {
  call<Name extends keyof Operations>(
    name: Name,
    input: Operations[Name]["input"],
    options?: CallOptions,
  ): Promise<Operations[Name]["output"]>;
  /** Stores the lines of a log: POST /ingest/<project>. */
  ingest(project: string, lines: string, options?: CallOptions): Promise<BatchReport>;
  /** The answer to a GET with the token, once it is one of success. */
  get(path: string, headers: Readonly<Record<string, string>>, signal?: AbortSignal): Promise<Response>;
}

/** The error that the service, or a proxy in front of it, answered. */
export class RpcFailure extends Error {
  override readonly name = "RpcFailure";
  readonly status: number;
  /** `unknown` where the answer is none of the service's own. */
  readonly type: string;
  readonly retryAfterMs: number | undefined;

  constructor(status: number, type: string, message: string, retryAfterMs?: number) {
    super(message);
    this.status = status;
    this.type = type;
    this.retryAfterMs = retryAfterMs;
  }
}

/** A page has 16 MB of events, and JSON may need six bytes for one of a text. */
const MAX_ANSWER_BYTES = 128 * 1024 * 1024;

export function rpcClient(options: RpcClientOptions): RpcClient {
  const { url, token, userAgent, maxAnswerBytes = MAX_ANSWER_BYTES, fetch: send = fetch } = options;
  const base = url.replace(/\/+$/, "");
  const own = {
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(userAgent !== undefined && { "user-agent": userAgent }),
  };
  const post = async (path: string, type: string, body: string, { signal, idempotencyKey }: CallOptions) => {
    const response = await send(`${base}${path}`, {
      method: "POST",
      headers: {
        ...own,
        "content-type": type,
        ...(idempotencyKey !== undefined && { "idempotency-key": idempotencyKey }),
      },
      body,
      redirect: "error",
      ...(signal !== undefined && { signal }),
    });
    if (!response.ok) throw await failureOf(response, maxAnswerBytes);
    return response;
  };
  return {
    async call(name, input, options = {}) {
      const response = await post(`/${name}`, "application/json", JSON.stringify(input), options);
      return (response.status === 204 ? undefined : JSON.parse(await boundedText(response, maxAnswerBytes))) as never;
    },

    async ingest(project, lines, options = {}) {
      const response = await post(`/ingest/${encodeURIComponent(project)}`, "application/x-ndjson", lines, options);
      // A service of an earlier version answers nothing.
      if (response.status === 204) return { accepted: 0, errors: [] };
      return JSON.parse(await boundedText(response, maxAnswerBytes)) as BatchReport;
    },

    async get(path, headers, signal) {
      const response = await send(`${base}${path}`, {
        headers: { ...own, ...headers },
        redirect: "error",
        ...(signal !== undefined && { signal }),
      });
      if (!response.ok) throw await failureOf(response, maxAnswerBytes);
      return response;
    },
  };
}

/** Counts while the body comes, as one without an end says nothing of its length. */
async function boundedText(response: Response, maxBytes: number): Promise<string> {
  if (response.body === null) return "";
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.length;
    if (bytes > maxBytes) {
      void reader.cancel().catch(() => undefined);
      const message = `the answer has more than ${maxBytes / 1024 / 1024} MB`;
      throw new RpcFailure(response.status, "unknown", message);
    }
    text += decoder.decode(value, { stream: true });
  }
}

/** Balancers in front of a service answer in HTML. */
async function failureOf(response: Response, maxBytes: number): Promise<RpcFailure> {
  const text = await boundedText(response, maxBytes);
  const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
  const retryAfterMs = Number.isFinite(seconds) ? seconds * 1000 : undefined;
  if (response.headers.get("content-type") === "application/json") {
    const { type, message } = readJson(text);
    // A proxy may answer JSON of its own.
    if (typeof type === "string" && typeof message === "string") {
      return new RpcFailure(response.status, type, message, retryAfterMs);
    }
  }
  return new RpcFailure(
    response.status,
    "unknown",
    `the answer was ${response.status} ${response.statusText}`,
    retryAfterMs,
  );
}

function readJson(text: string): { readonly type?: unknown; readonly message?: unknown } {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
}
