// The features for finding one's way and editing, asked of the real command over stdio.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import t from "tap";
import type { TextEdit } from "vscode-languageserver-types";
import { ToolDocument } from "../../language-server/service/document.ts";
import { root } from "../support/cli.ts";
import { applyLspEdits } from "../support/editor-fixture.ts";
import { type LspClient, startLsp } from "../support/lsp-client.ts";
import { until } from "../support/until.ts";

const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };

const TEXT = `{
  "name": "app",
  "hooks": { "build": "make" },
  "lambda": { "memory": 256 },
  "environment": { "BB": "1", "AA": "2" },
  "error_pages": { "dir": "errors", "variables": { "color": "#228be6" } },
  "inject": { "head": [{ "type": "inline script", "file": "js/missing.js" }] },
  "redirects": { "/docs/:page": { "location": "/help/:page", "status": 301 } },
  "logs": { "queries": { "slow": "duration > 500" } },
  "actions": [{ "name": "ops", "type": "email", "emails": ["ops@example.com"] }],
  "alerts": [{ "metric": "http.5xx", "statistic": "sum", "threshold": 1, "action": "ops" }]
}
`;
const CREATES = { workspace: { workspaceEdit: { documentChanges: true, resourceOperations: ["create"] } } };

async function withServer(dir: string, body: (client: LspClient, uri: string) => Promise<void>) {
  const folder = join(dir, "app");
  mkdirSync(join(folder, "errors"), { recursive: true });
  const uri = pathToFileURL(join(folder, "tool.json")).href;
  const client = startLsp();
  try {
    await client.initialize({
      capabilities: CREATES,
      workspaceFolders: [{ uri: pathToFileURL(folder).href, name: "app" }],
    });
    await body(client, uri);
    t.equal(await client.stop(), 0, "ends well");
    t.equal(client.noise(), "", "stdout holds the protocol alone");
  } finally {
    client.child.kill();
  }
}

/** The place of the first `text` at or past `after`. */
function place(text: string, after = "") {
  const offset = TEXT.indexOf(text, TEXT.indexOf(after));
  const lines = TEXT.slice(0, offset).split("\n");
  return { line: lines.length - 1, character: lines.at(-1)!.length };
}

t.test("every method is announced and answers", (t) =>
  withServer(t.testdir(), async (client, uri) => {
    client.open(uri, TEXT);
    const textDocument = { uri };
    const range = { start: { line: 0, character: 0 }, end: { line: 12, character: 0 } };
    const at = (text: string, after = "") => ({ textDocument, position: place(text, after) });
    const options = { tabSize: 4, insertSpaces: true };
    const color = { red: 1, green: 0, blue: 0, alpha: 1 };
    const position = { line: 5, character: 70 };
    const rows: [string, object, (result: never) => unknown, unknown][] = [
      [
        "definition",
        at('ops"', "alerts"),
        (r: { range: { start: object } }[]) => r[0]!.range.start,
        place("ops", "actions"),
      ],
      ["references", { ...at("ops", "actions"), context: { includeDeclaration: true } }, (r: []) => r.length, 2],
      ["documentHighlight", at("page", "/help"), (r: { kind: number }[]) => r.map(({ kind }) => kind), [3, 2]],
      ["prepareRename", at("ops", "actions"), (r: { placeholder: string }) => r.placeholder, "ops"],
      ["rename", { ...at(":page"), newName: "p" }, (r: { changes: Record<string, []> }) => r.changes[uri]!.length, 2],
      ["linkedEditingRange", at(":page"), (r: { ranges: [] }) => r.ranges.length, 2],
      ["documentSymbol", { textDocument }, (r: { name: string }[]) => r[6]!.name, "redirects"],
      [
        "documentLink",
        { textDocument },
        (r: { target: string }[]) => r.map(({ target }) => target),
        [new URL("errors", uri).href],
      ],
      [
        "codeLens",
        { textDocument },
        (r: { command: { title: string } }[]) => r.map(({ command }) => command.title),
        ["Start", "Run build", "Logs"],
      ],
      ["documentColor", { textDocument }, (r: []) => r.length, 1],
      ["colorPresentation", { textDocument, color, range }, (r: { label: string }[]) => r[0]!.label, "#ff0000"],
      ["foldingRange", { textDocument }, (r: unknown) => r, [{ startLine: 0, endLine: 10 }]],
      ["selectionRange", { textDocument, positions: [place(":page"), position] }, (r: []) => r.length, 2],
      ["formatting", { textDocument, options }, (r: []) => r.length > 5, true],
      [
        "rangeFormatting",
        { textDocument, range: { start: place('"hooks"'), end: place('"lambda"') }, options },
        (r: []) => r.length > 0,
        true,
      ],
      [
        "onTypeFormatting",
        { ...at('"hooks"'), ch: "\n", options },
        (r: { newText: string }[]) => r[0]!.newText,
        "    ",
      ],
      ["inlayHint", { textDocument, range }, (r: { label: string }[]) => r.map(({ label }) => label), ["ms"]],
      ["semanticTokens/full", { textDocument }, (r: { data: [] }) => r.data.length % 5, 0],
      ["semanticTokens/range", { textDocument, range }, (r: { data: [] }) => r.data.length > 0, true],
    ];
    for (const [method, params, read, expected] of rows) {
      const { result, error } = await client.request(`textDocument/${method}`, params);
      t.same(error, undefined, method);
      t.same(read(result as never), expected, method);
    }
  }),
);

t.test("what initialize announces", async (t) => {
  const client = startLsp();
  const { result } = await client.initialize();
  const { capabilities } = result as { capabilities: Record<string, unknown> };
  const providers = Object.keys(capabilities).filter((name) => /Provider$/.test(name));
  t.match(providers.sort().join(" "), /codeActionProvider codeLensProvider colorProvider/);
  for (const name of [
    "definition",
    "references",
    "documentHighlight",
    "rename",
    "linkedEditingRange",
    "documentSymbol",
  ]) {
    t.ok(capabilities[`${name}Provider`], name);
  }
  t.same(capabilities.executeCommandProvider, {
    commands: ["tool.migrate", "tool.sort", "tool.moveSecret", "tool.showTraffic"],
  });
  t.match(capabilities.workspace, { workspaceFolders: { supported: true }, fileOperations: { willRename: {} } });
  await client.stop();
});

t.test("fixes are offered and files are created where the client can", (t) =>
  withServer(t.testdir(), async (client, uri) => {
    client.open(uri, TEXT);
    const textDocument = { uri };
    const start = place("js/missing");
    const { result } = await client.request("textDocument/codeAction", {
      textDocument,
      range: { start, end: start },
      context: { diagnostics: [] },
    });
    const titles = (result as { title: string; kind: string }[]).map(({ title, kind }) => `${kind}: ${title}`);
    t.same(titles, [
      'quickfix: Create the file "js/missing.js"',
      "source.fixAll.tool: Fix the problem that has a fix",
      "source.migrate.tool: Migrate the configuration (1 change)",
    ]);
    const only = await client.request("textDocument/codeAction", {
      textDocument,
      range: { start: place('"lambda"'), end: place('"lambda"') },
      context: { diagnostics: [], only: ["quickfix"] },
    });
    t.same(
      (only.result as { title: string }[]).map(({ title }) => title),
      ['Write "function"', "Migrate the configuration (1 change)"],
    );
  }),
);

t.test("a refused name is an error that says why", (t) =>
  withServer(t.testdir(), async (client, uri) => {
    client.open(uri, TEXT);
    const rename = { textDocument: { uri }, position: place(":page"), newName: "my page" };
    const { error, result } = await client.request("textDocument/rename", rename);
    t.equal(result, undefined);
    t.same(error, {
      code: -32803,
      message: '"my page" is not a valid param name: write letters, digits and _, not beginning with a digit',
    });
  }),
);

t.test("semantic tokens after a change are a small delta", (t) =>
  withServer(t.testdir(), async (client, uri) => {
    client.open(uri, TEXT);
    const textDocument = { uri };
    const first = await client.request("textDocument/semanticTokens/full", { textDocument });
    const before = first.result as { resultId: string; data: number[] };
    const start = place("duration");
    client.notify("textDocument/didChange", {
      textDocument: { uri, version: 2 },
      contentChanges: [{ range: { start, end: start }, text: "error and " }],
    });
    const delta = await client.request("textDocument/semanticTokens/full/delta", {
      textDocument,
      previousResultId: before.resultId,
    });
    const { edits } = delta.result as { edits: { start: number; deleteCount: number; data?: number[] }[] };
    t.equal(edits.length, 1);
    const patched = [...before.data];
    for (const { start, deleteCount, data = [] } of edits) patched.splice(start, deleteCount, ...data);
    const full = await client.request("textDocument/semanticTokens/full", { textDocument });
    t.same(patched, (full.result as { data: number[] }).data);
    const stale = await client.request("textDocument/semanticTokens/full/delta", {
      textDocument,
      previousResultId: "?",
    });
    t.ok((stale.result as { data: number[] }).data, "an unknown result gives all");
  }),
);

t.test("commands ask the client for their edit", (t) =>
  withServer(t.testdir(), async (client, uri) => {
    client.open(uri, TEXT);
    const sort = { command: "tool.sort", arguments: [uri, ["environment"]] };
    const { error } = await client.request("workspace/executeCommand", sort);
    t.equal(error, undefined);
    const { params } = await client.receive("workspace/applyEdit");
    const { label, edit } = params as { label: string; edit: { changes: Record<string, TextEdit[]> } };
    t.equal(label, "Sort");
    const document = new ToolDocument({ uri, version: 1, text: TEXT, kind: "config" });
    t.equal(
      applyLspEdits(document, edit.changes[uri]!),
      TEXT.replace('{ "BB": "1", "AA": "2" }', '{ "AA": "2", "BB": "1" }'),
    );
    const gone = { command: "tool.migrate", arguments: ["file:///nowhere/tool.json"] };
    t.same((await client.request("workspace/executeCommand", gone)).error, {
      code: -32803,
      message: "tool.migrate: the first argument names no tool.json that is open",
    });
  }),
);

t.test("a tool.json that is not open is searched, and follows files that move", async (t) => {
  const dir = t.testdir();
  await withServer(dir, async (client, uri) => {
    writeFileSync(join(dir, "app", "tool.json"), TEXT);
    const { result } = await client.request("workspace/symbol", { query: "docs" });
    t.same(
      (result as { name: string }[]).map(({ name }) => name),
      ["/docs/:page"],
    );
    const files = [{ oldUri: new URL("errors", uri).href, newUri: new URL("pages/errors", uri).href }];
    const moved = await client.request("workspace/willRenameFiles", { files });
    const changes = (moved.result as { changes: Record<string, { newText: string }[]> }).changes;
    t.same(
      changes[uri]!.map(({ newText }) => newText),
      ["pages/errors"],
    );
  });
});

t.test("how severe a problem is shown can be set, by code and by area", async (t) => {
  const uri = "file:///nonexistent/app/tool.json";
  const text =
    '{ "name": "app", "environment": { "API_TOKEN": "abc" }, "logs": { "queries": { "a": "status =", "b": "(" } } }';
  const rows: [severity: unknown, expected: string[]][] = [
    [{}, ["config/secret 2", "query/missing-value 1", "query/unclosed-paren 1"]],
    [{ "config/secret": "off" }, ["query/missing-value 1", "query/unclosed-paren 1"]],
    [
      { "query/*": "hint", "query/missing-value": "warning" },
      ["config/secret 2", "query/missing-value 2", "query/unclosed-paren 4"],
    ],
    [
      { "config/*": "error", "query/*": "information" },
      ["config/secret 1", "query/missing-value 3", "query/unclosed-paren 3"],
    ],
    [{ "config/secret": "loud" }, ["config/secret 2", "query/missing-value 1", "query/unclosed-paren 1"]],
  ];
  const client = startLsp();
  try {
    const workspace = { diagnostics: { refreshSupport: true } };
    await client.initialize({ capabilities: { workspace, textDocument: { diagnostic: {} } } });
    client.open(uri, text);
    for (const [severity, expected] of rows) {
      client.notify("workspace/didChangeConfiguration", { settings: { tool: { diagnostics: { severity } } } });
      const { result } = await client.request("textDocument/diagnostic", { textDocument: { uri } });
      const { items } = result as { items: { code: string; severity: number }[] };
      t.same(
        items.map(({ code, severity }) => `${code} ${severity}`),
        expected,
        JSON.stringify(severity),
      );
    }
    t.equal(await client.stop(), 0);
  } finally {
    client.child.kill();
  }
});

t.test("a code leads to its explanation", async (t) => {
  const uri = "file:///nonexistent/app/tool.json";
  const cache = t.testdir();
  const rows: [env: Record<string, string>, options: object, href: string][] = [
    [{}, {}, `${pathToFileURL(join(cache, "tool", `tool-json-${version}.html`)).href}#config%2Fmissing-key`],
    [{ TOOL_DOCS_URL: "https://docs.example/tool" }, {}, "https://docs.example/tool#config%2Fmissing-key"],
    [{ TOOL_DOCS_URL: "https://docs.example/{code}.html" }, {}, "https://docs.example/config%2Fmissing-key.html"],
    [{}, { documentation: "command:x?{code}" }, "command:x?config%2Fmissing-key"],
  ];
  for (const [env, initializationOptions, href] of rows) {
    const client = startLsp({ env: { XDG_CACHE_HOME: cache, ...env } });
    try {
      await client.initialize({ capabilities: { textDocument: { diagnostic: {} } }, initializationOptions });
      client.open(uri, "{}");
      const { result } = await client.request("textDocument/diagnostic", { textDocument: { uri } });
      const { items } = result as { items: { code: string; codeDescription: { href: string } }[] };
      t.same(
        items.map(({ codeDescription }) => codeDescription.href),
        [href],
      );
      if (href.startsWith("file:")) {
        const page = await until("the page", () => {
          const path = fileURLToPath(new URL(href));
          return existsSync(path) && readFileSync(path, "utf8").includes("</html>") && readFileSync(path, "utf8");
        });
        t.match(page, 'id="config/missing-key"', "the page has the anchor");
      }
      const { result: words } = await client.request("tool/rule", { code: "config/missing-key" });
      t.match(words, /^# config\/missing-key\n\nA required key is missing\.\n/);
      t.equal(await client.stop(), 0);
    } finally {
      client.child.kill();
    }
  }
});

t.test("a client with an outline and a formatter of JSON gets no second ones", async (t) => {
  for (const syntax of [true, false]) {
    const client = startLsp();
    const { result } = await client.initialize({ initializationOptions: { syntax } });
    const { capabilities } = result as { capabilities: Record<string, unknown> };
    for (const name of ["documentSymbol", "documentFormatting"]) {
      t.equal(Boolean(capabilities[`${name}Provider`]), syntax, `${name}, syntax: ${syntax}`);
    }
    t.ok(capabilities.workspaceSymbolProvider, "names of the workspace are found in any case");
    t.equal(await client.stop(), 0);
  }
});

t.test("settings are asked for, followed, and may be sent", async (t) => {
  const features = async (client: LspClient, uri: string) => {
    const textDocument = { uri };
    const range = { start: { line: 0, character: 0 }, end: { line: 12, character: 0 } };
    const [lenses, hints, report] = await Promise.all([
      client.request("textDocument/codeLens", { textDocument }),
      client.request("textDocument/inlayHint", { textDocument, range }),
      client.request("textDocument/diagnostic", { textDocument }),
    ]);
    const { items } = report.result as { items: [] };
    return [lenses.result as [], hints.result as [], items].map(({ length }) => length > 0);
  };
  const uri = "file:///nonexistent/app/tool.json";
  const off = { codeLens: { enabled: false }, inlayHints: { enabled: false }, diagnostics: { enabled: false } };

  const rows: [name: string, section: unknown, expected: boolean[]][] = [
    ["everything", {}, [true, true, true]],
    ["nothing", off, [false, false, false]],
    ["one", { codeLens: { enabled: false } }, [false, true, true]],
    ["what is no setting", { codeLens: { enabled: "no" }, inlayHints: null, diagnostics: 1 }, [true, true, true]],
    ["none", null, [true, true, true]],
  ];
  for (const [name, section, expected] of rows) {
    const client = startLsp({ answers: { "workspace/configuration": [section] } });
    try {
      await client.initialize({
        capabilities: { workspace: { configuration: true }, textDocument: { diagnostic: {} } },
      });
      const { params } = await client.receive("workspace/configuration");
      t.same(params, { items: [{ section: "tool" }] });
      client.open(uri, TEXT);
      t.same(await features(client, uri), expected, name);
      t.equal(await client.stop(), 0);
    } finally {
      client.child.kill();
    }
  }

  const client = startLsp();
  try {
    const refreshed = { inlayHint: { refreshSupport: true }, codeLens: { refreshSupport: true } };
    await client.initialize({ capabilities: { workspace: refreshed, textDocument: { diagnostic: {} } } });
    client.open(uri, TEXT);
    t.same(await features(client, uri), [true, true, true], "before anything is sent");
    client.notify("workspace/didChangeConfiguration", { settings: { tool: off } });
    await Promise.all([client.receive("workspace/inlayHint/refresh"), client.receive("workspace/codeLens/refresh")]);
    t.same(await features(client, uri), [false, false, false], "sent by the client");
    client.notify("workspace/didChangeConfiguration", { settings: null });
    t.same(await features(client, uri), [true, true, true], "none sent");
    t.equal(await client.stop(), 0);
  } finally {
    client.child.kill();
  }
});

// The folder of a project as the server reads it from the disk.
const folders: readonly {
  readonly name: string;
  readonly files: Readonly<Record<string, string>>;
  readonly file: string;
  readonly method: "hover" | "completion";
  readonly character: number;
  readonly expected: RegExp;
}[] = [
  {
    name: "hover of a template variable, by the saved tool.json",
    files: { "tool.json": '{ "name": "app", "error_pages": { "variables": { "mail": "help@example.com" } } }' },
    file: "404.html",
    method: "hover",
    character: "{{.Variables.ma".length,
    expected: /help@example\.com/,
  },
  {
    name: "hover of a template variable that tool.json lacks",
    files: { "tool.json": '{ "name": "app" }' },
    file: "404.html",
    method: "hover",
    character: "{{.Variables.ma".length,
    expected: /mail is not in error_pages.variables/,
  },
  {
    name: "completion of a blank tool.json beside a package.json that builds a site",
    files: { "package.json": '{ "scripts": { "build": "vite build" } }' },
    file: "tool.json",
    method: "completion",
    character: 0,
    expected: /a static site: the build of package\.json.*"preselect":true/,
  },
  {
    name: "completion of a blank tool.json beside what that build made",
    files: { "package.json": '{ "scripts": { "build": "vite build" } }', "out/main.css": "" },
    file: "tool.json",
    method: "completion",
    character: 0,
    expected: /"static\\": \{ \\"dir\\": \\"out\\" \}/,
  },
];

for (const { name, files, file, method, character, expected } of folders) {
  t.test(name, (t) =>
    withServer(t.testdir(), async (client, config) => {
      for (const [path, text] of Object.entries(files)) {
        const written = fileURLToPath(new URL(path, config));
        mkdirSync(join(written, ".."), { recursive: true });
        writeFileSync(written, text);
      }
      const uri = new URL(file, config).href;
      client.open(uri, file.endsWith(".html") ? "{{.Variables.mail}}" : "");
      const position = { line: 0, character };
      const { result, error } = await client.request(`textDocument/${method}`, { textDocument: { uri }, position });
      t.same(error, undefined);
      t.match(JSON.stringify(result), expected);
    }),
  );
}
