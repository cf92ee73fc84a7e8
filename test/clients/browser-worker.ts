// The server in a Web Worker of a real browser: the same messages to it and to the command, and the same answers.
import { chromium } from "playwright-core";
import t from "tap";
import { BROWSER_SERVER_VERSION, bundleForBrowser, startBrowserServer } from "../support/browser-server.ts";
import { cursor } from "../support/editor.ts";
import { startLsp } from "../support/lsp-client.ts";
import { requires } from "../support/require.ts";

const FOLDER = "file:///nonexistent/app";
const CONFIG = `${FOLDER}/tool.json`;
const QUERY = `${FOLDER}/slow.logq`;

const TEXT = `{
  "name": "app",
    "memroy": 512,
  "proxy": { "timeout": 15 },
  "redirects": { "/a/:id": { "location": "/b/:id", "status": 301 } },
  "logs": { "queries": { "slow": "status >= 500 and duration > 1s" } },
  "actions": [{ "name": "ops", "type": "email", "to": "ops@example.com" }]
}
`;

const INITIALIZE = {
  processId: null,
  rootUri: null,
  initializationOptions: { documentation: "https://docs.example.com/#{code}" },
  capabilities: {
    textDocument: {
      publishDiagnostics: { versionSupport: true },
      completion: { completionItem: { snippetSupport: true, documentationFormat: ["markdown"] } },
      hover: { contentFormat: ["markdown"] },
    },
  },
};

/** The methods that both servers have. */
interface Server {
  request(method: string, params?: object): Promise<{ readonly result?: unknown; readonly error?: unknown }>;
  notify(method: string, params?: object): void;
  receive(method: string, accepts?: (params: never) => boolean): Promise<{ readonly params?: unknown }>;
}

interface Position {
  readonly line: number;
  readonly character: number;
}

/** The place of the `|` in a part of the text that occurs once. */
function at(marked: string): { readonly position: Position } {
  const { text, offset } = cursor(marked);
  const start = TEXT.indexOf(text);
  if (start < 0 || TEXT.indexOf(text, start + 1) >= 0) throw new Error(`${text} does not occur once`);
  const lines = TEXT.slice(0, start + offset).split("\n");
  return { position: { line: lines.length - 1, character: lines.at(-1)!.length } };
}

const WHOLE = { start: { line: 0, character: 0 }, end: { line: 8, character: 0 } };

/** Requests about TEXT, each with a part of the answer that shows that there is one. */
const REQUESTS: readonly (readonly [name: string, method: string, params: object, shows: RegExp])[] = [
  ["completion of a key", "completion", at('{|\n  "name"'), /"label":"alerts"/],
  ["completion in a query", "completion", at("500 and |dur"), /"label":"duration"/],
  ["completion in a location", "completion", at('"/b/:|id"'), /:id/],
  ["hover over a key", "hover", at('"sta|tus"'), /markdown/],
  ["hover over a query", "hover", at("stat|us >="), /CloudWatch/],
  ["formatting", "formatting", { options: { tabSize: 2, insertSpaces: true } }, /newText/],
  ["semantic tokens", "semanticTokens/full", {}, /"data":\[\d/],
  ["code actions", "codeAction", { range: WHOLE, context: { diagnostics: [] } }, /quickfix/],
  ["definition of a param", "definition", at('"/b/:i|d"'), /"uri"/],
  ["renaming a param", "rename", { ...at('"/b/:i|d"'), newName: "page" }, /"newText":"page"/],
  ["renaming it to what is no name", "rename", { ...at('"/b/:i|d"'), newName: "1" }, /is not a valid param name/],
  ["symbols", "documentSymbol", {}, /redirects/],
  ["folding", "foldingRange", {}, /"endLine":6/],
  ["inlay hints", "inlayHint", { range: WHOLE }, /"label"/],
  ["lenses", "codeLens", {}, /"command"/],
];

const skip = requires("chromium");

t.test("the server in a Web Worker", { skip }, async (t) => {
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--disable-background-networking"],
  });
  t.teardown(() => browser.close());
  const { code } = await bundleForBrowser();

  await t.test("answers as the command does", async (t) => {
    const worker = await startBrowserServer(browser, code);
    t.teardown(() => worker[Symbol.asyncDispose]());
    const command = startLsp();
    t.teardown(() => command.child.kill());
    const both = async <T>(ask: (server: Server) => Promise<T>) => [await ask(worker), await ask(command)] as const;

    const [ours, theirs] = await both(({ request }) => request("initialize", INITIALIZE));
    t.match(ours.result, { serverInfo: { name: "tool", version: BROWSER_SERVER_VERSION } });
    const capabilities = (answer: { result?: unknown }) => (answer.result as { capabilities: object }).capabilities;
    t.strictSame(capabilities(ours), capabilities(theirs), "the same capabilities");

    const open = (uri: string, languageId: string, text: string) => (server: Server) => {
      server.notify("textDocument/didOpen", { textDocument: { uri, languageId, version: 1, text } });
      return server.receive("textDocument/publishDiagnostics", (params: { uri: string }) => params.uri === uri);
    };
    for (const server of [worker, command]) server.notify("initialized", {});
    const diagnostics = await both(open(CONFIG, "json", TEXT));
    t.match(diagnostics[0].params, { version: 1, diagnostics: [{ code: "config/unknown-key" }] });
    t.strictSame(diagnostics[0].params, diagnostics[1].params, "the same diagnostics");
    const ofQuery = await both(open(QUERY, "toolquery", "status => 5"));
    t.match(ofQuery[0].params, { diagnostics: [{ code: "query/unknown-operator" }] });
    t.strictSame(ofQuery[0].params, ofQuery[1].params, "the same diagnostics of a query");

    for (const [name, method, params, shows] of REQUESTS) {
      const fullParams = { textDocument: { uri: CONFIG }, ...params };
      const [one, other] = await both(({ request }) => request(`textDocument/${method}`, fullParams));
      t.match(JSON.stringify(one.result ?? one.error), shows, name);
      t.strictSame([one.result, one.error], [other.result, other.error], `${name}: the same`);
    }

    const change = { range: WHOLE, text: '{ "name": "app", "memory": 12 }' };
    const changed = await both((server) => {
      const textDocument = { uri: CONFIG, version: 2 };
      server.notify("textDocument/didChange", { textDocument, contentChanges: [change] });
      return server.receive(
        "textDocument/publishDiagnostics",
        (params: { uri: string; version?: number }) => params.uri === CONFIG && params.version === 2,
      );
    });
    t.match(changed[0].params, { diagnostics: [{ message: /memory/ }] });
    t.strictSame(changed[0].params, changed[1].params, "the same diagnostics after a change");

    t.equal((await worker.request("shutdown")).result, null);
    t.match((await worker.request("textDocument/hover", { textDocument: { uri: CONFIG } })).error, { code: -32600 });
    worker.notify("exit");
    await worker.closed;
    t.pass("the worker ends with exit");
    t.same(worker.errors, [], "nothing was thrown");
  });

  await t.test("a cancelled request is answered in front of long work", async (t) => {
    const worker = await startBrowserServer(browser, code);
    t.teardown(() => worker[Symbol.asyncDispose]());
    await worker.request("initialize", { ...INITIALIZE, capabilities: { textDocument: { diagnostic: {} } } });
    worker.notify("initialized", {});
    const rules = Array.from(
      { length: 14_000 },
      (_, i) => `"/rule-${i}/:a/*": { "location": "/to/:a/:splat", "status": 301 }`,
    );
    const text = `{ "name": "app", "redirects": {\n${rules.join(",\n")}\n} }`;
    worker.notify("textDocument/didOpen", { textDocument: { uri: CONFIG, languageId: "json", version: 1, text } });
    const long = worker.send("textDocument/diagnostic", { textDocument: { uri: CONFIG } });
    // It is at work by then: what arrives now is read between two steps.
    await new Promise((resolve) => setTimeout(resolve, 50));
    worker.notify("$/cancelRequest", { id: long.id });
    t.match((await long.answer).error, { code: -32800 }, "the check was given up");
    const name = { textDocument: { uri: CONFIG }, position: { line: 0, character: 4 } };
    t.ok((await worker.request("textDocument/hover", name)).result, "and others are answered");
    t.same(worker.errors, [], "nothing was thrown");
  });
});
