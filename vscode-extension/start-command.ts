import * as vscode from "vscode";
import type { Apps } from "./apps.ts";
import type { CommandArguments } from "./commands.ts";
import { locateTool } from "./installation.ts";
import type { WorkspaceProjects } from "./projects.ts";
import { runProjectTask } from "./tasks.ts";
import { mayStartProcesses } from "./trust.ts";

/** The command "Start": `tool start` in a terminal; says where the app is if it runs already. */
export async function start(projects: WorkspaceProjects, apps: Apps, { uri }: CommandArguments = {}): Promise<void> {
  if (!mayStartProcesses("start the app")) return;
  const project = await projects.choose("Start", uri);
  if (project === undefined || !mayStartProcesses("start the app", project.folder)) return;
  const running = apps.in(project.folder);
  if (running !== undefined) {
    await sayThatItRuns(project.name, running.url);
    return;
  }
  if ((await locateTool()) === undefined) return;
  await runProjectTask(project, { command: "start" }, apps);
}

/** The command "Stop": ends the app of the project, or the one that runs. */
export async function stop(projects: WorkspaceProjects, apps: Apps, { uri }: CommandArguments = {}): Promise<void> {
  const running = apps.all();
  const current = projects.current(uri);
  const own = running.find(({ folder }) => folder.toString() === current?.folder.toString());
  let chosen = own ?? (running.length === 1 ? running[0] : undefined);
  if (running.length === 0) {
    void vscode.window.showInformationMessage("No app runs here.");
    return;
  }
  if (chosen === undefined) {
    const items = running.map((app) => ({
      label: vscode.workspace.asRelativePath(app.folder),
      description: app.url ?? app.phase,
      app,
    }));
    chosen = (await vscode.window.showQuickPick(items, { title: "Stop", placeHolder: "Which app?" }))?.app;
  }
  if (chosen !== undefined) await apps.stop(chosen.folder);
}

async function sayThatItRuns(name: string, url: string | undefined): Promise<void> {
  const open = "Open in Browser";
  const message = url === undefined ? `${name} is starting.` : `${name} runs already, at ${url}.`;
  const chosen = await vscode.window.showInformationMessage(message, ...(url === undefined ? [] : [open]));
  if (chosen === open && url !== undefined) await vscode.env.openExternal(vscode.Uri.parse(url));
}
