// The scenario without an editor: the messages as they are, and the least that an editor does with them.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import t from "tap";
import { TextDocument } from "vscode-languageserver-textdocument";
import type {
  CodeAction,
  CodeLens,
  Command,
  CompletionItem,
  CompletionList,
  Diagnostic,
  Hover,
  Location,
  MarkupContent,
  TextEdit,
  WorkspaceEdit,
} from "vscode-languageserver-types";
import { copyExample } from "../support/copy-example.ts";
import { playScenario, type Step } from "../support/editor-scenario.ts";
import { locate } from "../support/locate.ts";
import { startLsp } from "../support/lsp-client.ts";

interface PublishDiagnosticsParams {
  readonly uri: string;
  readonly version?: number;
  readonly diagnostics: readonly Diagnostic[];
}

t.test("the scenario over stdio", async (t) => {
  const app = copyExample(t.testdir());
  const path = join(app, "tool.json");
  const original = readFileSync(path, "utf8");
  const uri = pathToFileURL(path).href;
  const client = startLsp();
  t.teardown(() => client.child.kill());
  let document = TextDocument.create(uri, "json", 1, original);

  const ask = async <T>(method: string, params: object = {}): Promise<T> => {
    const { result, error } = await client.request(method, { textDocument: { uri }, ...params });
    if (error !== undefined) throw new Error(`${method}: ${error.message}`);
    return result as T;
  };
  const apply = (edits: readonly TextEdit[]) => {
    const text = TextDocument.applyEdits(document, [...edits]);
    document = TextDocument.create(uri, "json", document.version + 1, text);
    client.notify("textDocument/didChange", {
      textDocument: { uri, version: document.version },
      contentChanges: [{ text }],
    });
  };
  /** The step's edit, and the position of its `|`. */
  const edit = (step: Step) => {
    if (step.replace !== undefined) {
      const { from, to } = locate(document.getText(), step.replace);
      const range = { start: document.positionAt(from), end: document.positionAt(to) };
      apply([{ range, newText: step.with!.replace("|", "") }]);
    }
    const marked = step.at ?? step.with ?? "";
    return document.positionAt(locate(document.getText(), marked).cursor);
  };
  const diagnostics = async (): Promise<readonly Diagnostic[]> => {
    const { version } = document;
    const { params } = await client.receive(
      "textDocument/publishDiagnostics",
      (params: PublishDiagnosticsParams) => params.uri === uri && params.version === version,
    );
    return (params as PublishDiagnosticsParams).diagnostics;
  };
  const problems = async () =>
    (await diagnostics()).map(({ range: { start }, message }) => `${place(start)} ${message}`);

  const actions: Record<string, (step: Step) => Promise<object>> = {
    async open() {
      await client.initialize({
        rootUri: pathToFileURL(app).href,
        capabilities: {
          textDocument: {
            publishDiagnostics: { versionSupport: true },
            codeAction: {
              codeActionLiteralSupport: { codeActionKind: { valueSet: ["quickfix", "refactor", "source"] } },
            },
            hover: { contentFormat: ["plaintext"] },
          },
        },
      });
      client.open(uri, original);
      return { problems: await problems() };
    },
    async diagnostics(step) {
      edit(step);
      return { problems: await problems() };
    },
    async fix(step) {
      const position = edit(step);
      const range = { start: position, end: position };
      const context = { diagnostics: await diagnostics() };
      const codeActions = await ask<(CodeAction | Command)[]>("textDocument/codeAction", { range, context });
      const picked = codeActions.find(({ title }) => title === step.pick) as CodeAction;
      apply(editsOf(picked.edit!, uri));
      return { titles: codeActions.map(({ title }) => title), problems: await problems() };
    },
    async complete(step) {
      const position = edit(step);
      const result = await ask<CompletionList | CompletionItem[]>("textDocument/completion", { position });
      const items = [...(Array.isArray(result) ? result : result.items)].sort((a, b) =>
        sortKey(a) < sortKey(b) ? -1 : 1,
      );
      apply([items.find(({ label }) => label === step.pick)!.textEdit as TextEdit]);
      return { labels: items.map(({ label }) => label) };
    },
    async hover(step) {
      const { contents } = await ask<Hover>("textDocument/hover", { position: edit(step) });
      return { hover: (contents as MarkupContent).value };
    },
    async definition(step) {
      const locations = await ask<Location | Location[]>("textDocument/definition", { position: edit(step) });
      const [location] = Array.isArray(locations) ? locations : [locations];
      return { at: place(location!.range.start) };
    },
    async rename(step) {
      const position = edit(step);
      apply(editsOf(await ask<WorkspaceEdit>("textDocument/rename", { position, newName: step.to }), uri));
      return {};
    },
    async format(step) {
      edit(step);
      apply(await ask<TextEdit[]>("textDocument/formatting", { options: { tabSize: 2, insertSpaces: true } }));
      return {};
    },
    async lens() {
      const lenses = await ask<CodeLens[]>("textDocument/codeLens");
      return { lenses: lenses.map(({ range, command }) => `${range.start.line + 1} ${command!.title}`) };
    },
    async shutdown() {
      return { exit: await client.stop() };
    },
  };
  await playScenario(t, original, { actions, text: async () => document.getText() });
  t.equal(client.noise(), "", "nothing but messages on stdout");
});

function place({ line, character }: { line: number; character: number }): string {
  return `${line + 1}:${character + 1}`;
}

function sortKey({ sortText, label }: CompletionItem): string {
  return sortText ?? label;
}

function editsOf({ changes, documentChanges }: WorkspaceEdit, uri: string): TextEdit[] {
  if (changes?.[uri] !== undefined) return changes[uri];
  return (documentChanges ?? []).flatMap((change) =>
    "edits" in change && change.textDocument.uri === uri ? (change.edits as TextEdit[]) : [],
  );
}
