import type { IncomingMessage, ServerResponse } from "node:http";
import { networkOf } from "../access/client-address.ts";
import type { Grant } from "../access/grant.ts";
import type { OpenExchange } from "../access/open-exchanges.ts";
import { authenticate, type Needed, requireGranted } from "../authenticate.ts";
import { RpcError } from "../error.ts";
import { runExchange } from "../http/exchange.ts";
import type { ErrorForm } from "../http/send.ts";
import { requestHeader } from "./headers.ts";
import { allowBrowsers, type RequestHandler } from "./methods.ts";
import type { RouteState } from "./state.ts";

/** Answers a request that was granted. The signal is aborted when the exchange ends early. */
export type GrantedAnswer = (
  request: IncomingMessage,
  response: ServerResponse,
  grant: Grant,
  signal: AbortSignal,
) => Promise<void>;

export interface GrantedRoute {
  /** Requests are counted, and refusals audited, under this name. */
  readonly name: string;
  readonly needed: Needed;
  readonly answer: GrantedAnswer;
  /** Whether pages of other origins may use it. */
  readonly isForBrowsers?: boolean;
  /** The form of the answer to an error, if it is not the usual one. */
  readonly errorAnswer?: (request: IncomingMessage, error: RpcError, nowMs: number) => ErrorForm;
  /** The team that a request names. */
  readonly teamOf?: (request: IncomingMessage) => string | undefined;
}

/** Makes the handler of a route that needs something: it authenticates, bounds the rate, authorizes and answers. */
export function grantedExchange(state: RouteState, route: GrantedRoute): RequestHandler {
  const { service, metrics, log } = state;
  const { clock } = service;
  const { name, isForBrowsers = false, errorAnswer } = route;
  return (request, response) => {
    const beginMs = clock.monotonicMs();
    if (isForBrowsers) allowBrowsers(response);
    response.once("close", () => metrics.answered(name, response.statusCode, clock.monotonicMs() - beginMs));
    const answerOf = errorAnswer && ((error: RpcError) => errorAnswer(request, error, clock.nowMs()));
    void runExchange({ request, response, log, clock, errorAnswer: answerOf }, (signal, end) =>
      answerGranted(state, route, { request, response, signal, end }),
    );
  };
}

interface RouteExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly signal: AbortSignal;
  end(error: RpcError): void;
}

/** Answers a request if it is granted. Refusals are written into the audit. */
async function answerGranted(
  { service, rate, refusals, addressOf }: RouteState,
  { name, needed, answer, teamOf = teamNamedBy }: GrantedRoute,
  { request, response, signal, end }: RouteExchange,
): Promise<void> {
  let exchange: OpenExchange | undefined;
  let who = { team_id: "", actor: "" };
  try {
    const demand = { needed, team: teamOf(request) };
    const grant = await authenticate({
      service,
      request,
      ...demand,
      register(hash) {
        exchange = service.exchanges.open(hash, end);
        return exchange;
      },
      granted({ team, actor }) {
        who = { team_id: team, actor };
      },
    });
    await rate.take(grant.id === "" ? networkOf(addressOf(request)) : grant.id, signal);
    requireGranted(grant, demand);
    await answer(request, response, grant, signal);
  } catch (error) {
    if (error instanceof RpcError) {
      await refusals.note({ ...who, address: addressOf(request), operation: name }, error.type);
    }
    throw error;
  } finally {
    exchange?.close();
  }
}

/** The team that a request names: a stream of events, which browsers send without headers of ours, in its address. */
function teamNamedBy(request: IncomingMessage): string | undefined {
  const inPath = request.method === "GET" ? new URL(request.url!, "http://localhost").searchParams.get("team") : null;
  return requestHeader(request, "x-team") || inPath || undefined;
}
