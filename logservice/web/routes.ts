import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import type { Grant } from "../access/grant.ts";
import { sessionGrantOf } from "../access/session-grant.ts";
import { secretHash } from "../account/sign-in.ts";
import { type Page, pageAt } from "../address/page.ts";
import { RpcError } from "../error.ts";
import { FAVICON } from "../html/favicon.ts";
import { FAVICON_PATH } from "../html/head.ts";
import { messagePage } from "../html/message.ts";
import { sendError, sendText } from "../http/send.ts";
import type { Browser } from "../pages/browser.ts";
import { type PageExchangeOptions, pageExchange } from "../pages/page-exchange.ts";
import { assetSender } from "./assets.ts";
import { ASSETS, documentEnd, documentHead } from "./document.ts";
import { type UiFiles, uiFiles } from "./files.ts";
import { firstData } from "./first-data.ts";

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

interface Router {
  get(path: string, handler: Handler): unknown;
  head(path: string, handler: Handler): unknown;
  all(path: string, handler: Handler): unknown;
}

export interface UiOptions extends PageExchangeOptions {
  readonly version: string;
  /** Runs a query of whoever asks, within its time and in its turn. */
  run<T>(grant: Grant, signal: AbortSignal, query: (signal: AbortSignal) => Promise<T>): Promise<T>;
  onlyBy(methods: string): Handler;
}

/** Paths of the web UI; what `pageAt` does not know below them is not found. */
const PATHS = ["/", "/t/:team", "/t/:team/:section", "/help/:section", "/t/:team/p/:project"];
const DEEPER = ["/t/:team/p/:project/:section", "/t/:team/p/:project/:section/:id"];

/** Whether a browser asks for a page, which a person will read. */
export const isForPerson = ({ method, headers }: IncomingMessage): boolean =>
  (method === "GET" || method === "HEAD") && /\btext\/html\b/.test(headers.accept ?? "");

/**
 * Adds the pages of the web UI, which people see who are signed in, and their files. Returns what answers people at an address
 * that nothing is at.
 */
export function addUi(app: Router, options: UiOptions): Handler {
  const { onlyBy } = options;
  const exchange = pageExchange(options);
  const files = uiFiles();
  if (files !== undefined) {
    const send = assetSender(join(files.folder, "assets"));
    add(`${ASSETS}/:file`, (request, response) => {
      // The rest of a path is no path for `new URL`: in `/\a:b` it reads a host.
      send(request.url!.slice(ASSETS.length + 1).split("?")[0]!, request, response);
    });
  }
  // Browsers ask for favicon.ico beside answers that are no pages, such as JSON.
  for (const path of [FAVICON_PATH, "/favicon.ico"]) {
    add(path, (_, response) => {
      response.setHeader("Cache-Control", "max-age=86400");
      sendText(response, 200, "image/svg+xml", FAVICON);
    });
  }
  for (const path of [...PATHS, ...DEEPER]) add(path, (request, response) => show(request, response));
  const showNoPage = exchange(async (browser) => browser.sendPage(NO_PAGE_DOCUMENT, 404));
  return showNoPage;

  function add(path: string, handler: Handler): void {
    app.get(path, handler);
    app.head(path, handler);
    app.all(path, onlyBy("GET, HEAD"));
  }

  function show(request: IncomingMessage, response: ServerResponse): void {
    const { pathname, search } = new URL(request.url!, "http://localhost");
    const page = pageAt(pathname);
    if (page === undefined) {
      if (isForPerson(request)) showNoPage(request, response);
      else sendError(response, NO_PAGE);
      return;
    }
    exchange(async (browser, signal, end) => {
      if (files === undefined) throw new RpcError("unavailable", "the web UI was not built: npm run build");
      await sendPage({ ...options, files, page, search, browser, signal, end });
    })(request, response);
  }
}

interface PageRequest extends UiOptions {
  readonly files: UiFiles;
  readonly page: Page;
  readonly search: string;
  readonly browser: Browser;
  readonly signal: AbortSignal;
  end(error: RpcError): void;
}

/** Sends the page at once and its first data when they are there, or leads to the page for signing in. */
async function sendPage(request: PageRequest): Promise<void> {
  const { service, version, files, page, search, browser, signal, end, run } = request;
  const secret = browser.cookie("session");
  const hash = secret === undefined ? undefined : secretHash(secret);
  // Registered before it is looked up: see OpenExchanges.
  const exchange = hash === undefined ? undefined : service.exchanges.open(hash, end);
  try {
    const team = "team" in page ? page.team : undefined;
    const db = service.records.db;
    const lookUp = () => sessionGrantOf(db, hash!, { team, nowMs: service.nowMs() });
    const grant = exchange && (await service.exchanges.grant(exchange, lookUp));
    if (!grant) {
      const next = browser.request.url ?? "/";
      return browser.redirect(next === "/" ? "/sign-in" : `/sign-in?next=${encodeURIComponent(next)}`);
    }
    browser.beginPage(documentHead(files));
    if (browser.isHead) return browser.endPage("");
    const call = { grant, signal, batchKey: undefined, address: browser.address, device: browser.device };
    const first = await firstData({
      ...{ service, version, page, search, call },
      eventsMs: EVENTS_MS,
      run: (until, query) => run(grant, until, query),
    });
    browser.endPage(documentEnd(first));
  } finally {
    exchange?.close();
  }
}

/** A person waits longer for an empty page than for one that says what it waits for. */
const EVENTS_MS = 1_500;
const NO_PAGE = new RpcError("not_found", "there is no such page");
const NO_PAGE_DOCUMENT = messagePage({
  title: "There is no such page",
  text: "The address may be cut off, or what it showed was removed.",
  isProblem: false,
  link: { href: "/", text: "To your projects" },
});
