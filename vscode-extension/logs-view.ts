import * as vscode from "vscode";
import { configUri, projectLocation, type WorkspaceProject, type WorkspaceProjects } from "./projects.ts";
import { type SavedQuery, savedQueries } from "./saved-queries.ts";

/** A row of the view: an app, if there are several, or one of its saved queries. */
export type LogsViewItem =
  | { readonly kind: "project"; readonly project: WorkspaceProject }
  | { readonly kind: "query"; readonly project: WorkspaceProject; readonly saved: SavedQuery };

/** The view "Tool Logs": the saved queries of each tool.json. A click shows the logs that one selects. */
export class LogsView implements vscode.TreeDataProvider<LogsViewItem>, vscode.Disposable {
  readonly onDidChangeTreeData: vscode.Event<void>;
  readonly #projects: WorkspaceProjects;
  readonly #view: vscode.Disposable;

  constructor(projects: WorkspaceProjects) {
    this.#projects = projects;
    this.onDidChangeTreeData = projects.onDidChange;
    this.#view = vscode.window.registerTreeDataProvider("tool.logs", this);
  }

  async getChildren(item?: LogsViewItem): Promise<LogsViewItem[]> {
    if (item?.kind === "query") return [];
    const projects = item === undefined ? this.#projects.all() : [item.project];
    const all = await Promise.all(projects.map((project) => this.#queriesOf(project)));
    // The name of the app is of use only if there is another app.
    if (item !== undefined || projects.length <= 1) return all.flat();
    return projects.flatMap((project, i) => (all[i]!.length === 0 ? [] : [{ kind: "project" as const, project }]));
  }

  getTreeItem(item: LogsViewItem): vscode.TreeItem {
    const { project } = item;
    if (item.kind === "project") {
      const row = new vscode.TreeItem(project.name, vscode.TreeItemCollapsibleState.Expanded);
      row.description = projectLocation(project);
      row.iconPath = new vscode.ThemeIcon("folder");
      return row;
    }
    const { name, query } = item.saved;
    const row = new vscode.TreeItem(name);
    row.id = `${project.folder}@${name}`;
    row.description = query;
    row.tooltip = new vscode.MarkdownString().appendCodeblock(query, "toolquery");
    row.iconPath = new vscode.ThemeIcon("search");
    row.contextValue = "query";
    const uri = configUri(project.folder).toString();
    row.command = { command: "tool.logs", title: "Show Logs", arguments: [{ uri, query: `@${name}` }] };
    return row;
  }

  dispose(): void {
    this.#view.dispose();
  }

  async #queriesOf(project: WorkspaceProject): Promise<LogsViewItem[]> {
    const saved = savedQueries(await this.#projects.configText(project));
    return saved.map((one) => ({ kind: "query" as const, project, saved: one }));
  }
}
