import * as vscode from "vscode";
import type { Apps, RunningApp } from "./apps.ts";
import type { CommandId } from "./commands.ts";
import type { WorkspaceProject, WorkspaceProjects } from "./projects.ts";

/** Right of the branch, which other extensions write with higher numbers. */
const PRIORITY = 10;

/** The item of the status bar: the stage that runs here, and where it answers. A click lists what can be done. */
export class StatusBar implements vscode.Disposable {
  readonly #item = vscode.window.createStatusBarItem("tool.stage", vscode.StatusBarAlignment.Left, PRIORITY);
  readonly #subscriptions: readonly vscode.Disposable[];
  readonly #projects: WorkspaceProjects;
  readonly #apps: Apps;

  constructor(projects: WorkspaceProjects, apps: Apps) {
    this.#projects = projects;
    this.#apps = apps;
    this.#item.name = "Tool: Stage";
    this.#item.command = "tool.menu" satisfies CommandId;
    const show = () => this.#show();
    this.#subscriptions = [
      this.#item,
      projects.onDidChange(show),
      apps.onDidChange(show),
      vscode.window.onDidChangeActiveTextEditor(show),
    ];
    show();
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
  }

  #show(): void {
    const project = this.#projects.current();
    const running = this.#apps.all();
    const app = (project && this.#apps.in(project.folder)) ?? (project === undefined ? running[0] : undefined);
    if (this.#projects.all().length === 0 && running.length === 0) {
      this.#item.hide();
      return;
    }
    this.#item.text = textOf(app);
    this.#item.tooltip = tooltipOf(project, app, running.length);
    this.#item.show();
  }
}

function textOf(app: RunningApp | undefined): string {
  if (app === undefined) return "$(debug-stop) development: stopped";
  if (app.phase === "running") return `$(broadcast) development: ${app.url?.replace(/^https?:\/\/|\/$/g, "")}`;
  return `$(loading~spin) development: ${app.phase}`;
}

function tooltipOf(project: WorkspaceProject | undefined, app: RunningApp | undefined, runningCount: number): string {
  const name = project?.name ?? (app === undefined ? "tool" : app.folder.path.split("/").at(-1));
  const state = app === undefined ? "is not running here" : app.phase === "running" ? `is at ${app.url}` : app.phase;
  const others = runningCount > 1 ? `\n${runningCount} apps run in this window.` : "";
  return `${name} ${state}. Click for what can be done.${others}`;
}
