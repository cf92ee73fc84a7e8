import { type ChildProcess, spawn } from "node:child_process";
import * as vscode from "vscode";
import { type FollowedView, followsEnd } from "./follow-end.ts";
import { locateTool } from "./installation.ts";
import { logHeading, logTitle } from "./log-heading.ts";
import { LogLines } from "./log-lines.ts";
import { mayStartProcesses } from "./trust.ts";

export const LOGS_SCHEME = "tool-logs";

/** An editor scrolls and searches this many with ease: a few minutes of a busy app. More is for a terminal. */
const MAX_LINES = 2000;

/** Entries come in bursts: one change of the document for each. Shorter than a glance. */
const UPDATE_MS = 150;

/** The limit of what is kept of the stderr of `tool logs`; an error is a few lines. */
const MAX_NOTES_LENGTH = 10_000;

export interface LogsQuery {
  /** The folder of the app. */
  readonly folder: vscode.Uri;
  /** As `tool logs` takes it: `@slow status = 500`. */
  readonly query: string;
}

/** Documents that follow a development log: `tool logs -f` runs as long as one is open in a tab. */
export class LogsDocuments implements vscode.TextDocumentContentProvider, vscode.Disposable {
  readonly onDidChange: vscode.Event<vscode.Uri>;
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly #open = new Map<string, LogsDocument>();
  readonly #subscriptions: vscode.Disposable[];
  readonly #views = new WeakMap<vscode.TextEditor, FollowedView>();

  constructor() {
    this.onDidChange = this.#changed.event;
    this.#subscriptions = [
      this.#changed,
      vscode.workspace.registerTextDocumentContentProvider(LOGS_SCHEME, this),
      // VS Code forgets changes that are announced before a document is open: on a busy machine, those of the first entries.
      vscode.workspace.onDidOpenTextDocument(({ uri }) => {
        if (this.#open.has(uri.toString())) this.#changed.fire(uri);
      }),
      vscode.window.tabGroups.onDidChangeTabs(() => this.#closeUnshown()),
      vscode.window.onDidChangeTextEditorVisibleRanges(({ textEditor }) => this.#look(textEditor)),
      vscode.workspace.onDidChangeTextDocument(({ document }) => {
        for (const editor of vscode.window.visibleTextEditors) if (editor.document === document) this.#follow(editor);
      }),
    ];
  }

  async show(logs: LogsQuery): Promise<void> {
    const document = await vscode.workspace.openTextDocument(logsUri(logs));
    await vscode.window.showTextDocument(document, { preview: false });
    // For the walkthrough: what it asks of the active resource, VS Code answers for files only.
    await vscode.commands.executeCommand("setContext", "tool.logsShown", true);
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    const key = uri.toString();
    let one = this.#open.get(key);
    if (one === undefined) {
      one = new LogsDocument(readLogsUri(uri), () => this.#changed.fire(uri));
      this.#open.set(key, one);
      void one.start();
    }
    return one.text();
  }

  dispose(): void {
    for (const one of this.#open.values()) one.end();
    for (const subscription of this.#subscriptions) subscription.dispose();
  }

  #look(editor: vscode.TextEditor): void {
    const { document, visibleRanges } = editor;
    const dropped = this.#open.get(document.uri.toString())?.dropped;
    const [first] = visibleRanges;
    if (dropped === undefined || first === undefined) return;
    const end = visibleRanges.at(-1)!.end.line;
    const now = { start: first.start.line, end, lineCount: document.lineCount, dropped };
    this.#views.set(editor, { ...now, isFollowing: followsEnd(this.#views.get(editor), now) });
  }

  #follow(editor: vscode.TextEditor): void {
    if (editor.document.uri.scheme !== LOGS_SCHEME || this.#views.get(editor)?.isFollowing === false) return;
    const last = new vscode.Position(editor.document.lineCount - 1, 0);
    editor.revealRange(new vscode.Range(last, last));
  }

  /** A document without a tab lives on for minutes; its process need not. */
  #closeUnshown(): void {
    const tabUris = new Set(
      vscode.window.tabGroups.all
        .flatMap(({ tabs }) => tabs)
        .map(({ input }) => (input instanceof vscode.TabInputText ? input.uri.toString() : "")),
    );
    for (const [key, one] of this.#open) {
      if (tabUris.has(key)) one.wasShown = true;
      // Before it is shown for the first time it is open without a tab, too.
      else if (one.wasShown) {
        one.end();
        this.#open.delete(key);
      }
    }
  }
}

/** The app and the query of a logs document. */
export function readLogsUri(uri: vscode.Uri): LogsQuery {
  const { folder, query } = JSON.parse(uri.query) as { folder: string; query: string };
  return { folder: vscode.Uri.parse(folder), query };
}

function logsUri({ folder, query }: LogsQuery): vscode.Uri {
  const path = `/${logTitle(nameOf(folder), query)}`;
  return vscode.Uri.from({ scheme: LOGS_SCHEME, path, query: JSON.stringify({ folder: folder.toString(), query }) });
}

const nameOf = (folder: vscode.Uri) => folder.path.split("/").at(-1) || folder.path;

/** One log that is followed. */
class LogsDocument {
  wasShown = false;
  readonly #logs: LogsQuery;
  readonly #tell: () => void;
  readonly #lines = new LogLines(MAX_LINES);
  #notes = "";
  #child: ChildProcess | undefined;
  #isLive = true;
  #isEnded = false;
  #update: NodeJS.Timeout | undefined;

  constructor(logs: LogsQuery, tell: () => void) {
    this.#logs = logs;
    this.#tell = tell;
  }

  get dropped(): number {
    return this.#lines.dropped;
  }

  text(): string {
    const { folder, query } = this.#logs;
    const state = { maxLines: MAX_LINES, dropped: this.#lines.dropped, isLive: this.#isLive };
    const heading = logHeading(nameOf(folder), query, state);
    const isQuiet = this.#lines.length === 0 && this.#isLive;
    // Errors come after the entries, as in a terminal. Before the first entry, stderr says where the entries come from.
    const notes = this.#isLive && !isQuiet ? "" : this.#notes;
    return `${heading}\n\n${this.#lines.text()}${notes}${isQuiet ? "No entry yet.\n" : ""}`;
  }

  async start(): Promise<void> {
    const { folder, query } = this.#logs;
    const tool = mayStartProcesses("show logs", folder) ? await locateTool() : undefined;
    if (this.#isEnded) return;
    if (tool === undefined) {
      this.#ended("The log cannot be read: there is no tool that may be started. Close this tab and try again.\n");
      return;
    }
    const words = ["logs", "--follow", "--format", "text", "--", ...(query === "" ? [] : [query])];
    const child = spawn(tool, words, {
      cwd: folder.fsPath,
      env: { ...process.env, NO_COLOR: "1" },
      // The channel carries nothing: it closes if the editor is killed, and the process ends with it.
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    this.#child = child;
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      this.#lines.add(text);
      this.#soon();
    });
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#notes = (this.#notes + text).slice(-MAX_NOTES_LENGTH);
      this.#soon();
    });
    child.once("error", (error) => this.#ended(`${error.message}\n`));
    child.once("close", () => this.#ended(""));
  }

  /** Nobody is notified any more: a document that is kept without a tab would ask for its text, and start again. */
  end(): void {
    this.#isEnded = true;
    clearTimeout(this.#update);
    this.#child?.kill("SIGTERM");
  }

  #ended(note: string): void {
    this.#notes += note;
    this.#isLive = false;
    this.#soon();
  }

  #soon(): void {
    if (this.#isEnded) return;
    this.#update ??= setTimeout(() => {
      this.#update = undefined;
      this.#tell();
    }, UPDATE_MS);
  }
}
