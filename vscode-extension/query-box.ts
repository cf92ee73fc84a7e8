import * as vscode from "vscode";
import { ResponseError } from "vscode-languageclient/node";
import type { Client } from "./client.ts";
import { configUri, type WorkspaceProject } from "./projects.ts";
import {
  applySuggestion,
  type QueryDiagnostic,
  type QueryProblem,
  queryProblem,
  type Suggestion,
  savedSuggestions,
} from "./query-suggestions.ts";
import type { SavedQuery } from "./saved-queries.ts";

export interface QueryBoxOptions {
  readonly project: WorkspaceProject;
  /** The initial text of the box. */
  readonly query: string;
  readonly saved: readonly SavedQuery[];
  /** Whether included files may have more of them. */
  readonly hasMoreSaved: boolean;
  /** Queries that were asked before, the last one first. */
  readonly recent: readonly string[];
}

/** The number of suggestions that are listed at once: more is not read, and every keystroke sends it. */
const MAX_SUGGESTIONS = 40;

/**
 * Asks for a query in a box that completes it as it is typed: the language server sees the text as a document that is
 * never saved. Enter takes the row that is chosen, Tab the first suggestion. Undefined if the person leaves.
 */
export class QueryBox implements vscode.Disposable {
  readonly #client: Client;
  #open: OpenBox | undefined;

  constructor(client: Client) {
    this.#client = client;
  }

  async ask(options: QueryBoxOptions): Promise<string | undefined> {
    this.#open?.dispose();
    const box = new OpenBox(this.#client, options);
    this.#open = box;
    return box.answer;
  }

  /** The command that the Tab key runs. */
  complete(): void {
    this.#open?.complete();
  }

  dispose(): void {
    this.#open?.dispose();
  }
}

type Completion = Suggestion[] | { readonly items: Suggestion[] } | null;

interface Row extends vscode.QuickPickItem {
  /** The text of the box when the row is taken; `isAnswer` if that is the answer. */
  readonly query?: string;
  readonly isAnswer?: boolean;
  readonly isSuggestion?: boolean;
}

class OpenBox {
  readonly answer: Promise<string | undefined>;
  readonly #client: Client;
  readonly #options: QueryBoxOptions;
  readonly #pick = vscode.window.createQuickPick<Row>();
  readonly #uri: string;
  #version = 0;
  #rows: readonly Row[] = [];
  /** The row that is chosen as long as the person chooses no other. */
  #first: Row | undefined;
  /** The text that the rows are of. */
  #listed: string | undefined;
  /** The key that was pressed before they were of the text that it was pressed for. */
  #pressed: "accept" | "complete" | undefined;
  #finish: (query: string | undefined) => void = () => {};

  constructor(client: Client, options: QueryBoxOptions) {
    this.#client = client;
    this.#options = options;
    // In the project's folder, so that the server knows its stages.
    this.#uri = vscode.Uri.joinPath(configUri(options.project.folder), "../.tool/query.logq").toString();
    this.answer = new Promise((resolve) => {
      this.#finish = resolve;
    });
    const pick = this.#pick;
    pick.title = `Logs of ${options.project.name}`;
    pick.placeholder = "A query, such as: status >= 500 and duration > 1s. Empty: all entries";
    // No part of the stable interface. Without it rows that hold what was typed come before the first.
    Object.assign(pick, { sortByLabel: false });
    // The typed text is not lost to a look at another window, or to a terminal that opens late.
    pick.ignoreFocusOut = true;
    pick.onDidChangeValue((value) => void this.#update(value));
    pick.onDidAccept(() => this.#accept());
    pick.onDidHide(() => this.dispose());
    pick.value = options.query;
    pick.show();
    void this.#begin();
  }

  complete(): void {
    if (this.#isBehind("complete")) return;
    const row = this.#active();
    const suggestion = row !== undefined && isSuggestion(row) ? row : this.#rows.find(isSuggestion);
    if (suggestion !== undefined) this.#take(suggestion);
  }

  dispose(): void {
    this.#finish(undefined);
    this.#finish = () => {};
    void vscode.commands.executeCommand("setContext", "tool.queryBoxOpen", false);
    if (this.#version > 0) void this.#client.notify("textDocument/didClose", { textDocument: { uri: this.#uri } });
    this.#version = 0;
    this.#pick.dispose();
  }

  async #begin(): Promise<void> {
    await vscode.commands.executeCommand("setContext", "tool.queryBoxOpen", true);
    this.#show(this.#pick.value, [], []);
    this.#version = 1;
    await this.#client.notify("textDocument/didOpen", {
      textDocument: { uri: this.#uri, languageId: "toolquery", version: 1, text: this.#pick.value },
    });
    // Not what was sent: it may have been typed on meanwhile.
    await this.#update(this.#pick.value);
  }

  async #update(value: string): Promise<void> {
    // Until the document is open, `begin` is about to ask.
    if (this.#version === 0) return;
    const version = ++this.#version;
    const textDocument = { uri: this.#uri };
    await this.#client.notify("textDocument/didChange", {
      textDocument: { uri: this.#uri, version },
      contentChanges: [{ text: value }],
    });
    const position = { line: 0, character: value.length };
    try {
      const [completion, report] = await Promise.all([
        this.#client.request<Completion>("textDocument/completion", { textDocument, position }),
        this.#client.request<{ items?: QueryDiagnostic[] }>("textDocument/diagnostic", { textDocument }),
      ]);
      if (version !== this.#version) return;
      const items = completion && "items" in completion ? completion.items : (completion ?? []);
      this.#show(value, items, report?.items ?? []);
    } catch (error) {
      if (!(error instanceof ResponseError)) throw error;
      // It gave up on a text that was changed meanwhile. A query can be typed without its help.
      if (version === this.#version) this.#show(value, [], []);
    }
  }

  /** Whether the rows are for an older text. The pressed key is then kept until the rows for the typed text are there. */
  #isBehind(key: "accept" | "complete"): boolean {
    if (this.#listed === this.#pick.value) return false;
    this.#pressed = key;
    return true;
  }

  #show(value: string, suggestions: readonly Suggestion[], diagnostics: readonly QueryDiagnostic[]): void {
    const { saved, hasMoreSaved, recent } = this.#options;
    const query = value.trim();
    const problem = queryProblem(value, diagnostics, saved, hasMoreSaved);
    const first = problem === undefined ? answerRow(query) : problemRow(problem);
    const completing = [...savedSuggestions(value, saved), ...suggestions]
      .map((suggestion) => suggestionRow(value, suggestion))
      // A suggestion that is already typed in full is of no use.
      .filter((row) => row.query?.trim() !== query)
      .slice(0, MAX_SUGGESTIONS);
    const others =
      query !== ""
        ? []
        : [
            ...section(
              "saved in tool.json",
              saved.map((one) => answerRow(`@${one.name}`, one.query)),
            ),
            ...section(
              "asked before",
              recent.map((one) => answerRow(one)),
            ),
          ];
    this.#rows = [first, ...others, ...section("suggestions", completing)];
    this.#pick.items = this.#rows;
    // A query that is not finished is not wrong yet: Enter completes it.
    const [next] = completing;
    const active = problem !== undefined && problem.fixed === undefined && next !== undefined ? next : first;
    if (active !== first) this.#pick.activeItems = [active];
    this.#first = active;
    this.#listed = value;
    const pressed = this.#pressed;
    this.#pressed = undefined;
    if (pressed === "accept") this.#take(active);
    if (pressed === "complete") this.complete();
  }

  #accept(): void {
    if (this.#isBehind("accept")) return;
    const row = this.#active();
    if (row !== undefined) this.#take(row);
  }

  /** The chosen row. The editor tells of it later than it was given the rows: until then it names one of an older text. */
  #active(): Row | undefined {
    const [row] = this.#pick.activeItems;
    return row !== undefined && this.#rows.includes(row) ? row : this.#first;
  }

  #take({ query, isAnswer }: Row): void {
    if (query === undefined) return;
    if (isAnswer) {
      this.#finish(query);
      this.#pick.hide();
      return;
    }
    this.#pick.value = query;
    void this.#update(query);
  }
}

const isSuggestion = (row: Row) => row.isSuggestion === true;

function answerRow(query: string, meaning?: string): Row {
  if (meaning !== undefined) {
    return { label: query, description: meaning, query, isAnswer: true, alwaysShow: true };
  }
  const label = query === "" ? "$(play) Show all entries" : `$(play) ${query}`;
  return { label, query, isAnswer: true, alwaysShow: true };
}

function problemRow({ message, remedy, fixed }: QueryProblem): Row {
  return {
    label: `$(error) ${message}`,
    ...(remedy !== undefined && { detail: fixed === undefined ? remedy : `$(lightbulb) ${remedy}` }),
    ...(fixed !== undefined && { query: fixed }),
    alwaysShow: true,
  };
}

function suggestionRow(value: string, suggestion: Suggestion): Row {
  return {
    label: suggestion.label,
    ...(suggestion.detail !== undefined && { description: suggestion.detail }),
    query: applySuggestion(value, suggestion),
    isSuggestion: true,
    alwaysShow: true,
  };
}

function section(label: string, rows: readonly Row[]): Row[] {
  return rows.length === 0 ? [] : [{ label, kind: vscode.QuickPickItemKind.Separator }, ...rows];
}
