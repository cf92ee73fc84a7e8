// The entry of the extension in VS Code for the Web, where it runs in a worker of the browser: the languages, and of the
// commands those that start no process.
import * as vscode from "vscode";
import { Client } from "./client.ts";
import { COMMANDS, isWebCommand, type WebCommandId } from "./commands.ts";
import { createConfiguration } from "./create-configuration.ts";
import { documentSelector } from "./document-selector.ts";
import { WorkspaceProjects, workspaceSchemes } from "./projects.ts";
import { explainProblem, registerRulePages } from "./rule-pages.ts";
import { ServerInWorker } from "./server-in-worker.ts";

let ending: (() => Promise<unknown>) | undefined;

/** Resolves when the projects are found and the language server answers, if there is one. */
async function activateInBrowser(context: vscode.ExtensionContext): Promise<void> {
  const output = vscode.window.createOutputChannel("tool", { log: true });
  const projects = new WorkspaceProjects();
  const client = new Client({
    output,
    projects,
    server: new ServerInWorker(context),
    middleware: {
      provideCodeLenses: async (document, token, next) => (await next(document, token))?.filter(isOffered),
    },
  });

  const commands: Record<WebCommandId, (...args: never[]) => unknown> = {
    "tool.restartServer": () => client.restart(),
    "tool.showOutput": () => output.show(),
    "tool.createConfiguration": createConfiguration,
    "tool.explainProblem": explainProblem,
  };

  context.subscriptions.push(
    output,
    projects,
    registerRulePages(client),
    ...COMMANDS.map((id) =>
      vscode.commands.registerCommand(id, isWebCommand(id) ? commands[id] : () => sayThatItIsElsewhere(context, id)),
    ),
    vscode.workspace.onDidOpenTextDocument((document) => isOurs(document) && client.start()),
  );
  ending = () => client.dispose();

  await projects.search();
  if (projects.all().length > 0 || vscode.workspace.textDocuments.some(isOurs)) await client.start();
}

/** Waits for the worker of the server to end. */
async function deactivateInBrowser(): Promise<void> {
  await ending?.();
}

export { activateInBrowser as activate, deactivateInBrowser as deactivate };

const isOurs = (document: vscode.TextDocument) =>
  vscode.languages.match(documentSelector(workspaceSchemes()), document) > 0;

/** Lenses with facts stay, and those of commands that are here. */
function isOffered({ command }: vscode.CodeLens): boolean {
  const id = COMMANDS.find((one) => one === command?.command);
  return id === undefined || isWebCommand(id);
}

/** The palette does not offer the command here, but keys and other extensions call it all the same. */
function sayThatItIsElsewhere({ extension }: vscode.ExtensionContext, id: string): void {
  const { contributes } = extension.packageJSON as {
    contributes: { commands: { command: string; title: string }[] };
  };
  const title = contributes.commands.find(({ command }) => command === id)?.title ?? id;
  const message = `"${title}" needs the program tool, and a browser can start none. Clone the repository, and open its folder in VS Code on a machine with tool.`;
  void vscode.window.showWarningMessage(message);
}
