// `POST /ingest/<project>` of the log service, over a connection that is kept.
import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from "node:http";
import type { Duplex } from "node:stream";
import type { Clock } from "../../grammar/units/clock.ts";
import type { Outcome, PostBatch } from "./sender.ts";

/**
 * Longest time for an answer, most of which passes while requests are served. The service holds a request for some seconds
 * before it refuses it for its rate.
 */
const ANSWER_MS = 15_000;
/** NAT gateways forget connections without a word after 350 s, and load balancers close them after 60 s. */
const MAX_IDLE_MS = 50_000;
/** The answer to a batch that was refused line by line. */
const MAX_ANSWER_BYTES = 1024 * 1024;
/** Answers such as 103 that may come before the one that counts. One after the other they would keep this process busy. */
const MAX_INTERIM_ANSWERS = 20;
/** Statuses that the same batch gets each time; all others may pass. */
const FINAL = new Set([400, 409, 413, 415, 422]);

export interface IngestOptions {
  /** The whole address: `https://logs.example.com/ingest/shop`. */
  readonly url: string;
  readonly token: string;
  readonly clock: Clock;
}

/** Loads TLS only if the address needs it, which takes some milliseconds. */
export async function openIngest({ url, token, clock }: IngestOptions): Promise<PostBatch> {
  const target = new URL(url);
  // Node throws for these, and an app must not end because of a variable.
  if (!/^https?:$/.test(target.protocol)) return async () => failed("TOOL_LOGS_URL is no address of a log service");
  // Names and passwords of an address, which are of no use beside a token.
  target.username = "";
  target.password = "";
  if (!IS_TOKEN.test(token)) return async () => failed("TOOL_LOGS_TOKEN is no token");
  const isSecure = target.protocol === "https:";
  const { Agent, request } = isSecure ? await import("node:https") : { Agent: HttpAgent, request: requestHttp };
  let agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let usedAtMs = clock.nowMs();

  return async (batch) => {
    const idleMs = clock.nowMs() - usedAtMs;
    if (idleMs < 0 || idleMs > MAX_IDLE_MS) {
      agent.destroy();
      agent = new Agent({ keepAlive: true, maxSockets: 1 });
    }
    // The other end may have closed it while this process was stopped: that is no failure of the service.
    const outcome = (await attempt(batch)) ?? (await attempt(batch)) ?? failed("the connection was closed twice");
    usedAtMs = clock.nowMs();
    return outcome;
  };

  /** Undefined if a connection that was kept turns out to be closed. */
  function attempt({ body, count, idempotencyKey }: Parameters<PostBatch>[0]): Promise<Outcome | undefined> {
    return new Promise((resolve) => {
      const req = request(target, {
        method: "POST",
        agent,
        headers: {
          Authorization: `Bearer ${token}`,
          "Content-Type": "application/x-ndjson",
          "Content-Encoding": "gzip",
          "Content-Length": body.length,
          "Idempotency-Key": idempotencyKey,
          "User-Agent": "tool-runtime",
        },
      });
      const settle = (outcome: Outcome | undefined) => {
        timer.stop();
        resolve(outcome);
      };
      const fail = (reason: string) => {
        settle(failed(reason));
        req.destroy();
      };
      // After the answers that came while this process was stopped: its timers are all due then.
      const timer = clock.after(ANSWER_MS, () => setImmediate(() => fail(`no answer within ${ANSWER_MS / 1000} s`)), {
        isBackground: true,
      });
      req.on("error", (error: NodeJS.ErrnoException) => {
        const isStale = req.reusedSocket && /^(ECONNRESET|EPIPE)$/.test(error.code ?? "");
        settle(isStale ? undefined : failed(unreachedReason(target.host, error)));
      });
      let interim = 0;
      req.on("information", () => {
        interim += 1;
        if (interim > MAX_INTERIM_ANSWERS) fail(`${target.host} does not answer as a log service`);
      });
      // Without a listener, the connection is only closed.
      req.on("upgrade", (_, socket: Duplex) => {
        socket.destroy();
        fail(`${target.host} does not answer as a log service`);
      });
      req.on("response", (response: IncomingMessage) => {
        const parts: Buffer[] = [];
        let bytes = 0;
        response.on("data", (part: Buffer) => {
          bytes += part.length;
          if (bytes > MAX_ANSWER_BYTES) fail(`${target.host} does not answer as a log service`);
          else parts.push(part);
        });
        response.on("error", (error) => fail(`the answer broke off: ${error.message}`));
        response.on("end", () =>
          settle(outcomeOf(response, Buffer.concat(parts).toString(), { host: target.host, count })),
        );
      });
      req.end(body);
    });
  }
}

/** Node's code of a failed connection, and advice if it is about the certificate. */
export function unreachedReason(
  host: string,
  { code, message }: Pick<NodeJS.ErrnoException, "code" | "message">,
): string {
  const advice = CERTIFICATES.get(code ?? "");
  return `${host} cannot be reached: ${code ?? message}${advice === undefined ? "" : `: ${advice}`}`;
}

const TRUST =
  "put a file with its certificate, or its issuer's (PEM), into the app's folder, and run tool env add NODE_EXTRA_CA_CERTS=/var/task/ca.pem";

const CERTIFICATES: ReadonlyMap<string, string> = new Map([
  ["DEPTH_ZERO_SELF_SIGNED_CERT", TRUST],
  ["SELF_SIGNED_CERT_IN_CHAIN", TRUST],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", TRUST],
  ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", TRUST],
  ["CERT_HAS_EXPIRED", "whoever runs the service has to renew its certificate"],
  ["CERT_NOT_YET_VALID", "its certificate begins later: see whether the clock of the service's machine was right"],
  ["ERR_TLS_CERT_ALTNAME_INVALID", "use a name that its certificate is for in logs.service of tool.json"],
]);

/** Characters that a header can hold. */
const IS_TOKEN = /^[\x21-\x7e]+$/;

const failed = (reason: string): Outcome => ({ kind: "failed", reason });

function outcomeOf(
  { statusCode = 0, headers }: IncomingMessage,
  text: string,
  { host, count }: { readonly host: string; readonly count: number },
): Outcome {
  const answer = objectIn(text);
  const { accepted, errors } = answer;
  if (statusCode === 200 && typeof accepted === "number" && Array.isArray(errors)) {
    const [first] = errors;
    // Entries that it says nothing of are not stored either.
    const refused = Math.max(errors.length, count - accepted);
    const reason = first === undefined ? `${host} took ${accepted} of ${count} entries` : textOf(first?.message);
    return { kind: "taken", refused, ...(refused > 0 && { reason }) };
  }
  if (statusCode === 200) return failed(`${host} does not answer as a log service`);
  const reason = `${statusCode} ${textOf(answer.message)}`.trim();
  // A proxy in front of the service says nothing about a line.
  if (FINAL.has(statusCode) && typeof answer.type === "string") return { kind: "refused", reason };
  const retryAfterMs = Number(headers["retry-after"]) * 1000;
  return { kind: "failed", reason, ...(retryAfterMs > 0 && { retryAfterMs }) };
}

function objectIn(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

const textOf = (value: unknown) => (typeof value === "string" ? value.slice(0, MAX_REASON_LENGTH) : "");

const MAX_REASON_LENGTH = 500;
