import * as vscode from "vscode";
import type { Apps } from "./apps.ts";
import { hooksOf } from "./config-text.ts";
import { findTool } from "./installation.ts";
import type { WorkspaceProject, WorkspaceProjects } from "./projects.ts";
import { SANDBOX, type ToolTask, taskName, taskWords } from "./task-words.ts";

/** The tasks of type `tool`: start, validate, deploy (to the sandbox, too) and each hook of every project; and those that tasks.json writes. */
export function registerTasks(projects: WorkspaceProjects, apps: Apps): vscode.Disposable {
  return vscode.tasks.registerTaskProvider("tool", {
    async provideTasks() {
      const tasks: vscode.Task[] = [];
      for (const project of projects.all()) {
        const scope = vscode.workspace.getWorkspaceFolder(project.folder);
        if (scope === undefined) continue;
        const folder = folderOf(project, scope);
        const hooks = hooksOf(await projects.configText(project));
        const wanted: ToolTask[] = [
          { command: "start", ...folder },
          { command: "validate", ...folder },
          { command: "deploy", ...folder },
          { command: "deploy", args: [SANDBOX], ...folder },
          ...hooks.map((hook): ToolTask => ({ command: "run", hook, ...folder })),
        ];
        for (const one of wanted) tasks.push(...((await toTask(one, scope, apps)) ?? []));
      }
      return tasks;
    },
    async resolveTask({ definition, scope, name }) {
      const folder = typeof scope === "object" ? scope : vscode.workspace.workspaceFolders?.[0];
      if (folder === undefined) return undefined;
      const written = { definition, name };
      const [task] = (await toTask(definition as unknown as ToolTask, folder, apps, written)) ?? [];
      return task;
    },
  });
}

/** Runs a task of a project at once: the same as in lists, so that one that runs is known. */
export async function runProjectTask(project: WorkspaceProject, task: ToolTask, apps: Apps): Promise<void> {
  const scope = vscode.workspace.getWorkspaceFolder(project.folder);
  if (scope !== undefined) {
    const [made] = (await toTask({ ...task, ...folderOf(project, scope) }, scope, apps)) ?? [];
    if (made !== undefined) await vscode.tasks.executeTask(made);
    return;
  }
  // The tool.json of no workspace, opened alone: tasks need a workspace, terminals do not.
  const name = `tool ${taskName(task)}`;
  const options =
    task.command === "start"
      ? { name, pty: apps.terminal(project.folder, []) }
      : { name, shellPath: (await findTool()) ?? "tool", shellArgs: taskWords(task) ?? [], cwd: project.folder };
  vscode.window.createTerminal(options).show();
}

/** A task as tasks.json has it. */
interface WrittenTask {
  readonly definition: vscode.TaskDefinition;
  readonly name: string;
}

/**
 * `tool` with these words in a workspace folder, under the name of a task that tasks.json could write. What tasks.json
 * wrote comes with its own definition: the editor takes a task only with that same object.
 */
async function toTask(
  task: ToolTask,
  scope: vscode.WorkspaceFolder,
  apps: Apps,
  { definition, name }: WrittenTask = { definition: { type: "tool", ...task }, name: taskName(task) },
): Promise<[vscode.Task] | undefined> {
  const words = taskWords(task);
  if (words === undefined) return undefined;
  const isAtTop = (task.folder ?? ".") === ".";
  const folder = isAtTop ? scope.uri : vscode.Uri.joinPath(scope.uri, task.folder!);
  const execution =
    task.command === "start"
      ? new vscode.CustomExecution(async () => apps.terminal(folder, [...(task.args ?? [])]))
      : // A name that is not found is said by the terminal, too.
        new vscode.ProcessExecution((await findTool()) ?? "tool", words, { cwd: scope.uri.fsPath });
  const matchers = { validate: ["$tool"], start: ["$tool-start"], run: [], deploy: [], url: [] }[task.command];
  const made = new vscode.Task(definition, scope, name, "tool", execution, matchers);
  made.isBackground = task.command === "start";
  if (task.command === "run" && task.hook === "build") made.group = vscode.TaskGroup.Build;
  if (task.command === "run" && task.hook === "clean") made.group = vscode.TaskGroup.Clean;
  made.presentationOptions = { panel: vscode.TaskPanelKind.Dedicated, clear: true, showReuseMessage: false };
  return [made];
}

function folderOf({ folder }: WorkspaceProject, scope: vscode.WorkspaceFolder): { folder?: string } {
  const path = folder.path.slice(scope.uri.path.length).replace(/^\//, "");
  return path === "" ? {} : { folder: path };
}
