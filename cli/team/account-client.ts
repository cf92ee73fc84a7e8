import type { Operations } from "../../schema/rpc.generated.ts";
import { type RpcClient, RpcFailure, rpcClient } from "../../schema/rpc-client.ts";
import { userAgent } from "../user-agent.ts";
import { TeamError } from "./error.ts";

/** A service that does not answer within this time is not there. */
const ANSWER_MS = 15_000;

export interface AccountClientOptions {
  /** The service's origin. */
  readonly url: string;
  /** Absent for what everybody may call. */
  readonly token?: string;
  /** What to type if the service does not know the token. */
  readonly signIn: string;
  /** What to type if the token may not do something. */
  readonly forbidden?: string;
  /** Aborted when the person interrupts the command. */
  readonly signal?: AbortSignal;
  readonly answerMs?: number;
}

/** Calls operations of a log service about people and teams. What fails is a TeamError, which names the next command. */
export interface AccountClient {
  /** `hints` say what to type for statuses that are about this call alone. */
  call<Name extends keyof Operations>(
    name: Name,
    input: Operations[Name]["input"],
    hints?: Hints,
  ): Promise<Operations[Name]["output"]>;
}

type Hints = Readonly<Partial<Record<number, string>>>;

export function accountClient(options: AccountClientOptions): AccountClient {
  const { url, token, signIn, forbidden = FORBIDDEN, signal, answerMs = ANSWER_MS } = options;
  const client: RpcClient = rpcClient({ url, userAgent: userAgent(), ...(token !== undefined && { token }) });
  return {
    async call(name, input, hints = {}) {
      const limit = AbortSignal.timeout(answerMs);
      try {
        return await client.call(name, input, {
          signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
        });
      } catch (error) {
        if (signal?.aborted) throw error;
        throw explained(error, url, { 401: signIn, 403: forbidden, ...hints });
      }
    },
  };
}

/** Whether the same call may succeed in a moment. */
export function isPassing({ cause }: TeamError): boolean {
  if (!(cause instanceof RpcFailure)) return !(cause instanceof SyntaxError);
  return cause.status >= 500 || cause.status === 408 || cause.status === 429;
}

/** Whether the service refuses the token itself. */
export function isTokenRefused({ cause }: TeamError): boolean {
  return cause instanceof RpcFailure && cause.status === 401;
}

const FORBIDDEN = "tool team shows what you may do; an admin or owner may do more";

function explained(error: unknown, url: string, hints: Hints): TeamError {
  const options = { cause: error };
  if (error instanceof RpcFailure) {
    const { status, type, message, retryAfterMs } = error;
    const own = hints[status];
    if (type === "unknown") {
      const hint = "check the address; curl -i on it shows who answers";
      return new TeamError(`${url} does not answer as a log service: ${message}`, hint, options);
    }
    if (own !== undefined) {
      return new TeamError(status === 401 ? `${url} does not know this token any more` : message, own, options);
    }
    if (status === 404) {
      return new TeamError(
        `${url}: ${message}`,
        "tool team members ls and tool team ci ls show what is there",
        options,
      );
    }
    if (status === 421) return new TeamError(`${url}: ${message}`, "use the service's public address", options);
    if (status === 429) {
      const seconds = Math.ceil((retryAfterMs ?? 60_000) / 1000);
      return new TeamError(`${url}: ${message}`, `run this again in ${seconds} s`, options);
    }
    if (status >= 500) return new TeamError(`${url}: ${message}`, "run this again in a moment", options);
    return new TeamError(message, "tool help team shows how to write it", options);
  }
  if (error instanceof SyntaxError) {
    return new TeamError(`${url} answers, but not as a log service`, "check the address", options);
  }
  return new TeamError(
    `${url} does not answer: ${reasonOf(error)}`,
    `check that it runs: curl -i ${url}/_health`,
    options,
  );
}

/** fetch only says that it failed; the cause says why. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === "TimeoutError") return "it takes too long";
  const { cause } = error;
  if (!(cause instanceof Error)) return error.message;
  if (cause.message === "unexpected redirect") return "it redirects, and a token is sent to no other address";
  return cause.message || String((cause as NodeJS.ErrnoException).code);
}
