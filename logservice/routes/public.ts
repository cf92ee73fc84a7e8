import type { ServerResponse } from "node:http";
import { runExchange } from "../http/exchange.ts";
import type { RequestHandler } from "./methods.ts";
import type { RouteState } from "./state.ts";

/** Answers a request of anybody, whatever it asks for. */
export type PublicAnswer = (response: ServerResponse) => void | Promise<void>;

/** Makes the handler of a route that needs no credential and is neither limited nor counted. */
export function publicExchange({ service: { clock }, log }: RouteState, answer: PublicAnswer): RequestHandler {
  return (request, response) => void runExchange({ request, response, log, clock }, async () => answer(response));
}
