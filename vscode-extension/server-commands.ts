import * as vscode from "vscode";
import { LSPErrorCodes } from "vscode-languageclient";
import { configUri, type WorkspaceProjects } from "./projects.ts";

/**
 * Carries out a command of the server (`tool.migrate`, `tool.sort`). The palette names no document: the active one, or the
 * tool.json of the project, is opened, for the server changes open documents. What it refuses it says in a sentence.
 */
export async function runServerCommand(
  projects: WorkspaceProjects,
  args: readonly unknown[],
  send: (args: readonly unknown[]) => Promise<unknown>,
): Promise<unknown> {
  try {
    if (args.length > 0) return await send(args);
    const uri = await chooseConfig(projects);
    if (uri === undefined) return undefined;
    await vscode.window.showTextDocument(uri);
    return await send([uri.toString()]);
  } catch (error) {
    if ((error as { code?: number }).code !== LSPErrorCodes.RequestFailed) throw error;
    const { message } = error as Error;
    void vscode.window.showInformationMessage(`${message[0]?.toUpperCase()}${message.slice(1)}.`);
    return undefined;
  }
}

async function chooseConfig(projects: WorkspaceProjects): Promise<vscode.Uri | undefined> {
  const active = vscode.window.activeTextEditor?.document.uri;
  // Drafts and fixtures are called x.tool.json.
  if (active !== undefined && /(?:^|[/.])tool\.json$/.test(active.path)) return active;
  const project = await projects.choose("Which configuration?");
  return project && configUri(project.folder);
}
