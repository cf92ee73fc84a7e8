// The language server as editors meet it: the real command over stdio, and a raw client.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import t from "tap";
import { bundleForBrowser } from "../support/browser-server.ts";
import { isRunning, tool } from "../support/cli.ts";
import { positionOf, snap } from "../support/edit-fuzz.ts";
import { type LspClient, type Message, startLsp } from "../support/lsp-client.ts";
import { until } from "../support/until.ts";

const URI = "file:///nonexistent/app/tool.json";
const PULL = { capabilities: { textDocument: { diagnostic: {} } } };

interface Diagnostics {
  readonly uri: string;
  readonly version?: number;
  readonly diagnostics: readonly { readonly code: string }[];
}

/** Runs with a server that is stopped afterwards, and has written nothing but messages. */
async function withServer(assert: Pick<typeof t, "equal">, use: (client: LspClient) => Promise<void>): Promise<void> {
  const client = startLsp();
  try {
    await use(client);
    if (client.child.exitCode === null) assert.equal(await client.stop(), 0, "ends with exit code 0");
  } finally {
    client.child.kill("SIGKILL");
  }
  assert.equal(client.noise(), "", "nothing on stdout but the protocol");
  assert.equal(client.stderr(), "", "nothing on stderr");
}

const codes = (message: Message) => (message.params as Diagnostics).diagnostics.map(({ code }) => code);

t.test("a client that pulls gets nothing pushed", (t) =>
  withServer(t, async (client) => {
    const workspace = { diagnostics: { refreshSupport: true } };
    const answer = await client.initialize({ capabilities: { ...PULL.capabilities, workspace } });
    t.match(answer.result, {
      serverInfo: { name: "tool" },
      capabilities: {
        textDocumentSync: { openClose: true, change: 2 },
        diagnosticProvider: { workspaceDiagnostics: true },
        completionProvider: { resolveProvider: true },
        hoverProvider: true,
        signatureHelpProvider: {},
      },
    });
    client.open(URI, '{ "name": "app", "memroy": 1 }');
    const first = (await client.request("textDocument/diagnostic", { textDocument: { uri: URI } })).result;
    t.match(first, { kind: "full", items: [{ code: "config/unknown-key" }] });
    const { resultId } = first as { resultId: string };
    const again = { textDocument: { uri: URI }, previousResultId: resultId };
    t.match((await client.request("textDocument/diagnostic", again)).result, { kind: "unchanged", resultId });
    client.notify("textDocument/didChange", {
      textDocument: { uri: URI, version: 2 },
      contentChanges: [{ range: { start: { line: 0, character: 15 }, end: { line: 0, character: 28 } }, text: "" }],
    });
    t.match((await client.request("textDocument/diagnostic", again)).result, { kind: "full", items: [] });
    await client.request("textDocument/hover", { textDocument: { uri: URI }, position: { line: 0, character: 4 } });
    // A push waits as long as this does, and would have been due before it.
    const severity = { "config/type": "hint" };
    client.notify("workspace/didChangeConfiguration", { settings: { tool: { diagnostics: { severity } } } });
    await client.receive("workspace/diagnostic/refresh");
    await client.request("textDocument/diagnostic", { textDocument: { uri: URI } });
    t.same(
      client.received.filter(({ method }) => method === "textDocument/publishDiagnostics"),
      [],
      "nothing pushed",
    );
  }),
);

t.test("a client that cannot pull gets them pushed, the newest version only", (t) =>
  withServer(t, async (client) => {
    const answer = await client.initialize();
    t.notOk(Object.hasOwn((answer.result as { capabilities: object }).capabilities, "diagnosticProvider"));
    client.open(URI, "{}");
    for (let version = 2; version <= 20; version++) {
      client.notify("textDocument/didChange", {
        textDocument: { uri: URI, version },
        contentChanges: [{ text: version === 20 ? '{ "name": "app", "typ": 1 }' : '{ "na' }],
      });
    }
    const pushed = await client.receive(
      "textDocument/publishDiagnostics",
      ({ version }: Diagnostics) => version === 20,
    );
    t.same(codes(pushed), ["config/unknown-key", "config/type"].slice(0, codes(pushed).length));
    const versions = client.received
      .filter(({ method }) => method === "textDocument/publishDiagnostics")
      .map(({ params }) => (params as Diagnostics).version);
    t.same(versions, [20], "one for twenty keystrokes");
    client.notify("textDocument/didClose", { textDocument: { uri: URI } });
    const cleared = await client.receive(
      "textDocument/publishDiagnostics",
      ({ version }: Diagnostics) => version === undefined,
    );
    t.same(codes(cleared), [], "a closed file says nothing");
  }),
);

t.test("syntax is left to a client that reports it", (t) =>
  withServer(t, async (client) => {
    await client.initialize({ ...PULL, initializationOptions: { syntax: false } });
    client.open(URI, '{ "name": "app", "typ": "server", }');
    t.match((await client.request("textDocument/diagnostic", { textDocument: { uri: URI } })).result, {
      items: [{ code: "config/unknown-key" }],
    });
    const { result } = await client.request("textDocument/diagnostic", { textDocument: { uri: URI } });
    t.equal((result as { items: unknown[] }).items.length, 1);
  }),
);

t.test("of a client that knows JSON, only queries are formatted", (t) =>
  withServer(t, async (client) => {
    const capabilities = { textDocument: { formatting: { dynamicRegistration: true } } };
    const { result } = await client.initialize({ capabilities, initializationOptions: { syntax: false } });
    t.match(result, { capabilities: { documentFormattingProvider: false, documentRangeFormattingProvider: false } });
    const { params } = await client.receive("client/registerCapability");
    t.match(params, {
      registrations: [
        { method: "textDocument/formatting", registerOptions: { documentSelector: [{ language: "toolquery" }] } },
      ],
    });
  }),
);

t.test("completion, its resolving, hover and signature help over the wire", (t) =>
  withServer(t, async (client) => {
    await client.initialize({
      capabilities: {
        textDocument: {
          completion: { completionItem: { snippetSupport: true, documentationFormat: ["markdown"] } },
          hover: { contentFormat: ["markdown"] },
        },
      },
    });
    client.open(URI, '{\n  "name": "app",\n  \n}');
    const at = { textDocument: { uri: URI }, position: { line: 2, character: 2 } };
    const { result } = await client.request("textDocument/completion", at);
    const { items } = result as { items: { label: string; textEdit: { newText: string } }[] };
    const item = items.find(({ label }) => label === "redirects")!;
    t.match(item.textEdit.newText, /\$\{1:/, "a snippet");
    const resolved = await client.request("completionItem/resolve", item);
    t.match(resolved.result, {
      label: "redirects",
      documentation: { kind: "markdown", value: /^Redirects and rewrites/ },
    });
    const name = { textDocument: { uri: URI }, position: { line: 1, character: 4 } };
    t.match((await client.request("textDocument/hover", name)).result, { contents: { kind: "markdown" } });
    t.equal((await client.request("textDocument/signatureHelp", name)).result, null, "nothing to say is null");
    const unknown = { ...at, textDocument: { uri: "file:///nonexistent/none.json" } };
    t.equal((await client.request("textDocument/hover", unknown)).result, null, "a file that is not open");
    client.open("file:///nonexistent/package.json", "{");
    const foreign = { ...at, textDocument: { uri: "file:///nonexistent/package.json" } };
    t.equal((await client.request("textDocument/completion", foreign)).result, null, "a file that is none of ours");
  }),
);

t.test("the project's files, and error pages by what tool.json says of them", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "tool-lsp-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const uri = (name: string) => pathToFileURL(join(folder, name)).href;
  writeFileSync(join(folder, "tool.json"), '{ "name": "app", "nonsense": 1 }');
  await withServer(t, async (client) => {
    await client.initialize({
      workspaceFolders: [{ uri: uri(""), name: "app" }],
      capabilities: { ...PULL.capabilities, workspace: { didChangeWatchedFiles: { dynamicRegistration: true } } },
    });
    await client.receive("client/registerCapability");
    const workspace = await client.request("workspace/diagnostic", { previousResultIds: [] });
    t.match(workspace.result, {
      items: [{ kind: "full", uri: uri("tool.json"), items: [{ code: "config/unknown-key" }] }],
    });

    client.open(
      uri("tool.json"),
      '{ "name": "app", "inject": { "head": [{ "type": "inline script", "file": "a.js" }] } }',
    );
    const ask = async (name: string) => {
      const { result, error } = await client.request("textDocument/diagnostic", { textDocument: { uri: uri(name) } });
      if (error) throw new Error(error.message);
      return (result as { items: { code: string }[] }).items.map(({ code }) => code);
    };
    t.same(await ask("tool.json"), ["config/missing-file"]);
    writeFileSync(join(folder, "a.js"), "");
    client.notify("workspace/didChangeWatchedFiles", { changes: [{ uri: uri("a.js"), type: 1 }] });
    t.same(await ask("tool.json"), [], "the file is there now");

    client.open(uri("404.html"), "{{.Nope}}", "html");
    client.open(uri("index.html"), "{{.Nope}}", "html");
    client.open(uri("slow.logq"), "status => 5", "plaintext");
    t.same(await ask("404.html"), ["template/unknown-field"]);
    t.same(await ask("index.html"), []);
    t.same(await ask("slow.logq"), ["query/unknown-operator"]);
    const all = await client.request("workspace/diagnostic", { previousResultIds: [] });
    t.same((all.result as { items: unknown[] }).items, [], "what is open is asked for by itself");
  });
});

t.test("cancelled requests are answered at once, in front of long work", (t) =>
  withServer(t, async (client) => {
    await client.initialize(PULL);
    const rules = Array.from(
      { length: 14_000 },
      (_, i) => `"/rule-${i}/:a/*": { "location": "/to/:a/:splat", "status": 301 }`,
    );
    /** Whether a check is given up long before it would have ended. */
    const isEarly = async (uri: string): Promise<boolean> => {
      client.open(uri, `{ "name": "app", "redirects": {\n${rules.join(",\n")}\n} }`);
      const long = client.send("textDocument/diagnostic", { textDocument: { uri } });
      await new Promise((resolve) => setTimeout(resolve, 20));
      const begin = performance.now();
      client.notify("$/cancelRequest", { id: long.id });
      t.match((await long.answer).error, { code: -32800 }, "the check was given up");
      const cancelledMs = performance.now() - begin;
      const name = { textDocument: { uri }, position: { line: 0, character: 4 } };
      t.ok((await client.request("textDocument/hover", name)).result, "and others are answered");
      const whole = performance.now();
      await client.request("textDocument/diagnostic", { textDocument: { uri } });
      return cancelledMs < (performance.now() - whole) / 2;
    };
    // Either may have to wait for a processor; one that is never given up early is late each time.
    let tries = 0;
    while (!(await isEarly(URI.replace("tool.json", `${tries}/tool.json`))) && tries < 5) tries++;
    t.ok(tries < 5, "in time");
  }),
);

t.test("messages that are wrong", (t) =>
  withServer(t, async (client) => {
    t.match((await client.request("textDocument/hover", {})).error, { code: -32002 }, "before initialize");
    await client.initialize();
    t.match((await client.request("tool/unknown", {})).error, { code: -32601 }, "an unknown method");
    client.notify("$/unknown", {});
    client.notify("textDocument/didChange", {
      textDocument: { uri: "file:///not/open.json", version: 3 },
      contentChanges: [{ text: "x" }],
    });
    client.raw('Content-Length: 13\r\n\r\n{"nonsense":}');
    client.open(URI, '{ "typ": 1 }');
    t.ok((await client.receive("textDocument/publishDiagnostics")).params, "it goes on");
  }),
);

t.test("a stream in which messages have no beginning ends the server, which says so", async (t) => {
  const message = '{"jsonrpc":"2.0","method":"$/x"}';
  const rows: [sent: string[], said: string][] = [
    [["garbage\r\n\r\n"], "garbage"],
    [["garbage\n", `Content-Length: ${message.length}\r\n\r\n${message}`], "garbage\\nContent-Length: 32"],
    // More than was announced: what follows cannot be told from a header.
    [[`Content-Length: 3\r\n\r\n${message}`, "Content-Length: 2\r\n\r\n{}"], message.slice(3).replaceAll('"', '\\"')],
    [["x".repeat(5000)], "x".repeat(100)],
  ];
  const ended = rows.map(async ([sent, said]) => {
    const client = startLsp();
    await client.initialize();
    for (const text of sent) client.raw(text);
    t.equal(await client.ended, 1, said);
    const head = 'error: a message of the editor has no Content-Length: "';
    t.ok(client.stderr().startsWith(`${head}${said}`), client.stderr());
  });
  await Promise.all(ended);
});

t.test("how it ends", async (t) => {
  const orderly = startLsp();
  await orderly.initialize();
  t.equal((await orderly.request("shutdown")).result, null);
  t.match((await orderly.request("textDocument/hover", { textDocument: { uri: URI } })).error, { code: -32600 });
  orderly.notify("exit");
  t.equal(await orderly.ended, 0, "exit after shutdown");

  const sudden = startLsp();
  await sudden.initialize();
  sudden.notify("exit");
  t.equal(await sudden.ended, 1, "exit without shutdown");

  const closed = startLsp();
  await closed.initialize();
  closed.child.stdin!.end();
  t.equal(await closed.ended, 1, "the stream was closed");

  const orphan = startLsp();
  // No process has this number: the greatest that Linux gives is 2^22.
  await orphan.initialize({ processId: 2 ** 22 + 1 });
  t.equal(await orphan.ended, 1, "the editor has died");
  const withDeadEditor = startLsp({ more: [`--clientProcessId=${2 ** 22 + 1}`] });
  const living = startLsp({ more: ["--clientProcessId", `${process.pid}`] });
  await living.initialize();
  t.equal(await withDeadEditor.ended, 1, "the editor of the command line has died");
  t.equal(await living.stop(), 0, "the editor of the command line is there");

  await until(
    "no process is left",
    () => ![orderly, sudden, closed, orphan, withDeadEditor, living].some(({ child }) => isRunning(child.pid!)),
  );

  const byHand = await tool(["lsp"]);
  t.same([byHand.code, byHand.stdout], [2, ""]);
  t.match(byHand.stderr, /tool lsp is started by an editor\n {2}tool lsp --stdio speaks the protocol/);
});

t.test("after any edits the text, and what is said of it, are those of a file opened fresh", (t) =>
  withServer(t, async (client) => {
    await client.initialize(PULL);
    const base =
      '{\r\n  "name": "app",\n  "redirects": { "/a/:b": { "location": "/c/:b" } },\r  "logs": { "queries": { "q": "a = \\"\ud83d\ude00\\"" } }\n}';
    const piece = fc.constantFrom(
      '"',
      "{",
      "}",
      ",",
      ":",
      "\n",
      "\r\n",
      "a",
      "\ud83d\ude00",
      '"x": 1, ',
      "",
      " ",
      "]",
      "/:id",
    );
    const edit = fc.tuple(fc.nat(200), fc.nat(6), piece);
    let id = 0;
    const check = async (edits: readonly (readonly [number, number, string])[]) => {
      id++;
      const edited = `file:///nonexistent/${id}/a/app/tool.json`;
      const fresh = `file:///nonexistent/${id}/b/app/tool.json`;
      let text = base;
      client.open(edited, text);
      for (const [i, [at, length, insert]] of edits.entries()) {
        const [start, end] = [snap(text, Math.min(at, text.length)), snap(text, Math.min(at + length, text.length))];
        client.notify("textDocument/didChange", {
          textDocument: { uri: edited, version: i + 2 },
          contentChanges: [{ range: { start: positionOf(text, start), end: positionOf(text, end) }, text: insert }],
        });
        text = text.slice(0, start) + insert + text.slice(end);
      }
      client.open(fresh, text);
      const answers = await Promise.all(
        [edited, fresh].flatMap((uri) => [
          client.request("textDocument/diagnostic", { textDocument: { uri } }),
          client.request("textDocument/completion", {
            textDocument: { uri },
            position: positionOf(text, snap(text, text.length >> 1)),
          }),
        ]),
      );
      for (const uri of [edited, fresh]) client.notify("textDocument/didClose", { textDocument: { uri } });
      const [a, b, c, d] = answers.map(({ result }) =>
        JSON.stringify((result as { items?: unknown } | null)?.items)?.replaceAll(fresh, edited),
      );
      return a === c && b === d;
    };
    await fc
      .assert(fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 12 }), check), { seed: 11, numRuns: 120 })
      .then(() => t.pass("120 runs"))
      .catch((error: Error) => t.fail(error.message.replace(/[^ -~\n]/g, "?").replaceAll("\n", " | ")));
    t.same(
      client.received.filter(({ method }) => method === "window/logMessage"),
      [],
      "nothing failed inside",
    );
  }),
);

t.test("the server for browsers is bundled without Node, and without what only tests use", async (t) => {
  // A bundle for browsers resolves no builtin of Node: an import of one would fail here.
  const { code, inputs } = await bundleForBrowser();
  const files = Object.keys(inputs);
  t.ok(files.includes("language-server/server.ts"));
  t.same(
    files.filter((file) => /^language-server\/node|\/lib\/node\/|vscode-json-languageservice/.test(file)),
    [],
  );

  // Nothing but what the language and a worker have: a use of process, Buffer, require or setImmediate throws.
  const sent: Message[] = [];
  const self = {
    onmessage: (_event: { readonly data: object }) => {},
    addEventListener() {},
    postMessage: (message: Message) => sent.push(structuredClone(message)),
  };
  const channels: InstanceType<typeof MessageChannel>[] = [];
  // An open channel would keep this process alive.
  t.teardown(() => channels.forEach(({ port1 }) => void port1.close()));
  const Channel = class extends MessageChannel {
    constructor() {
      super();
      channels.push(this);
    }
  };
  const text = { TextDecoder, TextEncoder };
  runInNewContext(code, { self, MessageChannel: Channel, ...text, console, performance, setTimeout, clearTimeout });
  const post = (message: object) => self.onmessage({ data: { jsonrpc: "2.0", ...message } });
  post({ id: 1, method: "initialize", params: { processId: null, rootUri: null, capabilities: {} } });
  post({ method: "initialized", params: {} });
  const textDocument = { uri: URI, languageId: "json", version: 1, text: '{ "name": "app", "memroy": 1 }' };
  post({ method: "textDocument/didOpen", params: { textDocument } });
  post({ id: 2, method: "textDocument/hover", params: { textDocument, position: { line: 0, character: 4 } } });
  const pushed = await until("diagnostics", () =>
    sent.find(({ method }) => method === "textDocument/publishDiagnostics"),
  );
  t.same(codes(pushed), ["config/unknown-key"]);
  t.ok(sent.find(({ id }) => id === 2)?.result, "a hover");
  t.same(
    sent.filter(({ method, error }) => method === "window/logMessage" || error),
    [],
  );
});
