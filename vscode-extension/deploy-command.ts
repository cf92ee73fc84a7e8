import * as vscode from "vscode";
import type { Apps } from "./apps.ts";
import type { CommandArguments } from "./commands.ts";
import { remoteStagesOf } from "./config-text.ts";
import { locateTool } from "./installation.ts";
import type { Project, Projects } from "./projects.ts";
import { runProjectTask } from "./tasks.ts";
import { mayStartProcesses } from "./trust.ts";

/** The command "Deploy" and the lenses above stages: `tool deploy` in a terminal. */
export async function deploy(projects: Projects, apps: Apps, args: CommandArguments = {}): Promise<void> {
  const chosen = await chooseStage(projects, "Deploy", "deploy", args);
  if (chosen === undefined || !(await agrees(chosen.project, chosen.stage))) return;
  await runProjectTask(chosen.project, { command: "deploy", stage: chosen.stage }, apps);
}

/** The command "Open Stage": the address of a stage in the browser, by `tool url --open`. */
export async function openStage(projects: Projects, apps: Apps, args: CommandArguments = {}): Promise<void> {
  const chosen = await chooseStage(projects, "Open Stage", "ask for the address of a stage", args);
  if (chosen === undefined) return;
  await runProjectTask(chosen.project, { command: "url", stage: chosen.stage, args: ["--open"] }, apps);
}

async function chooseStage(
  projects: Projects,
  title: string,
  what: string,
  args: CommandArguments,
): Promise<{ readonly project: Project; readonly stage: string } | undefined> {
  if (!mayStartProcesses(what)) return undefined;
  const project = await projects.choose(title, args.uri);
  if (project === undefined || !mayStartProcesses(what, project.folder)) return undefined;
  const stages = args.stage === undefined ? remoteStagesOf(await projects.configText(project)) : [];
  const stage = args.stage ?? (await vscode.window.showQuickPick(stages, { title, placeHolder: "Which stage?" }));
  if (stage === undefined || (await locateTool()) === undefined) return undefined;
  return { project, stage };
}

/** A lens is one click, and a deploy affects the app's users: only staging is deployed without a question. */
async function agrees(project: Project, stage: string): Promise<boolean> {
  if (stage === "staging") return true;
  const yes = "Deploy";
  const question = `Deploy ${project.name} to ${stage}?`;
  return (await vscode.window.showWarningMessage(question, { modal: true }, yes)) === yes;
}
