// The rival: vscode-json-languageservice as it comes, with our schema, over the same transport. A check against a JSON
// Schema, and nothing of what strings say. Bundled by run.ts as the command is, so that both start alike.
import { readFileSync } from "node:fs";
import {
  getLanguageService,
  type JSONDocument,
  type LanguageService,
  type TextDocument as Text,
} from "vscode-json-languageservice";
import {
  createConnection,
  ProposedFeatures,
  type TextDocumentPositionParams,
  TextDocumentSyncKind,
  TextDocuments,
} from "vscode-languageserver/node";
import { TextDocument } from "vscode-languageserver-textdocument";

// biome-ignore lint/suspicious/noExplicitAny: each method has parameters of its own
type Answer = (service: LanguageService, text: Text, tree: JSONDocument, params: any) => unknown;

const at = ({ position }: TextDocumentPositionParams) => position;

const METHODS: Readonly<Record<string, Answer>> = {
  "textDocument/diagnostic": async (service, text, tree) => ({
    kind: "full",
    items: await service.doValidation(text, tree),
  }),
  "textDocument/completion": (service, text, tree, params) => service.doComplete(text, at(params), tree),
  "textDocument/hover": (service, text, tree, params) => service.doHover(text, at(params), tree),
  "textDocument/definition": (service, text, tree, params) => service.findDefinition(text, at(params), tree),
  "textDocument/documentSymbol": (service, text, tree) =>
    service.findDocumentSymbols2(text, tree, { resultLimit: Number.MAX_VALUE }),
  "textDocument/documentLink": (service, text, tree) => service.findLinks(text, tree),
  "textDocument/documentColor": (service, text, tree) => service.findDocumentColors(text, tree),
  "textDocument/foldingRange": (service, text) => service.getFoldingRanges(text, { rangeLimit: Number.MAX_VALUE }),
  "textDocument/selectionRange": (service, text, tree, params) =>
    service.getSelectionRanges(text, params.positions, tree),
  "textDocument/formatting": (service, text, _, params) => service.format(text, undefined, params.options),
  "textDocument/rangeFormatting": (service, text, _, params) => service.format(text, params.range, params.options),
};

const connection = createConnection(ProposedFeatures.all, process.stdin, process.stdout);
const texts = new TextDocuments(TextDocument);
const trees = new WeakMap<TextDocument, { version: number; tree: JSONDocument }>();
const service = getLanguageService({ schemaRequestService: async () => "{}" });
service.configure({
  validate: true,
  schemas: [
    { uri: "tool.schema.json", fileMatch: ["tool.json"], schema: JSON.parse(readFileSync(process.argv[2]!, "utf8")) },
  ],
});
connection.onInitialize(() => ({ capabilities: { textDocumentSync: TextDocumentSyncKind.Incremental } }));
for (const [method, answer] of Object.entries(METHODS)) {
  connection.onRequest(method, (params: { textDocument: { uri: string } }) => {
    const text = texts.get(params.textDocument.uri)!;
    let entry = trees.get(text);
    if (entry?.version !== text.version) {
      entry = { version: text.version, tree: service.parseJSONDocument(text) };
      trees.set(text, entry);
    }
    return answer(service, text, entry.tree, params);
  });
}
texts.onDidChangeContent(({ document }) => {
  if (!document.uri.endsWith("/pushed/tool.json")) return;
  void service.doValidation(document, service.parseJSONDocument(document)).then((diagnostics) => {
    void connection.sendDiagnostics({ uri: document.uri, diagnostics });
  });
});
texts.listen(connection);
connection.listen();
