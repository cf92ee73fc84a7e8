// The fix that moves a secret from tool.json to `tool env`, asked of the real server over stdio, which runs a real process.
import { mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import t, { type Test } from "tap";
import { ToolDocument } from "../../language-server/service/document.ts";
import { type Aws, startAws } from "../support/aws/index.ts";
import { tool as runTool } from "../support/cli.ts";
import { applyLspEdits } from "../support/editor-fixture.ts";
import { type LspClient, startLsp } from "../support/lsp-client.ts";
import { type RecordedTool, recordedTool } from "../support/recorded-tool.ts";
import { testSandbox } from "../support/sandbox.ts";
import { until } from "../support/until.ts";

const TEXT = '{\n  "name": "app",\n  "environment": { "API_KEY": "hunter2!", "HOME_URL": "x" }\n}\n';
const REST = TEXT.replace('"API_KEY": "hunter2!", ', "");
const KEPT = "API_KEY is kept by tool env now, for all stages";

interface Scene {
  readonly client: LspClient;
  readonly uri: string;
  readonly folder: string;
  readonly tool: RecordedTool;
  readonly aws: Aws;
  /** Returns the values that `tool env` has. */
  kept(): Promise<string>;
  /** Asks for the actions at the variable, and runs the one that moves it. */
  move(): Promise<void>;
  /** Returns the messages of the server to the user: 1 an error, 2 a warning, 3 information. */
  said(): Promise<{ readonly type: number; readonly message: string }>;
}

async function withServer(
  t: Test,
  body: (scene: Scene) => Promise<void>,
  { documentChanges = true, applied = true as unknown, env = {} } = {},
) {
  const dir = realpathSync(t.testdir());
  const folder = join(dir, "the app");
  mkdirSync(folder);
  // The saved file has another value, and the open document counts.
  writeFileSync(join(folder, "tool.json"), TEXT.replace("hunter2!", "saved"));
  const uri = pathToFileURL(join(folder, "tool.json")).href;
  const tool = recordedTool(dir);
  const aws = await startAws(t);
  const answers = { "workspace/applyEdit": applied };
  const client = startLsp({ argv: [tool.path, "lsp", "--stdio"], answers, env: { ...aws.env, ...env } });
  try {
    await client.initialize({
      capabilities: { workspace: { workspaceEdit: { documentChanges } } },
      workspaceFolders: [{ uri: pathToFileURL(folder).href, name: "app" }],
    });
    client.open(uri, TEXT);
    const move = async () => {
      const start = { line: 2, character: TEXT.split("\n")[2]!.indexOf("API_KEY") };
      const params = { textDocument: { uri }, range: { start, end: start }, context: { diagnostics: [] } };
      const { result } = await client.request("textDocument/codeAction", params);
      const action = (result as { title: string; command: object }[]).find(({ title }) => title.startsWith("Move "));
      t.equal(action?.title, "Move API_KEY to tool env");
      t.same(await client.request("workspace/executeCommand", action!.command).then(({ result }) => result), null);
    };
    const said = async () => (await client.receive("window/showMessage")).params as { type: number; message: string };
    const kept = async () =>
      (await runTool(["env", "get", "API_KEY"], { cwd: folder, env: { ...aws.env, ...env } })).stdout;
    await body({ client, uri, folder, tool, aws, move, said, kept });
    t.equal(await client.stop(), 0, "ends well");
    t.equal(client.noise(), "", "stdout holds the protocol alone");
    t.notMatch(JSON.stringify(client.received) + client.stderr(), "hunter", "the value is in no message and no log");
    for (const { words } of tool.calls()) t.notMatch(words.join(" "), "hunter", "and in no argument");
  } finally {
    client.child.kill();
  }
}

const edits = ({ received }: LspClient) => received.filter(({ method }) => method === "workspace/applyEdit");

t.test("the value goes to stdin, and the variable from the text", (t) =>
  withServer(t, async ({ client, uri, folder, tool, move, said, kept }) => {
    await move();
    t.same(await said(), {
      type: 3,
      message: `${KEPT}, and no longer by tool.json. Deploy again: until then a stage has the value of its last deploy.`,
    });
    const words = ["env", "add", "API_KEY", "-", "-s", "all"];
    t.same(tool.calls(), [{ words, cwd: folder, input: "hunter2!", noColor: "1" }]);
    t.equal(await kept(), "hunter2!");
    t.equal(edits(client).length, 1);
    const { label, edit } = edits(client)[0]!.params as { label: string; edit: { documentChanges: never[] } };
    t.equal(label, "Move API_KEY to tool env");
    const [change] = edit.documentChanges as { textDocument: object; edits: [] }[];
    t.same(change!.textDocument, { uri, version: 1 }, "for that version only");
    t.equal(applyLspEdits(new ToolDocument({ uri, version: 1, text: TEXT, kind: "config" }), change!.edits), REST);
  }),
);

t.test("a client without versions of edits, in the sandbox", (t) =>
  withServer(
    t,
    async ({ client, uri, move, said, kept }) => {
      await move();
      t.match((await said()).message, `${KEPT} in the sandbox, and no longer`);
      t.equal(await kept(), "hunter2!");
      const { edit } = edits(client)[0]!.params as { edit: { changes: Record<string, []> } };
      const document = new ToolDocument({ uri, version: 1, text: TEXT, kind: "config" });
      t.equal(applyLspEdits(document, edit.changes[uri]!), REST);
    },
    // Emacs answers nothing.
    { documentChanges: false, applied: null, env: testSandbox(t).env },
  ),
);

t.test("the command fails: its words are shown, and the text stays", (t) =>
  withServer(t, async ({ client, aws, move, said }) => {
    const message = "User: ann is not authorized to perform: ssm:PutParameter on resource: hunter2! because";
    aws.controls.failures.plan({
      service: "ssm",
      operation: "PutParameter",
      error: { code: "AccessDeniedException", message, status: 400 },
    });
    await move();
    t.same(await said(), {
      type: 1,
      message:
        "API_KEY stays in tool.json: ann may not do ssm:PutParameter on ...\n  allow it to that user or role; tool stack policy prints all that is needed",
    });
    t.same(edits(client), []);
  }),
);

const changes: [name: string, change: (scene: Scene) => void, removes: boolean][] = [
  ["the variable has another value", ({ client, uri }) => replace(client, uri, "hunter2!", "other"), false],
  [
    "the text begins otherwise",
    ({ client, uri }) => replace(client, uri, '"name"', '\n"type": "static", "name"'),
    true,
  ],
  [
    "the text is closed: the saved one has another value",
    ({ client, uri }) => client.notify("textDocument/didClose", { textDocument: { uri } }),
    false,
  ],
];

for (const [name, change, removes] of changes) {
  t.test(`while the command runs, ${name}`, (t) =>
    withServer(t, async (scene) => {
      const { client, uri, tool, move, said } = scene;
      const release = tool.hold();
      await move();
      await until("the command", () => tool.calls().length === 1);
      t.equal((await client.request("textDocument/foldingRange", { textDocument: { uri } })).error, undefined);
      change(scene);
      release();
      const { type, message } = await said();
      t.equal(type, removes ? 3 : 2);
      if (!removes) t.match(message, `${KEPT}, with the value that it had. tool.json was changed or closed meanwhile`);
      const documents = edits(client).map(({ params }) => (params as { edit: { documentChanges: object[] } }).edit);
      t.match(documents, removes ? [{ documentChanges: [{ textDocument: { version: 2 } }] }] : []);
    }),
  );
}

function replace(client: LspClient, uri: string, from: string, to: string) {
  const text = TEXT.replace(from, to);
  client.notify("textDocument/didChange", { textDocument: { uri, version: 2 }, contentChanges: [{ text }] });
}

t.test("the editor does not make the change", (t) =>
  withServer(
    t,
    async ({ move, said }) => {
      await move();
      t.same(await said(), { type: 2, message: `${KEPT}, but the editor did not change tool.json: remove it there.` });
    },
    { applied: { applied: false } },
  ),
);

t.test("what cannot be moved is refused, and nothing runs", (t) =>
  withServer(t, async ({ client, uri, tool }) => {
    const rows: [argument: unknown, message: string][] = [
      [{ uri, name: "GONE" }, 'tool.json has no variable "GONE" that could be moved'],
      [{ uri, name: "API_KEY", stage: "--all" }, 'tool.json has no variable "API_KEY" that could be moved'],
      [{ uri }, 'tool.moveSecret: "name" is missing'],
      [{ uri: "file:///gone/tool.json", name: "A" }, 'tool.moveSecret: "uri" names no tool.json that is open'],
      [undefined, 'tool.moveSecret: "uri" names no tool.json that is open'],
    ];
    for (const [argument, message] of rows) {
      const params = { command: "tool.moveSecret", arguments: argument === undefined ? [] : [argument] };
      const { error } = await client.request("workspace/executeCommand", params);
      t.same(error, { code: -32803, message }, JSON.stringify(argument));
    }
    t.same(tool.calls(), []);
  }),
);
