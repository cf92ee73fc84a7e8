import { Agent, type ClientRequest, type IncomingMessage, request } from "node:http";
import type { Clock } from "../../grammar/units/clock.ts";
import type { AnswerSink, AnswerStream, LambdaInvocation } from "./invocation.ts";

/** The platform's side of a function: hands out events and takes answers, one at a time. */
export interface RuntimeApi {
  /** Waits for the next event, as long as it takes: meanwhile the platform may stop this process. */
  next(): Promise<LambdaInvocation>;
  answerTo(invocation: LambdaInvocation): AnswerSink;
  /** The function cannot answer anything: the platform restarts it. */
  initError(type: string, message: string): Promise<void>;
}

/** The platform refused what it was sent. */
export class PlatformRefusal extends Error {
  readonly status: number;

  constructor(status: number, text: string) {
    super(`the platform answered ${status}: ${text.trim().slice(0, 500)}`);
    this.status = status;
  }
}

/** Longest time that a function may take. */
const MAX_INVOCATION_MS = 15 * 60 * 1000;

const MEDIA_TYPE_OF_PARTS = "application/vnd.awslambda.http-integration-response";

/** Trailers that say that an answer in parts broke off. */
const ERROR_TYPE = "Lambda-Runtime-Function-Error-Type";
const ERROR_BODY = "Lambda-Runtime-Function-Error-Body";

/**
 * Speaks the Lambda Runtime API, version 2018-06-01, at the address in AWS_LAMBDA_RUNTIME_API ("Using the Lambda
 * runtime API for custom runtimes"; answers in parts: "Using response streaming with custom runtimes").
 */
export function connectRuntimeApi(address: string, clock: Clock): RuntimeApi {
  // One connection is enough: requests to the platform come one after another.
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const base = `http://${address}/2018-06-01/runtime`;

  return {
    async next() {
      const response = await answered(open("GET", "/invocation/next", {}).end());
      const text = await textOf(response);
      if (response.statusCode !== 200) throw new PlatformRefusal(response.statusCode ?? 0, text);
      const header = (name: string) => response.headers[`lambda-runtime-${name}`] as string | undefined;
      return {
        id: header("aws-request-id") ?? "",
        event: parsed(text),
        deadlineMs: Number(header("deadline-ms") ?? clock.nowMs() + MAX_INVOCATION_MS),
        traceId: header("trace-id"),
      };
    },

    answerTo({ id }) {
      return {
        document: (json) => post(`/invocation/${id}/response`, json, { "Content-Type": "application/json" }),
        stream: () => streamed(`/invocation/${id}/response`),
      };
    },

    initError: (type, message) => post("/init/error", errorBody(type, message), { [ERROR_TYPE]: type }),
  };

  function open(method: string, path: string, headers: Record<string, string | number>): ClientRequest {
    return request(`${base}${path}`, { method, agent, headers });
  }

  async function post(path: string, body: string, headers: Record<string, string>): Promise<void> {
    const bytes = Buffer.from(body);
    await requireAccepted(
      await answered(open("POST", path, { ...headers, "Content-Length": bytes.length }).end(bytes)),
    );
  }

  function streamed(path: string): AnswerStream {
    const req = open("POST", path, {
      "Content-Type": MEDIA_TYPE_OF_PARTS,
      "Lambda-Runtime-Function-Response-Mode": "streaming",
      "Transfer-Encoding": "chunked",
      Trailer: `${ERROR_TYPE}, ${ERROR_BODY}`,
    });
    const response = answered(req);
    // The error is reported to the next write or end.
    response.catch(() => {});
    return {
      write: async (chunk) => {
        // The platform may answer early, with a refusal, and then reads no more.
        if (req.destroyed) await response;
        if (!req.write(chunk)) await Promise.race([drained(req), response]);
      },
      end: async () => {
        req.end();
        await requireAccepted(await response);
      },
      fail: async (type, message) => {
        req.addTrailers([
          [ERROR_TYPE, type],
          [ERROR_BODY, Buffer.from(errorBody(type, message)).toString("base64")],
        ]);
        req.end();
        await requireAccepted(await response);
      },
    };
  }
}

function errorBody(errorType: string, errorMessage: string): string {
  return JSON.stringify({ errorMessage, errorType, stackTrace: [] });
}

function answered(req: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    req.on("response", resolve);
    req.on("error", reject);
  });
}

function drained(req: ClientRequest): Promise<void> {
  return new Promise((resolve) => {
    req.once("drain", resolve);
    req.once("close", resolve);
  });
}

async function requireAccepted(response: IncomingMessage): Promise<void> {
  const text = await textOf(response);
  if (response.statusCode !== 202) throw new PlatformRefusal(response.statusCode ?? 0, text);
}

async function textOf(response: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of response) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
