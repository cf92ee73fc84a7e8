// The entry of the extension: its parts, and the commands that they carry out.
import * as vscode from "vscode";
import { Apps } from "./apps.ts";
import { Client } from "./client.ts";
import type { CommandArguments, CommandId } from "./commands.ts";
import { createConfiguration } from "./create-configuration.ts";
import { deploy, openStage } from "./deploy-command.ts";
import { documentSelector } from "./document-selector.ts";
import { checkInstallation } from "./installation.ts";
import { LogsCommands } from "./logs-command.ts";
import { LogsDocuments } from "./logs-document.ts";
import { LogsView, type LogsViewItem } from "./logs-view.ts";
import { showMenu } from "./menu.ts";
import { WorkspaceProjects, workspaceSchemes } from "./projects.ts";
import { QueryBox } from "./query-box.ts";
import { explainProblem, registerRulePages } from "./rule-pages.ts";
import { run } from "./run-command.ts";
import { ServerInThread } from "./server-in-thread.ts";
import { start, stop } from "./start-command.ts";
import { StatusBar } from "./status-bar.ts";
import { registerTasks } from "./tasks.ts";
import { Validation } from "./validate-command.ts";

let ending: (() => Promise<unknown>) | undefined;

/** Resolves when the projects are found and the language server answers, if there is one. */
export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const output = vscode.window.createOutputChannel("tool", { log: true });
  const projects = new WorkspaceProjects();
  const client = new Client({ output, projects, server: new ServerInThread(context, output) });
  const apps = new Apps();
  const documents = new LogsDocuments();
  const box = new QueryBox(client);
  const logs = new LogsCommands(projects, documents, box, context.workspaceState);
  const validation = new Validation(output);

  const commands: Record<CommandId, (...args: never[]) => unknown> = {
    "tool.start": (args?: CommandArguments) => start(projects, apps, args),
    "tool.stop": (args?: CommandArguments) => stop(projects, apps, args),
    "tool.deploy": (args?: CommandArguments) => deploy(projects, apps, args),
    "tool.open": (args?: CommandArguments) => openStage(projects, apps, args),
    "tool.logs": (args?: CommandArguments) => logs.show(args),
    "tool.run": (args?: CommandArguments) => run(projects, apps, args),
    "tool.validate": () => validation.run(),
    "tool.restartServer": () => client.restart(),
    "tool.showOutput": () => output.show(),
    "tool.createConfiguration": createConfiguration,
    "tool.checkInstallation": checkInstallation,
    "tool.changeQuery": () => logs.change(),
    "tool.saveQuery": () => logs.save(),
    "tool.revealQuery": (item: LogsViewItem) =>
      item.kind === "query" ? logs.reveal(item.project, item.saved.name) : undefined,
    "tool.completeQuery": () => box.complete(),
    "tool.menu": () => showMenu(projects, apps),
    "tool.explainProblem": explainProblem,
  };

  context.subscriptions.push(
    output,
    projects,
    documents,
    box,
    validation,
    new LogsView(projects),
    new StatusBar(projects, apps),
    registerTasks(projects, apps),
    registerRulePages(client),
    ...Object.entries(commands).map(([id, command]) => vscode.commands.registerCommand(id, command)),
    vscode.workspace.onDidOpenTextDocument((document) => isOurs(document) && client.start()),
  );
  ending = () => Promise.all([apps.dispose(), client.dispose()]);

  await projects.search();
  // Any file of JSON activates the extension, for it may be a tool.json that is opened alone; only ours need the server.
  if (projects.all().length > 0 || vscode.workspace.textDocuments.some(isOurs)) await client.start();
}

/** Waits for the processes and the thread to end. */
export async function deactivate(): Promise<void> {
  await ending?.();
}

const isOurs = (document: vscode.TextDocument) =>
  vscode.languages.match(documentSelector(workspaceSchemes()), document) > 0;
