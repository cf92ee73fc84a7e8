import type { IncomingMessage, ServerResponse } from "node:http";
import { ERROR_STATUS, RpcError } from "../error.ts";
import { messagePage } from "../html/message.ts";
import { runExchange, type ServiceLog } from "../http/exchange.ts";
import type { Service } from "../rpc/call.ts";
import { Browser } from "./browser.ts";

export interface PageExchangeOptions {
  readonly service: Service;
  readonly log: ServiceLog;
  addressOf(request: IncomingMessage): string;
  /** Bounds the requests of a network address. */
  limit(request: IncomingMessage, signal: AbortSignal): Promise<void>;
}

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** Answers with a page. `end` ends the exchange early, with an error. */
export type PageAnswer = (browser: Browser, signal: AbortSignal, end: (error: RpcError) => void) => Promise<void>;

/** Makes handlers of pages: for the public address alone (421), within the limits, with a page for each error. */
export function pageExchange({ service, log, addressOf, limit }: PageExchangeOptions): (answer: PageAnswer) => Handler {
  return (answer) => (request, response) =>
    void runExchange({ request, response, log, clock: service.clock }, async (signal, end) => {
      const browser = new Browser(service, request, response, addressOf(request));
      try {
        service.account.address.requireHost(request);
        await limit(request, signal);
        await answer(browser, signal, end);
      } catch (error) {
        if (!(error instanceof RpcError) || response.headersSent) throw error;
        if (error.retryAfterMs !== undefined)
          response.setHeader("Retry-After", String(Math.max(1, Math.ceil(error.retryAfterMs / 1000))));
        browser.sendPage(problemPage(error), ERROR_STATUS[error.type]);
      }
    });
}

function problemPage({ type, message }: RpcError): string {
  const text = `${message.charAt(0).toUpperCase()}${message.slice(1)}.`;
  const title = TITLES[type] ?? "That did not work";
  // Without an address for people, there is nowhere to lead to.
  const link = type === "misdirected" ? undefined : { href: "/sign-in", text: "Sign in" };
  return messagePage({ title, text, isProblem: true, link });
}

const TITLES: Readonly<Record<string, string>> = {
  not_found: "This link has expired",
  forbidden: "Not allowed",
  unauthorized: "Not signed in",
  rate_limited: "Too many attempts",
  unavailable: "Not available just now",
  misdirected: "Another address",
};
