import * as vscode from "vscode";
import type { Apps } from "./apps.ts";
import type { CommandArguments } from "./commands.ts";
import { hooksOf } from "./config-text.ts";
import { locateTool } from "./installation.ts";
import type { WorkspaceProjects } from "./projects.ts";
import { runProjectTask } from "./tasks.ts";
import { mayStartProcesses } from "./trust.ts";

/** The command "Run Hook" and the lenses above hooks: `tool run` in a terminal. */
export async function run(projects: WorkspaceProjects, apps: Apps, args: CommandArguments = {}): Promise<void> {
  if (!mayStartProcesses("run a hook")) return;
  const project = await projects.choose("Run Hook", args.uri);
  if (project === undefined || !mayStartProcesses("run a hook", project.folder)) return;
  const hook = args.hook ?? (await chooseHook(hooksOf(await projects.configText(project))));
  if (hook === undefined || (await locateTool()) === undefined) return;
  const stage = args.stage === undefined ? {} : { stage: args.stage };
  await runProjectTask(project, { command: "run", hook, ...stage }, apps);
}

async function chooseHook(hooks: readonly string[]): Promise<string | undefined> {
  if (hooks.length > 0) return vscode.window.showQuickPick(hooks, { title: "Run Hook", placeHolder: "Which hook?" });
  void vscode.window.showInformationMessage('tool.json has no hooks. Write one: "hooks": { "build": "npm run build" }');
  return undefined;
}
