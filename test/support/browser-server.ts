// The language server as a browser runs it: bundled for one, and started as a Web Worker of a page.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { build, type Metafile } from "esbuild";
import type { Browser, Worker } from "playwright-core";
import { root } from "./cli.ts";
import { HANG_MS } from "./hang.ts";
import type { Message } from "./lsp-client.ts";
import { until } from "./until.ts";

export const BROWSER_SERVER_VERSION = "1.2.3";

export interface BrowserBundle {
  readonly code: string;
  /** The files that the bundle is made of, relative to the root. */
  readonly inputs: Metafile["inputs"];
}

/** The script of a worker that serves. Fails if anything in it needs Node: a browser's bundle resolves no `node:*`. */
export async function bundleForBrowser(): Promise<BrowserBundle> {
  const contents = `import { serve } from "./language-server/browser.ts"; serve({ version: "${BROWSER_SERVER_VERSION}" });`;
  const { outputFiles, metafile } = await build({
    stdin: { contents, resolveDir: root, loader: "ts" },
    absWorkingDir: root,
    bundle: true,
    platform: "browser",
    format: "iife",
    target: "es2022",
    minify: true,
    metafile: true,
    write: false,
    logLevel: "silent",
  });
  return { code: outputFiles[0]!.text, inputs: metafile.inputs };
}

export interface BrowserServer {
  request(method: string, params?: object): Promise<Message>;
  /** Sends a request without waiting; the id cancels it. */
  send(method: string, params?: object): { readonly id: number; readonly answer: Promise<Message> };
  notify(method: string, params?: object): void;
  /** Waits for a message that the server sends by itself. */
  receive(method: string, accepts?: (params: never) => boolean): Promise<Message>;
  /** The errors that were thrown in the page or in the worker. */
  readonly errors: readonly string[];
  /** Resolves when the worker has ended. */
  readonly closed: Promise<void>;
}

/** Serves a page over loopback, which starts the worker and hands messages on as they are. */
export async function startBrowserServer(browser: Browser, code: string): Promise<BrowserServer & AsyncDisposable> {
  const site = createServer((request, response) => {
    const isScript = request.url === "/server.js";
    response.setHeader("content-type", isScript ? "text/javascript; charset=utf-8" : "text/html; charset=utf-8");
    response.end(isScript ? code : "<!doctype html><title>worker</title>");
  });
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  const page = await browser.newPage();
  page.setDefaultTimeout(HANG_MS);
  const received: Message[] = [];
  const errors: string[] = [];
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error") errors.push(message.text());
  });
  await page.exposeFunction("received", (message: Message) => {
    received.push(message);
  });
  await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`);
  const started = page.waitForEvent("worker", { timeout: 0 });
  await page.evaluate(
    `worker = new Worker("/server.js");
     worker.onmessage = ({ data }) => received(data);
     worker.onerror = ({ message }) => console.error(message ?? "the worker does not start");`,
  );
  const worker: Worker = await started;

  let nextId = 1;
  const write = (message: object) =>
    void page.evaluate(`worker.postMessage(${JSON.stringify({ jsonrpc: "2.0", ...message })})`);
  const message = (what: string, fits: (message: Message) => boolean): Promise<Message> =>
    until(
      what,
      () => received.find(fits),
      () => errors.join("; "),
    );
  const send = (method: string, params?: object) => {
    const id = nextId++;
    write({ id, method, ...(params !== undefined && { params }) });
    return { id, answer: message(`the answer to ${method}`, (one) => one.id === id && one.method === undefined) };
  };
  return {
    send,
    request: (method, params) => send(method, params).answer,
    notify: (method, params) => write({ method, ...(params !== undefined && { params }) }),
    receive: (method, accepts = () => true) =>
      message(method, (one) => one.method === method && accepts(one.params as never)),
    errors,
    closed: new Promise((resolve) => worker.once("close", () => resolve())),
    async [Symbol.asyncDispose]() {
      await page.close();
      await new Promise((resolve) => site.close(resolve));
    },
  };
}
