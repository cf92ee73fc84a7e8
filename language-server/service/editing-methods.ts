// The rows of the language server's table for navigation and editing; methods.ts has the others.
import type {
  CodeActionContext,
  Color,
  FormattingOptions,
  Position,
  Range,
  ReferenceContext,
} from "vscode-languageserver-types";
import { CODE_ACTION_KINDS, codeActions } from "./code-actions.ts";
import { codeLens } from "./code-lens.ts";
import { colorPresentations, documentColors } from "./color.ts";
import { stageUrls } from "./completion/cloud-offers.ts";
import { definition } from "./definition.ts";
import type { ToolDocument } from "./document.ts";
import { documentHighlight } from "./document-highlight.ts";
import { documentLinks } from "./document-links.ts";
import { documentSymbols } from "./document-symbols.ts";
import { executeCommand, SERVER_COMMANDS } from "./execute-command.ts";
import { folding } from "./folding.ts";
import { FORMAT_ON_TYPE, formatDocument, formatOnType, formatRange } from "./formatting.ts";
import { inlayHints } from "./inlay-hints.ts";
import { linkedEditing } from "./linked-editing.ts";
import type { Method, Request, WorkspaceMethod } from "./method.ts";
import { MOVE_SECRET, moveSecret } from "./move-secret.ts";
import { references } from "./references.ts";
import { prepareRename, rename } from "./rename.ts";
import { selectionRanges } from "./selection-ranges.ts";
import { SEMANTIC_TOKENS_LEGEND, semanticTokens, semanticTokensDelta } from "./semantic-tokens.ts";
import { SHOW_TRAFFIC, showTraffic } from "./show-traffic.ts";
import { trafficOf } from "./traffic-of.ts";
import { willRenameFiles } from "./will-rename-files.ts";
import { workspaceSymbols } from "./workspace-symbols.ts";

interface At {
  readonly position: Position;
}
interface In {
  readonly range: Range;
}
type ReferencesAt = At & { readonly context: ReferenceContext };
interface Formatting {
  readonly options: FormattingOptions;
}

const lensesOf = ({ document, project, client }: Request) => {
  if (!client.settings.codeLens) return [];
  const seen = trafficOf(document, project, client.settings);
  // Nobody is asked for the addresses of stages that nothing is known of.
  const isAsked = seen !== undefined && seen.traffic.stages.length > 0;
  return codeLens(document, seen, isAsked ? stageUrls(document, project, client) : undefined);
};

export function editingMethods(): readonly Method[] {
  const at = ({ document, params }: Request<At>) => document.offsetAt(params.position);
  return [
    {
      method: "textDocument/definition",
      capability: { definitionProvider: true },
      answer: (it: Request<At>) => definition(it.document, at(it), it.project),
    },
    {
      method: "textDocument/references",
      capability: { referencesProvider: true },
      answer: (it: Request<ReferencesAt>) => references(it.document, at(it), it.params.context, it.project),
    },
    {
      method: "textDocument/documentHighlight",
      capability: { documentHighlightProvider: true },
      answer: (it: Request<At>) => documentHighlight(it.document, at(it)),
    },
    {
      method: "textDocument/prepareRename",
      capability: {},
      answer: (it: Request<At>) => prepareRename(it.document, at(it), it.project),
    },
    {
      method: "textDocument/rename",
      capability: { renameProvider: { prepareProvider: true } },
      answer: (it: Request<At & { newName: string }>) => rename(it.document, at(it), it.params.newName, it.project),
    },
    {
      method: "textDocument/linkedEditingRange",
      capability: { linkedEditingRangeProvider: true },
      answer: (it: Request<At>) => linkedEditing(it.document, at(it)),
    },
    {
      method: "textDocument/documentSymbol",
      capability: { documentSymbolProvider: { label: "tool" } },
      answer: ({ document }: Request) => documentSymbols(document),
    },
    {
      method: "textDocument/documentLink",
      capability: { documentLinkProvider: {} },
      answer: ({ document, project }: Request) => documentLinks(document, project),
    },
    {
      method: "textDocument/codeAction",
      capability: { codeActionProvider: { codeActionKinds: CODE_ACTION_KINDS } },
      answer: ({ document, project, client, params }: Request<In & { context: CodeActionContext }>) =>
        codeActions({ document, project, ...params, createsFiles: client.createsFiles, runsTool: client.runsTool }),
    },
    {
      method: "textDocument/codeLens",
      capability: { codeLensProvider: {} },
      answer: lensesOf,
    },
    {
      method: "textDocument/documentColor",
      capability: { colorProvider: true },
      answer: ({ document }: Request) => documentColors(document),
    },
    {
      method: "textDocument/colorPresentation",
      capability: {},
      answer: ({ document, params }: Request<In & { color: Color }>) =>
        colorPresentations(document, params.color, params.range),
    },
    {
      method: "textDocument/foldingRange",
      capability: { foldingRangeProvider: true },
      answer: ({ document }: Request) => folding(document),
    },
    {
      method: "textDocument/selectionRange",
      capability: { selectionRangeProvider: true },
      answer: ({ document, params }: Request<{ positions: readonly Position[] }>) =>
        selectionRanges(
          document,
          params.positions.map((position) => document.offsetAt(position)),
        ),
    },
    {
      method: "textDocument/formatting",
      capability: { documentFormattingProvider: true },
      answer: ({ document, params }: Request<Formatting>) => formatDocument(document, params.options),
    },
    {
      method: "textDocument/rangeFormatting",
      capability: { documentRangeFormattingProvider: true },
      answer: ({ document, params }: Request<In & Formatting>) => formatRange(document, params.range, params.options),
    },
    {
      method: "textDocument/onTypeFormatting",
      capability: {
        documentOnTypeFormattingProvider: {
          firstTriggerCharacter: FORMAT_ON_TYPE.first,
          moreTriggerCharacter: FORMAT_ON_TYPE.more,
        },
      },
      answer: ({ document, params }: Request<At & Formatting & { ch: string }>) =>
        formatOnType(document, params.position, params.ch, params.options),
    },
    {
      method: "textDocument/inlayHint",
      capability: { inlayHintProvider: true },
      answer: ({ document, client, params }: Request<In>) =>
        client.settings.inlayHints ? inlayHints(document, params.range) : [],
    },
    ...semanticTokensMethods(),
  ];
}

// The last tokens of this many documents are kept for deltas; others get all their tokens again.
const MAX_KEPT = 50;

/** These three belong together: a delta refers to the tokens that were sent last. */
function semanticTokensMethods(): readonly Method[] {
  const lastTokens = new Map<string, { resultId: string; data: readonly number[] }>();
  let count = 0;
  const give = (document: ToolDocument) => {
    const { data } = semanticTokens(document);
    const resultId = String(++count);
    lastTokens.delete(document.uri);
    lastTokens.set(document.uri, { resultId, data });
    if (lastTokens.size > MAX_KEPT) lastTokens.delete(lastTokens.keys().next().value!);
    return { resultId, data };
  };
  return [
    {
      method: "textDocument/semanticTokens/full",
      capability: {
        semanticTokensProvider: { legend: SEMANTIC_TOKENS_LEGEND, full: { delta: true }, range: true },
      },
      answer: ({ document }: Request) => give(document),
    },
    {
      method: "textDocument/semanticTokens/full/delta",
      capability: {},
      answer({ document, params }: Request<{ previousResultId: string }>) {
        const before = lastTokens.get(document.uri);
        const now = give(document);
        if (before?.resultId !== params.previousResultId) return now;
        return { resultId: now.resultId, ...semanticTokensDelta(before.data, now.data) };
      },
    },
    {
      method: "textDocument/semanticTokens/range",
      capability: {},
      answer: ({ document, params }: Request<In>) => semanticTokens(document, params.range),
    },
  ];
}

/** Requests about all configurations of the workspace. */
export function workspaceMethods(): readonly WorkspaceMethod[] {
  return [
    {
      method: "workspace/symbol",
      capability: { workspaceSymbolProvider: true },
      answer: ({ query }: { query: string }, documents) => workspaceSymbols(documents, query),
    },
    {
      method: "workspace/executeCommand",
      capability: { executeCommandProvider: { commands: [...SERVER_COMMANDS, MOVE_SECRET, SHOW_TRAFFIC] } },
      isEdit: true,
      answer({ command, arguments: args = [] }: { command: string; arguments?: unknown[] }, documents) {
        if (command === SHOW_TRAFFIC) return showTraffic(args[0]);
        const documentOf = (uri: string) => documents.find((document) => document.uri === uri);
        return command === MOVE_SECRET ? moveSecret(args[0], documentOf) : executeCommand(command, args, documentOf);
      },
    },
    {
      method: "workspace/willRenameFiles",
      capability: {},
      workspaceCapability: {
        // Files and folders of any name: tool.json may name them all.
        fileOperations: { willRename: { filters: [{ scheme: "file", pattern: { glob: "**/*" } }] } },
      },
      answer: ({ files }: { files: { oldUri: string; newUri: string }[] }, documents) =>
        willRenameFiles(documents, files),
    },
  ];
}
