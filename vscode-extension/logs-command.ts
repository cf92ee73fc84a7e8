import * as vscode from "vscode";
import { queryOfFile } from "../language-server/service/query-file.ts";
import type { CommandArguments } from "./commands.ts";
import { locateTool } from "./installation.ts";
import { LOGS_SCHEME, type LogsDocuments, readLogsUri } from "./logs-document.ts";
import { configUri, type WorkspaceProject, type WorkspaceProjects } from "./projects.ts";
import type { QueryBox } from "./query-box.ts";
import { includesFiles, savedNameProblem, savedQueries, savedQueryEdits } from "./saved-queries.ts";
import { mayStartProcesses } from "./trust.ts";

/** The commands around logs. */
export class LogsCommands {
  readonly #projects: WorkspaceProjects;
  readonly #documents: LogsDocuments;
  readonly #box: QueryBox;
  readonly #recent: Recent;

  constructor(projects: WorkspaceProjects, documents: LogsDocuments, box: QueryBox, state: vscode.Memento) {
    this.#projects = projects;
    this.#documents = documents;
    this.#box = box;
    this.#recent = new Recent(state);
  }

  /** "Show Logs": of the query in the active .logq file, else of one that is asked for; lenses and the view name one. */
  async show({ uri, query }: CommandArguments = {}): Promise<void> {
    if (!mayStartProcesses("show logs")) return;
    const project = await this.#projects.choose("Show Logs", uri);
    if (project === undefined || !mayStartProcesses("show logs", project.folder)) return;
    if ((await locateTool()) === undefined) return;
    const chosenQuery = query ?? queryOfEditor() ?? (await this.#ask(project, ""));
    if (chosenQuery !== undefined) await this.#documents.show({ folder: project.folder, query: chosenQuery });
  }

  /** "Change Query" of a logs document: asks with its query in the box. */
  async change(): Promise<void> {
    const logs = activeLogs();
    if (logs === undefined) return this.show();
    if (!mayStartProcesses("show logs")) return;
    const name = logs.folder.path.split("/").at(-1) ?? "";
    const chosenQuery = await this.#ask({ folder: logs.folder, name }, logs.query);
    if (chosenQuery !== undefined) await this.#documents.show({ folder: logs.folder, query: chosenQuery });
  }

  /** "Save Query": the query of a logs document or a .logq file, else one that is asked for, goes into tool.json. */
  async save(): Promise<void> {
    const logs = activeLogs();
    const project =
      logs === undefined
        ? await this.#projects.choose("Save Query")
        : this.#projects.current(configUri(logs.folder).toString());
    if (project === undefined) return;
    const query = logs?.query || (queryOfEditor() ?? (await this.#ask(project, "")));
    if (query === undefined || query === "") return;
    const name = await vscode.window.showInputBox({
      title: "Save Query",
      prompt: `The name of: ${query}`,
      placeHolder: "slow",
      validateInput: savedNameProblem,
    });
    if (name === undefined) return;
    const document = await vscode.workspace.openTextDocument(configUri(project.folder));
    const edits = savedQueryEdits(document.getText(), name, query);
    if (edits === undefined) {
      void vscode.window.showErrorMessage("tool.json has syntax errors: fix them, then save the query.");
      return;
    }
    const edit = new vscode.WorkspaceEdit();
    for (const { offset, length, content } of edits) {
      const range = new vscode.Range(document.positionAt(offset), document.positionAt(offset + length));
      edit.replace(document.uri, range, content);
    }
    await vscode.workspace.applyEdit(edit);
    await this.#revealIn(document, name);
  }

  /** Shows the place where a saved query is written. */
  async reveal(project: WorkspaceProject, name: string): Promise<void> {
    await this.#revealIn(await vscode.workspace.openTextDocument(configUri(project.folder)), name);
  }

  async #revealIn(document: vscode.TextDocument, name: string): Promise<void> {
    const editor = await vscode.window.showTextDocument(document);
    const savedQuery = savedQueries(document.getText()).find((one) => one.name === name);
    if (savedQuery === undefined) return;
    const at = document.positionAt(savedQuery.offset);
    editor.selection = new vscode.Selection(at, at);
    editor.revealRange(new vscode.Range(at, at), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
  }

  async #ask(project: WorkspaceProject, query: string): Promise<string | undefined> {
    const text = await this.#projects.configText(project);
    const [saved, hasMoreSaved] = [savedQueries(text), includesFiles(text)];
    const chosenQuery = await this.#box.ask({ project, query, saved, hasMoreSaved, recent: this.#recent.all() });
    if (chosenQuery !== undefined && chosenQuery !== "" && !chosenQuery.startsWith("@"))
      await this.#recent.add(chosenQuery);
    return chosenQuery;
  }
}

/** The queries that were asked last in this workspace. */
class Recent {
  readonly #state: vscode.Memento;

  constructor(state: vscode.Memento) {
    this.#state = state;
  }

  all(): readonly string[] {
    return this.#state.get<string[]>(RECENT_KEY, []);
  }

  async add(query: string): Promise<void> {
    const others = this.all().filter((one) => one !== query);
    await this.#state.update(RECENT_KEY, [query, ...others].slice(0, MAX_RECENT));
  }
}

const RECENT_KEY = "recentQueries";
/** The number of queries that a person remembers to have asked. */
const MAX_RECENT = 10;

/** On one line: no text in quotes goes over a line end. */
function queryOfEditor(): string | undefined {
  const document = vscode.window.activeTextEditor?.document;
  const text = document?.languageId === "toolquery" ? queryOfFile(document.getText()) : "";
  return text === "" ? undefined : text;
}

function activeLogs() {
  const uri = vscode.window.activeTextEditor?.document.uri;
  return uri?.scheme === LOGS_SCHEME ? readLogsUri(uri) : undefined;
}
