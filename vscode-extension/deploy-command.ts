import * as vscode from "vscode";
import type { Apps } from "./apps.ts";
import type { CommandArguments } from "./commands.ts";
import { remoteStagesOf } from "./config-text.ts";
import { locateTool } from "./installation.ts";
import type { WorkspaceProject, WorkspaceProjects } from "./projects.ts";
import { SANDBOX } from "./task-words.ts";
import { runProjectTask } from "./tasks.ts";
import { mayStartProcesses } from "./trust.ts";

/** The command "Deploy" and the lenses above stages: `tool deploy` in a terminal, which ends with the URL. */
export async function deploy(projects: WorkspaceProjects, apps: Apps, args: CommandArguments = {}): Promise<void> {
  const chosen = await chooseStage(projects, "Deploy", "deploy", args);
  if (chosen === undefined || !(await agrees(chosen))) return;
  const { project, stage, sandbox } = chosen;
  await runProjectTask(project, { command: "deploy", stage, ...(sandbox && { args: [SANDBOX] }) }, apps);
}

/** The command "Open Stage": the address of a stage in the browser, by `tool url --open`. */
export async function openStage(projects: WorkspaceProjects, apps: Apps, args: CommandArguments = {}): Promise<void> {
  const chosen = await chooseStage(projects, "Open Stage", "ask for the address of a stage", args);
  if (chosen === undefined) return;
  const { project, stage, sandbox } = chosen;
  await runProjectTask(project, { command: "url", stage, args: ["--open", ...(sandbox ? [SANDBOX] : [])] }, apps);
}

interface Chosen {
  readonly project: WorkspaceProject;
  readonly stage: string;
  /** Whether the stage is the one in the sandbox on this machine. */
  readonly sandbox: boolean;
}

async function chooseStage(
  projects: WorkspaceProjects,
  title: string,
  what: string,
  args: CommandArguments,
): Promise<Chosen | undefined> {
  if (!mayStartProcesses(what)) return undefined;
  const project = await projects.choose(title, args.uri);
  if (project === undefined || !mayStartProcesses(what, project.folder)) return undefined;
  const { stage, sandbox = false } = args;
  const chosen =
    stage === undefined
      ? await askForStage(title, remoteStagesOf(await projects.configText(project)), sandbox)
      : { stage, sandbox };
  if (chosen === undefined || (await locateTool()) === undefined) return undefined;
  return { project, ...chosen };
}

/** Asks for a stage: on AWS or in the sandbox, or in the sandbox only. */
export async function askForStage(title: string, stages: readonly string[], onlySandbox = false) {
  const remote = onlySandbox ? [] : stages.map((stage) => ({ label: stage, stage, sandbox: false }));
  const local = stages.map((stage) => ({
    label: `${stage} in the sandbox`,
    description: "this machine, no account",
    stage,
    sandbox: true,
  }));
  return vscode.window.showQuickPick([...remote, ...local], { title, placeHolder: "Which stage?" });
}

/** A lens is one click, and a deploy affects the app's users: only staging and the sandbox are deployed without a question. */
async function agrees({ project, stage, sandbox }: Chosen): Promise<boolean> {
  if (stage === "staging" || sandbox) return true;
  const yes = "Deploy";
  const question = `Deploy ${project.name} to ${stage}?`;
  return (await vscode.window.showWarningMessage(question, { modal: true }, yes)) === yes;
}
