import { isUtf8 } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import { RpcError } from "../error.ts";
import { STYLESHEET_PATH } from "../html/document.ts";
import { PAGES_STYLE } from "../html/style.ts";
import type { RequestBodies } from "../http/body.ts";
import { sendText } from "../http/send.ts";
import { sendAccept, sendAcceptSignIn, showAccept } from "./accept.ts";
import { accountRoutes } from "./account.ts";
import type { Browser, PageRoute } from "./browser.ts";
import { OIDC_CALLBACK, sendOidc, showOidcCallback } from "./oidc.ts";
import { type PageExchangeOptions, pageExchange } from "./page-exchange.ts";
import {
  sendConfirm,
  sendLink,
  sendSignIn,
  sendSignOut,
  showConfirm,
  showLink,
  showSignIn,
  showWait,
} from "./sign-in.ts";

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** The app that the handlers are added to, such as one of Polka. */
interface Router {
  get(path: string, handler: Handler): unknown;
  head(path: string, handler: Handler): unknown;
  post(path: string, handler: Handler): unknown;
  all(path: string, handler: Handler): unknown;
}

export interface PagesOptions extends PageExchangeOptions {
  readonly version: string;
  /** For the bodies of forms, which are small. */
  readonly bodies: RequestBodies;
  /** Answers other methods than these. */
  onlyBy(methods: string): Handler;
}

/** The pages that are shown and the forms that are sent. No script is needed for any of them. */
const PAGES: readonly PageRoute[] = [
  { path: "/sign-in", show: showSignIn, send: sendSignIn },
  { path: "/sign-in/wait", show: showWait },
  { path: "/sign-in/confirm/:link", show: showConfirm, send: sendConfirm },
  { path: "/sign-in/link/:link", show: showLink, send: sendLink },
  { path: "/sign-in/oidc", send: sendOidc },
  { path: OIDC_CALLBACK, show: showOidcCallback },
  { path: "/accept/:link", show: showAccept, send: sendAccept },
  { path: "/accept/:link/sign-in", send: sendAcceptSignIn },
  { path: "/sign-out", send: sendSignOut },
];

/** Adds the pages for people. Requests under another host than the public address are refused (421). */
export function addPages(app: Router, options: PagesOptions): void {
  const { version, bodies, onlyBy } = options;
  const exchange = pageExchange(options);
  const account = accountRoutes(version);
  for (const { path, show, send } of [...PAGES, ...account]) {
    if (show !== undefined) {
      app.get(path, exchange(show));
      app.head(path, exchange(show));
    }
    if (send !== undefined)
      app.post(
        path,
        exchange((browser, signal) => receive(browser, signal, send)),
      );
    app.all(path, onlyBy([...(show ? ["GET, HEAD"] : []), ...(send ? ["POST"] : [])].join(", ")));
  }
  const style: Handler = (_, response) => {
    response.setHeader("Cache-Control", "max-age=3600");
    sendText(response, 200, "text/css; charset=utf-8", PAGES_STYLE);
  };
  app.get(STYLESHEET_PATH, style);
  app.head(STYLESHEET_PATH, style);
  app.all(STYLESHEET_PATH, onlyBy("GET, HEAD"));

  function receive(browser: Browser, signal: AbortSignal, send: NonNullable<PageRoute["send"]>): Promise<void> {
    const type = (browser.request.headers["content-type"] ?? "").split(";")[0]!.trim().toLowerCase();
    if (type !== "application/x-www-form-urlencoded")
      throw new RpcError("unsupported_media_type", "Content-Type: must be application/x-www-form-urlencoded");
    return bodies.receive(browser.request, signal, (body) => {
      if (!isUtf8(body)) throw new RpcError("bad_request", "the form is not valid UTF-8");
      return send(browser, new URLSearchParams(body.toString()));
    });
  }
}
