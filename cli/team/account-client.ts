import type { Clock } from "../../grammar/units/clock.ts";
import type { Operations } from "../../schema/rpc.generated.ts";
import { hasShape } from "../../schema/rpc-answer-shape.ts";
import { accountAnswers } from "../../schema/rpc-answers.generated.ts";
import { type RpcClient, RpcFailure, rpcClient } from "../../schema/rpc-client.ts";
import { userAgent } from "../user-agent.ts";
import { version } from "../version.ts";
import { withinTime } from "../within-time.ts";
import { connectionFailure } from "./connection-failure.ts";
import { TeamError } from "./error.ts";

/** A service that does not answer within this time is not there. */
const ANSWER_MS = 15_000;
/** The longest lists are of a team's 5,000 searches: there is room for 6 KB of each. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;

export interface AccountClientOptions {
  /** The service's origin. */
  readonly url: string;
  /** Absent for what everybody may call. */
  readonly token?: string;
  /** The command to type if the service does not know the token. */
  readonly signIn: string;
  /** The command to type if the token may not do something. */
  readonly forbidden?: string;
  /** Aborted when the person interrupts the command. */
  readonly signal?: AbortSignal;
  readonly answerMs?: number;
  readonly clock: Clock;
}

/**
 * Calls operations of a log service about people and teams. What fails is a TeamError, which names the next command. Answers
 * have the types of the schema; their texts may be anything.
 */
export interface AccountClient {
  /** `remedies` say what to type for failures that are about this call alone. */
  call<Name extends keyof Operations>(
    name: Name,
    input: Operations[Name]["input"],
    remedies?: Remedies,
  ): Promise<Operations[Name]["output"]>;
}

/** The command to type for a status, or for an answer that is not understood: the request may have been carried out. */
export type Remedies = Readonly<Partial<Record<number | "misread", string | Remedy>>>;

interface Remedy {
  /** In place of what the service says. */
  readonly message: string;
  readonly hint: string;
}

export function accountClient(options: AccountClientOptions): AccountClient {
  const { url, token, signIn, forbidden = FORBIDDEN, signal, answerMs = ANSWER_MS, clock } = options;
  const own = { ...(token !== undefined && { token }), maxAnswerBytes: MAX_ANSWER_BYTES };
  const client: RpcClient = rpcClient({ url, userAgent: userAgent(), ...own });
  return {
    async call(name, input, remedies = {}) {
      const advice = { 401: { message: endedAt(url), hint: `${signIn}\n${REMOVED}` }, 403: forbidden, ...remedies };
      try {
        const send = (stop: AbortSignal) => client.call(name, input, { signal: stop });
        const answer = await withinTime(send, { limitMs: answerMs, signal, clock });
        const shape = accountAnswers[name];
        if (shape !== undefined && !hasShape(answer, shape))
          throw new AnswerError(`the answer to ${name} has other types`);
        return answer;
      } catch (error) {
        if (signal?.aborted) throw error;
        throw explained(error, url, advice, signIn);
      }
    },
  };
}

const endedAt = (url: string) =>
  `${url} does not know this token any more: it has ended, or you were removed from the team`;
const REMOVED = "if you were removed, ask an admin of the team for an invite";

/** Whether the same call may succeed in a moment. */
export function isPassing({ cause }: TeamError): boolean {
  if (!(cause instanceof RpcFailure)) return !(cause instanceof SyntaxError || cause instanceof AnswerError);
  return cause.status >= 500 || cause.status === 408 || cause.status === 429;
}

/** Whether the service refuses the token itself. */
export function isTokenRefused({ cause }: TeamError): boolean {
  return cause instanceof RpcFailure && cause.status === 401;
}

/** An answer that a service of this version does not give. */
class AnswerError extends Error {
  override readonly name = "AnswerError";
}

/** An answer with a text that cannot be used, such as a team without a valid id. */
export function notUnderstood(
  url: string,
  hint = MISREAD,
  cause: Error = new AnswerError("a text is not valid"),
): TeamError {
  return new TeamError(`the service at ${url} gave an answer that this version does not understand`, hint, { cause });
}

const MISREAD = `check the address; tool and the service may differ too much, this is tool ${version}`;

const LISTED = "tool team members ls lists them";
const FORBIDDEN = `ask somebody with a higher role in the team: ${LISTED}`;

/** The words in which a service says that a team has no Pro. */
const NEEDS_PRO = /\btool team subscribe\b/;
const SUBSCRIBE = "tool team subscribe gets Pro for the team; its owners may do that";

/** The beginnings of what a service says, and what to do if it is not what the status suggests. */
const SAID: readonly [status: number, said: RegExp, hint: (signIn: string, usual: string) => string][] = [
  // The role has nothing to do with it.
  [403, NEEDS_PRO, () => SUBSCRIBE],
  // Tokens of `tool service token add` are of no member, so that no role of anybody is too low.
  [
    403,
    /^(?:this token lacks the scope|this is for people only)\b/,
    (signIn, usual) => (usual === FORBIDDEN ? `sign in as a member of the team: ${signIn}` : usual),
  ],
  // It says whom to ask.
  [403, /, which lacks \S+: ask /, (_, usual) => (usual === FORBIDDEN ? LISTED : usual)],
  [409, /^Stripe refused .* says of the card: /, () => "tool team card change opens the page for another card"],
  [
    503,
    /^Stripe(?: refused|'s answer is not understood)\b/,
    () => "run this again when they have mended it; nothing was paid",
  ],
];

function explained(error: unknown, url: string, remedies: Remedies, signIn: string): TeamError {
  const options = { cause: error };
  if (error instanceof AnswerError) {
    const { misread } = remedies;
    return notUnderstood(url, typeof misread === "object" ? misread.hint : misread, error);
  }
  if (error instanceof RpcFailure) {
    const { status, type, message, retryAfterMs } = error;
    const said = SAID.find(([of, words]) => of === status && words.test(message));
    const usual = remedies[status];
    const own = said === undefined ? usual : said[2](signIn, typeof usual === "string" ? usual : FORBIDDEN);
    if (type === "unknown") {
      const hint = "check the address; curl -i on it shows who answers";
      return new TeamError(`${url} does not answer as a log service: ${message}`, hint, options);
    }
    if (own !== undefined) {
      return typeof own === "string"
        ? new TeamError(message, own, options)
        : new TeamError(own.message, own.hint, options);
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
  const { reason, hint = `check that it runs: curl -i ${url}/_health` } = connectionFailure(error, url);
  const why = reason === "unexpected redirect" ? "it redirects, and a token is sent to no other address" : reason;
  return new TeamError(`${url} does not answer: ${why}`, hint, options);
}
