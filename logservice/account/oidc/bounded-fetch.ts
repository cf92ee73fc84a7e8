import type { CustomFetch } from "openid-client";
import type { Clock } from "../../../grammar/units/clock.ts";
import { withDeadline } from "./deadline.ts";
import { invalidAnswer, unavailable } from "./refusal.ts";

/** The largest documents of real providers have a hundred kilobytes. */
const MAX_BYTES = 1 << 20;

/** The answers that openid-client looks into: what was asked for, and errors. No redirect is among them. */
const READ = [200, 400, 401, 403];

export interface FetchBounds {
  /** Name of the provider in messages. */
  readonly host: string;
  /** Limit of one request, to the end of its answer. */
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal | undefined;
}

/**
 * The requests to a provider: bounded in time and size, never redirected. Reads each answer whole, so that it fails here
 * and a connection is never left with half an answer.
 */
export function boundedFetch({ host, timeoutMs, clock, signal }: FetchBounds): CustomFetch {
  const late = () => unavailable(host, `did not answer within ${timeoutMs / 1000} seconds`);
  return (address, options) =>
    withDeadline({ timeoutMs, clock, signal, late }, async (signal) => {
      const request: RequestInit = { method: options.method, headers: options.headers, redirect: "manual", signal };
      if (options.body) request.body = options.body as NonNullable<RequestInit["body"]>;
      const answer = await fetch(address, request).catch((error) => {
        throw unavailable(host, `cannot be reached${codeOf(error)}`, error);
      });
      const { status } = answer;
      if (!READ.includes(status)) {
        await answer.body?.cancel();
        // 429 is for all clients of the provider, and ends by itself as a 503 does.
        if (status >= 500 || status === 429) throw unavailable(host, `answers with status ${status}`);
        throw invalidAnswer(host, `it has status ${status}`);
      }
      return new Response(await read(answer, host), { status, headers: answer.headers });
    });
}

async function read(answer: Response, host: string): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let size = 0;
  try {
    // The bytes of the unpacked answer count. Leaving the loop closes the connection.
    for await (const part of answer.body ?? []) {
      size += part.length;
      if (size > MAX_BYTES) throw invalidAnswer(host, "it is larger than a megabyte");
      parts.push(part);
    }
  } catch (error) {
    if (size > MAX_BYTES) throw error;
    throw unavailable(host, `broke its answer off${codeOf(error)}`, error);
  }
  return Buffer.concat(parts);
}

/** The system's name of what failed, such as ECONNREFUSED: what an operator looks for. */
function codeOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  return typeof code === "string" ? ` (${code})` : "";
}
